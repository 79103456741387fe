"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chain', '0023_unswept_by_asset'),
    ]

    operations = [
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='purpose',
            field=models.CharField(choices=[('refund', 'Refund'), ('payout', 'Payout'), ('settlement', 'Settlement'), ('test_payment', 'Test payment'), ('swap', 'Swap'), ('approval', 'Approval'), ('sweep', 'Sweep'), ('sweep_gas', 'Gas for a sweep'), ('cold', 'Cold storage'), ('withdrawal', 'Withdrawal'), ('x402', 'x402')], max_length=12),
        ),
    ]

"""Coins that leave for cold storage and for the operator; the database has no list of purposes to change."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chain', '0013_approvals'),
    ]

    operations = [
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='purpose',
            field=models.CharField(choices=[('refund', 'Refund'), ('payout', 'Payout'), ('settlement', 'Settlement'), ('test_payment', 'Test Payment'), ('swap', 'Swap'), ('approval', 'Approval'), ('sweep', 'Sweep'), ('sweep_gas', 'Sweep Gas'), ('cold', 'Cold'), ('withdrawal', 'Withdrawal'), ('x402', 'X402')], max_length=12),
        ),
    ]

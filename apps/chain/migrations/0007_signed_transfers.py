"""What payers sign may be carried out: a purpose of its own."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chain', '0006_swaps_and_sweeps'),
    ]

    operations = [
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='purpose',
            field=models.CharField(choices=[('refund', 'Refund'), ('payout', 'Payout'), ('settlement', 'Settlement'), ('test_payment', 'Test Payment'), ('swap', 'Swap'), ('approval', 'Approval'), ('sweep', 'Sweep'), ('sweep_gas', 'Sweep Gas'), ('x402', 'X402')], max_length=12),
        ),
    ]

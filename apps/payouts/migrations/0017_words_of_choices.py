"""What the choices are called by people; nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payouts', '0016_due_only'),
    ]

    operations = [
        migrations.AlterField(
            model_name='payout',
            name='failure_code',
            field=models.CharField(choices=[('insufficient_funds', 'Insufficient funds'), ('destination_invalid', 'Invalid destination'), ('temporarily_unavailable', 'Temporarily unavailable'), ('unknown', 'Unknown')], max_length=23, null=True),
        ),
        migrations.AlterField(
            model_name='payout',
            name='rail',
            field=models.CharField(choices=[('crypto', 'Crypto'), ('fiat_manual', 'Bank, manual'), ('fiat_autoswap', 'Bank, auto-swap')], max_length=13),
        ),
        migrations.AlterField(
            model_name='payout',
            name='status',
            field=models.CharField(choices=[('pending', 'Pending'), ('submitted', 'Submitted'), ('confirmed', 'Confirmed'), ('failed', 'Failed'), ('retrying', 'Retrying'), ('requires_review', 'Requires review')], default='pending', max_length=15),
        ),
    ]

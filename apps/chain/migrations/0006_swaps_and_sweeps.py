"""Calls of the exchange, what they bring, and one sweep per deposit address at a time."""

import apps.core.models
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0005_daily_rates'),
        ('chain', '0005_outgoing'),
    ]

    operations = [
        migrations.AddField(
            model_name='outgoingtransaction',
            name='call_data',
            field=models.TextField(blank=True, default=''),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='received_atomic',
            field=apps.core.models.AtomicField(default=0),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='receives_asset',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assets.asset'),
        ),
        migrations.AlterField(
            model_name='outgoingtransaction',
            name='purpose',
            field=models.CharField(choices=[('refund', 'Refund'), ('payout', 'Payout'), ('settlement', 'Settlement'), ('test_payment', 'Test Payment'), ('swap', 'Swap'), ('approval', 'Approval'), ('sweep', 'Sweep'), ('sweep_gas', 'Sweep Gas')], max_length=12),
        ),
        migrations.AddConstraint(
            model_name='outgoingtransaction',
            constraint=models.UniqueConstraint(condition=models.Q(('purpose', 'sweep'), ('status__in', ['requested', 'signed', 'submitted', 'review'])), fields=('chain', 'from_address'), name='outgoing_one_sweep_per_address'),
        ),
    ]

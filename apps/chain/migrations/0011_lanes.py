"""Outgoing transactions know for whom they are, what they wait for and until when; the index of a store's day is the next one's."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0005_daily_rates'),
        ('chain', '0010_deposit_mined_at'),
        ('stores', '0009_audit_seals'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='goes_back',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='not_before',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='store',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='stores.store'),
        ),
        migrations.AddField(
            model_name='outgoingtransaction',
            name='waits_for',
            field=models.CharField(blank=True, choices=[('funds', 'Funds'), ('sweep', 'Sweep'), ('network', 'Network')], db_default='', default='', max_length=7),
        ),
    ]

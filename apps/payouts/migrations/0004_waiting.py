"""What a payout waits for, and the gas of reverted attempts that its store was charged."""

import apps.core.models
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payouts', '0003_batches'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='payout',
            name='pending_reason',
            field=models.CharField(blank=True, db_default='', default='', max_length=20),
        ),
        migrations.AddField(
            model_name='payout',
            name='failed_gas_atomic',
            field=apps.core.models.AtomicField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='payout',
            name='failed_gas_due_atomic',
            field=apps.core.models.AtomicField(db_default=0, default=0),
        ),
    ]

"""A line of history is found by its payment and sequence; nobody looks its ID up."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0030_orders_and_agents'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    'ALTER TABLE payments_paymentevent DROP CONSTRAINT IF EXISTS payments_paymentevent_id_key',
                    migrations.RunSQL.noop,
                ),
            ],
            [
                migrations.AlterField(
                    model_name='paymentevent',
                    name='id',
                    field=models.UUIDField(default=uuid.uuid4, editable=False),
                ),
            ],
        ),
    ]

"""A held share has one refund that goes or has gone; built while others write."""

from django.db import migrations, models

ONCE = models.UniqueConstraint(condition=models.Q(('held__isnull', False), models.Q(('status', 'failed'), _negated=True)), fields=('held',), name='refund_of_held_once')
INDEX = "CREATE UNIQUE INDEX CONCURRENTLY refund_of_held_once ON payments_refund (held_id) WHERE held_id IS NOT NULL AND NOT (status = 'failed')"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0014_held_refunds'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(INDEX, 'DROP INDEX CONCURRENTLY refund_of_held_once')],
            [migrations.AddConstraint('refund', ONCE)],
        ),
    ]

"""A refund is credited once; built while others write."""

from django.db import migrations, models

ONCE = models.UniqueConstraint(condition=models.Q(('refunded_cents__isnull', False)), fields=('invoice', 'refunded_cents'), name='credit_note_once_per_refund')
INDEX = "CREATE UNIQUE INDEX CONCURRENTLY credit_note_once_per_refund ON billing_creditnote (invoice_id, refunded_cents) WHERE refunded_cents IS NOT NULL"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0019_credit_note_series_once'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(INDEX, 'DROP INDEX CONCURRENTLY credit_note_once_per_refund')],
            [migrations.AddConstraint('creditnote', ONCE)],
        ),
    ]

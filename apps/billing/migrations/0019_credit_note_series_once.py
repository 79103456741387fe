"""A number of a series of credit notes is given once; built while others write."""

from django.db import migrations, models

ONCE = models.UniqueConstraint(condition=models.Q(('series__isnull', False)), fields=('store', 'mode', 'series', 'series_number'), name='credit_note_series_number_once')
INDEX = "CREATE UNIQUE INDEX CONCURRENTLY credit_note_series_number_once ON billing_creditnote (store_id, mode, series, series_number) WHERE series IS NOT NULL"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0018_invoice_series_once'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(INDEX, 'DROP INDEX CONCURRENTLY credit_note_series_number_once')],
            [migrations.AddConstraint('creditnote', ONCE)],
        ),
    ]

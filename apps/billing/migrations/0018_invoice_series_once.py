"""A number of a series is given once; built while others write."""

from django.db import migrations, models

ONCE = models.UniqueConstraint(condition=models.Q(('series__isnull', False)), fields=('store', 'mode', 'series', 'series_number'), name='invoice_series_number_once')
INDEX = "CREATE UNIQUE INDEX CONCURRENTLY invoice_series_number_once ON billing_invoice (store_id, mode, series, series_number) WHERE series IS NOT NULL"


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('billing', '0017_customer_credit'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(INDEX, 'DROP INDEX CONCURRENTLY invoice_series_number_once')],
            [migrations.AddConstraint('invoice', ONCE)],
        ),
    ]

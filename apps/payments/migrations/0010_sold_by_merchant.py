"""A merchant's days lie together, and a day's merchants by what they sold; built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

MERCHANT = models.UniqueConstraint(fields=['platform', 'mode', 'store', 'day', 'currency'], include=['payments', 'cents'], name='sold_sum_of_merchant')
DAY = models.UniqueConstraint(fields=['platform', 'mode', 'day', 'store', 'currency'], include=['payments', 'cents'], name='sold_sum_once')
OF_MERCHANT = 'CREATE UNIQUE INDEX CONCURRENTLY sold_sum_of_merchant ON payments_soldsum (platform_id, mode, store_id, day, currency) INCLUDE (payments, cents)'
OF_DAY = 'CREATE UNIQUE INDEX CONCURRENTLY sold_sum_once ON payments_soldsum (platform_id, mode, day, store_id, currency) INCLUDE (payments, cents)'


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0009_sold_spans'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(OF_MERCHANT, 'DROP INDEX CONCURRENTLY sold_sum_of_merchant')],
            [migrations.AddConstraint('soldsum', MERCHANT)],
        ),
        AddIndexConcurrently(
            model_name='soldsum',
            index=models.Index(fields=['platform', 'mode', 'day', 'currency', '-cents', 'store'], include=['payments'], name='sold_sum_by_cents'),
        ),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL('DROP INDEX CONCURRENTLY sold_sum_once', OF_DAY)],
            [migrations.RemoveConstraint('soldsum', 'sold_sum_once')],
        ),
    ]

"""Sums of the payments of before: store by store, while others write. What has changed since the
triggers were made is in the payments that are read, and is taken out in the same statement. And an index
for a platform's payments by status."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

STORES = 'SELECT id FROM stores_store ORDER BY id'
FILL = """
WITH gone AS (
    DELETE FROM payments_paymentchange WHERE store_id = %(store)s
), hourly AS (
    INSERT INTO payments_hourlysum (store_id, mode, hour, currency, status, payments, completed,
        completed_cents, nets, net_cents)
    SELECT p.store_id, p.mode, date_trunc('hour', p.created_at, 'UTC'), p.settlement_currency,
        p.status, count(*), count(p.completed_at),
        coalesce(sum(p.settlement_amount_cents) FILTER (WHERE p.completed_at IS NOT NULL), 0),
        count(n.net_cents), coalesce(sum(n.net_cents), 0)
    FROM payments_payment p LEFT JOIN payments_paymentnet n ON n.payment_id = p.id
    WHERE p.store_id = %(store)s GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO payments_soldsum (platform_id, mode, day, store_id, currency, payments, cents)
SELECT platform_id, mode, (completed_at AT TIME ZONE 'UTC')::date, store_id, settlement_currency,
    count(*), sum(settlement_amount_cents)
FROM payments_payment
WHERE store_id = %(store)s AND platform_id IS NOT NULL AND completed_at IS NOT NULL
GROUP BY 1, 2, 3, 4, 5
"""


def fill(apps, schema_editor):
    """Of a run that was stopped nothing is left: what it has counted stands in the payments."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute('TRUNCATE payments_hourlysum, payments_soldsum')
        cursor.execute(STORES)
        for (store_id,) in cursor.fetchall():
            cursor.execute(FILL, {'store': store_id})


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('payments', '0003_sums_by_hour'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            model_name='payment',
            index=models.Index(
                condition=models.Q(('platform__isnull', False)),
                fields=['platform', 'mode', 'status', '-created_at', '-id'],
                include=('store',),
                name='payment_of_platform_in_status',
            ),
        ),
    ]

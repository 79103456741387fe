"""Stores whose settings aren't the defaults get their row. Stores 0026 drops what was copied."""

from django.db import migrations

COPY = """
INSERT INTO payouts_payoutsettings (store_id, payout_network_fee, payout_review_threshold_cents, review_new_destinations, platform_may_pay_out)
SELECT id, payout_network_fee, payout_review_threshold_cents, review_new_destinations, platform_may_pay_out FROM stores_store
WHERE payout_network_fee <> 'service' OR payout_review_threshold_cents IS NOT NULL
    OR review_new_destinations OR platform_may_pay_out
ON CONFLICT (store_id) DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [
        ('payouts', '0014_payout_settings'),
    ]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]

"""Payments that a card session holds open are held open for what it delivers."""

from django.db import migrations

NAME_THE_COINS = """
UPDATE payments_payment p SET held_open_assets = s.assets
FROM (SELECT payment_id, array_agg(DISTINCT asset_id) AS assets FROM onramp_fundingsession GROUP BY payment_id) s
WHERE s.payment_id = p.id AND p.held_open_until IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("onramp", "0001_initial"), ("payments", "0011_held_open_assets")]
    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.RunSQL(NAME_THE_COINS, migrations.RunSQL.noop),
    ]

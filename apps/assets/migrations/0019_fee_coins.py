"""The coin of each network in which it takes fees: its own where it has one, on Tempo a stablecoin."""

from django.db import migrations, models

_FEE_COINS = """
UPDATE assets_asset SET pays_fees = true
WHERE token_standard = 'Native' OR id IN ('TEMPO_USDC', 'MOD_PATH')
"""


class Migration(migrations.Migration):
    dependencies = [("assets", "0018_lowest_price_holds")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="asset",
            name="pays_fees",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(_FEE_COINS, migrations.RunSQL.noop),
    ]

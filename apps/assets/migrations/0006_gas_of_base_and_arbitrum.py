"""The coins that gas is paid in on Base and Arbitrum: without them nothing that leaves there can be booked."""

from django.db import migrations

NATIVES = [("BASE_ETH", "base"), ("ARB_ETH", "arbitrum")]
FIRST_POSITION = 12  # after everything that 0003 knows


def add(apps, schema_editor):
    asset_model = apps.get_model("assets", "Asset")
    for position, (asset_id, chain) in enumerate(NATIVES, FIRST_POSITION):
        asset_model.objects.get_or_create(
            id=asset_id,
            defaults={
                "chain_id": chain, "coin_symbol": "ETH", "name": "Ether", "token_standard": "Native", "atomic_decimals": 18,
                "display_decimals": 8, "min_withdrawal_atomic": 10**15, "is_active": False, "position": position,
            },
        )  # fmt: skip


def keep(apps, schema_editor):
    """The books may name them by now."""


class Migration(migrations.Migration):
    dependencies = [("assets", "0005_daily_rates")]
    operations = [migrations.RunPython(add, keep)]

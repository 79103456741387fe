"""A stablecoin of test mode that no chain knows: got by a swap and paid out again, so that both can be tried. It is in no catalog."""

from django.db import migrations, models

TEST_DOLLAR = "SETH_USDC"


def add(apps, schema_editor):
    asset_model = apps.get_model("assets", "Asset")
    last = asset_model.objects.aggregate(last=models.Max("position"))["last"] or 0
    asset_model.objects.create(
        id=TEST_DOLLAR, chain_id="sepolia", coin_symbol="USDC", name="Test USD Coin", token_standard="ERC20", atomic_decimals=6,
        display_decimals=6, min_withdrawal_atomic=10**6, is_active=True, is_fiat_eligible=True, is_listed=False, position=last + 1,
    )  # fmt: skip
    # What Circle's contract on Sepolia says of itself; signatures for another name are refused there.
    asset_model.objects.filter(id="USDC_SETH", eip712_name="USD Coin").update(eip712_name="USDC")


def remove(apps, schema_editor):
    asset_model = apps.get_model("assets", "Asset")
    asset_model.objects.filter(id=TEST_DOLLAR).delete()
    asset_model.objects.filter(id="USDC_SETH", eip712_name="USDC").update(eip712_name="USD Coin")


class Migration(migrations.Migration):
    dependencies = [("assets", "0006_gas_of_base_and_arbitrum")]
    operations = [
        migrations.AddField("asset", "is_listed", models.BooleanField(default=True)),
        migrations.RunPython(add, remove),
    ]

"""The chains and assets that the service knows. Contract addresses, confirmations and what is active can be changed later."""

from django.db import migrations

CHAINS = [
    # id, name, symbol, chain id, mode, required confirmations, explorer
    ("ethereum", "Ethereum", "ETH", 1, "live", 12, "https://etherscan.io"),
    ("sepolia", "Ethereum Sepolia", "SETH", 11155111, "test", 3, "https://sepolia.etherscan.io"),
    ("polygon", "Polygon", "POL", 137, "live", 128, "https://polygonscan.com"),
    ("base", "Base", "BASE", 8453, "live", 30, "https://basescan.org"),
    ("arbitrum", "Arbitrum One", "ARB", 42161, "live", 30, "https://arbiscan.io"),
]
USDC, USDT = ("USDC", "USD Coin", "USD Coin", "2"), ("USDT", "Tether USD", "", "")
TOKENS = [
    # id, chain, (symbol, name, EIP-712 name, version), contract, active
    ("ETH_USDC", "ethereum", USDC, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", True),
    ("ETH_USDT", "ethereum", USDT, "0xdac17f958d2ee523a2206206994597c13d831ec7", True),
    ("USDC_SETH", "sepolia", USDC, "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238", False),
    ("USDT_SETH", "sepolia", USDT, None, False),
    ("POL_USDC", "polygon", USDC, "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", False),
    ("POL_USDT", "polygon", USDT, "0xc2132d05d31c914a87c6611c10748aeb04b58e8f", False),
    ("BASE_USDC", "base", USDC, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", False),
    ("ARB_USDC", "arbitrum", USDC, "0xaf88d065e77c8cc2239327c5edb3a432268e5831", False),
    ("ARB_USDT", "arbitrum", USDT, "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9", False),
]
NATIVES = [
    # id, chain, symbol, name, minimum, active
    ("ETH", "ethereum", "ETH", "Ether", 10**15, True),
    ("SETH", "sepolia", "ETH", "Sepolia Ether", 10**14, True),
    ("POL", "polygon", "POL", "POL", 10**17, False),
]


def add(apps, schema_editor):
    chain_model, asset_model = apps.get_model("assets", "Chain"), apps.get_model("assets", "Asset")
    for row in CHAINS:
        names = ("id", "name", "symbol", "chain_id", "mode", "required_confirmations", "explorer_url")
        chain_model.objects.create(**dict(zip(names, row, strict=True)))
    for position, (asset_id, chain, symbol, name, least, active) in enumerate(NATIVES):
        asset_model.objects.create(
            id=asset_id, chain_id=chain, coin_symbol=symbol, name=name, token_standard="Native", atomic_decimals=18, display_decimals=8,
            min_withdrawal_atomic=least, is_active=active, position=position,
        )  # fmt: skip
    for position, (asset_id, chain, (symbol, name, signing_name, version), contract, active) in enumerate(TOKENS, len(NATIVES)):
        asset_model.objects.create(
            id=asset_id, chain_id=chain, coin_symbol=symbol, name=name, token_standard="ERC20", contract_address=contract,
            atomic_decimals=6, display_decimals=6, min_withdrawal_atomic=10**6, is_active=active, is_fiat_eligible=True,
            eip712_name=signing_name, eip712_version=version, position=position,
        )  # fmt: skip


def remove(apps, schema_editor):
    apps.get_model("assets", "Asset").objects.all().delete()
    apps.get_model("assets", "Chain").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("assets", "0002_initial")]
    operations = [migrations.RunPython(add, remove)]

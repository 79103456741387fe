"""The stablecoins of the local live chain: deployed once, and named on the assets of the same
coins."""

from apps.assets.models import Asset
from apps.core import local_chain
from dev.demo.chain import DemoWallet

DECIMALS = 6
TOKENS = {"ETH_USDC": ("USD Coin", "USDC"), "ETH_USDT": ("Tether USD", "USDT")}
# Of those whose transfers are signed, as OpenZeppelin's EIP-712 domain says it; the real USDC says
# version 2. The real USDT has none, and is paid by way of Permit2.
DOMAINS = {"ETH_USDC": ("USD Coin", "1")}
FUNDS_ATOMIC = 10_000_000 * 10**DECIMALS


def place_tokens(wallet: DemoWallet, holders: list[str]) -> dict[str, str]:
    """Asset id -> contract address; deploys and hands out what the chain does not have yet."""
    rows = {row.pk: row for row in Asset.objects.filter(pk__in=TOKENS)}
    missing = [
        asset_id
        for asset_id in TOKENS
        if not wallet.has_code(rows[asset_id].contract_address or "0x" + "0" * 40)
    ]
    if missing:
        deployments = {
            asset_id: wallet.deploy_token(*TOKENS[asset_id], DECIMALS) for asset_id in missing
        }
        local_chain.call(wallet.url, "evm_mine")
        contracts = {
            asset_id: str(wallet.receipt(tx_hash).contract_address).lower()
            for asset_id, tx_hash in deployments.items()
        }
        minted = [
            wallet.mint(contract, holder, FUNDS_ATOMIC)
            for contract in contracts.values()
            for holder in holders
        ]
        local_chain.call(wallet.url, "evm_mine")
        wallet.receipt(minted[-1])
        for asset_id, contract in contracts.items():
            _name(rows[asset_id], contract)
    return {asset_id: row.contract_address or "" for asset_id, row in rows.items()}


def _name(row: Asset, contract: str) -> None:
    row.contract_address = contract
    row.eip712_name, row.eip712_version = DOMAINS.get(row.pk, ("", ""))
    row.save(update_fields=["contract_address", "eip712_name", "eip712_version"])

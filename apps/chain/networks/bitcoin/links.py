"""Links that wallets of Bitcoin's family read (BIP-21)."""

from apps.assets.models import Asset
from apps.chain.networks.bitcoin.parameters import parameters_of
from apps.core.money import decimal_from_atomic


class BitcoinLinks:
    def payment_link(self, asset: Asset, address: str, amount_atomic: int) -> str:
        amount = decimal_from_atomic(amount_atomic, asset.atomic_decimals)
        return f"{parameters_of(asset.chain.chain_id).scheme}:{address}?amount={amount}"

    def code_text(self, asset: Asset, address: str, amount_atomic: int) -> str:
        return self.payment_link(asset, address, amount_atomic)

    def wallet_request(self, asset: Asset, address: str, amount_atomic: int) -> dict[str, str]:
        return {}

    def wallet_network(self, asset: Asset) -> dict[str, object]:
        return {}

"""Payment requests for wallets of EVM networks: links by EIP-681, and calls for one in the browser
(EIP-1193, EIP-3085)."""

from apps.assets.models import Asset
from apps.chain.networks.evm.spelling import checksummed
from apps.chain.networks.evm.transfers import transfer

_COIN_DECIMALS = 18


class EvmLinks:
    def payment_link(self, asset: Asset, address: str, amount_atomic: int) -> str:
        """A link for the coin of the network where the token has no contract."""
        to = checksummed(address)
        chain_id = asset.chain.chain_id
        if asset.is_native or not asset.contract_address:
            return f"ethereum:{to}@{chain_id}?value={amount_atomic}"
        contract = checksummed(asset.contract_address)
        return f"ethereum:{contract}@{chain_id}/transfer?address={to}&uint256={amount_atomic}"

    def code_text(self, asset: Asset, address: str, amount_atomic: int) -> str:
        """Of a token the address alone."""
        if not asset.is_native:
            return checksummed(address)
        return self.payment_link(asset, address, amount_atomic)

    def wallet_request(self, asset: Asset, address: str, amount_atomic: int) -> dict[str, str]:
        if not amount_atomic or not (asset.is_native or asset.contract_address):
            return {}
        to, value, data = transfer(asset, address, amount_atomic)
        fields = {"chainId": hex(asset.chain.chain_id), "to": checksummed(to), "value": hex(value)}
        return fields | {"data": data, "amount": hex(amount_atomic)}

    def wallet_network(self, asset: Asset) -> dict[str, object]:
        chain = asset.chain
        if not chain.wallet_url or chain.is_local:
            return {}  # every wallet has Ethereum
        symbol = chain.fee_symbol or asset.coin_symbol
        coin = {"name": symbol, "symbol": symbol, "decimals": _COIN_DECIMALS}
        added: dict[str, object] = {
            "chainId": hex(chain.chain_id),
            "chainName": chain.name,
            "nativeCurrency": coin,
            "rpcUrls": [chain.wallet_url],
        }
        return added | ({"blockExplorerUrls": [chain.explorer_url]} if chain.explorer_url else {})

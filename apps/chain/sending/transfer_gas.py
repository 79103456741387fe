"""The gas of a transfer on a network, as its node estimates it now, and the fees that it takes
beside gas.

Where a network counts Ethereum's fees as gas (Arbitrum), every transfer takes more of it from time
to time. On the OP stack they are taken beside gas, and can't be limited.
"""

from dataclasses import dataclass, replace

from django.conf import settings

from apps.assets.models import Chain, FeeModel
from apps.chain.models import HotWallet
from apps.chain.networks.evm import op_fees
from apps.chain.networks.evm.op_fees import OpPrices
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.sending.refused_bytes import Words, words_of

# What every transaction takes, of which a transfer between accounts takes no more.
INTRINSIC_GAS = 21_000
# A token's transfer, when nobody has estimated it.
TOKEN_GAS = 120_000
# On Tempo, which asks 250,000 for each account or place that wasn't there (TIP-1000).
_DEAR_TOKEN_GAS = 600_000
_NOBODY = "0x" + "e7" * 20
_BYTES = 180  # of a signed transfer of tokens
# What a network that counts bytes as gas asks for a token's transfer or a call, at most, as a
# multiple of what it asks for those of a plain transfer.
_LONGER = 4
_PERCENT = 100
# Prices of Ethereum may rise by so much until what was signed is mined.
_ROOM = 125


@dataclass(frozen=True)
class TransferGas:
    """`native` is the limit of a transfer of the network's own coin to an account, `bytes_gas` what
    its bytes take of it; `beside_wei` is taken from the sender beside gas, for one transfer."""

    native: int = INTRINSIC_GAS
    bytes_gas: int = 0
    beside_wei: int = 0
    margin_percent: int = 0
    unestimated: int = TOKEN_GAS

    @property
    def token(self) -> int:
        """Of a token's transfer that nobody has estimated."""
        return self.unestimated + self.room

    @property
    def room(self) -> int:
        """Gas that bytes may take besides what a transaction does."""
        return _LONGER * self.bytes_gas

    def with_margin(self, estimate: int) -> int:
        """The limit of what the node has estimated so."""
        return -(-estimate * (_PERCENT + self.margin_percent) // _PERCENT)

    def of(self, *, is_native: bool) -> int:
        return self.native if is_native else self.token


def _margin_percent(chain: Chain) -> int:
    """As SIGNER_GAS_MARGINS says for a network; none where it isn't listed: what is estimated
    there is exact."""
    for line in settings.SIGNER_GAS_MARGINS:
        name, _, percent = line.partition("=")
        if name == chain.pk:
            return int(percent)
    return 0


def transfer_gas(chain: Chain, nodes: Nodes) -> TransferGas:
    """Asks a node. Raises RpcError.

    A hot wallet is the sender: nodes refuse to estimate for who can't pay fees beside gas. What
    such a node can't say takes no gas for bytes.
    """
    wallet = HotWallet.objects.filter(chain=chain).order_by("number").first()
    between = {
        "from": wallet.address if wallet is not None else _NOBODY,
        "to": _NOBODY,
        "value": "0x0",
    }
    calls: list[Call] = [("eth_estimateGas", [between])]
    has_share = chain.fee_model == FeeModel.OP_STACK
    estimate, *words = nodes.each(calls + (op_fees.calls("latest") if has_share else []))
    if isinstance(estimate, RpcError):
        if words_of(str(estimate)) is not Words.FUNDS:
            raise estimate
        estimate = hex(INTRINSIC_GAS)
    beside_wei = _beside(op_fees.read(words)) if has_share else 0
    margin_percent = _margin_percent(chain)
    is_dear = chain.fee_model == FeeModel.STABLECOIN
    unestimated = _DEAR_TOKEN_GAS if is_dear else TOKEN_GAS
    unlimited = TransferGas(
        beside_wei=beside_wei, margin_percent=margin_percent, unestimated=unestimated
    )
    native = unlimited.with_margin(int(estimate, 16))
    return replace(unlimited, native=native, bytes_gas=max(0, native - INTRINSIC_GAS))


def _beside(prices: OpPrices) -> int:
    """With room for the next prices of Ethereum."""
    share = prices.share_at_most(_BYTES) * _ROOM // _PERCENT
    return share + max(
        op_fees.operator_fee(
            TOKEN_GAS, prices.operator_scalar, prices.operator_constant, is_jovian=is_jovian
        )
        for is_jovian in {False, prices.is_jovian}
    )

"""Choice of the hot wallet that a sweep goes to: the one with the least of the coin; or, when
something waits for coins, the one that will have enough soonest.

A chain with one wallet asks nobody.
"""

from collections.abc import Sequence

from django.db.models import Sum

from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.providers.base import Nodes
from apps.chain.sending import balances
from apps.chain.sending.signing_lanes import OF_THE_FIRST
from apps.chain.states import UNMINED

_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose


class Shares:
    """Balance of a coin in each wallet, with the amounts on their way to it. Asked once a round;
    each question raises RpcError."""

    def __init__(self, wallets: Sequence[HotWallet], nodes: Nodes) -> None:
        """At least one wallet, in the order of their numbers."""
        self._wallets = wallets
        self._nodes = nodes
        self._atomic: dict[str, dict[str, int]] = {}

    def poorest(self, asset: Asset) -> str:
        """The address of the wallet with the least."""
        if len(self._wallets) == 1:
            return self._wallets[0].address
        shares = self._of(asset)
        return min(shares, key=shares.__getitem__)

    def neediest(self, asset: Asset) -> str:
        """That of the one with the most, which needs the least to pay for what waits. What the
        exchange is to get can leave from the first one only."""
        if len(self._wallets) == 1:
            return self._wallets[0].address
        if self._wallets[0].number == 0 and self._is_wanted_by_exchange(asset):
            return self._wallets[0].address
        shares = self._of(asset)
        return max(shares, key=shares.__getitem__)

    def can_afford(self, native: Asset, amount_atomic: int) -> bool:
        """True if one of them could send so much now, besides its gas."""
        return any(
            balances.can_afford(native, wallet.address, amount_atomic, self._nodes)
            for wallet in self._wallets
        )

    def note(self, asset: Asset, address: str, amount_atomic: int) -> None:
        """So much is on its way now."""
        if asset.pk in self._atomic:
            self._atomic[asset.pk][address] += amount_atomic

    def _of(self, asset: Asset) -> dict[str, int]:
        """By address."""
        if asset.pk not in self._atomic:
            coming = dict(
                OutgoingTransaction.objects.filter(
                    chain=asset.chain_id, asset=asset, purpose=_Purpose.SWEEP, status__in=UNMINED
                )
                .values_list("to_address")
                .annotate(Sum("amount_atomic"))
            )
            self._atomic[asset.pk] = {
                wallet.address: balances.free(asset, wallet.address, self._nodes)
                + int(coming.get(wallet.address, 0))
                for wallet in self._wallets
            }
        return self._atomic[asset.pk]

    @staticmethod
    def _is_wanted_by_exchange(asset: Asset) -> bool:
        return OutgoingTransaction.objects.filter(
            chain=asset.chain_id, asset=asset, purpose__in=OF_THE_FIRST, status=_Status.REQUESTED
        ).exists()

"""Receipts in a merchant's own wallet, and the links with which that wallet sends them back: nobody
else can."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.assets.models import Asset
from apps.chain.models import Deposit
from apps.chain.networks.families import links_of, shown_address
from apps.payments.selectors import Received


@dataclass(frozen=True)
class OwnRefund:
    """One sender's coins. `link` opens a wallet with network, coin, address and amount; without a
    sender, as on Bitcoin, there is none, and the customer is asked for an address."""

    asset: Asset
    amount_atomic: int
    to_address: str
    link: str


def own_refunds(received: Iterable[Received]) -> list[OwnRefund]:
    return [refund for intake in received if intake.is_own for refund in _of(intake)]


def _of(intake: Received) -> list[OwnRefund]:
    amounts: dict[str, int] = {}
    for deposit in intake.deposits:
        if deposit.status == Deposit.Status.CONFIRMED and not deposit.is_simulated:
            sent = amounts.get(deposit.from_address, 0)
            amounts[deposit.from_address] = sent + deposit.amount_atomic
    asset = intake.address.asset
    return [
        OwnRefund(
            asset,
            amount,
            shown_address(sender),
            links_of(asset).payment_link(asset, sender, amount) if sender else "",
        )
        for sender, amount in amounts.items()
    ]

"""The fate of the coins of a rejected payment, as its customer and its merchant read it: only what
really happens is said to happen."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.assets.models import Asset
from apps.chain.models import Deposit
from apps.chain.networks.families import shown_address, stored
from apps.payments.models import HeldRefund, Payment, Refund, RefundAddress
from apps.payments.selectors import is_shortfall_accepted

ADDRESSES_MAX = 5


@dataclass(frozen=True)
class HeldCoins:
    """Of one asset, from one place or to one place (`address`)."""

    asset_id: str
    amount_atomic: int
    atomic_decimals: int
    coin_symbol: str
    chain_name: str
    address: str = ""


@dataclass(frozen=True)
class Outlook:
    """`going` has a refund that is under way, `returned` one that is confirmed; `checking` and
    `waiting` are held for senders who aren't known."""

    going: list[HeldCoins] = field(default_factory=list)
    returned: list[HeldCoins] = field(default_factory=list)
    checking: list[HeldCoins] = field(default_factory=list)
    waiting: list[HeldCoins] = field(default_factory=list)

    is_all_there: bool = True  # what is held has a refund, or a share that waits for one
    is_accepted: bool = False  # all that came in time, by the merchant
    is_partly_accepted: bool = False
    is_elsewhere: bool = False  # something goes, or has gone, to an address that sent nothing

    @property
    def is_all_going(self) -> bool:
        return self._is_held_going and not (self.is_accepted or self.is_partly_accepted)

    @property
    def is_rest_going(self) -> bool:
        """All that the merchant hasn't accepted."""
        return self._is_held_going and self.is_partly_accepted and not self.is_accepted

    @property
    def _is_held_going(self) -> bool:
        has_refunds = bool(self.going or self.returned)
        return has_refunds and self.is_all_there and not (self.checking or self.waiting)

    @property
    def is_left_to_merchant(self) -> bool:
        """Something is neither sent nor asked about: too small to send, or given up."""
        return not (self._is_held_going or self.is_accepted or self.checking or self.waiting)


def held_coins(payment: Payment) -> list[HeldCoins]:
    """Sums that wait for an address, by asset."""
    return _by_asset(_rows(payment, HeldRefund.Status.WAITING))


def outlook(payment: Payment) -> Outlook:
    """Of a payment that has ended."""
    rows = Refund.objects.filter(payment=payment).exclude(status="failed")
    refunds = list(rows.select_related("asset__chain").order_by("created_at", "part"))
    return Outlook(
        going=[_of_refund(row) for row in refunds if row.status != "confirmed"],
        returned=[_of_refund(row) for row in refunds if row.status == "confirmed"],
        checking=_by_asset(_rows(payment, HeldRefund.Status.CHECKING)),
        waiting=held_coins(payment),
        is_all_there=not payment.needs_attention,
        is_accepted=is_shortfall_accepted(payment),
        is_partly_accepted=payment.late_deposits.filter(accepted_at__isnull=False).exists(),
        is_elsewhere=bool(refunds) and _is_elsewhere(payment, refunds),
    )


def _is_elsewhere(payment: Payment, refunds: Iterable[Refund]) -> bool:
    deposits = Deposit.objects.filter(address__in=payment.addresses.values("address_id"))
    senders = {stored(sender) for sender in deposits.values_list("from_address", flat=True)}
    return any(refund.destination_address not in senders for refund in refunds)


def held_rows(payment: Payment) -> list[HeldRefund]:
    """Every share of it that was held, whatever became of it, oldest first."""
    rows = HeldRefund.objects.filter(payment=payment).exclude(status="checking")
    return list(rows.select_related("asset__chain").order_by("created_at", "pk"))


def entered_addresses(payment: Payment) -> list[str]:
    """Addresses entered on the payment's page without proof, oldest first."""
    rows = RefundAddress.objects.filter(payment=payment).order_by("created_at", "pk")
    return [shown_address(address) for address in rows.values_list("address", flat=True)]


def _rows(payment: Payment, status: str) -> list[HeldRefund]:
    rows = HeldRefund.objects.filter(payment=payment, status=status)
    return list(rows.select_related("asset__chain").order_by("created_at", "pk"))


def _by_asset(rows: Iterable[HeldRefund]) -> list[HeldCoins]:
    totals: dict[str, tuple[Asset, int]] = {}
    for row in rows:
        _, total = totals.get(row.asset_id, (row.asset, 0))
        totals[row.asset_id] = (row.asset, total + row.amount_atomic)
    return [_coins(asset, total) for asset, total in totals.values()]


def _of_refund(refund: Refund) -> HeldCoins:
    return _coins(refund.asset, refund.amount_atomic, shown_address(refund.destination_address))


def _coins(asset: Asset, amount_atomic: int, address: str = "") -> HeldCoins:
    return HeldCoins(
        asset.pk,
        amount_atomic,
        asset.atomic_decimals,
        asset.coin_symbol,
        asset.chain.name,
        address,
    )

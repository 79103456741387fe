"""Shares of a refund: recipients, amounts, balances and addresses. Nothing is written here.

The caller holds the intent's lock when the answer is to be acted upon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Sum, UUIDField

from apps.assets.models import Asset
from apps.chain.addresses import check_recipient
from apps.chain.models import Deposit
from apps.chain.networks.base import Address
from apps.chain.networks.families import stored
from apps.core import money
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter
from apps.core.errors import Failure
from apps.core.messages.invalid import Invalid
from apps.core.money import Amount, CoinPrice, Fiat
from apps.core.text.wording import Worded
from apps.payments import states
from apps.payments.models import HeldRefund, LateDeposit, Payment, Refund
from apps.payments.requests import RefundRequest
from apps.payments.selectors import Received, received_by
from apps.payments.services.refund_payers import UnknownShare, standing_of, standings
from apps.payments.services.worth import MaximumAmount
from apps.payments.units import step_of

LIVE_STATUSES = (Refund.Status.PENDING, Refund.Status.SUBMITTED, Refund.Status.CONFIRMED)
OPEN_STATUSES = (Refund.Status.PENDING, Refund.Status.SUBMITTED)
HELD_STATUSES = (HeldRefund.Status.CHECKING, HeldRefund.Status.WAITING)
PARTS_MAX = 50


class NotRefundable(Failure):
    message = "Payment is not refundable"


class NothingLeft(Failure):
    message = "Nothing left to refund"


class AmountExceeds(Failure):
    field = "amount"
    message = "Amount exceeds the refundable balance"


class SettlementAmountExceeds(Failure):
    field = "settlement_amount"

    def __init__(self, most: Fiat) -> None:
        super().__init__(
            Worded(
                "settlement_amount exceeds what can be refunded, which is worth {most}", most=most
            )
        )


class AmountNotAllowed(Failure):
    field = "amount"
    message = "Amount is only valid for completed payments"


class AmountZero(Failure):
    field = "amount"
    message = "amount must be greater than zero"


class TooManyDecimals(Failure):
    field = "amount"

    def __init__(self, asset: Asset) -> None:
        super().__init__(
            Worded("amount has more decimals than {coin_symbol}", coin_symbol=asset.coin_symbol)
        )


class AssetRequired(Failure):
    field = "asset_id"
    message = "asset_id is required when a payment received several assets"


class AssetNotReceived(Failure):
    field = "asset_id"
    message = "Payment did not receive this asset"


class PayerUnknown(Failure):
    field = "destination_address"
    message = "The paying address is unknown; send destination_address"


class InOwnWallet(Failure):
    """The service has no key of these coins, so it can't send them."""

    field = "asset_id"
    message = (
        "These coins are in your own wallet. Send the refund from that wallet, with the payment’s"
        " refund link, or pay it out of an asset that is held here"
    )


@dataclass(frozen=True)
class Share:
    """A transfer to make."""

    asset: Asset
    to_address: Address
    amount_atomic: int
    is_from_held: bool
    is_simulated: bool


@dataclass(frozen=True)
class RefundDivision:
    """Shares that can go back to who paid, and those that wait for an address."""

    shares: list[Share]
    unknown: list[UnknownShare]


def shares_to_send(payment: Payment, request: RefundRequest) -> Sequence[Share | Refund]:
    """Shares to send, or the records that are already under way. Of a payment that has ended
    without success, what came from senders who can't be known is not in it."""
    confirmed = [intake for intake in received_by(payment) if _confirmed(intake)]
    received = [intake for intake in confirmed if not intake.is_own]
    own_assets = {intake.address.asset_id for intake in confirmed if intake.is_own}
    if request.asset_id in own_assets or (own_assets and not received):
        raise InOwnWallet
    has_late = any(_unaccepted_late(payment, intake) for intake in received)
    has_more = has_late or has_held(payment)
    if payment.status not in states.REFUNDABLE and not (
        payment.status == states.REFUNDED and has_more
    ):
        raise NotRefundable
    if not received:
        raise NothingLeft
    if payment.is_card_funded and request.destination_address is None:
        return _without_destination(payment, received)
    if payment.status == states.COMPLETED:
        return _from_completed(payment, received, request)
    if request.names_amount:
        raise AmountNotAllowed
    if request.asset_id is not None and request.asset_id not in {
        intake.address.asset_id for intake in received
    }:
        raise AssetNotReceived
    if request.destination_address is not None and len(received) > 1 and request.asset_id is None:
        raise AssetRequired
    chosen = (
        [intake for intake in received if request.asset_id in (None, intake.address.asset_id)]
        if request.destination_address
        else received
    )
    return _from_closed(payment, chosen, request)


_HELD = Query(
    lambda: HeldRefund.objects.filter(
        payment=BlankParameter("payment_id", UUIDField()), status__in=HELD_STATUSES
    )[:1]
)


def has_held(payment: Payment) -> bool:
    """Something of a rejected payment still waits to go back (decision 531)."""
    return _HELD.first(payment_id=payment.pk) is not None


def _without_destination(payment: Payment, received: list[Received]) -> Sequence[Share | Refund]:
    """The coins came from a card provider, so nothing goes back to their sender: a person finds out
    where to."""
    if under_way := _under_way(payment, received):
        return under_way
    if payment.status in (states.FAILED, states.EXPIRED):
        return []
    raise PayerUnknown


def _confirmed(intake: Received) -> list[Deposit]:
    return [
        deposit
        for deposit in (*intake.deposits, *intake.taken)
        if deposit.status == Deposit.Status.CONFIRMED
    ]


def _unaccepted_late(payment: Payment, intake: Received) -> list[Deposit]:
    """Late deposits that the merchant has not accepted."""
    waiting = set(
        LateDeposit.objects.filter(payment=payment, accepted_at=None).values_list(
            "deposit_id", flat=True
        )
    )
    return [deposit for deposit in _confirmed(intake) if deposit.pk in waiting]


def _refunded_atomic(payment: Payment, asset_id: str) -> int:
    rows = Refund.objects.filter(payment=payment, asset_id=asset_id, status__in=LIVE_STATUSES)
    return sum(rows.values_list("amount_atomic", flat=True))


def _under_way(payment: Payment, received: Sequence[Received]) -> list[Refund]:
    assets = [intake.address.asset_id for intake in received]
    rows = Refund.objects.filter(
        payment=payment, asset_id__in=assets, status__in=OPEN_STATUSES
    ).select_related("asset__chain")
    return list(rows.order_by("created_at", "part"))


def _from_completed(
    payment: Payment, received: list[Received], request: RefundRequest
) -> Sequence[Share | Refund]:
    """Full or partial, from what is available: the fees that were taken are the merchant's to
    bear."""
    if request.asset_id is not None:
        received = [intake for intake in received if intake.address.asset_id == request.asset_id]
        if not received:
            raise AssetNotReceived
    elif len(received) > 1 and (request.names_amount or request.destination_address is not None):
        raise AssetRequired
    if under_way := _under_way(payment, received):
        return under_way
    shares = [share for intake in received for share in _completed_shares(payment, intake, request)]
    if not shares:
        raise NothingLeft
    return shares


def _completed_shares(payment: Payment, intake: Received, request: RefundRequest) -> list[Share]:
    remaining = _remaining_atomic(payment, intake)
    if remaining <= 0:
        if request.names_amount or request.asset_id is not None:
            raise NothingLeft
        return []
    amount = requested_atomic(payment, intake, request, remaining)
    if amount > remaining:
        raise AmountExceeds
    to_address = _destination(request.destination_address, intake.address.asset) or _main_payer(
        intake
    )
    is_simulated = all(deposit.is_simulated for deposit in _confirmed(intake))
    return [
        Share(
            intake.address.asset, to_address, amount, is_from_held=False, is_simulated=is_simulated
        )
    ]


def requested_atomic(
    payment: Payment, intake: Received, request: RefundRequest, remaining: int
) -> int:
    """Atomic units that a request asks for, of so many that are left. Money becomes coins at the
    rate that was locked, and the payment's whole amount means all that has come for it, if that is
    worth less and in one coin. Raises Invalid or a Failure."""
    asset = intake.address.asset
    if request.amount is not None:
        return _amount_atomic(request.amount, asset)
    if request.settlement_amount is None:
        return remaining
    currency = payment.settlement_currency
    asked = Fiat(money.cents_from_text(request.settlement_amount), currency)
    if asked.cents % step_of(currency):
        raise Invalid("settlement_amount", "whole_unit", currency=currency)
    most = MaximumAmount(
        Amount(asset, remaining), CoinPrice(asset, intake.address.exchange_rate, currency)
    )
    if asked > most.fiat:
        is_whole = asked.cents == payment.settlement_amount_cents
        if is_whole and remaining == intake.confirmed_atomic and _is_one_coin(payment):
            return remaining
        raise SettlementAmountExceeds(most.fiat)
    try:
        return most.coins_for(asked).atomic
    except Invalid:
        raise Invalid("settlement_amount", "positive") from None


def _is_one_coin(payment: Payment) -> bool:
    return len([intake for intake in received_by(payment) if _confirmed(intake)]) == 1


def refundable_amounts(payment: Payment, received: Sequence[Received]) -> dict[str, int]:
    """Refundable amounts by received deposits that were read already. One question, however many
    assets there are."""
    rows = (
        Refund.objects.filter(payment=payment, status__in=LIVE_STATUSES)
        .order_by()
        .values_list("asset_id")
    )
    refunded = {
        asset_id: int(atomic) for asset_id, atomic in rows.annotate(sent=Sum("amount_atomic"))
    }
    remaining = {
        intake.address.asset_id: intake.confirmed_atomic - refunded.get(intake.address.asset_id, 0)
        for intake in received
        if not intake.is_own
    }
    return {asset_id: amount for asset_id, amount in remaining.items() if amount > 0}


def _remaining_atomic(payment: Payment, intake: Received) -> int:
    return intake.confirmed_atomic - _refunded_atomic(payment, intake.address.asset_id)


def _from_closed(
    payment: Payment, received: list[Received], request: RefundRequest
) -> Sequence[Share | Refund]:
    """Everything that is held, of every asset."""
    if under_way := _under_way(payment, received):
        return under_way
    shares: list[Share] = []
    unknown: list[UnknownShare] = []
    for intake in received:
        to_address = _destination(request.destination_address, intake.address.asset)
        for deposits, is_from_held in _sources(payment, intake):
            owed = _owed(payment, intake, deposits, is_from_held=is_from_held)
            if not owed:
                continue
            if to_address is not None:
                shares.append(_whole(intake, deposits, owed, to_address, is_from_held=is_from_held))
            else:
                division = divide(intake, deposits, is_from_held=is_from_held, owed=owed)
                shares += division.shares
                unknown += division.unknown
    if not shares:
        raise PayerUnknown if unknown else NothingLeft
    return shares


def _whole(
    intake: Received,
    deposits: list[Deposit],
    owed: dict[str, int],
    to_address: Address,
    *,
    is_from_held: bool,
) -> Share:
    is_simulated = all(deposit.is_simulated for deposit in deposits)
    return Share(intake.address.asset, to_address, sum(owed.values()), is_from_held, is_simulated)


def unknown_shares(payment: Payment) -> list[UnknownShare]:
    """Held shares of a payment that has ended that couldn't go back to who paid."""
    return [
        share
        for intake in received_by(payment)
        if not intake.is_own
        for deposits, is_from_held in _sources(payment, intake)
        if is_from_held
        for share in divide(
            intake,
            deposits,
            is_from_held=True,
            owed=_owed(payment, intake, deposits, is_from_held=True),
        ).unknown
    ]


def owed_from_held(payment: Payment) -> dict[tuple[str, str], int]:
    """Amounts still held for each sender, by asset and address."""
    owed: dict[tuple[str, str], int] = {}
    for intake in received_by(payment):
        for deposits, is_from_held in _sources(payment, intake):
            if is_from_held:
                due = _owed(payment, intake, deposits, is_from_held=True)
                for payer, amount in due.items():
                    owed[intake.address.asset_id, payer] = amount
    return owed


def _sources(payment: Payment, intake: Received) -> list[tuple[list[Deposit], bool]]:
    """(deposits, whether they are held): what the merchant accepted late is in the available
    balance."""
    accepted = set(
        LateDeposit.objects.filter(payment=payment, accepted_at__isnull=False).values_list(
            "deposit_id", flat=True
        )
    )
    confirmed = _confirmed(intake)
    was_settled = payment.completed_at is not None
    late = (
        _unaccepted_late(payment, intake)
        if was_settled
        else [deposit for deposit in confirmed if deposit.pk not in accepted]
    )
    return [(late, True), ([deposit for deposit in confirmed if deposit.pk in accepted], False)]


def _received_by_payer(deposits: list[Deposit]) -> dict[str, int]:
    """Amount sent by each paying address, oldest first."""
    transfers: dict[str, int] = {}
    for deposit in deposits:
        if deposit.status == Deposit.Status.CONFIRMED:
            payer = stored(deposit.from_address)
            transfers[payer] = transfers.get(payer, 0) + deposit.amount_atomic
    return transfers


def _owed(
    payment: Payment, intake: Received, deposits: list[Deposit], *, is_from_held: bool
) -> dict[str, int]:
    """Amounts that each payer has not had back: a refund to a payer, or of the share that was held
    for one, was theirs; one to anywhere else covered the oldest first."""
    owed = _received_by_payer(deposits)
    elsewhere = 0
    rows = Refund.objects.filter(
        payment=payment,
        asset_id=intake.address.asset_id,
        status__in=LIVE_STATUSES,
        is_from_held=is_from_held,
    )
    columns = ("destination_address", "held__payer_address", "amount_atomic")
    for destination, of_payer, amount in rows.values_list(*columns):
        payer = destination if of_payer is None else of_payer
        back = min(amount, owed.get(payer, 0))
        elsewhere += amount - back
        if back:
            owed[payer] -= back
    for payer, amount in owed.items():
        owed[payer] -= min(amount, elsewhere)
        elsewhere -= min(amount, elsewhere)
    return {payer: amount for payer, amount in owed.items() if amount}


def divide(
    intake: Received,
    deposits: list[Deposit],
    *,
    is_from_held: bool,
    owed: dict[str, int] | None = None,
) -> RefundDivision:
    """To each paying address what it sent, or what it is still owed of that; apart from them who
    can't be paid there."""
    due = _received_by_payer(deposits) if owed is None else owed
    asset = intake.address.asset
    payers = standings(deposit for deposit in deposits if stored(deposit.from_address) in due)
    simulated = {stored(deposit.from_address) for deposit in deposits if deposit.is_simulated}
    shares: list[Share] = []
    unknown: list[UnknownShare] = []
    for payer, amount in due.items():
        standing = payers[payer]
        if standing.address is None:
            unknown.append(UnknownShare(asset, payer, amount, standing.why))
        else:
            is_simulated = payer in simulated
            shares.append(Share(asset, standing.address, amount, is_from_held, is_simulated))
    return RefundDivision(shares[:PARTS_MAX], unknown)


def _main_payer(intake: Received) -> Address:
    """The address that paid most, if coins can go back there."""
    deposits = _confirmed(intake)
    payer = standing_of(max(deposits, key=lambda deposit: deposit.amount_atomic)).address
    if payer is None:
        raise PayerUnknown
    return payer


def _amount_atomic(text: str, asset: Asset) -> int:
    amount = money.atomic_from_decimal(text, asset.atomic_decimals)
    if amount is None:
        raise TooManyDecimals(asset)
    if amount == 0:
        raise AmountZero
    return amount


def _destination(text: str | None, asset: Asset) -> Address | None:
    return None if text is None else check_recipient(text, asset)

"""A deposit as the detail view, the checkout and the webhooks tell it: also one that came late, or
in another coin than its address is for."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from apps.chain.models import Deposit, Head, UnmatchedTransfer
from apps.chain.networks.families import shown_address, stored
from apps.chain.networks.finality import awaits_tag
from apps.core.clock import iso
from apps.core.messages.documents import Digits, Document, Time
from apps.payments.documents.values import DepositStatus, DepositWait
from apps.payments.models import Payment, Refund
from apps.payments.moments import is_on_time
from apps.payments.selectors import LateMark, Received, confirmations_of, known_heads

_KNOWN = LateMark()


class TransactionDocument(Document, frozen=True, kw_only=True):
    """`late` is one that came after the payment's deadline or end, `unexpected_asset` one in
    another coin than its address is for. Neither counts before the merchant accepts it."""

    tx_hash: str
    from_address: str
    deposit_address: str
    confirmations: int
    required_confirmations: int
    waits_for: DepositWait | None
    status: DepositStatus
    asset_id: str
    coin_symbol: str
    chain_symbol: str
    chain_name: str
    network: str
    amount_atomic: Digits
    atomic_decimals: int
    block_number: int | None
    explorer_url: str | None
    detected_at: Time
    confirmed_at: Time | None
    simulated: bool
    late: bool
    unexpected_asset: bool
    accepted_at: Time | None
    undecided: bool


@dataclass(frozen=True)
class ReceivedDeposit:
    """A deposit at an address of an intent, or accepted for it. `address_symbol` is the coin that
    its address is for, empty where that is another payment's. One that `is_returned` has gone back
    or is on its way; one that `is_back` couldn't be returned, and waits again."""

    deposit: Deposit
    is_late: bool
    is_unexpected: bool
    accepted_at: datetime | None = None
    address_symbol: str = ""
    is_returned: bool = False
    is_back: bool = False

    @property
    def is_undecided(self) -> bool:
        """Nobody has said yet what becomes of it."""
        if self.accepted_at is not None or self.is_returned:
            return False
        if self.deposit.status == Deposit.Status.FAILED:
            return False
        if self.is_unexpected:  # one that goes back counts as confirmed
            return self.is_back or self.deposit.status != Deposit.Status.CONFIRMED
        return self.is_late and not self.is_returned


def arrivals(
    payment: Payment, received: Iterable[Received], unpriced_deposits: Iterable[Deposit] = ()
) -> list[ReceivedDeposit]:
    """All deposits for an intent, oldest first. `unpriced_deposits` came elsewhere in a coin that
    it doesn't take, and were accepted for it."""
    received = list(received)
    own = [
        arrival_of(payment, intake, deposit)
        for intake in received
        for deposit in (*intake.deposits, *intake.unexpected)
    ]
    own_ids = {arrival.deposit.pk for arrival in own}
    marks = received[0].late if received else {}
    elsewhere = [deposit for intake in received for deposit in intake.taken]
    accepted = [
        ReceivedDeposit(deposit, mark.is_late, is_unexpected=True, accepted_at=mark.accepted_at)
        for deposit in (*elsewhere, *unpriced_deposits)
        if deposit.pk not in own_ids and (mark := marks.get(deposit.pk)) is not None
    ]
    every = sorted([*own, *accepted], key=lambda arrival: arrival.deposit.detected_at)
    returned_ids = _returned_ids(payment, every)
    back_ids = _back_ids(every)
    return [
        replace(
            arrival,
            is_returned=arrival.is_returned or arrival.deposit.pk in returned_ids,
            is_back=arrival.deposit.pk in back_ids,
        )
        for arrival in every
    ]


def _back_ids(every: list[ReceivedDeposit]) -> set[object]:
    """IDs of deposits in another coin that were to go back and couldn't."""
    by_place = {
        (arrival.deposit.chain_id, arrival.deposit.tx_hash, arrival.deposit.log_index): (
            arrival.deposit.pk
        )
        for arrival in every
        if arrival.is_unexpected
        and arrival.accepted_at is None
        and arrival.deposit.status == Deposit.Status.CONFIRMED
    }
    if not by_place:
        return set()
    waiting = UnmatchedTransfer.objects.filter(
        chain__in={chain for chain, _, _ in by_place},
        tx_hash__in={tx_hash for _, tx_hash, _ in by_place},
        resolved_at=None,
    )
    places = waiting.values_list("chain_id", "tx_hash", "log_index")
    return {by_place[place] for place in places if place in by_place}


def _returned_ids(payment: Payment, every: list[ReceivedDeposit]) -> set[object]:
    """IDs of late deposits that refunds have covered. A refund to a sender, or of what was held for
    one, is of theirs, the oldest first; one to anywhere else covers the oldest of all."""
    held = [arrival for arrival in every if _is_held(payment, arrival)]
    if not any(arrival.is_late for arrival in held):
        return set()
    refunds = Refund.objects.filter(payment=payment, is_from_held=True).exclude(status="failed")
    open_atomic: dict[object, int] = {
        arrival.deposit.pk: arrival.deposit.amount_atomic for arrival in held
    }
    elsewhere: dict[str, int] = {}
    columns = ("asset_id", "destination_address", "held__payer_address", "amount_atomic")
    for asset_id, destination, payer, amount in refunds.values_list(*columns):
        of_sender = [
            arrival.deposit
            for arrival in held
            if arrival.deposit.asset_id == asset_id
            and stored(arrival.deposit.from_address) == (payer or destination)
        ]
        rest = _cover(open_atomic, of_sender, amount)
        elsewhere[asset_id] = elsewhere.get(asset_id, 0) + rest
    for asset_id, amount in elsewhere.items():
        _cover(
            open_atomic, [row.deposit for row in held if row.deposit.asset_id == asset_id], amount
        )
    return {
        arrival.deposit.pk
        for arrival in held
        if arrival.is_late and not open_atomic[arrival.deposit.pk]
    }


def _is_held(payment: Payment, arrival: ReceivedDeposit) -> bool:
    """Its coins are the sender's still: of a payment that completed the late ones alone."""
    return (
        arrival.accepted_at is None
        and not arrival.is_unexpected
        and arrival.deposit.status == Deposit.Status.CONFIRMED
        and (arrival.is_late or payment.completed_at is None)
    )


def _cover(open_atomic: dict[object, int], deposits: list[Deposit], amount: int) -> int:
    """Take an amount off what is left of these; what remains of it."""
    for deposit in deposits:
        part = min(amount, open_atomic[deposit.pk])
        open_atomic[deposit.pk] -= part
        amount -= part
    return amount


def arrival_of(payment: Payment, intake: Received, deposit: Deposit) -> ReceivedDeposit:
    """The part of a deposit at one of an intent's own addresses; the intent's store is loaded."""
    entry = intake.address
    mark = intake.late.get(deposit.pk)
    is_unexpected = deposit.asset_id != entry.asset_id
    if not is_unexpected:
        deposit.asset = entry.asset
    is_late = not is_on_time(payment, deposit) if mark is None and is_unexpected else False
    return ReceivedDeposit(
        deposit,
        is_late if mark is None else mark.is_late,
        is_unexpected,
        (mark or _KNOWN).accepted_at,
        entry.asset.coin_symbol,
        (mark or _KNOWN).is_returned,
    )


def heads_for(deposits: Iterable[Deposit]) -> dict[str, Head]:
    """The heads that the confirmations of real deposits are counted against."""
    return known_heads() if any(not deposit.is_simulated for deposit in deposits) else {}


def transaction_document(arrival: ReceivedDeposit, heads: dict[str, Head]) -> TransactionDocument:
    deposit = arrival.deposit
    asset = deposit.asset
    return TransactionDocument(
        tx_hash=deposit.tx_hash,
        from_address=shown_address(deposit.from_address),
        deposit_address=shown_address(deposit.address_id),
        confirmations=confirmations_of(deposit, heads),
        required_confirmations=deposit.required_confirmations,
        waits_for=_wait_of(deposit, heads),
        status=_status(deposit),
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        chain_name=asset.chain.name,
        network=asset.chain_id,
        amount_atomic=str(deposit.amount_atomic),
        atomic_decimals=asset.atomic_decimals,
        block_number=deposit.block_number,
        explorer_url=_explorer_url(deposit),
        detected_at=iso(deposit.detected_at),
        confirmed_at=iso(deposit.confirmed_at),
        simulated=deposit.is_simulated,
        late=arrival.is_late,
        unexpected_asset=arrival.is_unexpected,
        accepted_at=iso(arrival.accepted_at),
        undecided=arrival.is_undecided,
    )


def _status(deposit: Deposit) -> str:
    """One that is set aside is confirmed once it has its confirmations."""
    if deposit.status != Deposit.Status.UNMATCHED:
        return deposit.status
    status = Deposit.Status.CONFIRMED if deposit.confirmed_at else Deposit.Status.CONFIRMING
    return status.value


def _wait_of(deposit: Deposit, heads: dict[str, Head]) -> str | None:
    """Event that a confirming deposit waits for."""
    if _status(deposit) != Deposit.Status.CONFIRMING:
        return None
    required = deposit.required_confirmations
    has_confirmations = confirmations_of(deposit, heads) >= required
    if deposit.is_simulated or not awaits_tag(deposit.asset.chain, has_confirmations):
        return "confirmations"
    return "finality"


def _explorer_url(deposit: Deposit) -> str | None:
    base = deposit.asset.chain.explorer_url
    return f"{base}/tx/{deposit.tx_hash}" if base and not deposit.is_simulated else None


def transactions(deposits: Iterable[ReceivedDeposit]) -> list[TransactionDocument]:
    """In the order in which they come."""
    every = list(deposits)
    heads = heads_for([arrival.deposit for arrival in every])
    return [transaction_document(arrival, heads) for arrival in every]

"""The outcome of a transaction that a customer says they sent for a payment: first from our own
records, then from the chains.

The result describes only coins that reached this payment's own addresses; any other transaction
merely "pays another address". Nothing is booked here.
"""

from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction

from apps.assets.models import Asset, Chain
from apps.chain.models import Deposit, Head, SightingRecord, UnmatchedTransfer
from apps.chain.networks import families
from apps.chain.watching import again, look_up
from apps.core import clock
from apps.core.errors import Failure
from apps.payments.documents.deposits import arrivals
from apps.payments.lost_coins import LOST_EVENT
from apps.payments.models import Payment, PaymentAddress, PaymentEvent
from apps.payments.selectors import addresses_of, confirmations_of, known_heads, received_by
from apps.payments.services import attention
from apps.payments.services.change_status import locked_payment

TEXT_MAX = 500


class LookupResult(StrEnum):
    """Answer about a transaction."""

    MALFORMED = "malformed"
    COUNTED = "counted"
    CONFIRMING = "confirming"
    LATE = "late"  # it came after the end, and is kept for the merchant to decide about
    FAILED = "failed"
    # at this payment's address, in another coin or on another chain than asked for
    WRONG_COIN = "wrong_coin"
    RETURNED = "returned"  # it has gone back, or is on its way
    ELSEWHERE = "elsewhere"  # the merchant has accepted it for another payment
    NOT_FINAL = "not_final"
    TAKEN_BACK = "taken_back"  # another transaction took its coins, or the network forgot it
    NOTED = "noted"  # it reached us and isn't booked: the watcher reads its block again
    OTHER_ADDRESS = "other_address"
    TOKEN_CONTRACT = "token_contract"  # noqa: S105  # it went to a token's own contract: for good
    NOT_FOUND = "not_found"
    NOT_ASKED = "not_asked"  # no chain could be asked


@dataclass(frozen=True)
class TransactionLookup:
    """`chains` are where it was found, else where it was looked for."""

    result: LookupResult
    tx_hash: str = ""
    chains: tuple[str, ...] = ()
    confirmations: int = 0
    required_confirmations: int = 0


def hash_in(text: str) -> str | None:
    """The transaction's hash in what was typed or pasted: itself, or an explorer's address with
    it."""
    return families.hash_in(text.strip()[:TEXT_MAX]) or None


class NoHash(Failure):
    field = "transaction"
    message = "Enter the hash of a transaction: 0x and 64 hexadecimal digits"


def find_named_transaction(payment: Payment, text: str) -> TransactionLookup:
    """Find it for somebody who sees at the field that it is no hash. Raises NoHash."""
    if hash_in(text) is None:
        raise NoHash
    answer = find_transaction(payment, text)
    if answer.result == LookupResult.TOKEN_CONTRACT:
        _note_lost(payment, answer)
    return answer


def find_for_customer(payment: Payment, text: str) -> TransactionLookup:
    """Find it for anyone who has the checkout; the store hears of coins that are lost, which nobody
    else can see."""
    answer = find_transaction(payment, text)
    if answer.result == LookupResult.TOKEN_CONTRACT:
        _note_lost(payment, answer)
        with transaction.atomic():
            attention.coins_lost(payment, answer.tx_hash, answer.chains[0])
    return answer


def _note_lost(payment: Payment, answer: TransactionLookup) -> None:
    """In the payment's history, once for each payment: anyone who has its link can name such
    transactions."""
    with transaction.atomic():
        locked = locked_payment(payment.pk)
        past = PaymentEvent.objects.filter(payment=locked, event_type=LOST_EVENT)
        if past.exists():
            return
        PaymentEvent.objects.create(
            payment=locked,
            event_type=LOST_EVENT,
            from_status=locked.status,
            to_status=locked.status,
            payload={"tx_hash": answer.tx_hash, "chain_name": answer.chains[0]},
            created_at=clock.now(locked.store, locked.mode),
        )


def find_transaction(payment: Payment, text: str) -> TransactionLookup:
    """Asks the chains when we don't know it ourselves: not inside a transaction."""
    own = [entry.asset.chain for entry in addresses_of(payment)]
    hashes = sorted(
        families.hashes_in(text.strip()[:TEXT_MAX]),
        key=lambda tx_hash: not any(families.has_hashes_like(chain, tx_hash) for chain in own),
    )
    if not hashes:
        return TransactionLookup(LookupResult.MALFORMED)
    for tx_hash in hashes:
        if known := booked_transaction(payment, tx_hash) or _seen_waiting(payment, tx_hash):
            return known
    answers = [_answer_of_chains(payment, tx_hash) for tx_hash in hashes]
    return next((answer for answer in answers if answer.result not in _UNANSWERED), answers[0])


_UNANSWERED = (LookupResult.NOT_FOUND, LookupResult.NOT_ASKED)


def _seen_waiting(payment: Payment, tx_hash: str) -> TransactionLookup | None:
    """One that waits to be mined; or one that was mined under another hash, by that."""
    row = (
        SightingRecord.objects.filter(
            address__in=[entry.address_id for entry in addresses_of(payment)], tx_hash=tx_hash
        )
        .select_related("chain")
        .order_by("-seen_at")
        .first()
    )
    if row is None:
        return None
    if row.ended_by and row.status == SightingRecord.Status.MINED:
        return booked_transaction(payment, row.ended_by)
    is_waiting = row.status == SightingRecord.Status.WAITING
    result = LookupResult.NOT_FINAL if is_waiting else LookupResult.TAKEN_BACK
    return TransactionLookup(result, tx_hash, (row.chain.name,))


def booked_transaction(payment: Payment, tx_hash: str) -> TransactionLookup | None:
    """Booked or reserved coins of the transaction at this payment's addresses; no chain is
    asked."""
    entries = {entry.address_id: entry for entry in addresses_of(payment)}
    rows = (
        Deposit.objects.filter(address_id__in=list(entries), tx_hash=tx_hash)
        .select_related("chain")
        .order_by("log_index")
    )
    deposits = list(rows[:10])
    if not deposits:
        strays = UnmatchedTransfer.objects.filter(
            address_id__in=list(entries), tx_hash=tx_hash
        ).select_related("chain")
        stray = strays.first()
        return (
            TransactionLookup(LookupResult.WRONG_COIN, tx_hash, (stray.chain.name,))
            if stray is not None
            else None
        )
    deposit = min(deposits, key=lambda deposit: _ORDER.index(_Status(deposit.status)))
    if deposit.status == _Status.FAILED and not deposit.is_simulated:
        return None  # a reorg took it away: the chain knows whether it is on its way again
    has = min(confirmations_of(deposit, known_heads()), deposit.required_confirmations)
    return TransactionLookup(
        _result_of(payment, deposit),
        tx_hash,
        (deposit.chain.name,),
        has,
        deposit.required_confirmations,
    )


_Status = Deposit.Status
_ORDER = [_Status.CONFIRMED, _Status.CONFIRMING, _Status.UNMATCHED, _Status.FAILED]


def _result_of(payment: Payment, deposit: Deposit) -> LookupResult:
    if deposit.status == _Status.FAILED:
        return LookupResult.FAILED
    mark = payment.late_deposits.filter(deposit=deposit).first()
    stray = UnmatchedTransfer.objects.filter(
        chain=deposit.chain_id, tx_hash=deposit.tx_hash, log_index=deposit.log_index
    ).first()
    if stray is not None and stray.outcome == UnmatchedTransfer.Outcome.RETURNED:
        return LookupResult.RETURNED
    if deposit.status == _Status.UNMATCHED or (stray is not None and stray.resolved_at is None):
        return LookupResult.WRONG_COIN  # a return that failed leaves it confirmed
    if stray is not None and mark is None:
        return LookupResult.ELSEWHERE
    if mark is not None and mark.accepted_at is None:
        return LookupResult.RETURNED if _is_returned(payment, deposit) else LookupResult.LATE
    return LookupResult.COUNTED if deposit.status == _Status.CONFIRMED else LookupResult.CONFIRMING


def _is_returned(payment: Payment, deposit: Deposit) -> bool:
    every = arrivals(payment, received_by(payment))
    return any(arrival.is_returned for arrival in every if arrival.deposit.pk == deposit.pk)


def _answer_of_chains(payment: Payment, tx_hash: str) -> TransactionLookup:
    """Its own chains first, then the others of the mode: the most frequent mistake is the
    network."""
    entries = addresses_of(payment)
    own = {entry.asset.chain_id for entry in entries}
    chains = sorted(
        (
            chain
            for chain in Chain.objects.filter(mode=payment.mode)
            if families.has_hashes_like(chain, tx_hash)
        ),
        key=lambda chain: (chain.pk not in own, chain.pk),
    )
    native = {entry.asset.chain_id: entry.address_id for entry in entries if entry.asset.is_native}
    result = look_up.search(
        chains, tx_hash, {entry.address_id for entry in entries}, native, _contracts(chains)
    )
    if result.match is not None:
        return _answer(result.match, tx_hash, entries)
    if not result.searched_chains and any(look_up.can_ask(chain) for chain in chains):
        return TransactionLookup(LookupResult.NOT_ASKED, tx_hash)
    asked_chains = result.searched_chains or [chain for chain in chains if chain.pk in own]
    return TransactionLookup(
        LookupResult.NOT_FOUND, tx_hash, tuple(chain.name for chain in asked_chains)
    )


def _contracts(chains: list[Chain]) -> frozenset[str]:
    """The tokens' own, which nobody can send anything back from."""
    tokens = Asset.objects.filter(chain__in=chains).exclude(contract_address=None)
    return frozenset(
        contract for contract in tokens.values_list("contract_address", flat=True) if contract
    )


def _answer(
    lookup: look_up.FoundTransaction, tx_hash: str, entries: list[PaymentAddress]
) -> TransactionLookup:
    where = (lookup.chain.name,)
    if lookup.has_failed:
        return TransactionLookup(LookupResult.FAILED, tx_hash, where)
    if lookup.block_number is None:
        return TransactionLookup(LookupResult.NOT_FINAL, tx_hash, where)
    if not lookup.reached:
        is_lost = lookup.has_reached_contract
        result = LookupResult.TOKEN_CONTRACT if is_lost else LookupResult.OTHER_ADDRESS
        return TransactionLookup(result, tx_hash, where)
    expected = {
        (entry.asset.chain_id, entry.address_id, entry.asset.contract_address or "")
        for entry in entries
    }
    transfers = [
        transfer
        for transfer in lookup.reached
        if (lookup.chain.pk, transfer.address, transfer.contract) in expected
    ]
    if not transfers:
        return TransactionLookup(LookupResult.WRONG_COIN, tx_hash, where)
    head = Head.objects.filter(chain=lookup.chain).first()
    if head is None or head.number < lookup.block_number:
        return TransactionLookup(LookupResult.NOT_FINAL, tx_hash, where)
    again.ask(lookup.chain.pk, [lookup.block_number])
    for transfer in transfers:
        if not transfer.contract:  # what a contract sends is found by what the address holds
            look_up.watch_again(transfer.address)
    return TransactionLookup(LookupResult.NOTED, tx_hash, where)

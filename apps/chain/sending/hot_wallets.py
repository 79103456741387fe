"""The hot wallets of each chain: halted in doubt, resumed by a person.

While the chain knows more transactions of a wallet than we do (another user of the key, or a
database brought back from a backup) it signs nothing, and everything asked for but not signed waits
for a person: it may have been sent already. The chain's others go on once those are known.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q
from prometheus_client import Counter

from apps.assets.models import Chain
from apps.chain.models import (
    CoinRecord,
    Head,
    HotWallet,
    OutgoingTransaction,
    SignedTransaction,
    SpendCandidate,
)
from apps.chain.networks.base import CoinPlace
from apps.chain.networks.coins import carrier_of
from apps.chain.networks.families import has_coins
from apps.chain.networks.finality import final_number
from apps.chain.networks.readers import reader_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.reasons import UNSIGNABLE, Reason, Refusal, because
from apps.chain.sending import approvals, coin_purse, history, lanes
from apps.chain.sending.calls import call_of
from apps.chain.states import IN_FLIGHT, OUTGOING
from apps.core import jobs
from apps.core.errors import Failure
from apps.core.machine import Step
from apps.stores.auditing import audit

log = structlog.get_logger(__name__)
_halts = Counter("tillgate_hot_wallet_halts", "Times a hot wallet was halted", ["chain"])
_Status = OutgoingTransaction.Status
_SWEEP = OutgoingTransaction.Purpose.SWEEP
# The end of these brings coins to the wallet, or the gas to fetch them with.
BRINGS = (
    _SWEEP,
    OutgoingTransaction.Purpose.SWEEP_GAS,
    OutgoingTransaction.Purpose.SWEEP_BATCH,
    OutgoingTransaction.Purpose.SWAP,
    OutgoingTransaction.Purpose.JOIN,
)


class ResolutionRefused(Failure):
    """Staff asked for something that the chain doesn't bear out; the text says what."""


def own(wallet: HotWallet, prefix: str = "") -> Q:
    """Outgoing transactions of the chain that are the wallet's affair: its own, and sweeps to it.
    The first one's is all that is no other's."""
    if wallet.number:
        return _of([wallet.address], prefix)
    rows = HotWallet.objects.filter(chain=wallet.chain_id, number__gt=0)
    addresses = list(rows.values_list("address", flat=True))
    return ~_of(addresses, prefix) if addresses else Q()


def _of(addresses: Sequence[str], prefix: str) -> Q:
    is_sweep = Q(**{f"{prefix}purpose": _SWEEP})
    sent = Q(**{f"{prefix}from_address__in": addresses})
    swept = Q(**{f"{prefix}to_address__in": addresses})
    return (sent & ~is_sweep) | (swept & is_sweep)


def halt(wallet: HotWallet, reason: str, at: datetime, code: Reason | None = None) -> None:
    """Stop signing and sending for a chain. With a `code` the halt may end by itself (`doubts`);
    another reason that comes to it ends that."""
    halted_code = "" if code is None else code.value
    with transaction.atomic():
        is_new = HotWallet.objects.filter(pk=wallet.pk, halted_at=None).update(
            halted_at=at, halted_reason=reason, halted_code=halted_code
        )
        is_news = is_new or (
            not halted_code
            and HotWallet.objects.filter(pk=wallet.pk)
            .exclude(halted_code="")
            .update(halted_reason=reason, halted_code="")
        )
        if is_news:
            audit.record("hot_wallet.halted", target=wallet, name=wallet.pk, reason=reason)
    _halts.labels(wallet.pk).inc()
    log.error("hot_wallet_halted", chain=wallet.pk, reason=reason)


def halt_behind(wallet: HotWallet, nonce_on_chain: int, at: datetime) -> None:
    """The chain is ahead of our records: halt, and let a person look at everything that isn't
    signed."""
    halt(
        wallet,
        f"The chain is at nonce {nonce_on_chain}, our records end at {wallet.next_nonce}",
        at,
    )
    _doubt(wallet, at, at)


def _doubt(wallet: HotWallet, requested_until: datetime, at: datetime) -> None:
    """Marks rows that were requested by then and aren't signed: they may have been sent all the
    same, and a person decides."""
    waiting = OutgoingTransaction.objects.filter(
        chain=wallet.chain_id, status=_Status.REQUESTED
    ).exclude(purpose=_SWEEP)
    for row in waiting.filter(requested_at__lte=requested_until).select_for_update(of=("self",)):
        finish(row, _Status.REVIEW, at, Reason.MAY_BE_SENT)


def locked(chain: Chain) -> dict[str, HotWallet]:
    """The chain's wallets by key, locked in the order of their numbers, which everybody keeps who
    locks several."""
    rows = HotWallet.objects.select_for_update().filter(chain=chain).order_by("number")
    return {row.pk: row for row in rows}


def look_back(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Of a wallet halted so: keep what the chain knows of it, for the person who looks."""
    wallet.refresh_from_db()
    if wallet.halted_at is None:
        return
    try:
        history.read(wallet, nodes, at)
    except (history.HistoryUnread, RpcError) as error:
        log.warning("history_unread", chain=wallet.pk, error=str(error))


def resume(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """Go on after a person has looked; nonces continue at the chain's count when it is ahead, and
    what is there is remembered.

    When it is ahead, what was asked for before the halt goes to review: the halt may have come
    before the signer could see it, as after a restore. Raises HistoryUnread when the chain can't
    tell what the wallet has sent.
    """
    if has_coins(wallet.chain):
        _resume_coins(wallet, nodes, at)
        return
    # What any halted one of the chain has sent must be known before another one may do the same.
    halted = HotWallet.objects.filter(chain=wallet.chain_id).exclude(halted_at=None)
    for row in {other.pk: other for other in (*halted, wallet)}.values():
        history.read(row, nodes, at)
    used = int(nodes.call("eth_getTransactionCount", [wallet.address, "latest"]), 16)
    with transaction.atomic():
        row = HotWallet.objects.select_for_update().get(pk=wallet.pk)
        if used > row.next_nonce and row.halted_at is not None:
            _doubt(row, row.halted_at, at)
        row.next_nonce = max(row.next_nonce, used)
        row.halted_at = None
        row.halted_reason = ""
        row.halted_code = ""
        row.save(update_fields=["next_nonce", "halted_at", "halted_reason", "halted_code"])
        audit.record("hot_wallet.resumed", target=row, name=row.pk)
    jobs.nudge("chain.send", mode=row.chain.mode)


def _resume_coins(wallet: HotWallet, nodes: Nodes, at: datetime) -> None:
    """There are no nonces: what somebody else has sent shows by our coins that it took. Where there
    is such, what was asked for before the halt goes to review. Raises HistoryUnread."""
    newest = reader_of(wallet.chain, nodes).latest(0).number
    head = Head.objects.filter(chain=wallet.chain_id).values_list("number", flat=True).first()
    if head is None or head < newest:
        raise history.HistoryUnread(
            f"The watcher has read up to block {head or 0} of {newest}: try again when it has read"
            " them all"
        )
    own = SpendCandidate.objects.filter(spend__chain=wallet.chain_id).values("tx_hash")
    coins = CoinRecord.objects.filter(chain=wallet.chain_id, block_number__isnull=False)
    untaken = coin_purse.untaken(coins.filter(spend=None, spent_by=""))
    free = [CoinPlace(*place) for place in untaken.values_list("tx_hash", "output")]
    if any(coin is None for coin in carrier_of(wallet.chain, nodes).unspent(free)):
        raise history.HistoryUnread(
            "The wallet has transactions that we don't know and no block has yet: try again when"
            " they are mined"
        )
    with transaction.atomic():
        row = HotWallet.objects.select_for_update().get(pk=wallet.pk)
        is_known = not coins.exclude(spent_by="").exclude(spent_by__in=own).exists()
        if row.halted_at is not None and not is_known:
            _doubt(row, row.halted_at, at)
        row.halted_at = None
        row.halted_reason = ""
        row.halted_code = ""
        row.save(update_fields=["halted_at", "halted_reason", "halted_code"])
        audit.record("hot_wallet.resumed", target=row, name=row.pk)
    jobs.nudge("chain.send", mode=row.chain.mode)


def refuse(row: OutgoingTransaction, refusal: Refusal, at: datetime) -> bool:
    """End what the signer won't sign."""
    return finish(row, refusal.status, at, refusal.reason, refusal.text)


def finish(
    row: OutgoingTransaction,
    status: str,
    at: datetime,
    reason: Reason | None = None,
    text: str = "",
    **changes: Any,
) -> bool:
    """Move to an end (or to review) and wake the app that asked; False when somebody was faster."""
    with transaction.atomic():
        moved = OUTGOING.change_status(
            row, Step(status), at=at, finished_at=at, **because(reason, text), **changes
        )
        if moved:
            wake(row)
            if status == _Status.CONFIRMED and row.purpose in BRINGS:
                lanes.call_back(row.chain_id)
                jobs.enqueue("chain.sweep", mode=row.mode)
            if status == _Status.REVIEW:
                message = (
                    "outgoing_not_approved"
                    if row.reason_code in UNSIGNABLE
                    else "outgoing_needs_review"
                )
                log.error(message, outgoing=str(row.pk), chain=row.chain_id, reason=row.reason_code)
    return moved


def wake(row: OutgoingTransaction) -> None:
    """The app that asked."""
    jobs.announce(lanes.news_of(row.purpose), mode=row.mode)


def resolve_as_sent(row: OutgoingTransaction, tx_hash: str, nodes: Nodes, at: datetime) -> None:
    """A person found the transaction that did it: it must be of our wallet and move exactly what
    was asked for. One that was mined already is confirmed whatever its logs say."""
    if row.reason_code == Reason.MOVED_OTHERWISE:
        if tx_hash != row.tx_hash:
            raise ResolutionRefused("It was mined as another transaction")
        with transaction.atomic():
            leave_review(row, _Status.CONFIRMED, at, finished_at=at, **because(None))
            wake(row)
        return
    holders = [row.from_address] if row.purpose == _SWEEP else addresses_of(row.chain_id)
    [transfer] = nodes.anyone([("eth_getTransactionByHash", [tx_hash])])
    holder = str(transfer.get("from")).lower() if transfer else ""
    if holder not in holders:
        raise ResolutionRefused("The hot wallet sent no such transaction")
    to, value, data = call_of(row)
    if (
        str(transfer.get("to")).lower(),
        int(transfer["value"], 16),
        str(transfer["input"]).lower(),
    ) != (
        to,
        value,
        data,
    ):
        raise ResolutionRefused("That transaction moves something else")
    nonce = int(transfer["nonce"], 16)
    with transaction.atomic():
        history.explain(row, [holder], at, tx_hash)
        if (
            OutgoingTransaction.objects.filter(chain=row.chain_id, from_address=holder, nonce=nonce)
            .exclude(pk=row.pk)
            .exists()
        ):
            raise ResolutionRefused("That transaction belongs to another record")
        record = SignedTransaction.objects.filter(tx_hash=tx_hash).first()
        if record is None:
            SignedTransaction.objects.create(
                outgoing=row,
                tx_hash=tx_hash,
                raw="",
                max_fee_wei=0,
                priority_fee_wei=0,
                signed_at=at,
                broadcast_at=at,
            )
        leave_review(
            row,
            _Status.SUBMITTED,
            at,
            nonce=nonce,
            from_address=holder,
            tx_hash=tx_hash,
            submitted_at=at,
            finished_at=None,
            **because(None),
        )


def resolve_as_unsent(row: OutgoingTransaction, at: datetime) -> None:
    """A person found that nothing was sent: what was never signed is asked for and approved again,
    what lost its nonce or was mined and moved nothing has failed."""
    _refuse_if_it_may_be_mined(row)
    with transaction.atomic():
        if row.nonce is None and row.batch_id is None:
            history.explain(row, addresses_of(row.chain_id), at)
            leave_review(
                row,
                _Status.REQUESTED,
                at,
                requested_at=at,
                finished_at=None,
                spend=None,
                approval=approvals.approve(row),
                **because(None),
            )
            jobs.enqueue("chain.send", row.pk, mode=row.mode)
        else:
            is_mined = row.reason_code == Reason.MOVED_OTHERWISE
            reason = Reason.MOVED_NOTHING if is_mined else Reason.NONCE_TAKEN
            leave_review(row, _Status.FAILED, at, finished_at=at, **because(reason))
            if not is_mined:
                # Somebody else has sent something: a person ends that halt.
                HotWallet.objects.filter(chain=row.chain_id, address=row.from_address).update(
                    halted_code=""
                )
            wake(row)


def resolve_by_sending_again(row: OutgoingTransaction, at: datetime) -> None:
    """A person lets the stored bytes of what was signed go out again, as one that failed and was
    undone by the chain has to."""
    if (
        not row.undone_count
        or not row.candidates.filter(tx_hash=row.tx_hash).exclude(raw="").exists()
    ):
        raise ResolutionRefused("Only what the chain has undone is sent again")
    with transaction.atomic():
        row.candidates.filter(tx_hash=row.tx_hash).update(broadcast_at=None)
        leave_review(
            row,
            _Status.SUBMITTED,
            at,
            submitted_at=at,
            finished_at=None,
            block_number=None,
            block_hash="",
            **because(None),
        )
    jobs.enqueue("chain.send", row.pk)


def cancel(row: OutgoingTransaction, at: datetime) -> None:
    """A person gives up what was never signed: it has failed, and the app that asked gives the
    coins back."""
    if row.nonce is not None or (row.batch_id is not None and row.tx_hash):
        raise ResolutionRefused("It was signed: say whether it was sent")
    _refuse_if_it_may_be_mined(row)
    with transaction.atomic():
        leave_review(row, _Status.FAILED, at, finished_at=at, **because(Reason.GIVEN_UP))
        wake(row)


def _refuse_if_it_may_be_mined(row: OutgoingTransaction) -> None:
    """Of an order whose bytes take coins: they can't be mined once a final block has its first coin
    go elsewhere."""
    spend = row.spend
    if spend is None:
        return
    coin = CoinRecord.objects.filter(
        chain=row.chain_id, tx_hash=spend.first_tx_hash, output=spend.first_output
    ).first()
    head = Head.objects.filter(chain=row.chain_id).values_list("number", flat=True).first()
    if (
        coin is None
        or head is None
        or coin.spent_number is None
        or coin.spent_number > final_number(row.chain, head)
        or spend.candidates.filter(tx_hash=coin.spent_by).exists()
    ):
        raise ResolutionRefused("It was signed, and may still be mined: its coin is not gone")


def leave_review(row: OutgoingTransaction, status: str, at: datetime, **changes: Any) -> None:
    if row.status != _Status.REVIEW or not OUTGOING.change_status(
        row, Step(status), at=at, **changes
    ):
        raise ResolutionRefused("It is not in review")


def addresses_of(chain_id: str) -> list[str]:
    """Of the chain's wallets, in the order of their numbers."""
    wallets = HotWallet.objects.filter(chain=chain_id).order_by("number")
    return list(wallets.values_list("address", flat=True))


def in_flight(wallet: HotWallet) -> bool:
    rows = OutgoingTransaction.objects.filter(own(wallet), chain=wallet.chain_id)
    return rows.filter(status__in=IN_FLIGHT).exists()

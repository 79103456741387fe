"""The one follower of coins that leave: each transfer is asked for once, and followed to its end.

An app has a class for each purpose: which records are under way, what is to be sent for one, and
what becomes of it when its transfer is submitted, confirmed, failed or in review. Locks, new
attempts, simulated coins, the test clock and notifications are here. The table of these classes is
`SENDING` in config/followers.py.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar, cast

import structlog
from django.conf import settings
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from apps.assets.models import Asset
from apps.chain import simulated
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.families import stored
from apps.chain.sending import attempts, sender
from apps.core import clock
from apps.core.money import amount_text
from apps.core.process.failpoints import failpoint
from apps.core.rows import Job
from apps.stores.notices.notifications import NewNotification, record

log = structlog.get_logger(__name__)
RowT = TypeVar("RowT")
_Sent = OutgoingTransaction.Status
UNKNOWN_FAILURE = "The transaction failed"
IN_REVIEW = "We check what became of it. There’s nothing for you to do."


@dataclass(frozen=True)
class TransferOrder:
    """The transfer to ask for. The reference is the record's key unless it says another."""

    asset: Asset
    to: str
    amount_atomic: int
    call_data: str = ""
    receives_asset_id: str | None = None


class TransferFollower(Generic[RowT]):
    """A purpose, as the runner sees it. The methods from `order` on run in a transaction, under the
    lock of the record; `at` is the time by its store's clock.

    `noun` and `notification` are how a store's people are notified of a failure or a review, and
    what is in the inbox while staff look at it. Without a notification a record tells of itself, or
    it is the service's own and its operators are notified.
    """

    purpose: str
    purposes: Sequence[str] = ()  # of one that follows several
    noun: str = ""
    notification: str = ""
    # The dashboard's page of a record: its folder, and the column that names it there.
    page: str = ""
    page_key: str = "pk"
    # What a stopped token has reverted is asked for again.
    is_repeated: bool = True
    failpoint: str = ""
    job: Job
    # The records, and those of their statuses in which one is under way or not sent yet.
    model: type[models.Model]
    open_statuses: Collection[str] = ("pending", "submitted")
    unsent: Collection[str] = ("pending",)
    oldest_by: str = "created_at"
    joined: Sequence[str] = ("asset__chain", "store")

    # --- what an app says ---

    def rows(self) -> "QuerySet[Any]":
        """The records that are under way, oldest first."""
        rows = self.model._default_manager.filter(status__in=self.open_statuses)
        return rows.order_by(self.oldest_by)

    def locked(self, key: Any) -> RowT:
        """The record under its lock, as it is now."""
        rows = self.model._default_manager.select_for_update(no_key=True, of=("self",))
        return cast(RowT, rows.select_related(*self.joined).get(pk=key))

    def is_open(self, row: Any) -> bool:
        return row.status in self.open_statuses

    def path(self, reference: str) -> str:
        """The page of a record; empty when the reference is of no record of these."""
        if not self.page:
            return ""
        rows = self.model._default_manager.filter(pk=attempts.subject_of(reference))
        key = rows.values_list(self.page_key, flat=True).first()
        return f"/dashboard/{self.page}/{key}" if key else ""

    def reference(self, row: Any) -> str:
        """The reference of the present attempt."""
        return str(row.pk)

    def order(self, row: RowT, at: datetime) -> TransferOrder | None:
        """The transfer to ask for; None when nothing is to be asked for now."""
        raise NotImplementedError

    def attempt_failed(self, transfer: OutgoingTransaction, at: datetime) -> None:
        """Another attempt follows this one, which has cost gas."""
        raise NotImplementedError

    def submitted(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """It is on the chain. Said again whenever the record is looked at, and before its
        confirmation."""

    def confirmed(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """It is there for good."""
        raise NotImplementedError

    def failed(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """It moved nothing and never will, for its `reason`; one that the chain reverted has paid
        its gas."""
        raise NotImplementedError

    def in_review(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """Only a person can say what became of it: nothing is booked and nothing given back."""

    def is_review_news(self, row: RowT, transfer: OutgoingTransaction) -> bool:
        return not transfer.handled_status

    def waiting(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """Nothing new, or after a review it is to be sent again."""

    # --- the runner ---

    def advance(self, mode: str = "") -> int:
        """Move every record (of a mode) one step, each in its own transaction; how many were looked
        at."""
        rows = self.rows()
        rows = rows.filter(mode=mode) if mode else rows
        return self.job.walk(rows.values_list("pk", flat=True), self.advance_one, mode=mode)

    def advance_one(self, key: Any) -> RowT:
        """Advances a record; an ended one stays as it is."""
        with transaction.atomic():
            row = self.locked(key)
            if self.is_open(row):
                self.step(row, self.now(row))
            return row

    def now(self, row: Any) -> datetime:
        return clock.now(row.store, row.mode)

    def step(self, row: Any, at: datetime) -> None:
        """Ask once per attempt, then do what its transfer says."""
        if getattr(row, "is_simulated", False):
            self._simulate(row, at)
            return
        order = self.order(row, at)
        if order is None:
            return
        transfer = self.newest(row, order, at)
        if self.failpoint:
            failpoint(self.failpoint)
        self.follow(row, transfer, at)

    def newest(self, row: Any, order: TransferOrder, at: datetime) -> OutgoingTransaction:
        """The attempt that decides, asked for if need be."""
        transfer = self.request(row, order, self.reference(row))
        while self.is_repeated and (reference := attempts.next_after(transfer)) is not None:
            if transfer.handled_status != transfer.status:
                self.attempt_failed(transfer, at)
                sender.mark_handled(transfer)
            transfer = self.request(row, order, reference)
        return transfer

    def request(self, row: Any, order: TransferOrder, reference: str) -> OutgoingTransaction:
        """Of whatever has a mode, and maybe a store."""
        return sender.request_one(self.transfer(row, order, reference, clock.real_now()))

    def transfer(
        self, row: Any, order: TransferOrder, reference: str, real: datetime
    ) -> OutgoingTransaction:
        """The transfer of an order, not yet written."""
        return OutgoingTransaction(
            mode=row.mode,
            store_id=getattr(row, "store_id", None),
            chain_id=order.asset.chain_id,
            asset_id=order.asset.pk,
            purpose=self.purpose,
            reference=reference,
            to_address=stored(order.to),
            amount_atomic=order.amount_atomic,
            call_data=order.call_data,
            receives_asset_id=order.receives_asset_id,
            requested_at=real,
        )

    def follow(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """Act on the status of the transfer, once: its end is ticked off in the same transaction.
        A review of one that was booked before changes nothing."""
        if transfer.status in (_Sent.SUBMITTED, _Sent.CONFIRMED):
            self.submitted(row, transfer, at)
        if transfer.status == _Sent.CONFIRMED:
            self.confirmed(row, transfer, at)
        elif transfer.status == _Sent.FAILED:
            transfer.reason = transfer.reason or UNKNOWN_FAILURE
            self.failed(row, transfer, at)
            self.notify(transfer, "failed", transfer.reason)
        elif transfer.status == _Sent.REVIEW and self.is_review_news(row, transfer):
            self.in_review(row, transfer, at)
            self.notify(transfer, "under_review", IN_REVIEW)
        else:
            self.waiting(row, transfer, at)
            return
        sender.mark_handled(transfer)

    def fail_unasked(
        self, row: Any, asset: Asset, amount_atomic: int, reason: str, at: datetime
    ) -> None:
        """Nothing was asked for, and nothing will be: the transfer in its place is no row."""
        transfer = OutgoingTransaction(
            mode=row.mode,
            store_id=row.store_id,
            asset=asset,
            purpose=self.purpose,
            reference=str(row.pk),
            amount_atomic=amount_atomic,
            reason=reason,
        )
        self.failed(row, transfer, at)
        self.notify(transfer, "failed", reason)

    def notify(self, transfer: OutgoingTransaction, outcome: str, text: str) -> None:
        """The store's people hear of it, once for each record; of the service's own coins its
        operators do. Of any review staff are notified as it begins (`hot_wallets.finish`)."""
        if self.notification and transfer.store_id is not None:
            words = "failed" if outcome == "failed" else "is under review"
            amount = amount_text(transfer.amount_atomic, transfer.asset.atomic_decimals)
            coins = f"{amount} {transfer.asset.coin_symbol}"
            title = f"{self.noun} of {coins} {words}"
            subject = f"{attempts.subject_of(transfer.reference)}:{outcome}"
            page = self.path(transfer.reference)
            place = transfer.store_id, transfer.mode, self.notification
            record(NewNotification(*place, subject, title, page, text, coins))
        elif outcome == "failed":
            of = {"outgoing": str(transfer.pk), "purpose": transfer.purpose}
            log.error("own_transfer_failed", **of, reason=transfer.reason_code)

    # --- simulated coins, and the test clock ---

    def _simulate(self, row: Any, at: datetime) -> None:
        """Submitted at once, confirmed when `simulated` says that it has arrived."""
        transfer = OutgoingTransaction(
            reference=str(row.pk), tx_hash=row.tx_hash or simulated.hash_of(row.pk)
        )
        if row.status in self.unsent:
            self.submitted(row, transfer, at)
        if row.status == "submitted" and simulated.has_arrived(
            row.submitted_at, row.submitted_real_at, at, clock.real_now()
        ):
            self.confirmed(row, transfer, at)

    def next_due(self, store_id: uuid.UUID, after: datetime | None) -> datetime | None:
        """Next step of the store's simulated records by its test clock: a new one at once, a
        submitted one after its minute."""
        rows = self._simulated(store_id)
        moments = list(rows.filter(status="pending").values_list("created_at", flat=True))
        submitted = rows.filter(status="submitted").values_list("submitted_at", flat=True)
        moments += [moment + simulated.UNDER_WAY for moment in submitted if moment is not None]
        return min((moment for moment in moments if after is None or moment > after), default=None)

    def run_due(self, store_id: uuid.UUID, now: datetime) -> None:
        due = self._simulated(store_id).filter(
            Q(status="pending") | Q(status="submitted", submitted_at__lte=now - simulated.UNDER_WAY)
        )
        for key in list(due.values_list("pk", flat=True)):
            self.advance_one(key)

    def _simulated(self, store_id: uuid.UUID) -> "QuerySet[Any]":
        return self.rows().filter(store_id=store_id, mode="test", is_simulated=True)


class Booking(TransferFollower["OutgoingTransaction | None"]):
    """Of a purpose whose record is the transfer itself: what is booked when it ends."""

    def book(self, transfer: OutgoingTransaction, moved_atomic: int, at: datetime) -> None:
        raise NotImplementedError

    def confirmed(self, row: Any, transfer: OutgoingTransaction, at: datetime) -> None:
        self.book(transfer, transfer.amount_atomic, at)

    def failed(self, row: Any, transfer: OutgoingTransaction, at: datetime) -> None:
        """Books a failure; a transfer that was never signed has cost nothing."""
        if transfer.network_fee_atomic:
            self.book(transfer, 0, at)

    def rows(self) -> "QuerySet[OutgoingTransaction]":
        """Those that have ended and aren't booked, and of stores those that are new in review."""
        is_told = ~Q(handled_status="") if self.notification else Q()
        ended = sender.unhandled(*(self.purposes or (self.purpose,)))
        return ended.exclude(is_told, status=_Sent.REVIEW)

    def locked(self, key: uuid.UUID) -> OutgoingTransaction | None:
        """None when somebody has acted upon it since it was found."""
        rows = self.rows().select_for_update(of=("self",), no_key=True)
        return rows.filter(pk=key).first()

    def is_open(self, row: OutgoingTransaction | None) -> bool:
        return row is not None

    def now(self, row: OutgoingTransaction) -> datetime:
        return row.finished_at or clock.real_now()

    def step(self, row: OutgoingTransaction, at: datetime) -> None:
        self.follow(row, row, at)


@cache
def followers() -> tuple[TransferFollower[Any], ...]:
    """Followers of all purposes; a purpose with several kinds of records has one for each."""
    return tuple(import_string(path) for path in settings.SENDING)


def shown_in_review() -> list[str]:
    """The purposes that a store's people are shown while staff look at them."""
    return [follower.purpose for follower in followers() if follower.notification]


def place_of(transfer: OutgoingTransaction) -> tuple[str, str]:
    """The noun of a transfer's record, and its page; the inbox where no record is known."""
    for follower in followers():
        if follower.purpose == transfer.purpose and (path := follower.path(transfer.reference)):
            return follower.noun, path
    return "Transfer", "/dashboard/attention"

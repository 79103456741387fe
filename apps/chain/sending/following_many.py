"""The follower of coins that leave, for many records in a statement: ask for their transfers, and
note that they are submitted or confirmed.

Stores take turns, so many records of one don't delay those of another. What fails as a batch goes
one by one, and what no batch moves is left to `TransferFollower.advance_one`.
"""

import uuid
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import InterfaceError, OperationalError, transaction

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender
from apps.chain.sending.following import RowT, TransferFollower
from apps.core import clock
from apps.core.db.sql import Statement, array
from apps.core.process.failpoints import failpoint
from apps.core.rows import PAUSED_SQL

BATCH_MAX = 250
# Records that a step didn't move are left out of its next batches, so many at most.
UNMOVED_MAX = 10 * BATCH_MAX
_Sent = OutgoingTransaction.Status
# The transfer of a record's present attempt.
_SENT = """
LEFT JOIN chain_outgoingtransaction o ON o.purpose = '{purpose}' AND o.reference = {reference}
"""
_OPEN = f"""
{{is_open}} AND (p.mode = %(mode)s OR %(mode)s = '') AND p.id::text NOT IN ({PAUSED_SQL})
"""  # our own text
_TURNS = """
SELECT id FROM (
    SELECT p.id, p.created_at, row_number()
        OVER (PARTITION BY p.store_id, p.asset_id ORDER BY p.created_at, p.id) AS turn
    FROM {table} p {sent} WHERE {is_open} AND {condition}
) AS lane WHERE id <> ALL (%(unmoved)s::uuid[]) ORDER BY turn, created_at, id LIMIT %(limit)s
"""


class SentRow(NamedTuple):
    """A record under its lock, and its transfer under its own: the chain can't undo it
    meanwhile."""

    row: Any
    transfer: OutgoingTransaction


class BatchFollower(TransferFollower[RowT]):
    """The conditions are SQL on the record `p`, never of input: which are open, which something has
    to be asked outside for first, which may be asked for, and of which a transfer that is submitted
    or confirmed is news; of those that a transfer `o` has turned each is moved alone."""

    reference_sql: str
    is_open_sql: str
    is_unprepared_sql: str
    is_ready_sql: str
    is_unsubmitted_sql: str
    is_submitted_sql: str
    is_turned_sql: str

    # --- what an app says of many ---

    def prepare_many(self, keys: Sequence[uuid.UUID]) -> None:
        """Ask outside what has to be known before they are sent. Not inside a transaction."""

    def is_ready(self, row: RowT) -> bool:
        """Tell whether the locked record may be asked for."""
        raise NotImplementedError

    def submitted_many(self, sent: Sequence[SentRow]) -> None:
        raise NotImplementedError

    def confirmed_many(self, sent: Sequence[SentRow]) -> Sequence[OutgoingTransaction]:
        """Book them; the transfers of those that were booked."""
        raise NotImplementedError

    def not_together(self, step: str, count: int) -> None:
        """A batch has failed: log it."""
        raise NotImplementedError

    def submitted(self, row: RowT, transfer: OutgoingTransaction, at: Any) -> None:
        self.submitted_many([SentRow(row, transfer)])

    def confirmed(self, row: RowT, transfer: OutgoingTransaction, at: Any) -> None:
        self.confirmed_many([SentRow(row, transfer)])

    # --- the runner ---

    def __init__(self) -> None:
        unprepared = f"{self.is_unprepared_sql} AND o.id IS NULL"
        ready = f"{self.is_ready_sql} AND o.id IS NULL"
        submitted = f"{self.is_unsubmitted_sql} AND o.status = '{_Sent.SUBMITTED}'"
        confirmed = f"{self.is_submitted_sql} AND o.status = '{_Sent.CONFIRMED}'"
        self._steps: tuple[tuple[str, Statement, Callable[[list[uuid.UUID]], None]], ...] = (
            ("prepare", self._turns(unprepared), self.prepare_many),
            ("ask", self._turns(ready), self._ask_many),
            ("submit", self._turns(submitted), self._submit_many),
            ("confirm", self._turns(confirmed), self._confirm_many),
            ("turn", self._turns(self.is_turned_sql), self._each_alone),
        )

    @property
    def sent_sql(self) -> str:
        return _SENT.format(purpose=self.purpose, reference=self.reference_sql)

    @property
    def looked_at_sql(self) -> str:
        """Of the records that aren't paused; with the arguments of `arguments`."""
        return _OPEN.format(is_open=self.is_open_sql)

    def arguments(self, mode: str) -> dict[str, object]:
        return {"mode": mode, "job": self.job.name, "now": clock.real_now()}

    def _turns(self, condition: str) -> Statement:
        return Statement(
            _TURNS.format(
                table=self.model._meta.db_table,
                sent=self.sent_sql,
                is_open=self.looked_at_sql,
                condition=condition,
            )
        )

    def advance_together(self, mode: str = "") -> int:
        """Every step for everything (of a mode) that has one to take; how many were taken."""
        done = 0
        for name, statement, step in self._steps:
            before: set[uuid.UUID] = set()
            unmoved: set[uuid.UUID] = set()
            while len(unmoved) < UNMOVED_MAX and (page := self._keys(statement, mode, unmoved)):
                unmoved |= before.intersection(page)
                keys = [key for key in page if key not in before]
                if keys:
                    self._try(name, step, keys)
                before |= set(keys)
                done += len(keys)
        return done

    def _keys(
        self, statement: Statement, mode: str, unmoved: Collection[uuid.UUID]
    ) -> list[uuid.UUID]:
        values = {"limit": BATCH_MAX, "unmoved": array(unmoved), **self.arguments(mode)}
        return [key for (key,) in statement.rows(**values)]

    def _try(
        self, name: str, step: Callable[[list[uuid.UUID]], None], keys: list[uuid.UUID]
    ) -> None:
        try:
            step(keys)
        except (InterfaceError, OperationalError):
            raise  # the database's affair, not a row's
        except Exception:
            self.not_together(name, len(keys))
            self._each_alone(keys)

    def _each_alone(self, keys: list[uuid.UUID]) -> None:
        self.job.each(lambda: keys, self.advance_one, id_of=str)

    def _locked_many(self, keys: Sequence[uuid.UUID]) -> list[Any]:
        """Those that nobody else is at."""
        rows = self.model._default_manager.select_for_update(of=("self",), skip_locked=True)
        return list(rows.select_related("asset__chain", "store").filter(pk__in=keys).order_by("pk"))

    def _ask_many(self, keys: list[uuid.UUID]) -> None:
        """Once per attempt; a store's in the order in which they were made."""
        with transaction.atomic():
            rows = [row for row in self._locked_many(keys) if self.is_ready(row)]
            real = clock.real_now()
            transfers: dict[str, list[OutgoingTransaction]] = {}
            for row in sorted(rows, key=lambda row: row.created_at):
                order = self.order(row, self.now(row))
                if order is not None:
                    at = real + timedelta(microseconds=len(transfers.get(row.mode, ())))
                    transfer = self.transfer(row, order, self.reference(row), at)
                    transfers.setdefault(row.mode, []).append(transfer)
            for together in transfers.values():
                sender.request_many(together)
            failpoint(self.failpoint)

    def _sent(self, keys: list[uuid.UUID], status: str) -> list[SentRow]:
        rows = self._locked_many(keys)
        row_of = {self.reference(row): row for row in rows}
        transfers = OutgoingTransaction.objects.select_for_update(no_key=True).filter(
            purpose=self.purpose, reference__in=row_of, status=status
        )
        by_reference = {transfer.reference: transfer for transfer in transfers}
        return [
            SentRow(row, by_reference[reference])
            for reference, row in row_of.items()
            if reference in by_reference
        ]

    def _submit_many(self, keys: list[uuid.UUID]) -> None:
        with transaction.atomic():
            self.submitted_many(self._sent(keys, _Sent.SUBMITTED))

    def _confirm_many(self, keys: list[uuid.UUID]) -> None:
        with transaction.atomic():
            sender.mark_many_handled(self.confirmed_many(self._sent(keys, _Sent.CONFIRMED)))

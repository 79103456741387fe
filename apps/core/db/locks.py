"""THE list of turns: who takes them at what. A key is locked within its turn only.

`hold_in_transaction` is an advisory lock, which ends with the transaction. What lasts longer
(`hold`, `try_hold`, `take`) is a row with a lease, by the database's clock: behind a pooler a
connection's own lock belongs to the next user of it. A process that dies gives its turns back when
their leases end.
"""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum, unique

import structlog
from django.db import Error as DatabaseError
from django.db import connection

log = structlog.get_logger(__name__)
LEASE_SECONDS = 8
RENEWED_EVERY_SECONDS = 2
LOOK_SECONDS = 0.05
_TAKE = """
INSERT INTO core_lease (turn, key, holder, until)
    VALUES (%s, %s, %s, clock_timestamp() + %s * interval '1 second')
ON CONFLICT (turn, key) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
    WHERE core_lease.until < clock_timestamp()
RETURNING turn
"""
_RENEW = (
    "UPDATE core_lease SET until = clock_timestamp() + %s * interval '1 second' WHERE holder = ANY"
    " (%s::uuid[])"
)


@unique
class LockKind(IntEnum):
    """The second half of a lock's number; the first is its key. Running processes of two versions
    must agree on them."""

    TEST_CLOCK = 7
    CHAIN_SENDER = 8
    PAYOUT_CAPS = 9
    CARD_SESSION = 10
    CHAIN_WATCHER = 11
    TREASURY = 12
    MANDATES = 13
    AUDIT_SEALS = 14
    PAYMENT_SEALS = 15
    DRAWING = 16
    SWAPS_OF_A_STORE = 17
    PAYOUT_APPROVALS = 18
    CHAIN_FOLLOWER = 19
    FALLBACK_JOBS = 20
    DOMAINS_OF_AN_OWNER = 21
    CORRECTIONS = 22


# One for everybody, inside a statement of the hottest queue; of one number, so it meets none of the
# above but by chance.
WEBHOOK_CLAIM = 0x7765626868


def hold_in_transaction(turn: LockKind, key: object) -> None:
    """Wait for the turn, and keep it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))", [str(key), turn.value]
        )


@contextmanager
def hold(turn: LockKind, key: object) -> Iterator[None]:
    """Wait for the turn. Not inside a transaction."""
    while (lease := take(turn, key)) is None:
        time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        release(lease)


@contextmanager
def try_hold(turn: LockKind, key: object) -> Iterator[bool]:
    """Takes the turn if it is free, at once. Not inside a transaction."""
    lease = take(turn, key)
    try:
        yield lease is not None
    finally:
        if lease is not None:
            release(lease)


@dataclass(frozen=True)
class LockLease:
    """A turn that this process has, and keeps until it lets go or dies."""

    turn: int
    key: str
    holder: uuid.UUID


def take(turn: LockKind, key: object) -> LockLease | None:
    """Take the turn until `release`; None when another has it."""
    lease = LockLease(turn.value, str(key), uuid.uuid4())
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [lease.turn, lease.key, lease.holder, LEASE_SECONDS])
        if cursor.fetchone() is None:
            return None
    _keeper.keep(lease)
    return lease


def is_held(lease: LockLease) -> bool:
    """True if it is still ours, which a process that was stopped for long can't know."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM core_lease WHERE holder = %s AND until > clock_timestamp()",
            [lease.holder],
        )
        return cursor.fetchone() is not None


def release(lease: LockLease) -> None:
    _keeper.drop(lease)
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM core_lease WHERE turn = %s AND key = %s AND holder = %s",
            [lease.turn, lease.key, lease.holder],
        )


class _Keeper:
    """A thread that renews this process's leases while it has any; it doesn't live on in a forked
    child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = set[LockLease]()
        self._thread = threading.Thread()

    def keep(self, lease: LockLease) -> None:
        with self._lock:
            self._held.add(lease)
            if not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()

    def drop(self, lease: LockLease) -> None:
        with self._lock:
            self._held.discard(lease)

    def _run(self) -> None:
        while True:
            time.sleep(RENEWED_EVERY_SECONDS)
            with self._lock:
                holders = [lease.holder for lease in self._held]
                if not holders:
                    self._thread = threading.Thread()
                    return
            self._renew(holders)

    def _renew(self, holders: list[uuid.UUID]) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(_RENEW, [LEASE_SECONDS, holders])
        except DatabaseError as error:  # the next time it may be back
            log.warning("leases_not_renewed", error=type(error).__name__)
        finally:
            connection.close()


_keeper = _Keeper()

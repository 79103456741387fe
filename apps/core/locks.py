"""THE list of PostgreSQL's advisory locks: who takes turns at what. A key is locked within its turn only.

`hold` and `try_hold` last until the block ends, outside of transactions too; `hold_in_transaction` ends with the transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from django.db import connection


class Turn(IntEnum):
    """The second half of a lock's number; the first is its key. Running processes of two versions must agree on them."""

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


# One for everybody, inside a statement of the hottest queue; of one number, so it meets none of the above but by chance.
WEBHOOK_CLAIM = 0x7765626868


def hold_in_transaction(turn: Turn, key: object) -> None:
    """Wait for the turn, and keep it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))", [str(key), turn.value])


@contextmanager
def hold(turn: Turn, key: object) -> Iterator[None]:
    """Wait for the turn."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, %s))", [str(key), turn.value])
        try:
            yield
        finally:
            release(turn, key)


@contextmanager
def try_hold(turn: Turn, key: object) -> Iterator[bool]:
    """Whether the turn was free, at once."""
    is_mine = take(turn, key)
    try:
        yield is_mine
    finally:
        if is_mine:
            release(turn, key)


def take(turn: Turn, key: object) -> bool:
    """Take the turn until `release` or the end of the connection; False when another has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, %s))", [str(key), turn.value])
        return bool(cursor.fetchone()[0])


def release(turn: Turn, key: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, %s))", [str(key), turn.value])

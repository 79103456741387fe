"""Checkpoints keep a balance's cost flat: an account whose tail has grown long has it folded into
one figure."""

from django.db import connection

from apps.core import clock
from apps.core.rows import PAUSED_SQL, Job

TAIL_MAX = 1_000
JOB = Job("ledger.checkpoint", limit=500)

_LONG_TAILS = f"""
SELECT a.id FROM ledger_account a
WHERE EXISTS (SELECT 1 FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid
    OFFSET %(tail_max)s)
    AND a.id::text NOT IN ({PAUSED_SQL})
LIMIT %(limit)s
"""  # noqa: S608  # our own text


def fold_long_tails(tail_max: int = TAIL_MAX) -> int:
    """Give a checkpoint to the accounts with more than `tail_max` entries after theirs; how many
    there were.

    A transaction that runs for long holds the boundary back: then tails stay, balances stay right,
    and a later run folds them.
    """
    return JOB.each(lambda: _long_tails(tail_max), _fold)


def _long_tails(tail_max: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            _LONG_TAILS,
            {"tail_max": tail_max, "limit": JOB.limit, "job": JOB.name, "now": clock.real_now()},
        )
        return [row[0] for row in cursor.fetchall()]


def _fold(account_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_checkpoint(%s)", [account_id])

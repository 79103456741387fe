"""Checkpoints keep a balance's cost flat: an account whose tail has grown long has it folded into
one figure."""

from django.db import connection

from apps.core.marks import ReadingMark
from apps.core.rows import Job
from apps.ledger.long_tails import TAIL_MAX, LongTails

JOB = Job("ledger.checkpoint", limit=500)
TAILS = LongTails(
    JOB,
    ReadingMark(f"{JOB.name}:read"),
    accounts="ledger_account a WHERE true",
    tail="e.account_id = a.id AND e.id > a.checkpoint_id",
)


def fold_long_tails(tail_max: int = TAIL_MAX) -> int:
    """Give a checkpoint to the accounts with more than `tail_max` entries after theirs; how many
    there were.

    A transaction that runs for long holds the boundary back: then tails stay, balances stay right,
    and the run that follows the account's next entry folds them.
    """
    return TAILS.each(_fold, tail_max)


def _fold(account_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_checkpoint(%s)", [account_id])

"""Checkpoints keep a balance's cost flat: an account whose tail has grown long has it folded into
one figure. A run looks at the accounts that got entries since the last one."""

from django.db import connection

from apps.core import clock
from apps.core.db.sql import Arguments
from apps.core.marks import Mark
from apps.core.rows import PAUSED_SQL, Job

TAIL_MAX = 1_000
ENTRIES_AT_ONCE = 50_000
JOB = Job("ledger.checkpoint", limit=500)
MARK = Mark("ledger.checkpoint:read")

_NEWEST = """
SELECT max(id) FROM (SELECT id FROM ledger_entry WHERE id > %(place)s ORDER BY id
    LIMIT %(limit)s) entry
"""
# Those that failed come again after their pause, whether or not they get another entry.
_LONG_TAILS = f"""
SELECT a.id FROM ledger_account a
WHERE a.id IN (SELECT account_id FROM ledger_entry WHERE id > %(place)s AND id <= %(newest)s
               UNION SELECT unnest(%(again)s::bigint[]))
  AND EXISTS (SELECT 1 FROM ledger_entry e WHERE e.account_id = a.id AND e.xid >= a.checkpoint_xid
      OFFSET %(tail_max)s)
  AND a.id::text NOT IN ({PAUSED_SQL})
ORDER BY a.id LIMIT %(limit)s
"""  # noqa: S608  # our own text


def fold_long_tails(tail_max: int = TAIL_MAX) -> int:
    """Give a checkpoint to the accounts with more than `tail_max` entries after theirs; how many
    there were.

    A transaction that runs for long holds the boundary back: then tails stay, balances stay right,
    and the run that follows the account's next entry folds them.
    """
    reading = MARK.begin()
    newest = _newest(reading.place)
    account_ids = _long_tails(tail_max, reading.place, newest)
    folded = JOB.each(lambda: account_ids, _fold)
    if folded == len(account_ids) < JOB.limit:
        reading.end(newest)
    return folded


def _newest(place: int) -> int:
    """The last entry that this run reads."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, {"place": place, "limit": ENTRIES_AT_ONCE})
        return int(cursor.fetchone()[0] or place)


def _long_tails(tail_max: int, place: int, newest: int) -> list[int]:
    values: Arguments = {
        "place": place,
        "newest": newest,
        "again": JOB.again(),
        "tail_max": tail_max,
        "limit": JOB.limit,
        "job": JOB.name,
        "now": clock.real_now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_LONG_TAILS, values)
        return [row[0] for row in cursor.fetchall()]


def _fold(account_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_checkpoint(%s)", [account_id])

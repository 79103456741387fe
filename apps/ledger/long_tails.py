"""Accounts whose tail, the entries that a figure kept elsewhere doesn't cover, has grown long.

A run looks at those that got entries since the last one. Those that failed come again after their
pause, whether or not they get another entry.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection

from apps.core import clock
from apps.core.db.sql import Arguments
from apps.core.marks import ReadingMark
from apps.core.rows import PAUSED_SQL, Job

TAIL_MAX = 1_000
ENTRIES_AT_ONCE = 50_000

_NEWEST = """
SELECT max(id) FROM (SELECT id FROM ledger_entry WHERE id > %(place)s ORDER BY id
    LIMIT %(limit)s) entry
"""
_ACCOUNTS = f"""
SELECT a.id FROM {{accounts}}
  AND a.id IN (SELECT account_id FROM ledger_entry WHERE id > %(place)s AND id <= %(newest)s
               UNION SELECT unnest(%(again)s::bigint[]))
  AND EXISTS (SELECT 1 FROM ledger_entry e WHERE {{tail}} OFFSET %(tail_max)s)
  AND a.id::text NOT IN ({PAUSED_SQL})
ORDER BY a.id LIMIT %(limit)s
"""  # noqa: S608  # our own text


@dataclass(frozen=True)
class LongTails:
    """`accounts` is SQL for the accounts `a` that it is about, up to the end of a condition;
    `tail` for which entries `e` are in the tail of one."""

    job: Job
    mark: ReadingMark
    accounts: str
    tail: str

    def each(
        self, act: Callable[[int], object], tail_max: int, entries_max: int = ENTRIES_AT_ONCE
    ) -> int:
        """Do `act` to the accounts with more than `tail_max` entries in their tail, of those in the
        next `entries_max` entries; how many there were."""
        reading = self.mark.begin()
        newest = _newest(reading.place, entries_max)
        account_ids = self._account_ids(tail_max, reading.place, newest)
        done = self.job.each(lambda: account_ids, act)
        if done == len(account_ids) < self.job.limit:
            reading.end(newest)
        return done

    def _account_ids(self, tail_max: int, place: int, newest: int) -> list[int]:
        values: Arguments = {
            "place": place,
            "newest": newest,
            "again": self.job.again(),
            "tail_max": tail_max,
            "limit": self.job.limit,
            "job": self.job.name,
            "now": clock.real_now(),
        }
        with connection.cursor() as cursor:
            cursor.execute(_ACCOUNTS.format(accounts=self.accounts, tail=self.tail), values)
            return [row[0] for row in cursor.fetchall()]


def _newest(place: int, entries_max: int) -> int:
    """The last entry that this run reads."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, {"place": place, "limit": entries_max})
        return int(cursor.fetchone()[0] or place)

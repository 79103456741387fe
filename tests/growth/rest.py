"""True if something that runs by itself has done what was due."""

import time
from collections.abc import Callable
from typing import Any

from tests.growth.catalog import ask

REST_SECONDS_MAX = 120
NOTES_MAX = 5  # rows that a run writes about itself


def comes_to_rest(run: Callable[[], object]) -> bool:
    """True if a run, before the time is up, reads on no further and writes no more than its notes:
    what it had to do it does in batches."""
    until = time.monotonic() + REST_SECONDS_MAX
    while time.monotonic() < until:
        before, marks = _rows_written(), _marks()
        run()
        if _rows_written() - before <= NOTES_MAX and _marks() == marks:
            return True
    return False


def _rows_written() -> int:
    """In all tables, since the database was made."""
    ask("SELECT pg_stat_force_next_flush()")
    return int(ask("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables")[0][0])


def _marks() -> list[tuple[Any, ...]]:
    """How far jobs have read tables that only grow."""
    return ask("SELECT job, row_id FROM core_rowturn WHERE right(job, 5) = ':read' ORDER BY job")

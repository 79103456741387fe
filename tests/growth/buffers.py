"""How much of the database a piece of work reads: every statement that Django sends is asked once
more with EXPLAIN (ANALYZE, BUFFERS), in a transaction that is rolled back.

Buffers, found in memory or not, are the same on a busy machine as on an idle one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from psycopg import ClientCursor
from psycopg.pq import TransactionStatus

# Of eight times the rows, beside what is named where it is spared.
GROWTH_MAX = 1.3
_READS = re.compile(r"\s*\(?\s*(SELECT|WITH|UPDATE|DELETE|INSERT)\b", re.IGNORECASE)
_EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)"
_PLANS = ("custom", "generic")
# Around what is undone, within a transaction and by itself.
_WITHIN = ("SAVEPOINT asked", "ROLLBACK TO asked; RELEASE asked")
_ALONE = ("BEGIN", "ROLLBACK")
_LISTS = re.compile(r"(%s|\$\d+)(::\w+)?(, (%s|\$\d+)(::\w+)?)+")


Known = dict[tuple[str, str], int]


class Reading:
    """Buffers that were read, and how often each statement was sent: those that differ in the
    length of a list are one. A statement that is known with these values isn't asked again."""

    def __init__(self, known: Known | None) -> None:
        self._known = known
        self.buffers = Counter[str]()
        self.runs = Counter[str]()

    def execute(
        self, run: Callable[..., Any], text: Any, values: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        statement = text if isinstance(text, str) else str(text)
        if not many:
            for part in self._parts(statement, values):
                name = _LISTS.sub("%s, …", part.strip())
                self.buffers[name] += self._found(part, values or None)
                self.runs[name] += 1
        return run(text, values, many, context)

    @staticmethod
    def _parts(statement: str, values: Any) -> list[str]:
        """A message may hold several statements, where values have names."""
        parts = statement.split(";") if isinstance(values, dict) or not values else [statement]
        return [part for part in parts if _READS.match(part)]

    def _found(self, text: str, values: Any) -> int:
        if self._known is None:
            return self._ask(text, values)
        key = (text, repr(values))
        if key not in self._known:
            self._known[key] = self._ask(text, values)
        return self._known[key]

    @staticmethod
    def _ask(text: str, values: Any) -> int:
        """Beside Django, which would send this through here again."""
        driver = connection.connection
        if not (isinstance(values, list) and "$1" in text):
            return _most(driver, [f"{_EXPLAIN} {text}"], values)
        return _most_of_prepared(driver, text, values)


def _most_of_prepared(driver: "psycopg.Connection[Any]", text: str, values: list[Any]) -> int:
    """With the plan for these values, and with that for any, which a connection keeps that has
    asked often: for a store of average size, beneath the policies."""
    run = f"{_EXPLAIN} EXECUTE asked ({', '.join(['%s'] * len(values))})"
    cursor = ClientCursor(driver)
    cursor.execute(f"PREPARE asked AS {text}")
    try:
        return _most(
            driver,
            [f"SET LOCAL plan_cache_mode = force_{kind}_plan; {run}" for kind in _PLANS],
            values * len(_PLANS),
        )
    finally:
        cursor.execute("DEALLOCATE asked")


def _most(driver: "psycopg.Connection[Any]", texts: list[str], values: Any) -> int:
    """Buffers of the plan that reads the most. All go in one message, and nothing of them stays."""
    is_within = driver.info.transaction_status == TransactionStatus.INTRANS
    begin, end = _WITHIN if is_within else _ALONE
    cursor = ClientCursor(driver)
    try:
        cursor.execute("".join(f"{begin}; {text}; {end}; " for text in texts), values)
    except psycopg.Error:
        cursor.execute(end)
        raise
    found = []
    while True:
        if cursor.description and cursor.description[0].name == "QUERY PLAN":
            ((plans,),) = cursor.fetchall()
            plan = plans[0]["Plan"]
            found.append(int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"]))
        if not cursor.nextset():
            return max(found)


@contextmanager
def reading(known: Known | None = None) -> Iterator[Reading]:
    """Buffers that are read within. `known` is of rows that don't change meanwhile."""
    found = Reading(known)
    with connection.cursor() as cursor:
        # What workers read in parallel is their sum anyway; without them plans stay the same.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
    with connection.execute_wrapper(found.execute):
        yield found

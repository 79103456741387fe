"""One snapshot of the database, read by several connections at once: later writes are invisible to
all of them.

Each connection has a process of PostgreSQL of its own, so questions that are bound by the server's
processor take turns on as many cores as there are connections.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from typing import TypeVar

from django.db import connection, connections, transaction

from apps.core.db import replica

Question = TypeVar("Question")
Answer = TypeVar("Answer")
# A second core is idle on nearly every server; more would be felt by anyone who takes payments
# there.
CONNECTIONS = 2


@dataclass(frozen=True)
class OpenSnapshot:
    """`helper_count` is how many connections may join this thread's: none inside a caller's
    transaction, whose writes only its own connection sees."""

    helper_count: int

    def answers(
        self, ask: Callable[[Question], Answer], questions: Sequence[Question]
    ) -> list[Answer]:
        """Each question's answer, in their order. `ask` reads by this thread's default connection,
        and runs in other threads as well; the first error ends it all."""
        waiting = deque(enumerate(questions))
        answered: dict[int, Answer] = {}

        def work() -> None:
            while waiting:
                try:
                    number, question = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                answered[number] = ask(question)

        if self.helper_count:
            _work_together(work, self.helper_count, waiting.clear)
        else:
            work()
        return [answered[number] for number in range(len(questions))]


@contextmanager
def one_snapshot() -> Iterator[OpenSnapshot]:
    """A transaction of one snapshot; inside a caller's transaction, what that one sees."""
    if connection.in_atomic_block:
        yield OpenSnapshot(helper_count=0)
        return
    with _reading():
        yield OpenSnapshot(helper_count=CONNECTIONS - 1)


def _work_together(
    work: Callable[[], None], helper_count: int, give_up: Callable[[], None]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")
        (name,) = cursor.fetchone()
    server = replica.in_place_of_primary if replica.is_in_place() else nullcontext
    with ThreadPoolExecutor(helper_count, thread_name_prefix="snapshot") as pool:
        helpers = [
            pool.submit(copy_context().run, _join, name, server, work) for _ in range(helper_count)
        ]
        try:
            work()
        finally:
            give_up()  # whatever is left after an error
    for helper in helpers:
        helper.result()


def _join(
    name: str, server: Callable[[], AbstractContextManager[None]], work: Callable[[], None]
) -> None:
    """In a thread of its own, whose connections end with it."""
    try:
        with server(), _reading(name):
            work()
    finally:
        connections.close_all()


@contextmanager
def _reading(name: str = "") -> Iterator[None]:
    """A transaction that only reads, of the snapshot that another has exported, or of a new one."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Nothing may come before it, so its scope comes after it.
            connection.begin_telling()  # type: ignore[attr-defined]  # db.postgresql
            try:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                if name:
                    cursor.execute("SET TRANSACTION SNAPSHOT %s", [name])
            finally:
                connection.end_telling()  # type: ignore[attr-defined]  # db.postgresql
            # Of every row there is: as long as that takes.
            cursor.execute("SET LOCAL statement_timeout = 0")
        yield

"""The tests' requests come in as the role of the web process, and what they leave to workers is
done as theirs. So is what they ask of the watcher."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.test import Client
from psycopg.pq import ExecStatus, TransactionStatus

from apps.agents.services import x402_settle
from apps.audit.grants import WATCHER, WEB, WORKER
from apps.chain.watching import address_looks
from apps.core import clock
from apps.core.db.postgresql.base import DatabaseWrapper
from apps.payments.services import test_wallet

# Of this thread, by role: behind a pooler a connection's own settings are another client's next.
_clients = threading.local()


@contextlib.contextmanager
def acting_as(role: str) -> Iterator[None]:
    """Act within as the role may; afterward as before."""
    connection.ensure_connection()
    if settings.DATABASE_POOLER and not connection.in_atomic_block:
        with _connected_as(role):
            yield
        return
    driver = connection.connection
    before, _ = ask(driver, f"SELECT current_setting('role'), set_config('role', '{role}', false)")
    wrapper: Any = connections[DEFAULT_DB_ALIAS]
    acted = wrapper.role
    wrapper.role = role
    try:
        yield
    finally:
        wrapper.role = acted
        # In a transaction that has failed the end of the transaction does it.
        with contextlib.suppress(psycopg.Error, AttributeError):
            ask(connection.connection, f"SELECT set_config('role', '{before}', false)")


def ask(driver: "psycopg.Connection[Any]", statement: str) -> list[str]:
    """The texts of its one row; where a transaction is open already, without a cursor, which takes
    four times as long."""
    if driver.info.transaction_status != TransactionStatus.INTRANS:
        return [str(value) for value in driver.execute(statement.encode()).fetchone() or ()]
    with driver.lock:
        answer = driver.pgconn.exec_(statement.encode())
    if answer.status != ExecStatus.TUPLES_OK:
        raise psycopg.errors.error_from_result(answer)
    return [(answer.get_value(0, place) or b"").decode() for place in range(answer.nfields)]


@contextlib.contextmanager
def _connected_as(role: str) -> Iterator[None]:
    """This thread's connection is one of the role itself."""
    before = connections[DEFAULT_DB_ALIAS]
    by_role = vars(_clients)
    if role not in by_role:
        by_role[role] = DatabaseWrapper({**before.settings_dict, "USER": role}, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = by_role[role]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = before


def forget() -> None:
    """The next connections are made anew: what they lead to isn't what it was."""
    by_role = vars(_clients)
    while by_role:
        by_role.popitem()[1].close()


def _as(role: str, do: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(do)
    def done(*args: Any, **options: Any) -> Any:
        try:
            connection.ensure_connection()
        except RuntimeError:  # a test without a database
            return do(*args, **options)
        with acting_as(role):
            return do(*args, **options)

    return done


def install() -> None:
    """Once per process. The replacement for a worker where tests have none is in
    settings.WORK_INLINE."""
    Client.request = _as(WEB, Client.request)  # type: ignore[method-assign]
    for module, name in (
        (clock, "finish"),
        (x402_settle, "advance"),
        (test_wallet, "request_test_payments"),
    ):
        setattr(module, name, _as(WORKER, getattr(module, name)))
    address_looks.look_asked = _as(WATCHER, address_looks.look_asked)

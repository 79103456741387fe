"""A connection that is one's own keeps its settings, and notices that the server has closed it
before it is used."""

from typing import Any

import pytest
from django.db import connection, connections

from apps.core.db.postgresql.base import DatabaseWrapper
from apps.core.db.tenancy import Scope
from tests.cast import Cast
from tests.core.test_tenancy import of, on_the_server

# Behind a pooler a transaction has a connection, and nobody else.
pytestmark = pytest.mark.direct


def test_the_look_up_of_a_key_sets_store_and_mode_without_a_statement_more(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Scope] = []
    cast.bakery.secrets["live"], cast.strangers.secrets["test"]
    cast.bakery.live.get("/payments"), cast.strangers.test.get("/payments")
    statements: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    monkeypatch.setattr(
        DatabaseWrapper, "_telling", lambda _, wanted: told.append(wanted) or "SELECT 1"
    )
    for api, scope in (
        (cast.bakery.live, of(cast.bakery, "live")),
        (cast.strangers.test, of(cast.strangers)),
    ):
        told.clear()
        with connection.execute_wrapper(note):
            assert api.get("/payments").status_code == 200
        assert told == []
        assert on_the_server() == scope
    assert "set_config('tillgate.stores'" in statements[0]


@pytest.mark.django_db
def test_a_connection_that_the_server_closed_is_replaced_with_the_next_request() -> None:
    mine = connection.copy()
    mine.ensure_connection()
    assert mine.is_usable()
    with mine.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert not mine.is_usable()
    mine.close()
    assert not mine.is_usable()

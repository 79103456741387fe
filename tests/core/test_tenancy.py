"""The scope of a connection: what one request left on it is never another's."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DataError, connection, transaction
from django.http import HttpRequest, StreamingHttpResponse
from django.test import RequestFactory

from apps.audit.grants import WEB
from apps.core.db import tenancy
from apps.core.db.sql import Statement
from apps.core.db.tenancy import EVERYONE, SETTINGS, Scope
from apps.core.web.middleware import RequestId
from apps.hosted import plumbing
from apps.payments.models import Payment
from apps.payments.selectors import by_reference
from tests import make
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser
from tests.roles import acting_as


def of(shop: Shop, mode: str = "test") -> Scope:
    return tenancy.of([shop.store], [mode])


def on_the_server() -> Scope:
    """The connection's settings at this moment, asked past everything of ours."""
    names = ", ".join(f"coalesce(current_setting('{name}', true), '')" for name in SETTINGS)
    stores, modes, told = connection.connection.execute(f"SELECT {names}").fetchone()
    if modes == EVERYONE:
        return Scope(stores or "{}", listeners=told or "{}", why="on")
    return Scope(stores or "{}", modes or "{}", told or "{}")


def ids() -> set[str]:
    return {str(payment) for payment in Payment.objects.values_list("id", flat=True)}


@pytest.fixture
def mine(cast: Cast) -> str:
    return str(make.payment(cast.bakery.test)["id"])


@pytest.fixture
def theirs(cast: Cast) -> str:
    return str(make.payment(cast.strangers.test)["id"])


@pytest.fixture
def as_the_web() -> Iterator[None]:
    with acting_as(WEB):
        yield


def what_the_server_reads() -> str:
    """The text that PostgreSQL is just running, as it came over the wire."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_query() WHERE 'ab' LIKE %s", ["a%"])
        ((text,),) = cursor.fetchall()
    return str(text)


def test_a_scope_goes_with_the_statement_that_needs_it(cast: Cast) -> None:
    with tenancy.within(of(cast.bakery)):
        text = what_the_server_reads()
        assert "set_config('tillgate.stores'" in text and str(cast.bakery.store.pk) in text
        assert "set_config" not in what_the_server_reads()
    with tenancy.within(of(cast.strangers)):
        assert str(cast.strangers.store.pk) in what_the_server_reads()


def test_a_prepared_statement_takes_a_new_scope_with_it_and_is_prepared_again(cast: Cast) -> None:
    asked = Statement(
        "SELECT current_query(), %(text)s::text, %(ids)s::uuid[] WHERE 'ab' LIKE 'a%'"
    )
    ids = [cast.bakery.store.pk, cast.strangers.store.pk]
    with tenancy.within(of(cast.bakery)):
        for is_first in (True, False, False):
            ((text, *values),) = asked.rows(text="50 % of 'it'", ids=ids)
            assert values == ["50 % of 'it'", ids]
            assert ("set_config" in text, "$1" in text) == (is_first, not is_first)
        assert on_the_server() == of(cast.bakery)


def test_a_page_of_a_session_sends_no_statement_that_is_its_scope_alone(
    cast: Cast, mine: str, as_the_web: None
) -> None:
    browser = Browser(cast.alice)
    browser.get("/dashboard/payments")
    texts: list[str] = []

    def note(execute: Any, sql: Any, *rest: Any) -> Any:
        texts.append(str(sql))
        return execute(sql, *rest)

    alone = re.compile(r"SELECT set_config[^;]*")
    connection.execute_wrappers.append(note)
    try:
        assert mine in browser.get(f"/dashboard/payments/{mine}").content.decode()
    finally:
        connection.execute_wrappers.remove(note)
    assert [text for text in texts if alone.fullmatch(text)] == []
    assert [text for text in texts if alone.match(text)] != []


def test_two_stores_on_one_connection_are_shown_their_own(
    cast: Cast, mine: str, theirs: str
) -> None:
    for _ in range(3):
        for shop, id in ((cast.bakery, mine), (cast.strangers, theirs)):
            assert [item["id"] for item in shop.test.get("/payments").json()["data"]] == [id]
            assert on_the_server() == of(shop)


def test_a_request_begins_with_nobodys_rows(
    cast: Cast, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the last request are hidden until a link or a credential names a store."""
    assert cast.bakery.test.get(f"/payments/{mine}").status_code == 200
    assert on_the_server() == of(cast.bakery)
    shown: list[set[str]] = []
    monkeypatch.setattr(plumbing, "by_reference", lambda reference: shown.append(ids()))
    assert Browser().get("/ABCDEFGH12345678").status_code == 404
    assert shown == [set()]


def test_a_rollback_that_takes_the_scope_back_is_noticed(
    cast: Cast, mine: str, theirs: str, as_the_web: None
) -> None:
    with tenancy.within(of(cast.bakery)):
        assert ids() == {mine}
        with contextlib.suppress(ZeroDivisionError), transaction.atomic():
            tenancy.narrow(cast.strangers.store, modes=["test"])
            assert ids() == {theirs}
            raise ZeroDivisionError
        assert ids() == {theirs}  # not what PostgreSQL has gone back to


def test_a_statement_that_fails_leaves_no_scope_behind(
    cast: Cast, mine: str, theirs: str, as_the_web: None
) -> None:
    with tenancy.within(of(cast.bakery)):
        assert ids() == {mine}
    with tenancy.within(of(cast.strangers)):
        with pytest.raises(DataError), transaction.atomic():
            connection.cursor().execute("SELECT 1/0")
        assert ids() == {theirs}
    assert ids() == set()


def test_a_request_that_fails_leaves_no_scope_behind(
    cast: Cast, mine: str, theirs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps.api import payments

    def fail(self: Any, *_: Any) -> None:
        with transaction.atomic():
            assert ids() == {mine}
            raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(payments.Summary, "get", fail)
        cast.bakery.test.client.raise_request_exception = False
        assert cast.bakery.test.get("/payments/summary").status_code == 500
    assert tenancy.current() == tenancy.NOBODY
    assert [stranger["id"] for stranger in cast.strangers.test.get("/payments").json()["data"]] == [
        theirs
    ]


def test_what_is_streamed_after_another_request_keeps_its_own_rows(
    cast: Cast, mine: str, theirs: str
) -> None:
    def streamed() -> Iterator[str]:
        for _ in range(3):
            yield ",".join(sorted(ids()))

    def view(request: HttpRequest) -> StreamingHttpResponse:
        tenancy.narrow(cast.bakery.store, modes=["test"])
        return StreamingHttpResponse(streamed())

    with acting_as(WEB):
        content = iter(RequestId(view)(RequestFactory().get("/")))  # type: ignore[arg-type]
        first = next(content)
        with tenancy.within(of(cast.strangers)):
            assert ids() == {theirs}
        assert (tenancy.current(), [first, *content]) == (tenancy.NOBODY, [mine.encode()] * 3)


def test_a_list_that_is_downloaded_is_streamed_in_its_own_scope(
    cast: Cast, mine: str, theirs: str
) -> None:
    answer = Browser(cast.alice).get("payments.csv")
    assert answer.streaming
    assert cast.strangers.test.get("/payments").status_code == 200
    with acting_as(WEB):
        told = b"".join(answer.streaming_content).decode()
    reference = Payment.objects.get(pk=mine).reference
    assert reference in told
    assert Payment.objects.get(pk=theirs).reference not in told


def test_a_public_link_opens_its_own_store(cast: Cast, mine: str, theirs: str) -> None:
    payment = Payment.objects.get(pk=mine)
    with acting_as(WEB), tenancy.within(tenancy.NOBODY):
        assert ids() == set()
        assert by_reference(payment.reference) == payment
        assert ids() == {mine}
        assert by_reference("0" * 16) is None


def test_a_platform_acts_in_two_stores(
    cast: Cast, mine: str, theirs: str, as_the_web: None
) -> None:
    with tenancy.within(of(cast.bakery)):
        with tenancy.also([cast.strangers.store], ["live"]):
            assert ids() == {mine, theirs}
        assert ids() == {mine}

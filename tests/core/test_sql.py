"""Hot statements: bound once, planned once."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.db.models import CharField, DateTimeField, Model, UUIDField
from django.db.utils import DatabaseError, DataError
from django.test.utils import CaptureQueriesContext

from apps.core import clock
from apps.core.db.prepared_reads import Query, Rows, any_viewer
from apps.core.db.sql import BlankParameter, Statement, array, rows_in_turn, statement_of
from apps.core.models import new
from apps.payments.models import Payment, PaymentAddress, PaymentEvent
from apps.webhooks.models import Endpoint
from config.databases import PREPARED_FROM_USE
from tests import make
from tests.cast import Cast, Shop


@pytest.mark.django_db
def test_a_name_may_stand_in_a_statement_more_than_once() -> None:
    statement = Statement("SELECT %(one)s::int + %(one)s::int, %(two)s::text, 100 % 7")
    assert statement.rows(two="b", one=2, unused=None) == [(4, "b", 2)]


@pytest.mark.django_db
def test_an_array_holds_what_was_put_in() -> None:
    texts = ["plain", "", 'a "quoted" one', "back\\slash", "com,ma", "{brace}", "NULL", " space "]
    assert Statement("SELECT %(texts)s::text[], %(numbers)s::numeric[]").rows(
        texts=array(texts), numbers=array([1, -(10**70)])
    ) == [(texts, [1, -(10**70)])]


@pytest.mark.django_db
def test_a_statement_that_stays_takes_values_of_other_types_and_goes_on_after_an_error() -> None:
    ask = Statement("SELECT 12 / %(by)s::numeric, %(name)s::text, %(at)s::timestamptz", stays=True)
    at = clock.real_now()
    for by, name, moment in [(2, "a", at), (Decimal("0.5"), None, None), (10**30, "b", at)] * 4:
        assert ask.rows(by=by, name=name, at=moment) == [(Decimal(12) / by, name, moment)]
        with pytest.raises(DatabaseError, match="division by zero"), transaction.atomic():
            ask.rows(by=0, name=name, at=moment)
    with pytest.raises(DataError), transaction.atomic():
        ask.rows(by=1, name="a", at="no time")
    assert ask.rows(by=1, name="a", at=at) == [(12, "a", at)]


@pytest.mark.django_db
def test_a_statement_that_stays_has_a_cursor_on_each_connection() -> None:
    ask = Statement("SELECT pg_backend_pid()", stays=True)

    def asked() -> list[Any]:
        try:
            return [ask.rows() for _ in range(3)]
        finally:
            if threading.current_thread() is not threading.main_thread():
                connection.close()

    mine = asked()
    with ThreadPoolExecutor(1) as threads:
        others = threads.submit(asked).result()
    assert mine == mine[:1] * 3
    assert others == others[:1] * 3
    assert mine[0] != others[0]
    assert asked() == mine


@pytest.mark.django_db
def test_a_statement_that_stays_is_planned_again_after_a_table_was_altered_elsewhere() -> None:
    ask = Statement("SELECT name FROM baker WHERE id = %(id)s::int", stays=True)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE baker (id int, name varchar(5))")
        for _ in range(PREPARED_FROM_USE + 1):
            assert ask.rows(id=1) == []
        cursor.execute("DO 'BEGIN ALTER TABLE baker ALTER name TYPE int USING 5; END'")
        cursor.execute("INSERT INTO baker VALUES (1, 7)")

    with pytest.raises(DatabaseError, match="cached plan"), transaction.atomic():
        ask.rows(id=1)
    assert [ask.rows(id=1) for _ in range(3)] == [[(7,)]] * 3


@pytest.mark.parametrize("model", [Payment, PaymentAddress])
def test_a_new_row_is_as_its_model_makes_it(model: type[Model]) -> None:
    given = {"created_at": clock.real_now(), "id": uuid.uuid4()}
    mine, theirs = new(model, **given), model(**given)
    assert vars(mine).keys() == vars(theirs).keys()
    for name, value in vars(theirs).items():
        if name != "_state":
            assert getattr(mine, name) == value
    assert mine._state.adding is theirs._state.adding is True
    with pytest.raises(TypeError, match="has no payer, shop"):
        new(model, shop=1, payer=2)


def test_each_new_row_has_defaults_of_its_own() -> None:
    one, other = new(Payment), new(Payment)
    assert one.pk != other.pk
    assert one.metadata is not other.metadata


@pytest.mark.django_db
def test_an_error_is_djangos() -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        Statement("SELECT 1 / %(by)s::int").rows(by=0)


@pytest.mark.django_db
def test_what_is_prepared_outlives_a_rollback_and_ends_with_a_table_that_is_altered() -> None:
    other = connection.copy()
    other.ensure_connection()
    try:
        ask = psycopg.RawCursor(other.connection)
        prepared = "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%bread%'"

        def names() -> list[str]:
            ask.execute("SELECT 'bread', $1::int", [1], prepare=True)
            return [name for (name,) in ask.execute(prepared, prepare=False).fetchall()]

        (name,) = names()
        other.set_autocommit(False)
        names()
        other.savepoint_rollback(other.savepoint())
        assert names() == [name]
        other.rollback()
        assert names() == [name]
        ask.execute("CREATE TEMPORARY TABLE baker (id int)")
        ask.execute("ALTER TABLE baker ADD name text")
        assert names() != [name]
    finally:
        other.close()


@pytest.mark.django_db
def test_what_is_altered_elsewhere_is_planned_again_after_one_refusal() -> None:
    """A release that widens a column while processes of the one before it run: no statement is
    refused forever. The connection doesn't know what a block does, as on another connection."""
    ask = Statement("SELECT name FROM baker WHERE id = %(id)s::int")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE baker (id int, name varchar(5))")
        for _ in range(PREPARED_FROM_USE + 1):
            assert ask.rows(id=1) == []
        cursor.execute("DO 'BEGIN ALTER TABLE baker ALTER name TYPE varchar(9); END'")

    with pytest.raises(DatabaseError, match="cached plan"), transaction.atomic():
        ask.rows(id=1)
    # The first statement after a rollback tells the scope as well, as a text.
    assert [ask.rows(id=1) for _ in range(3)] == [[], [], []]


def test_rows_of_a_statement_are_as_the_orm_gives_them(bakery: Shop) -> None:
    made = make.paid(bakery.test, metadata={"cart": "42"})
    for rows, model in (
        (Rows(Payment, "WHERE id = %(id)s"), Payment),
        (Rows(PaymentAddress, "WHERE payment_id = %(id)s"), PaymentAddress),
        (Rows(PaymentEvent, "WHERE payment_id = %(id)s ORDER BY sequence"), PaymentEvent),
    ):
        told = [vars(row) for row in rows.read(id=made["id"])]
        known = model._default_manager.filter(
            **{"pk" if model is Payment else "payment_id": made["id"]}
        )
        for mine, theirs in zip(told, [vars(item) for item in known], strict=True):
            assert {name: value for name, value in mine.items() if name != "_state"} == {
                name: value for name, value in theirs.items() if name != "_state"
            }


@pytest.mark.django_db
def test_rows_of_a_query_are_as_the_orm_gives_them_with_those_that_they_name(bakery: Shop) -> None:
    made = [make.payment(bakery.test)["id"] for _ in range(2)]
    blank = BlankParameter("payment_id", UUIDField())
    addresses = Query(
        lambda: PaymentAddress.objects.filter(payment=blank).order_by("position"),
        "asset",
        "asset__chain",
        "payment",
        "own_wallet",
    )
    known = PaymentAddress.objects.filter(payment=made[0]).order_by("position")
    read = addresses.read(payment_id=made[0])
    with CaptureQueriesContext(connection) as asked:
        found = [(row.asset.chain.name, row.payment.reference, row.own_wallet) for row in read]
    assert len(asked) == 0
    assert found == [(row.asset.chain.name, row.payment.reference, None) for row in known]
    assert [columns(row) for row in read] == [columns(row) for row in known]


@pytest.mark.django_db
def test_a_query_reads_no_secret_and_only_rows_of_its_viewer(bakery: Shop) -> None:
    fields = {
        "url": "https://1.1.1.1/hook",
        "subscribed_events": ["invoice.paid"],
    }
    assert bakery.test.post("/webhook_endpoints", {"webhook_endpoint": fields}).status_code == 201
    endpoints = Query(lambda: Endpoint.objects.visible_to(any_viewer()))
    (row,) = endpoints.read(store_id=bakery.store.pk, mode="test")
    assert row.get_deferred_fields() == {"sealed_secret"}
    assert endpoints.first(store_id=bakery.store.pk, mode="live") is None
    assert endpoints.first(store_id=uuid.uuid4(), mode="test") is None


def columns(row: Model) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.mark.parametrize("title", ["Bread", "100 %", "%s of 'it'"])
def test_a_statement_finds_what_its_query_would_whatever_its_values_are(
    cast: Cast, title: str
) -> None:
    mine = make.payment(cast.bakery.test, title=title)["id"]
    make.payment(cast.bakery.test, title="Cake")
    make.payment(cast.strangers.test, title=title)
    rows = Payment.objects.filter(
        store_id=BlankParameter("store_id", UUIDField()),
        mode=BlankParameter("mode", CharField()),
        created_at__gte=BlankParameter("now", DateTimeField()) - timedelta(days=1),
        title=title,
    )
    statement = statement_of(rows.values_list("id"))
    now = clock.real_now()

    def found(mode: str = "test", ahead: timedelta = timedelta(0)) -> list[str]:
        store = cast.bakery.store.pk
        return [str(id) for (id,) in statement.rows(store_id=store, mode=mode, now=now + ahead)]

    assert [found() for _ in range(7)] == [[mine]] * 7  # it is prepared by then
    assert found(mode="live") == found(ahead=timedelta(days=2)) == []


@pytest.mark.django_db
def test_statements_in_turn_are_one_transaction_and_the_last_answers() -> None:
    first = Statement("SELECT set_config('tillgate.turn', %(name)s::text, true)")
    second = Statement("SELECT current_setting('tillgate.turn'), 100 % 7")
    for name in ("a", "b", "c"):
        assert rows_in_turn(first, second, name=name) == [(name, 2)]


@pytest.mark.django_db
def test_an_error_of_statements_in_turn_is_djangos_and_the_next_ones_work() -> None:
    good, bad = Statement("SELECT %(one)s::int"), Statement("SELECT %(one)s::int / 0")
    assert rows_in_turn(good, good, one=3) == [(3,)]
    for turn in ((bad, good), (good, bad)):
        with pytest.raises(DataError, match="division by zero"), transaction.atomic():
            rows_in_turn(*turn, one=3)
        assert rows_in_turn(good, good, one=3) == [(3,)]

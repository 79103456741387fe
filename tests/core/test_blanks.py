"""Queries that are drawn up once."""

from datetime import timedelta

import pytest
from django.db.models import CharField, DateTimeField, UUIDField

from apps.core import clock
from apps.core.db.blanks import Blank, statement_of
from apps.payments.models import Payment
from tests.cast import Cast
from tests.make import payment

DAY = timedelta(days=1)


@pytest.mark.parametrize("title", ["Bread", "100 %", "%s of 'it'"])
def test_a_statement_finds_what_its_query_would_whatever_its_values_are(
    cast: Cast, title: str
) -> None:
    mine = payment(cast.bakery.test, title=title)["id"]
    payment(cast.bakery.test, title="Cake")
    payment(cast.strangers.test, title=title)
    rows = Payment.objects.filter(
        store_id=Blank("store_id", UUIDField()),
        mode=Blank("mode", CharField()),
        created_at__gte=Blank("now", DateTimeField()) - DAY,
        title=title,
    )
    statement = statement_of(rows.values_list("id"))
    now = clock.real_now()

    def found(mode: str = "test", ahead: timedelta = timedelta(0)) -> list[str]:
        store = cast.bakery.store.pk
        return [str(id) for (id,) in statement.rows(store_id=store, mode=mode, now=now + ahead)]

    assert [found() for _ in range(7)] == [[mine]] * 7  # it is prepared by then
    assert found(mode="live") == found(ahead=2 * DAY) == []

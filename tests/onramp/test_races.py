"""Several at once, on rows that are really committed: customers who open the same card payment,
buttons pressed twice."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from apps.onramp.models import FundingSession, SessionChange
from apps.stores.services import change_store
from tests import make
from tests.cast import Shop, assemble
from tests.onramp.cards import ask, opened, press


@pytest.fixture
def shop(django_db_setup: None, django_db_blocker: Any) -> Iterator[Shop]:
    """A shop that other connections see."""
    with django_db_blocker.unblock():
        shop = assemble().bakery
        change_store(shop.store, country="DE", card_funding_test=True)
        yield shop
        connection.close()


def together(count: int, act: Callable[[int], Any]) -> list[Any]:
    def run(number: int) -> Any:
        try:
            return act(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_who_asks_at_once_gets_one_session(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    answers = together(
        4, lambda number: ask(made, payment_method_id=("sandbox.card", "sandbox.sepa")[number % 2])
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert FundingSession.objects.filter(payment_id=made["id"]).count() == 1


def test_buttons_pressed_at_once_end_a_session_once(shop: Shop) -> None:
    made = make.payment(shop.test, amount="50.00")
    session = opened(made)
    together(4, lambda number: press(session, ("paid", "failed", "expired")[number % 3]))
    (end,) = SessionChange.objects.filter(session_id=session["id"]).exclude(to_status="pending")
    assert FundingSession.objects.get(pk=session["id"]).status == end.to_status

"""A request that waits for what somebody else has locked gives up after a while, and says when to
come back."""

import threading
from collections.abc import Callable

from django.db import transaction

from apps.payments.models import Payment
from tests import make
from tests.cast import Shop
from tests.stack import wait_for
from tests.web.wire import Answer, Web, bearer


def ask_while(hold: Callable[[], object], ask: Callable[[], Answer]) -> Answer:
    """The answer to a request while this thread holds what it needs, in a transaction that stays
    open."""
    heard: list[Answer] = []
    with transaction.atomic():
        hold()
        caller = threading.Thread(target=lambda: heard.append(ask()))
        caller.start()
        wait_for(lambda: heard, lambda answers: bool(answers), 35)
        caller.join()
    return heard[0]


def test_a_locked_row_is_waited_for_no_longer_than_that(web: Web, shop: Shop) -> None:
    made = make.payment(shop.test)
    path = f"/api/v2/payments/{made['id']}/simulated_payments"
    key = bearer(shop.secrets["test"])
    answer = ask_while(
        lambda: Payment.objects.select_for_update().get(pk=made["id"]),
        lambda: web.ask("POST", path, key, body=b"{}"),
    )
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.json() == {"error": {"message": "Service temporarily unavailable", "code": None}}
    assert web.ask("POST", path, key, body=b"{}").status == 201

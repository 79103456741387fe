"""A database that takes no writes, as after a failover or on a full disk: reads go on, and a
request that writes is answered with when to come back."""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.test import Client

from tests import make
from tests.cast import PASSWORD, Cast


@pytest.fixture
def read_only(cast: Cast) -> Iterator[Cast]:
    """The cast before a server that only reads, until the test ends."""
    make.payment(cast.bakery.test)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL transaction_read_only = on")
    yield cast
    transaction.set_rollback(True)  # a refused statement may have ended the test's own transaction


def test_the_api_reads_on_and_refuses_writes_for_a_moment(read_only: Cast) -> None:
    assert read_only.bakery.test.get("/payments").status_code == 200
    answer = read_only.bakery.test.post(
        "/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    )
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json() == {"error": {"message": "Service temporarily unavailable", "code": None}}


def test_a_page_that_needs_to_write_says_so_too(read_only: Cast) -> None:
    person = {"email": read_only.alice.email, "password": PASSWORD}
    answer = Client(raise_request_exception=False).post("/dashboard/sign-in", person)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert b"Nothing was changed" in answer.content

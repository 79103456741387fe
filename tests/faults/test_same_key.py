"""Calls at once under one Idempotency-Key: a short run of tests.faults.same_key."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cast import Shop, person, shop_of
from tests.faults import same_key


@pytest.mark.parametrize("play", [same_key.payments_round, same_key.refunds_round])
def test_of_many_calls_at_once_one_makes_the_record(
    play: Callable[[Any, str, int], None], django_db_setup: None, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        shop = shop_of(person("alice"), "Races")
        for number in range(2):
            play(shop, f"key-{number}", 20)


def test_the_check_sees_two_records(bakery: Shop) -> None:
    """The long run would notice."""
    body = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    with pytest.raises(AssertionError):
        same_key.check([bakery.test.post("/payments", body, key=key) for key in ("one", "two")], 2)

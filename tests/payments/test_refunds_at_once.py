"""One key, two payments, at the same moment: one of them is refunded, and both callers hear of that
refund. Real threads, real locks."""

from typing import Any

import pytest
from django.db import transaction

from apps.payments.models import Refund
from tests import make
from tests.cast import Cast
from tests.payments.test_losing import in_thread, until_somebody_waits_for_us
from tests.payouts.conftest import _django_db_helper, committed

__all__ = ["_django_db_helper", "committed"]

pytestmark = pytest.mark.django_db


def test_a_key_that_meets_itself_on_another_payment_answers_with_the_refund_that_it_made(
    committed: Cast,
) -> None:
    shop = committed.bakery
    answers = []
    first, second = (make.paid(shop.test, amount="20.00")["id"] for _ in range(2))

    def ask(payment: str) -> Any:
        answers.append(shop.test.post(f"/payments/{payment}/refunds", {}, key="one key"))
        return answers[-1]

    with transaction.atomic():
        ask(first)
        other = in_thread(lambda: ask(second))
        until_somebody_waits_for_us()
    other.join(30)

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[1].headers["Idempotent-Replayed"] == "true"
    assert answers[0].json()[0]["id"] == answers[1].json()[0]["id"]
    assert Refund.objects.filter(payment__in=[first, second]).count() == 1

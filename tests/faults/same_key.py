"""Many calls at once under one Idempotency-Key, round after round: one record, one answer, one
movement of money.

.venv/bin/python -m tests.faults.same_key [rounds] [calls]
"""

import sys
import threading
from collections.abc import Callable
from typing import Any

from tests.bench.harness import bench_database, print_table

ROUNDS = 20
CALLS = 50


def at_once(call: Callable[[], Any], count: int) -> list[Any]:
    """Answers of `call` in each of `count` threads that begin together."""
    from django.db import connection

    gate = threading.Barrier(count)
    answers = []

    def run() -> None:
        gate.wait()
        try:
            answers.append(call())
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def check(answers: list[Any], count: int) -> list[Any]:
    """All 201 with one body; exactly one of them is no replay. That body."""
    assert [answer.status_code for answer in answers] == [201] * count, {
        answer.content for answer in answers
    }
    bodies = {_ids(answer.json()) for answer in answers}
    assert len(bodies) == 1, bodies
    fresh = [answer for answer in answers if "Idempotent-Replayed" not in answer.headers]
    assert len(fresh) == 1, len(fresh)
    body = answers[0].json()
    return body if isinstance(body, list) else [body]


def payments_round(shop: Any, key: str, count: int) -> None:
    """One intent, with its event and its addresses once."""
    from apps.core.redis import buckets
    from apps.payments.models import Payment, PaymentEvent
    from tests.cast import Api

    body = {"payment_intent": {"amount": "10.00", "currency": "EUR", "order_id": key}}
    made = check(
        at_once(lambda: Api(shop.secrets["test"]).post("/payments", body, key=key), count), count
    )
    rows = Payment.objects.filter(order_id=key, store=shop.store)
    assert [str(row.pk) for row in rows] == [made[0]["id"]]
    assert PaymentEvent.objects.filter(payment__in=rows).count() == 1
    buckets.client().flushdb()


def refunds_round(shop: Any, key: str, count: int) -> None:
    """One refund, with its coins reserved once."""
    from apps.core.redis import buckets
    from apps.ledger.models import Movement
    from apps.payments.models import Refund
    from tests import make
    from tests.cast import Api

    make.paid(shop.test)  # so that fees are covered
    paid = make.paid(shop.test)
    body = {"destination_address": "0x" + "7b" * 20}
    path = f"/payments/{paid['id']}/refunds"
    made = check(at_once(lambda: Api(shop.secrets["test"]).post(path, body, key=key), count), count)
    assert [str(row.pk) for row in Refund.objects.filter(payment_id=paid["id"])] == [made[0]["id"]]
    assert Movement.objects.filter(kind="refund_created", key__contains=made[0]["id"]).count() == 1
    buckets.client().flushdb()


def _ids(body: Any) -> tuple[str, ...]:
    return tuple(part["id"] for part in (body if isinstance(body, list) else [body]))


def main() -> None:
    rounds, calls = (
        int(sys.argv[n]) if len(sys.argv) > n else default
        for n, default in ((1, ROUNDS), (2, CALLS))
    )
    with bench_database():
        from tests.cast import person, shop_of

        shop = shop_of(person("alice"), "Races")
        for number in range(rounds):
            payments_round(shop, f"payment-{number}", calls)
            refunds_round(shop, f"refund-{number}", calls)
    print_table(
        ["what", "rounds", "calls at once", "records a round"],
        [[what, str(rounds), str(calls), "1"] for what in ("payments", "refunds")],
    )


if __name__ == "__main__":
    main()

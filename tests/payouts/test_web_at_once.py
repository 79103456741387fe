"""Many of the web's processes book one record at once: each movement happens once."""

import threading
import uuid
from collections import Counter

from django.db import DatabaseError, connection

from apps.core import clock
from apps.ledger.chart import AVAILABLE, RESERVED
from apps.ledger.selectors import account_balance
from apps.payouts.models import Payout
from tests import make
from tests.cast import Cast
from tests.console.books_of_web import call

ETHER = 10**18


def test_many_at_once_book_a_payout_and_its_end_once(committed: Cast) -> None:
    """Each in a connection of its own, with the same IDs."""
    store = committed.bakery.store
    make.store_coins(store, "ETH", 10 * ETHER)
    now = clock.real_now()
    payout = Payout.objects.create(
        store=store,
        mode="live",
        created_at=now,
        updated_at=now,
        asset_id="ETH",
        amount_atomic=ETHER,
        rail="crypto",
        destination_address=make.fresh_address(),
        idempotency_key=str(uuid.uuid4()),
    )
    assert at_once("payouts_post_payout_created", payout.pk) == {True: 1, False: 7}
    assert balance(committed, RESERVED) == ETHER
    Payout.objects.filter(pk=payout.pk).update(status="failed", failure_code="unknown")
    assert at_once("payouts_post_payout_released", payout.pk) == {True: 1, False: 7}
    assert (balance(committed, AVAILABLE), balance(committed, RESERVED)) == (10 * ETHER, 0)
    Payout.objects.filter(pk=payout.pk).update(funds="returned")


def balance(cast: Cast, kind: str) -> int:
    return account_balance(cast.bakery.store.pk, "live", "ETH", kind)


def at_once(function: str, *arguments: object) -> Counter[object]:
    answers: Counter[object] = Counter()
    start = threading.Barrier(8)

    def run() -> None:
        try:
            start.wait()
            answers[call(function, *arguments)[1]] += 1
        except DatabaseError as error:
            answers[str(error)] += 1
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers

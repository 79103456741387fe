"""`once` on a real table: the first call makes the row, every later or simultaneous one answers
with it."""

import threading

import pytest
from django.db import connection, transaction

from apps.assets.models import AcceptedAsset
from apps.core import clock
from apps.core.errors import Failure
from apps.core.idempotency import check_key, once
from tests.cast import Shop, person, shop_of


def rows_of(shop: Shop) -> "object":
    return AcceptedAsset.objects.filter(store=shop.store, mode="test", asset="USDC_SETH")


def make(shop: Shop) -> AcceptedAsset:
    return AcceptedAsset.objects.create(
        store=shop.store, mode="test", asset_id="USDC_SETH", created_at=clock.real_now()
    )


def test_the_first_call_makes_the_record_and_later_ones_answer_with_it(bakery: Shop) -> None:
    first, is_new = once(rows_of(bakery), lambda: make(bakery))
    again, is_new_again = once(rows_of(bakery), lambda: make(bakery))
    assert (first.pk, is_new, is_new_again) == (again.pk, True, False)


def test_a_first_call_that_failed_leaves_the_key_free(bakery: Shop) -> None:
    def fail() -> AcceptedAsset:
        make(bakery)
        raise Failure("no")

    with pytest.raises(Failure), transaction.atomic():
        once(rows_of(bakery), fail)
    assert once(rows_of(bakery), lambda: make(bakery))[1] is True


def test_of_simultaneous_calls_one_makes_it_and_all_answer_with_it(
    django_db_setup: None, django_db_blocker: object
) -> None:
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        shop = shop_of(person("alice"), "Races")
        rows_of(shop).delete()  # a new store accepts every asset that is active by now
        answers = []
        gate = threading.Barrier(8)

        def call() -> None:
            gate.wait()
            answers.append(once(rows_of(shop), lambda: make(shop)))
            connection.close()

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({row.pk for row, _ in answers}) == 1
        assert [is_new for _, is_new in answers].count(True) == 1


def test_a_key_is_printable_and_may_be_required() -> None:
    assert check_key(None, required=False) is None
    assert check_key("order 1", required=True) == "order 1"
    with pytest.raises(Failure, match="Idempotency-Key header is required") as refused:
        check_key("", required=True)
    assert refused.value.code == "idempotency_key_required"
    for key in ("é", "a\n", "x" * 256):
        with pytest.raises(Failure, match="Idempotency-Key is invalid"):
            check_key(key, required=True)

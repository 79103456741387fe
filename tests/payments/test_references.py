"""GET /payments finds any part of a reference, in the caller's payments alone; by an index, in
test_among_many.py."""

import pytest
from django.db import connection

from apps.payments.models import PaymentReference
from tests import make
from tests.cast import Cast, Shop
from tests.stage import empty_buckets
from tests.whole import usually


def found(shop: Shop, text: str) -> list[str]:
    answer = shop.test.get(f"/payments?reference={text}&per_page=100").json()
    assert answer["meta"]["total"] == len(answer["data"])
    return [row["id"] for row in answer["data"]]


def test_every_part_of_a_reference_finds_its_payment(cast: Cast) -> None:
    first, second = (make.payment(cast.bakery.test) for _ in range(2))
    make.payment(cast.bakery.live)
    references = {row["id"]: row["reference"] for row in (first, second)}

    for length in usually(short=(1, 2, 3, 4, 16), whole=range(1, 17)):
        for place in range(17 - length):
            part = first["reference"][place : place + length]
            empty_buckets()
            holding = [id for id, reference in references.items() if part in reference]
            assert sorted(found(cast.bakery, part.lower())) == sorted(holding), part
    assert found(cast.bakery, first["reference"] + "A") == []
    assert found(cast.strangers, first["reference"][4:9]) == []


def test_what_is_found_by_a_part_is_restricted_by_the_rest_of_the_query(bakery: Shop) -> None:
    made = make.payment(bakery.test, order_id="A-1")
    part = made["reference"][3:8]

    assert found(bakery, f"{part}&order_id=A-1&status=pending") == [made["id"]]
    assert found(bakery, f"{part}&order_id=A-2") == []
    assert found(bakery, f"{part}&status=completed") == []


def test_a_payment_that_is_rewritten_keeps_the_one_row_of_its_reference(bakery: Shop) -> None:
    before = written()
    made = make.paid(bakery.test)

    assert str(PaymentReference.objects.get(pk=made["id"])) == made["reference"]
    assert [now - then for now, then in zip(written(), before, strict=True)] == [1, 0]


def written() -> tuple[int, int]:
    """Rows of references that this transaction has inserted, and updated."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_ins, n_tup_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'payments_paymentreference'"
        )
        inserted, updated = cursor.fetchone()
        return inserted, updated


@pytest.mark.parametrize("text", ["Z%25Z", "___", "%5C%5C%5C", "AB%25"])
def test_signs_of_a_pattern_are_letters_that_no_reference_has(bakery: Shop, text: str) -> None:
    make.payment(bakery.test)
    assert found(bakery, text) == []

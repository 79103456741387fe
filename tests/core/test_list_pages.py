"""Long lists: counted to a cap that pages go beyond, searched by index and in their newest rows."""

import pytest

from apps.billing.search import find_customers
from apps.billing.selectors import search_customers
from apps.core import list_pages, searching
from apps.core.searching import SearchTerm
from apps.payments import selectors
from tests import make
from tests.billing import records
from tests.cast import Shop


def read_all(shop: Shop, path: str) -> tuple[list[str], list[int]]:
    """IDs as a client that goes on while there are pages reads them, and the totals shown
    meanwhile."""
    ids: list[str] = []
    totals = []
    number = pages = 1
    while number <= pages:
        answer = shop.test.get(f"{path}?per_page=1&page={number}").json()
        ids += [row["id"] for row in answer["data"]]
        totals.append(answer["meta"]["total"])
        pages = answer["meta"]["total_pages"]
        number += 1
    return ids, totals


@pytest.mark.parametrize(
    ("counted_max", "totals"), [(2, [3, 3, 4, 4]), (3, [4, 4, 4, 4]), (4, [4, 4, 4, 4])]
)
def test_a_total_is_exact_up_to_the_cap_and_follows_the_pages_beyond(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch, counted_max: int, totals: list[int]
) -> None:
    monkeypatch.setattr(list_pages, "COUNTED_MAX", counted_max)
    payments = [make.payment(bakery.test)["id"] for _ in range(4)]
    customers = [records.customer(bakery.test)["id"] for _ in range(4)]

    assert read_all(bakery, "/payments") == (payments[::-1], totals)
    assert read_all(bakery, "/billing/customers") == (customers[::-1], totals)
    assert bakery.test.get("/payments?per_page=1&page=9").json()["data"] == []


def test_how_a_title_begins_is_found_in_all_rows_and_its_middle_in_the_newest(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NEWEST_MAX", 2)
    older, rye, spelt = [
        make.payment(bakery.test, title=title)["id"]
        for title in ("Toast bread", "Rye bread", "Spelt bread")
    ]
    rows = selectors.payments_visible_to(bakery.access())

    def found(text: str) -> list[str]:
        return [str(payment.pk) for payment in selectors.search(rows, text)]

    assert found("bread") == [spelt, rye]
    assert found("toast") == [older]
    assert found("nothing") == []


def test_a_title_is_found_however_many_later_ones_begin_with_it(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NEWEST_MAX", 2)
    whole, *longer = [
        make.payment(bakery.test, title=title)["id"]
        for title in ("Bread", "Bread of the day", "Bread rolls", "Bread soup", "Bread tin")
    ]
    rows = selectors.payments_visible_to(bakery.access())

    found = [str(payment.pk) for payment in selectors.search(rows, "bread")]

    assert whole in found
    assert found[:2] == longer[:1:-1]


def test_a_customer_is_found_by_name_however_many_later_names_begin_with_it(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NEWEST_MAX", 2)
    whole, *_ = [
        records.customer(bakery.test, name=name)["id"]
        for name in ("Ann", "Anna", "Anne", "Annette", "Anni")
    ]
    viewer = bakery.access()

    assert whole in [str(row.pk) for row in search_customers(viewer, "ann")]
    assert whole in [str(row.pk) for row in find_customers(viewer, SearchTerm.of("ann"), 6)]


def test_a_whole_reference_is_found_in_any_case_and_a_part_of_it_too(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    make.payment(bakery.test)
    reference = payment["reference"]

    for text in (reference, reference.lower(), reference[2:9].lower()):
        rows = bakery.test.get(f"/payments?reference={text}").json()["data"]
        assert [row["id"] for row in rows] == [payment["id"]]

"""A file is whole: what can't be made is an error, and of too many rows a page says so."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import RequestFactory

from apps.dashboard.tables import exports
from apps.dashboard.tables.exports import csv_answer
from apps.payments.models import Payment
from tests.billing import records
from tests.cast import Cast, Shop
from tests.dashboard.browse import Browser, text
from tests.make import payment, simulated

# Lists that hold two rows after `two_sales`; the others take the same way.
LISTS = ("payments", "statement", "customers", "products/prices")


@pytest.fixture
def two_sales(cast: Cast) -> Browser:
    api = cast.bakery.test
    for number in ("1", "2"):
        simulated(api, payment(api, title=f"Rye {number}")["id"])
        records.customer(api, email=f"ann{number}@rye.example")
        records.price(api)
    return Browser(cast.alice)


def test_a_file_says_its_length_and_one_that_breaks_is_none(
    bakery: Shop, rf: RequestFactory
) -> None:
    request: Any = rf.get("/")
    request.access = bakery.access()
    answer: Any = csv_answer(request, "things", ["a"], [["1"], ["2"]], back="/")
    body = b"".join(answer.streaming_content)
    assert body.endswith(b"2\r\n") and int(answer.headers["Content-Length"]) == len(body)

    def broken() -> Iterator[list[str]]:
        yield ["1"]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        csv_answer(request, "things", ["a"], broken(), back="/")


def test_more_rows_than_a_file_holds_are_refused_and_as_many_are_all_there(
    two_sales: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in LISTS:
        query = "account=available" if path == "statement" else ""
        monkeypatch.setattr(exports, "EXPORT_MAX", 2)
        whole = two_sales.get(f"{path}.csv?{query}")
        assert whole.status_code == 200, path
        assert len(b"".join(whole.streaming_content).splitlines()) == 1 + 2, path

        monkeypatch.setattr(exports, "EXPORT_MAX", 1)
        refused = two_sales.get(f"{path}.csv?{query}")
        assert refused.status_code == 422, path
        assert "Content-Disposition" not in refused.headers, path
        assert "More than 1 rows" in text(refused), path


def test_a_refused_export_leads_back_to_the_list_as_it_was_filtered(
    two_sales: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "EXPORT_MAX", 1)
    refused = two_sales.get("payments.csv?status=completed&q=Rye&columns=all")
    assert 'href="/dashboard/payments?status=completed&amp;q=Rye"' in text(refused)
    listed = two_sales.get("payments?status=completed&q=Rye")
    assert len(listed.context["payments"]) == Payment.objects.count() == 2
    one = two_sales.get("payments.csv?q=Rye+1")
    assert one.status_code == 200


def test_a_browser_shows_the_page_of_a_refused_export(two_sales: Browser) -> None:
    """An anchor with `download` would save or fail what isn't a file instead."""
    for path in ("payments", "statement", "products"):
        tags = [part.split(">")[0] for part in two_sales.get(path).content.decode().split("<a ")]
        anchors = [tag for tag in tags[1:] if ".csv" in tag]
        assert anchors and not any(anchor.endswith(" download") for anchor in anchors), path

"""The one search of the staff site."""

import pytest

from apps.stores.models import AuditEntry
from tests import make
from tests.cast import Cast
from tests.console.staff.pages import SEARCH, statements
from tests.dashboard.browse import Browser, text
from tests.make import paid


def test_one_search_finds_whatever_is_quoted(cast: Cast, finance: Browser) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    other = make.payout(cast.bakery.test, 10**16)
    address = made["transaction"].get("to_address")
    quoted = [
        made["reference"],
        made["transaction"]["tx_hash"],
        "24.90",
        "Alice's B",
        "alice",
        cast.alice.email,
    ]
    for query in [*quoted, *([address] if address else [])]:
        shown = text(finance.get(SEARCH, data={"q": query}, follow=True))
        assert "Nothing found" not in shown, query
    for id in (made["id"], other["id"]):
        assert f"/{id}/change/" in text(finance.get(SEARCH, data={"q": id}))
    alone = finance.get(SEARCH, data={"q": str(cast.bakery.store.pk)})
    assert alone.headers["Location"] == f"/admin/stores/store/{cast.bakery.store.pk}/change/"
    assert (
        AuditEntry.objects.filter(
            action="staff.searched", actor_kind="staff", target_name=made["reference"]
        ).count()
        == 1
    )


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "\x00",
        "%",
        "0x" + "0" * 64,
        "0x" + "0" * 40,
        "nobody@nowhere.example",
        "00000000-0000-4000-8000-000000000000",
        "9" * 90,
    ],
)
def test_what_is_not_there_is_said_to(finance: Browser, typed: str) -> None:
    answer = finance.get(SEARCH, data={"q": typed})
    assert answer.status_code == 200 and "Search finds IDs" in text(answer)


def test_a_search_asks_no_more_for_more(cast: Cast, finance: Browser) -> None:
    def look() -> None:
        finance.get(SEARCH, data={"q": "24.90"})

    paid(cast.bakery.test, amount="24.90")
    look()
    few = statements(look)
    for _ in range(3):
        paid(cast.bakery.test, amount="24.90")
    assert statements(look) == few

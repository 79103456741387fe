"""What it takes to be let in: a page asks each thing about who is there once."""

from collections import Counter

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.cast import Shop
from tests.dashboard.browse import Browser


def test_a_page_asks_the_database_nothing_twice(bakery: Shop) -> None:
    browser = Browser(bakery.owner)
    browser.get("team")
    with CaptureQueriesContext(connection) as asked:
        assert browser.get("settings").status_code == 200
    assert [sql for sql, times in Counter(item["sql"] for item in asked).items() if times > 1] == []
    assert sum('FROM "stores_member"' in item["sql"] for item in asked) == 2, (
        "the chosen store, and the list to choose from"
    )

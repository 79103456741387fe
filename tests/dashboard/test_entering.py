"""Statements before a page's own: a page asks each thing about the person who is there once."""

from collections import Counter
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.person import sessions
from apps.stores.models import Member
from tests.cast import Shop
from tests.dashboard.browse import Browser


def test_a_page_asks_the_database_nothing_twice(bakery: Shop) -> None:
    browser = Browser(bakery.owner)
    browser.get("team")
    with CaptureQueriesContext(connection) as asked:
        assert browser.get("settings").status_code == 200
    assert [sql for sql, times in Counter(item["sql"] for item in asked).items() if times > 1] == []
    assert (
        sum('"stores_member"' in item["sql"] or "stores_member " in item["sql"] for item in asked)
        == 2
    ), "the chosen store, and the list to choose from"


def values(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_the_membership_of_the_chosen_store_is_the_row_itself(bakery: Shop) -> None:
    rows = Member.objects.filter(store=bakery.store, user=bakery.owner)
    rows.update(lists={"payments": {"columns": ["amount"]}})
    row = rows.select_related("store").get()
    chosen = {sessions.STORE_KEY: str(bakery.store.pk)}
    found = sessions.member_of(bakery.owner, chosen)
    assert found is not None
    assert values(found) == values(row)
    assert values(found.store) == values(row.store)
    assert found == row and not found._state.adding and not found.store._state.adding

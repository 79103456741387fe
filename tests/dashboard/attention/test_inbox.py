"""The list of what needs a person, as a whole: who may see it, how it is counted, and what it
costs."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from redis.exceptions import ConnectionError as RedisConnectionError

from apps.audit.grants import WEB
from apps.core.db import tenancy
from apps.core.redis import value_cache
from apps.dashboard.notices.inbox import KIND_MAX, KINDS, Inbox
from apps.payments.models import Payment
from apps.payouts.models import Payout
from apps.stores.models import Role
from tests import make
from tests.cast import Cast, signed_in
from tests.dashboard.attention.makers import late, told
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_search import copies, joined
from tests.roles import acting_as


def test_all_clear_is_one_statement_and_says_so(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert "All clear" in text(browser.get("attention")) and "All clear" in text(browser.get(""))
    access = signed_in(cast.alice, cast.bakery.store)
    with (
        acting_as(WEB),
        tenancy.within(tenancy.of([cast.bakery.store], ["test"])),
        CaptureQueriesContext(connection) as seen,
    ):
        mine = Inbox(access)
        assert (mine.count, mine.lines(25)) == (0, [])
    assert [
        query["sql"].count("UNION ALL") for query in seen if "'late_deposit'" in query["sql"]
    ] == [len(KINDS) - 1]
    assert len(seen) == 1


def test_who_may_not_resolve_reads_without_a_button(cast: Cast) -> None:
    late(cast)
    shown = text(joined(cast, Role.VIEWER).get("attention"))
    assert "Deposit arrived after the payment ended" in shown and "Accept €" not in shown
    assert "Accept €" in text(joined(cast, Role.ADMIN).get("attention"))


def test_nothing_of_another_store_or_mode_is_told(cast: Cast) -> None:
    late(cast)
    browser = Browser(cast.alice)
    browser.switch("live")
    assert told(browser) == told(Browser(cast.charlie)) == []


def test_the_number_beside_home_is_counted_once_a_minute_and_after_ones_own_press(
    cast: Cast,
) -> None:
    payment, deposit = late(cast)
    browser = Browser(cast.alice).prove()

    def counted() -> int:
        with CaptureQueriesContext(connection) as seen:
            shown = browser.get("products")
        assert ("need attention" in shown.content.decode()) is bool(shown.context["inbox"].badge)
        return sum("'late_deposit'" in (query["sql"] or "") for query in seen)

    assert [counted() for _ in range(3)] == [1, 0, 0]
    assert browser.get("products").context["inbox"].badge == "1"
    browser.post(f"payments/{payment}/late-deposits/{deposit}")
    assert browser.get("products").context["inbox"].badge == ""
    late(cast)
    assert browser.get("products").context["inbox"].badge == ""
    assert (
        browser.get("").context["inbox"].badge
        == browser.get("products").context["inbox"].badge
        == "1"
    )


def test_pages_are_shown_while_nothing_can_be_kept(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    late(cast)
    browser = Browser(cast.alice)

    def away(*_: Any) -> None:
        raise RedisConnectionError

    for name in ("get", "set", "delete"):
        monkeypatch.setattr(value_cache.cache, name, away)
    assert browser.get("products").context["inbox"].badge == "1"
    assert browser.post("mode", mode="live").status_code == 302


# --- many -----------------------------------------------------------------------------------------


def test_many_cost_the_statements_of_few_and_are_paged(cast: Cast) -> None:
    made = make.simulated(cast.bakery.test, make.payment(cast.bakery.test)["id"], "overpaid")
    browser = Browser(cast.alice)

    def asked() -> int:
        browser.get("attention")
        with CaptureQueriesContext(connection) as seen:
            browser.get("attention")
        return len(seen)

    few = asked()
    new = {
        "id": "gen_random_uuid()",
        "reference": "upper(substr(md5(n::text), 1, 16))",
        "idempotency_key": "NULL",
    }
    copies(
        Payment,
        new,
        f"(SELECT * FROM payments_payment WHERE id = '{made['id']}') s, generate_series(1,"
        f" {KIND_MAX + 20}) n",
    )
    assert asked() == few
    first = browser.get("attention")
    last = browser.get("attention", data={"page": "4"})
    assert len(first.context["lines"]) == len(last.context["lines"]) == 25
    assert 'href="?page=2"' in first.content.decode() and 'href="?page=3"' in last.content.decode()
    assert "100+" in text(browser.get(""))
    assert len(browser.get("").context["attention"]) == 5
    for odd in ("0", "-1", "x", "99999", "²"):
        assert browser.get("attention", data={"page": odd}).status_code == 200


def test_each_kind_has_a_name_of_its_own() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_the_number_is_that_of_the_rows_and_what_needs_nobody_stands_apart(cast: Cast) -> None:
    late(cast)
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    answer = make.payout(cast.bakery.test, 10**17)
    Payout.objects.filter(pk=answer["id"]).update(status=Payout.Status.REQUIRES_REVIEW)
    for path in ("attention", ""):
        shown = text(Browser(cast.alice).get(path))
        first, *others = re.findall(r'<ul class="list notices">(.*?)</ul>', shown, re.DOTALL)
        (badge,) = re.findall(r'Needs attention <span class="badge wait plain">(\d+)<', shown)
        assert first.count("<li>") == int(badge) == 1, path
        assert len(others) == 1 and "nothing for you to do" in shown

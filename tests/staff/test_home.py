"""The staff site's first page: what waits, since when, and how near a day is to its limit."""

from typing import Any

import pytest

from apps.assets.models import Asset
from apps.chain.sending import caps, outflow
from apps.core import clock
from apps.staff.front import home as staff_home
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.staff.pages import HOME, SEARCH, SENDING, dead, reviewed, statements


def test_the_home_tells_what_waits_since_when_and_where(cast: Cast, finance: Browser) -> None:
    reviewed(cast, 2)
    dead(1)
    found = {queue.name: queue for queue in staff_home.queues(clock.real_now())}
    assert (found["Payouts in review"].count, found["Jobs that gave up"].count) == (2, 1)
    shown = " ".join(text(finance.get(HOME)).split())
    assert "Payouts in review" in shown and "Oldest 3 hours" in shown
    for queue in found.values():
        assert finance.get(queue.url).status_code == 200, queue.name


def test_a_long_queue_is_told_as_99_and_more_and_costs_nothing_more(finance: Browser) -> None:
    finance.get(HOME)
    none = statements(lambda: finance.get(HOME))
    dead(150)
    assert statements(lambda: finance.get(HOME)) == none
    [queue] = [
        queue for queue in staff_home.queues(clock.real_now()) if queue.name == "Jobs that gave up"
    ]
    assert queue.shown == "99+"


def test_the_home_tells_how_near_a_day_is_to_its_limit_and_leads_to_the_switch(
    finance: Browser, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SIGNER_ALARMS = ["ETH=10"]
    coin = Asset.objects.get(pk="ETH")
    shown = []
    for day in (1, 9, 11):
        rows = [
            outflow.Outflow(coin, 0, day * 10**18 + 21_000, caps.alarm(coin)),
            outflow.Outflow(coin, 0, 1, None),
        ]
        monkeypatch.setattr(outflow, "by_asset", lambda mode, at, rows=rows: rows)
        now = clock.real_now()
        [fact] = [
            line
            for line in staff_home.health(now, rows, [])
            if line.name == "Signing limit, ETH on Ethereum"
        ]
        assert fact.words == f"{day} of 10 ETH signed in 24 hours"
        shown.append(fact.tone)
        names = [queue.name for queue in staff_home.queues(now, rows)]
        near = f"Signing limit of ETH on Ethereum used to {day * 10}%"
        assert (near in names) is (day > 8) and names.count(near) <= 1
    assert shown == ["good", "wait", "bad"]
    home = text(finance.get(HOME))
    assert "Signing limit of ETH on Ethereum used to 110%" in home
    assert (
        'href="/admin/sending/#hold">Hold sending' in home
        and finance.get(fact.url).status_code == 200
    )


def test_an_empty_list_says_why_it_is_empty(finance: Browser) -> None:
    lists = {
        "payments/payment/": "Nothing in the last 7 days.",
        "payments/payment/?days=all": "No payments.",
        "payments/payment/?days=all&status__exact=expired": "Nothing matches.",
        "stores/verification/": "Nothing needs a decision.",
        "core/rowfailure/": "No failing jobs.",
        "core/rowfailure/?q=nothing": "Nothing matches.",
        "webhooks/delivery/?days=all": "0 webhook deliveries",
    }
    for page, words in lists.items():
        assert words in text(finance.get(f"/admin/{page}")), page


def test_whoever_has_no_role_finds_none_of_the_pages(cast: Cast) -> None:
    for page in (HOME, SENDING, SEARCH, "/admin/jobs/", "/admin/trial-balance/"):
        assert Browser(cast.alice).get(page, follow=True).status_code == 404

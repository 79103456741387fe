"""The public status page, with every state that a component can have."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.console import status
from apps.console.status import Component, State, StatusReport
from tests.browser.conftest import OpenPage, Profiles, barriers, overflow, put_on, shoot

LOOKS: dict[str, dict[str, Any]] = {
    "desk": {},
    "dark": {"dark": True},
    "phone": {"width": 390, "height": 844},
}
AT = datetime(2026, 11, 21, 9, 14, tzinfo=UTC)
SEEN_LATE = "Incoming payments are seen late. None are lost."
REPORT = StatusReport(
    AT,
    (
        Component("API", State.OPERATIONAL),
        Component(
            "Checkout",
            State.DOWN,
            AT,
            "New payments can’t be priced. Payments that are open can be paid.",
        ),
        Component("Ethereum deposits", State.DELAYED, AT, SEEN_LATE),
        Component(
            "Ethereum payouts",
            State.PAUSED,
            AT,
            "Payouts and refunds wait until we resume sending.",
        ),
        Component("Base deposits", State.UNKNOWN),
    ),
)


def test_the_status_page_is_readable_by_everyone(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "current", lambda: REPORT)
    page = open_page("/status")
    told = page.inner_text("main")
    assert "Some systems are affected" in told and "21 Nov 2026, 09:14\N{NO-BREAK SPACE}UTC" in told
    assert page.locator(".components > li").count() == len(REPORT.components)
    for way, look in LOOKS.items():
        put_on(page, **look)
        shoot(page, f"status-{way}")
        assert overflow(page) <= 0
        if look:
            assert barriers(page) == []


def test_a_profile_that_is_used_again_keeps_no_page_of_the_test_before(
    server: str, profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser may show this page again for some seconds without asking."""

    def told() -> str:
        profile = profiles.take({})
        page = profile.new_page()
        page.goto(f"{server}/status")
        words = page.inner_text("main")
        profiles.give_back(profile)
        return words

    monkeypatch.setattr(status, "current", lambda: REPORT)
    assert "Some systems are affected" in told()
    monkeypatch.setattr(status, "current", lambda: replace(REPORT, components=()))
    assert "Some systems are affected" not in told()

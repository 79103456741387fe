"""The frame of the dashboard: its sections and tabs by role, the store menu, the mode and the
theme."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.services import create_agent_credential
from apps.core.models import Mode
from apps.dashboard.site.navigation import SECTIONS, menu_of
from apps.stores.models import Role
from apps.stores.services import change_store
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text

UNUSED = {"approvals", "platform", "agents"}
FRAME_TABLES = {"stores_notification", "payouts_approvalrule", "access_agentcredential"}
PLAIN = [
    "Home",
    "Payments",
    "Customers",
    "Invoices",
    "Subscriptions",
    "Balances & payouts",
    "Developers",
    "Settings",
]


def sections(role: str, path: str = "/dashboard/", without: set[str] = UNUSED) -> list[str]:
    return [section.label for section in menu_of(role, path, without=without).sections]


def tabs(role: str, path: str, without: set[str] = UNUSED) -> list[str]:
    return [tab.label for tab in menu_of(role, path, without=without).tabs]


def test_a_new_store_has_eight_sections_and_one_that_uses_everything_has_ten() -> None:
    assert sections(Role.OWNER) == PLAIN
    assert len(sections(Role.OWNER, without=set())) == len(SECTIONS) == 10


def test_a_section_without_an_entry_for_the_role_is_not_shown() -> None:
    assert "Developers" not in sections(Role.ACCOUNTANT)
    assert "Audit log" not in tabs(Role.VIEWER, "/dashboard/settings")
    assert "Audit log" in tabs(Role.OWNER, "/dashboard/settings")


def test_what_is_not_used_yet_is_there_while_one_looks_at_it() -> None:
    assert "Platform" in sections(Role.OWNER, "/dashboard/platform")
    assert tabs(Role.OWNER, "/dashboard/platform") == []
    assert tabs(Role.OWNER, "/dashboard/platform", set()) == [
        "Platform",
        "Sub-merchants",
        "Platform payments",
    ]


def test_tabs_stand_on_lists_and_not_on_records_and_forms() -> None:
    assert tabs(Role.OWNER, "/dashboard/payouts") == [
        "Balances",
        "Payouts",
        "Swaps",
        "Statement",
        "Reports",
    ]
    assert tabs(Role.OWNER, "/dashboard/payouts/schedules") == tabs(
        Role.OWNER, "/dashboard/payouts"
    )
    assert tabs(Role.OWNER, "/dashboard/payouts/new") == []
    assert tabs(Role.OWNER, "/dashboard/customers") == []


def test_the_longest_address_decides_where_a_page_belongs() -> None:
    menu = menu_of(Role.OWNER, "/dashboard/settings/features")
    assert [tab.label for tab in menu.tabs if tab.is_current] == ["Features"]
    assert [section.label for section in menu.sections if section.is_current] == ["Settings"]
    assert menu_of(Role.OWNER, "/dashboard/payments/abc/refund").back == "/dashboard/payments"
    assert menu_of(Role.OWNER, "/dashboard/security/sessions").back == "/dashboard/security"


def test_a_platform_and_a_store_with_an_agent_have_their_sections(cast: Cast) -> None:
    browser = Browser(cast.alice)
    shown = text(browser.get())
    assert 'href="/dashboard/platform"' not in shown and 'href="/dashboard/agents"' not in shown
    change_store(cast.bakery.store, is_platform=True)
    create_agent_credential(cast.bakery.store, Mode.TEST, name="Buyer")
    shown = text(browser.get())
    assert 'href="/dashboard/platform"' in shown and 'href="/dashboard/agents"' in shown


def test_features_lead_to_what_the_side_bar_does_not_show_yet(cast: Cast) -> None:
    shown = text(Browser(cast.alice).get("settings/features"))
    assert "Request access" in shown and "Set up agents" in shown
    change_store(cast.bakery.store, is_platform=True)
    assert "View platform" in text(Browser(cast.alice).get("settings/features"))
    accountant = person("accountant")
    join(cast.bakery.store, accountant, Role.ACCOUNTANT)
    assert "Set up agents" not in text(Browser(accountant).get("settings/features"))


def test_the_store_menu_opens_a_new_store_for_who_has_one_only(cast: Cast) -> None:
    shown = text(Browser(cast.alice).get("payments"))
    assert 'href="/dashboard/stores/new"' in shown
    assert shown.count('name="store_id"') == 1


def test_a_part_of_a_page_asks_nothing_for_the_frame_around_it(cast: Cast) -> None:
    browser = Browser(cast.alice).known()
    with CaptureQueriesContext(connection) as whole:
        assert browser.get("payments").context["unread"] == 0
    with CaptureQueriesContext(connection) as part:
        browser.get("payments", headers={"HX-Request": "true"})
    asked = [
        {table for table in FRAME_TABLES if any(table in query["sql"] for query in seen)}
        for seen in (whole.captured_queries, part.captured_queries)
    ]
    assert asked == [FRAME_TABLES, set()]


def test_live_mode_says_so_as_loudly_as_test_mode(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert 'aria-label="Live mode"' not in text(browser.get())
    browser.switch("live")
    assert 'aria-label="Live mode"' in text(browser.get())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_is_kept_on_the_device_until_the_system_decides_again(
    cast: Cast, theme: str
) -> None:
    browser = Browser(cast.alice)
    assert "data-theme" not in text(browser.get())
    assert (
        browser.post("theme", theme=theme, next="/dashboard/payments").headers["Location"]
        == "/dashboard/payments"
    )
    assert f'data-theme="{theme}"' in text(browser.get())
    browser.post("theme", theme="system")
    assert "data-theme" not in text(browser.get())


def test_only_the_themes_that_exist_are_taken(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert browser.post("theme", theme="pink").status_code == 404
    browser.client.cookies["theme"] = '"><script>'
    assert "data-theme" not in text(browser.get())

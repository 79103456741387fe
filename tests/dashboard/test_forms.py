"""Every form of the dashboard: each error is at its input, is tied to it for a screen reader, and
has the focus."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from apps.access.person import sign_up
from apps.dashboard.urls import PAGES
from tests.dashboard.browse import text
from tests.dashboard.forms.billing import BILLING
from tests.dashboard.forms.broken import Broken, World
from tests.dashboard.forms.developers import DEVELOPERS
from tests.dashboard.forms.money import MONEY
from tests.dashboard.forms.people import PEOPLE
from tests.dashboard.forms.selling import SELLING
from tests.dashboard.forms.settings import SETTINGS
from tests.stage import standing

BROKEN = (*PEOPLE, *DEVELOPERS, *SETTINGS, *MONEY, *SELLING, *BILLING)

# What is asked with these has no input that can be wrong: a button, or a switch of known values.
BUTTONS = {
    "settings_btcpay",
    "notification_settings",
    "notification_read",
    "unsubscribe",
    "switch_theme",
    "payment_cancel",
    "payment_shortfall",
    "payment_extend",
    "sign_in_passkey",
    "confirm_email",
    "sign_out",
    "switch_store",
    "switch_mode",
    "test_data",
    "wallet_stop",
    "credit_note_send",
    "invoice_deliver",
    "invoice_act",
    "subscription_act",
    "customer_delete",
    "product",
    "price_switch",
    "platform_account_close",
    "platform_account_restore",
    "payout_batch_discard",
    "payout_destination_remove",
    "payout_schedule_switch",
    "payout_schedule_delete",
    "payout_retry",
    "payout_give_up",
    "approval_approve",
    "key_pair",
    "key_revoke",
    "key_take_over",
    "mandate_revoke",
    "agent_revoke",
    "agent_take_over",
    "webhook_endpoint_switch",
    "webhook_endpoint_rotate",
    "webhook_endpoint_delete",
    "webhook_endpoint_test",
    "webhook_endpoint_missed",
    "delivery",
    "oauth_grant_revoke",
    "oauth_app_rotate",
    "oauth_app_deactivate",
    "invitation_resend",
    "invitation_revoke",
    "member_leave",
    "member_remove",
    "member_hand_over",
    "stop",
    "setup",
    "till_name",
    "till_discard",
    "till_item_remove",
    "till_tip",
    "till_cancel",
    "till_quote",
    "settings_assets",
    "settings_domain",
    "security_take_off",
    "security_codes",
    "link_switch",
    "link_archive",
    "session_end_others",
    "session_end",
    "passkey_remove",
    "late_deposit",
    "transfer_return",
    "new_sign_in",
    "payout_schedule_run",
    "payout_batch",  # a code alone: test_reviews
}
OTHERS = {
    "sign_up_invited": "the form of sign_up_store, reached by the link of an invitation",
    "till_receipt": "the form of a paid sale: tests/links/test_till",
    "settings_wallet": "its one secret input: tests/dashboard/test_own_wallets",
    "forgot": "any address gets the same answer, so none is wrong",
    "passkey_rename": "an input in a list, which is sent back to the list with what was wrong",
    "list_setup": "panels over a list, which is sent back to the list with what was wrong",
}


# What is wrong in these is told at its input in a file of their own too.
TOLD_THERE = {
    "agent_caps": "test_agents",
    "customer_create": "billing/test_inputs",
    "invoice_create": "billing/test_inputs",
    "payment_create": "test_payments",
    "payout_create": "test_payouts",
    "price_create": "billing/test_inputs",
    "product_create": "billing/test_inputs",
    "refund": "test_refunds",
    "settings_account_codes": "test_reports",
    "sign_up": "test_sign_up",
    "sign_up_store": "test_sign_up",
    "subscription_create": "billing/test_inputs",
    "swap_create": "test_swaps",
    "test_clock": "test_test_clock",
    "webhook_endpoint_create": "test_developers",
    "webhook_endpoint_resend": "test_developers",
}


def row(form: Broken) -> Any:
    marks = [pytest.mark.whole] if form.page in TOLD_THERE else []
    return pytest.param(form, marks=marks, id=f"{form.page}-{form.name}")


def wrong(answer: Any, status: int) -> tuple[str, str]:
    """The one input that a page says something at, and what it says."""
    page = answer.content.decode()
    assert answer.status_code == status, text(answer)
    ((name, sentence),) = re.findall(
        r'<span class="error" id="([\w.-]+)-error" role="alert">([^<]+)</span>', page
    )
    (control,) = re.findall(
        rf'<(?:input|select|textarea|fieldset)\b[^>]*aria-describedby="[^"]*\b{re.escape(name)}-error"[^>]*>',
        page,
    )
    is_group = control.startswith("<fieldset")
    assert (f'id="{name}"' in control and 'aria-invalid="true"' in control) or (
        is_group and 'tabindex="-1"' in control
    ), control
    assert "autofocus" in control and page.count("autofocus") == 1
    assert 'id="errors"' not in page
    return name, unescape(sentence)


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, World.begun)


@pytest.fixture
def world(made: World, db: None) -> World:
    return made.again()


@pytest.mark.parametrize("broken", [row(form) for form in BROKEN])
def test_what_is_wrong_stands_at_its_input(world: World, broken: Broken, settings: Any) -> None:
    if broken.page.startswith("sign_up"):
        settings.SIGN_UP = sign_up.OPEN
    assert wrong(broken.sent(world), broken.status) == (broken.name, broken.sentence)


def test_every_form_is_broken_here_or_has_nothing_to_break() -> None:
    broken = {form.page for form in BROKEN}
    posted = {page.name for page in PAGES if "POST" in page.methods} | {
        form.page for form in BROKEN if form.is_get
    }
    assert broken | BUTTONS | OTHERS.keys() == posted
    assert not broken & (BUTTONS | OTHERS.keys())

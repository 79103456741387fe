"""Pages of the dashboard that no other test opens: each is judged once, with a record where it is
of one, and what the links of emails open with links that work.

One page stays open and is turned to the next (`judging.TURNED_TO`), which takes half of what it
takes to load each; what scripts add is judged by the stories.
"""

import re
import uuid
from typing import Any
from urllib.parse import urlencode

from django.core import mail as outbox
from playwright.sync_api import Page

from apps.access.members import invitations
from apps.access.models import AgentCredential, ApiKey
from apps.access.person import email_change, recovery, sign_up
from apps.access.person.new_browsers import token_of
from apps.core import clock, mail
from apps.dashboard.site.views import Page as DashboardPage
from apps.dashboard.urls import PAGES
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Role
from tests.browser.conftest import OpenPage, barriers, overflow
from tests.browser.judging import FRAME, TURNED_TO
from tests.browser.stories import begin
from tests.cast import PASSWORD, Cast, person
from tests.contract.oauth.apps import App
from tests.dashboard import access_acts
from tests.dashboard.test_pages import Records, path_of
from tests.dashboard.test_sessions import row_of, signed_in
from tests.make import fresh_address
from tests.stage import empty_buckets
from tests.whole import IS_WHOLE

# Judged where they are first seen, by the tests of these files. A new page is judged here.
JUDGED_ELSEWHERE = {
    "test_dashboard": "sign_in sign_in_code home payments payment payment_create payment_link keys"
    " key_create webhook_endpoints webhook_endpoint_create members security security_enrol",
    "test_dashboard_rooms": "refund settings settings_assets settings_branding",
    "test_attention": "attention",
    "test_search": "search",
    "test_links": "links link_create link link_edit link_archive link_button",
    "test_till": "till till_settings till_sales till_items till_item till_sale",
    "test_lists": "customers invoices subscriptions",
    "test_billing_rooms": "invoice invoice_create invoice_edit customer subscription"
    " subscription_act product",
    "test_dashboard_books": "statement reports",
    "test_money_out": "settings_account_codes",
    "test_paying_out": "payouts payout_create payout payout_destinations payout_wallet_add",
    "test_stories_owner": "sign_up sign_up_code sign_up_store payout_bank_add balances",
    "test_approvals": "approvals approval approval_approve approval_reject settings_approvals",
    "test_logs_and_domain": "request_log request_entry test_emails test_email audit_log"
    " settings_domain settings_domain_change",
    "test_people": "forgot reset join member_invite",
    "test_passkeys": "sign_in_passkey passkeys passkey_add passkey_remove",
    "test_frame": "features",
    "test_own_settings": "profile verification",
    "test_notifications": "notifications notification notification_settings unsubscribe",
    "test_store_closing": "settings_store_close",
}
# What people open from an email, and how its link begins.
LINKED = {
    "sign_up_invited": "sign-up/invited/",
    "reset": "reset/",
    "confirm_email": "email/",
    "new_sign_in": "sign-ins/",
    "stop": "stop/",
    "join": "join/",
}
LINK = re.compile(rf"/dashboard/((?:{'|'.join(LINKED.values())})\S+)")
NOT_PAGES = re.compile(r"\.(csv|svg|png|js)$|/file$|/invoice$")
# Where nobody is let in twice.
STEPS = {"stepup", "sign_in", "sign_in_code", "sign_in_passkey", "sign_up", "forgot"}
# On the way from another page, or of a record in another state: the tests above get there.
ON_THE_WAY = {
    "sign_up_code",
    "sign_up_store",
    "invoice_edit",
    "approval_approve",
    "security_enrol",
    "passkey_remove",
    "notification",
}


def is_judged_here(page: DashboardPage) -> bool:
    elsewhere = {name for names in JUDGED_ELSEWHERE.values() for name in names.split()}
    is_page = "GET" in page.methods and not NOT_PAGES.search(page.path)
    if not is_page or page.name in STEPS | ON_THE_WAY:
        return False
    return IS_WHOLE or page.name not in elsewhere


def told_of(page: Page, path: str) -> list[str]:
    """Complaints about a page besides its frame; one behind a link that nobody sent says so
    itself."""
    empty_buckets()
    status, address = page.evaluate(TURNED_TO, path)
    found = [*barriers(page, FRAME)]
    if status != (404 if "unknown" in path else 200) or address != path.partition("?")[0]:
        found.append(f"{status} at {address}")
    if (wide := overflow(page)) > 0:
        found.append(f"{wide} px too wide")
    return [f"{path}: {told}" for told in found]


def answered_by_nobody(records: Records) -> None:
    """Somebody who has left answers for key and agent, so that they can be taken over."""
    left = person("left")
    ApiKey.objects.filter(pk=records.made["api-keys"]["id"]).update(user=left)
    AgentCredential.objects.filter(pk=records.made["agents"]["id"]).update(user=left)


def test_pages_that_no_other_test_opens_have_no_barrier_and_fit(
    world: Cast, open_page: OpenPage
) -> None:
    names = {page.name for page in PAGES}
    listed = [name for names in JUDGED_ELSEWHERE.values() for name in names.split()]
    assert ON_THE_WAY <= set(listed) <= names and len(listed) == len(set(listed))
    records = Records(world)
    app = App(world)
    paths = [
        f"/dashboard/{access_acts.asking() if page.name == 'key_pair' else path_of(page, records)}"
        for page in PAGES
        if is_judged_here(page)
    ]
    answered_by_nobody(records)
    paths.append(f"/oauth/authorize?{urlencode(app.query())}")
    teller = begin(open_page, "every page", world.alice, width=390, dark=True)
    wrong = barriers(teller.page)
    wrong += [told for path in paths for told in told_of(teller.page, path)]
    assert wrong == [], "\n".join(wrong)


def links_that_work(world: Cast) -> list[str]:
    """One of each kind, as it was sent."""
    by = world.bakery.owner_access("live")
    at = clock.real_now()
    sign_in = token_of(row_of(signed_in(world.bob)))  # which takes back a reset that was asked for
    sign_up.invite(f"dora-{uuid.uuid4().hex[:8]}@example.com")
    invitations.invite(by, email="erin@bakery.example", role=Role.DEVELOPER, at=at)
    recovery.ask(world.bob.email, "203.0.113.7")
    moved = f"bob-{uuid.uuid4().hex[:8]}@example.com"
    email_change.ask(world.bob, email=moved, password=PASSWORD, address="203.0.113.7")
    add_wallet(world.bakery.store, "live", "ethereum", fresh_address(), by=by)
    mail.send_due()
    sent = {match for message in outbox.outbox for match in LINK.findall(str(message.body))}
    sent.add(f"sign-ins/{sign_in}")
    return [
        next(path for path in sorted(sent) if path.startswith(begins)) for begins in LINKED.values()
    ]


def test_what_the_links_of_emails_open_has_no_barrier_and_fits(
    world: Cast, open_page: OpenPage, settings: Any
) -> None:
    assert set(LINKED) == {page.name for page in PAGES if "<str:token>" in page.path} - {
        "unsubscribe"
    }
    settings.SIGN_UP = sign_up.INVITATION
    page = open_page("/dashboard/sign-in", width=390, dark=True)
    paths = [f"/dashboard/{path}" for path in links_that_work(world)]
    wrong = [told for path in paths for told in told_of(page, path)]
    assert wrong == [], "\n".join(wrong)

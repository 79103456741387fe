"""THE table of pages: who is let in, who is not, and what every answer carries. A page that is not
covered here fails."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.access import request_log
from apps.access.models import AccessToken, RequestEntry
from apps.chain.own import choices
from apps.core import clock
from apps.dashboard.site.views import EVERYBODY, SIGNED_IN, Page
from apps.dashboard.urls import PAGES
from apps.payouts.models import ApprovalRule, PayoutApproval
from apps.payouts.services.batches import open_batch
from apps.payouts.services.destinations import add_wallet
from apps.platforms.requests import AccountRequest
from apps.platforms.services.accounts import create_account
from apps.reports.requests import ReportRequest
from apps.reports.services.request import request_report
from apps.stores import roles
from apps.stores.emailing import customer_mail
from apps.stores.models import Notification, Role, User
from apps.stores.models.mail import TestLetter
from apps.stores.notices.notifications import NewNotification, record
from apps.stores.services import change_store
from apps.webhooks.models import Delivery
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.deliveries import send_test
from apps.webhooks.services.endpoints import register_endpoint
from tests import whole
from tests.billing import records as billing
from tests.cast import Api, Cast, assemble, join, person
from tests.chain.own_wallets import xpub
from tests.contract.oauth.apps import App
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link
from tests.make import (
    advance,
    fresh_address,
    late_deposit,
    payment,
    payout,
    store_coins,
    stray_transfer,
    swapped,
)
from tests.platforms.conftest import platform_of
from tests.stage import empty_buckets, standing

IN_A_STORE = [page for page in PAGES if page.permission not in (EVERYBODY, SIGNED_IN)]
OF_A_RECORD = [page for page in IN_A_STORE if "<" in page.path]
OF_ONE_MODE = [
    page
    for page in OF_A_RECORD
    if not page.path.startswith(("team/", "apps/own/", "platform/", "verification/"))
]
WRITES = [page for page in IN_A_STORE if "POST" in page.methods]
EVENTS = ["payment_intent.completed"]


def call_made(cast: Cast) -> dict[str, str]:
    payment(cast.bakery.test)
    request_log.flush()
    row = RequestEntry.objects.visible_to(cast.bakery.access()).first()
    assert row is not None
    return {"id": str(row.pk)}


def payment_with_a_late_deposit(cast: Cast) -> dict[str, str]:
    made = payment(cast.bakery.test, expires_in=300)
    advance(cast.bakery.test, 400)
    return {"id": made["id"], "deposit_id": late_deposit(made["id"])}


def report(cast: Cast) -> dict[str, str]:
    asked = ReportRequest(
        report_type="merchant_statement", start_date="2026-01-01", end_date="2026-01-02"
    )
    return {"id": str(request_report(cast.bakery.access(), asked).pk)}


def shown_email(cast: Cast) -> dict[str, str]:
    access = cast.bakery.access()
    customer_mail.send(
        access.store,
        access.mode,
        key="k",
        to="ann@example.com",
        template="portal_link",
        context={"name": "", "email": "", "portal_url": "", "is_test": True},
    )
    row = TestLetter.objects.visible_to(access).first()
    assert row is not None
    return {"id": str(row.pk)}


def notification(cast: Cast) -> dict[str, str]:
    store = cast.bakery.store.pk
    record(
        NewNotification(store, "test", "payout_problem", "1", "Payout failed", "/dashboard/payouts")
    )
    row = Notification.objects.visible_to(cast.bakery.access()).first()
    assert row is not None
    return {"id": str(row.pk)}


def endpoint(cast: Cast) -> dict[str, str]:
    made = register_endpoint(
        cast.bakery.access(), EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=EVENTS)
    ).endpoint
    return {"id": str(made.pk), "delivery_id": str(send_test(made, None, clock.real_now()).pk)}


def event(cast: Cast) -> dict[str, str]:
    made = endpoint(cast)
    return {"id": str(Delivery.objects.get(pk=made["delivery_id"]).event_id)}


def sub_merchant(cast: Cast) -> dict[str, str]:
    """An account of alice's store, which is a platform then."""
    change_store(cast.bakery.store, is_platform=True)
    return {
        "id": str(create_account(cast.bakery.access(), AccountRequest(name="Corner Shop"))[0].pk)
    }


def sub_merchants_payment(cast: Cast) -> dict[str, str]:
    """A payment to an account of alice's store."""
    return {"id": payment(platform_of(cast.bakery).sub().test)["id"]}


def app_let_in(cast: Cast) -> dict[str, str]:
    """An app of alice's that was let into her store."""
    app = App(cast)
    app.tokens()
    return {
        "id": app.id,
        "family": str(AccessToken.objects.get(application_id=app.id).token_family),
    }


def asked_wallet(cast: Cast) -> dict[str, str]:
    asked = choices.WalletRequest("SETH", "key", xpub())
    return {"id": str(choices.ask_for_wallet(cast.bakery.owner_access(), asked).pk)}


def sent_payout(cast: Cast) -> dict[str, str]:
    store_coins(cast.bakery.store, "SETH", 10**18)
    return {"id": payout(cast.bakery.test, 10**17)["id"]}


def waiting_approval(cast: Cast) -> dict[str, str]:
    """A payout that waits for a second person."""
    at = clock.real_now()
    here = {"store": cast.bakery.store, "mode": "test", "created_at": at}
    rule = ApprovalRule.objects.create(**here, changed_at=at, currency="EUR", above_cents=0)
    sent_payout(cast)
    rule.delete()
    return {"id": str(PayoutApproval.objects.get(store=cast.bakery.store).pk)}


def saved_wallet(cast: Cast) -> dict[str, str]:
    return {"id": str(add_wallet(cast.bakery.store, "test", "sepolia", fresh_address()).pk)}


def payout_batch(cast: Cast) -> dict[str, str]:
    raw = f"asset_id,amount,destination\nSETH,0.1,{fresh_address()}\n".encode()
    viewer = cast.bakery.access()
    made = open_batch(
        viewer, cast.bakery.store, cast.alice, filename="a.csv", raw=raw, form_key="a" * 32
    )
    return {"id": str(made.pk)}


def schedule(cast: Cast) -> dict[str, str]:
    body = {"asset_id": "SETH", "frequency": "daily", "destination_address": fresh_address()}
    return {
        "id": cast.bakery.test.post("/payout_schedules", {"payout_schedule": body}).json()["id"]
    }


def agent(cast: Cast) -> dict[str, str]:
    return {"id": str(cast.bakery.agent().pk)}


def mandate(cast: Cast) -> dict[str, str]:
    change_store(cast.bakery.store, authorization_provider="policy")
    asked = {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "books"}
    return {
        "id": Api(cast.bakery.secrets["test_agent"]).post("/agentic/mandates", asked).json()["id"]
    }


def billed_by(
    make_one: Callable[[Api], dict[str, Any]], **more: str
) -> Callable[[Cast], dict[str, str]]:
    """A billing record of alice's, with what else its pages name."""
    return lambda cast: {"id": make_one(cast.bakery.test)["id"], **more}


def price_of(cast: Cast) -> dict[str, str]:
    made = billing.price(cast.bakery.test)
    return {"id": made["product_id"], "price_id": made["id"]}


# how a page's path begins: a record of alice's store for it
RECORDS: dict[str, Callable[[Cast], dict[str, str]]] = {
    "agents": agent,
    "agents/mandates": mandate,
    "api-keys": lambda cast: {"id": str(cast.bakery.access().credential_id)},
    "approvals": waiting_approval,
    "apps": app_let_in,
    "customers": billed_by(billing.customer),
    "email": lambda cast: {"token": "unknown"},
    "events": event,
    "invoices": billed_by(billing.opened, act="void"),
    "join": lambda cast: {"token": "unknown"},
    "sign-up": lambda cast: {"token": "unknown"},
    "sign-ins": lambda cast: {"token": "unknown"},
    "stop": lambda cast: {"token": "unknown"},
    "payment-links": lambda cast: {"id": str(made_link(cast.bakery).pk)},
    "payments": payment_with_a_late_deposit,
    "payouts": sent_payout,
    "payouts/batches": payout_batch,
    "payouts/destinations": saved_wallet,
    "payouts/schedules": schedule,
    "platform": sub_merchant,
    "platform/payments": sub_merchants_payment,
    "point-of-sale": lambda cast: {"id": payment(cast.bakery.test)["id"]},
    "products": price_of,
    "reports": report,
    "requests": call_made,
    "reset": lambda cast: {"id": str(cast.bob.pk), "token": "unknown"},
    "security": lambda cast: {"id": str(uuid.uuid4())},
    "notifications": notification,
    "subscriptions": billed_by(billing.subscribe, act="pause"),
    "swaps": lambda cast: {"id": swapped(cast.bakery)},
    "transfers": lambda cast: {"id": str(stray_transfer(payment(cast.bakery.test)["id"]))},
    "test-emails": shown_email,
    "team": lambda cast: {"id": str(cast.bob.pk)},
    "settings/wallets": asked_wallet,
    "unsubscribe": lambda cast: {"token": "unknown"},
    "webhooks": endpoint,
}


class Records:
    """Made when a page asks for them; `signed_in` are sessions of those who ask for pages."""

    def __init__(
        self,
        cast: Cast,
        made: dict[str, dict[str, str]] | None = None,
        signed_in: dict[str, Browser] | None = None,
    ) -> None:
        self.cast = cast
        self.made = made or {}
        self.signed_in = signed_in or {}

    def browser(self, name: str) -> Browser:
        return self.signed_in[name].again()

    def of(self, page: Page) -> dict[str, str]:
        if "<" not in page.path and not page.path.startswith(
            "platform/"
        ):  # whose pages are for platforms alone
            return {}
        name = max((item for item in RECORDS if page.path.startswith(f"{item}/")), key=len)
        if name not in self.made:
            self.made[name] = RECORDS[name](self.cast)
        return self.made[name]


def all_records() -> Records:
    records = Records(assemble())
    for page in PAGES:
        records.of(page)
    records.signed_in = {
        "owner": Browser(records.cast.alice),
        "stranger": Browser(records.cast.charlie),
        "viewer": Browser(joined(records.cast, Role.VIEWER)),
        "owner with a recent code": Browser(records.cast.alice).prove(),
    }
    for browser in records.signed_in.values():
        browser.known()
    return records


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Records]:
    yield from standing(django_db_blocker, all_records)


@pytest.fixture
def records(made: Records, db: None) -> Records:
    """One of each, and whose they are: `records.cast`."""
    return Records(made.cast.again(), made.made, made.signed_in)


@pytest.fixture(autouse=True)
def _full_buckets() -> Iterator[None]:
    """Only the buckets: what pages keep for a minute is the same for all tests of one store."""
    yield
    request_log.forget()
    empty_buckets()


def path_of(page: Page, records: Records) -> str:
    path = page.path
    for name, value in records.of(page).items():
        path = path.replace(f"<str:{name}>", value)
    assert "<" not in path
    return path


def path_of_nothing(page: Page, records: Records) -> str:
    """With an id that no record has."""
    return path_of(page, records).replace(records.of(page)["id"], str(uuid.uuid4()))


def ask(browser: Browser, page: Page, path: str, method: str | None = None) -> Any:
    return browser.get(path) if (method or page.methods[0]) == "GET" else browser.post(path)


def is_turned_away(browser: Browser, path: str, method: str) -> bool:
    """Tell whether the role may not enter, asked as HTMX does: it is refused without a page."""
    headers = {"HX-Request": "true"}
    answer = (browser.get if method == "GET" else browser.post)(path, headers=headers)
    browser.client.cookies.pop("messages", None)  # the page at home would show them
    return answer.status_code == 403 and answer.headers["HX-Redirect"] == "/dashboard/"


def joined(cast: Cast, role: str) -> User:
    user = person(role)
    join(cast.bakery.store, user, role)
    return user


def asked_in_turn(pages: list[Page]) -> Iterator[Page]:
    """There are more pages than a fast machine may ask for in a row."""
    for number, page in enumerate(pages):
        if number % 20 == 0:
            empty_buckets()
        yield page


def test_a_signed_out_visitor_is_sent_to_sign_in(records: Records) -> None:
    visitor = Browser()
    for page in PAGES:
        if page.permission == EVERYBODY:
            continue
        for method in page.methods:
            answer = ask(visitor, page, path_of(page, records), method)
            assert answer.status_code in (302, 303), (page.name, method)
            assert answer.headers["Location"].startswith("/dashboard/sign-in"), (page.name, method)


def test_a_stranger_gets_the_same_404_as_for_an_unknown_id(records: Records) -> None:
    stranger = records.browser("stranger")
    for page in asked_in_turn(OF_A_RECORD):
        path = path_of(page, records)
        nowhere = ask(stranger, page, path_of_nothing(page, records))
        assert nowhere.status_code == 404, page.name
        for method in page.methods:
            there = ask(stranger, page, path, method)
            assert there.status_code == 404, (page.name, method)
            assert there.content == nowhere.content, (page.name, method)


def test_a_record_of_the_other_mode_is_not_found(records: Records) -> None:
    browser = records.browser("owner with a recent code")
    browser.switch("live")
    for page in asked_in_turn(OF_ONE_MODE):
        for method in page.methods:
            answer = ask(browser, page, path_of(page, records), method)
            assert answer.status_code == 404, (page.name, method)


def test_a_viewer_may_not_write(records: Records) -> None:
    viewer = records.browser("viewer")
    for page in asked_in_turn(WRITES):
        assert is_turned_away(viewer, path_of(page, records), "POST"), page.name


def is_asked(role: str, permission: str) -> bool:
    """The role that a page refuses asks for it, and of those who may enter the one who may least:
    an owner enters every page in the test of what it carries."""
    if whole.IS_WHOLE or not roles.may(role, permission):
        return True
    allowed = [item for item in Role.values if roles.may(item, permission)]
    return role == min(allowed, key=lambda one: sum(one in who for who in roles.TABLE.values()))


@pytest.mark.parametrize("role", Role.values)
def test_each_role_enters_what_the_table_of_roles_gives_it(role: str, records: Records) -> None:
    browser = Browser(joined(records.cast, role))
    for page in asked_in_turn(IN_A_STORE):
        method = "GET" if "GET" in page.methods else "POST"
        permission = page.permission if method == "GET" else page.needs("POST")
        if not is_asked(role, permission):
            continue
        path = path_of(page, records)
        if not roles.may(role, permission):
            assert is_turned_away(browser, path, method), page.name
        elif page.renders:  # a second's drawing, which begins once its record is found
            answer = ask(browser, page, path_of_nothing(page, records), method)
            assert answer.status_code == 404, page.name
        else:
            assert ask(browser, page, path, method).status_code != 403, page.name


def test_a_page_answers_only_its_own_methods(records: Records) -> None:
    owner = records.browser("owner").client
    for page in PAGES:
        answer = owner.put(f"/dashboard/{path_of(page, records)}")
        assert answer.status_code == 405, page.name
        assert answer.headers["Allow"] == ", ".join(page.methods), page.name


def test_a_part_that_htmx_asks_for_sends_the_browser_to_sign_in(cast: Cast) -> None:
    answer = Browser().get("payments", headers={"HX-Request": "true"})
    assert answer.status_code == 403
    assert answer.headers["HX-Redirect"] == "/dashboard/sign-in"
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/dashboard/payments?q=rye"}
    assert (
        Browser()
        .get("payments", headers=headers)
        .headers["HX-Redirect"]
        .endswith("?next=%2Fdashboard%2Fpayments%3Fq%3Drye")
    )


def test_who_was_signed_out_over_a_form_hears_it_and_comes_back_to_the_form(cast: Cast) -> None:
    answer = Browser().post("payments/new", amount="10.00")
    assert (
        answer.headers["Location"]
        == "/dashboard/sign-in?next=%2Fdashboard%2Fpayments%2Fnew&ended=1"
    )
    shown = text(Browser().get(answer.headers["Location"]))
    assert "You were signed out, and nothing was changed." in shown
    assert Browser().post("sign-out").headers["Location"] == "/dashboard/sign-in"
    assert Browser().post("mode", mode="live").headers["Location"] == "/dashboard/sign-in?ended=1"


def test_a_dead_end_below_the_dashboard_shows_the_way_back(cast: Cast) -> None:
    assert 'href="/dashboard/"' in Browser(cast.alice).get("nothing-here").content.decode()
    assert 'href="/dashboard/"' not in Browser().get("/pay/AAAAAAAAAAAAAAAA").content.decode()


def test_a_part_that_the_role_does_not_allow_sends_the_browser_home(cast: Cast) -> None:
    viewer = Browser(joined(cast, Role.VIEWER))
    answer = viewer.get("payments/new", headers={"HX-Request": "true"})
    assert answer.status_code == 403
    assert answer.headers["HX-Redirect"] == "/dashboard/"
    for page in (viewer.get("payments/new"), viewer.post("payments/new")):
        assert page.status_code == 403 and "<h1" in page.content.decode()

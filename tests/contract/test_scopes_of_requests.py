"""Rows that PostgreSQL shows each request: every path, page and public link is asked, and every
statement that it sends is checked."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from psycopg.pq import TransactionStatus

from apps.access.scopes import ALL
from apps.api.plumbing.routes import PUBLIC, Route
from apps.api.urls import ROUTES
from apps.audit.grants import WEB
from apps.billing.models import Subscription
from apps.billing.services.portal import portal_url
from apps.core.db import tenancy
from apps.dashboard.site.views import EVERYBODY, SIGNED_IN, Page
from apps.dashboard.urls import PAGES
from apps.hosted.urls import urlpatterns as HOSTED
from apps.stores.models import Store
from apps.stores.services import change_store
from tests import make, roles
from tests.billing import records as billing
from tests.cast import Api, Cast, Shop, assemble
from tests.dashboard.browse import Browser
from tests.dashboard.test_pages import Records, _full_buckets, made, path_of, records
from tests.links.makers import made_link
from tests.links.sales import sold
from tests.stage import empty_buckets, standing
from tests.whole import IS_WHOLE

__all__ = ["_full_buckets", "made", "records"]
ROOT = Path(__file__).parents[2]
UNKNOWN = "00000000-0000-4000-8000-000000000000"
SETTINGS = "SELECT current_setting('role'), " + ", ".join(
    f"coalesce(current_setting('{item}', true), '')" for item in tenancy.SETTINGS
)
# Every opening there is, and why what runs in it can't know whose rows it needs, or needs more than
# one store's.
OPENINGS = {
    "the public link of a payment": (
        "one row by its unguessable reference; the rest of the request is that store's"
    ),
    "the public link of an invoice": (
        "one row by its unguessable token; the rest of the request is that store's"
    ),
    "the public page of a payment link": (
        "one row by its token; the rest of the request is that store's"
    ),
    "the public page of a sale": ("one row by its token; the rest of the request is that store's"),
    "a customer's link": (
        "one row that a signed link names; the rest of the request is that store's"
    ),
    "an onboarding link": (
        "one row by the hash of its token; the rest of the request is that store's and its"
        " platform's"
    ),
    "the page of a named destination": (
        "one row that a signed link names; the rest of the request is that store's and its"
        " platform's"
    ),
    "the page of a card payment": (
        "one row by its unguessable id; the rest of the request is that store's"
    ),
    "a network's callback names its credential": (
        "a callback is signed for a credential, which may be the service's"
    ),
    "a network's callback names a session": (
        "a credential of the service is for every store's sessions; what follows is that store's"
    ),
    "the bank's callback names a payout": (
        "the bank signs for the service; the callback only has payouts looked at sooner"
    ),
    "an email’s link names what it stops": (
        "a signed link of one row, which somebody who isn't signed in may stop once"
    ),
    "pages of payments wait for news": (
        "payments whose pages have asked with their links; one statement reads the news of all"
    ),
    "tokens are found by their hash": (
        "agents of an app end with its last token, which may be of any store"
    ),
    "an app is let into many stores": "switching an app off ends its agents in all of them",
    "calls of all stores are logged together": "a thread of its own writes what all requests left",
    "figures of the whole service": (
        "an operator's machine that has the token asks for counts and sums, of no store by name"
    ),
    "states of the whole service": (
        "the public page says since when something is late, of no store and without a figure"
    ),
    "staff": "people of the service who have shown a second factor",
}


# Public links by the opening through which their row is found.
PAYMENT = "the public link of a payment"
INVOICE = "the public link of an invoice"
REUSABLE = "the public page of a payment link"
SALE = "the public page of a sale"
CUSTOMER = "a customer's link"


class Seen:
    """Rows that the web's statements were shown: openings by name, and the stores and modes of all
    others."""

    def __init__(self) -> None:
        self.openings: set[str] = set()
        self.stores: set[str] = set()
        self.modes: set[str] = set()

    def note(self, role: str, stores: str, modes: str, told: str) -> None:
        if role != WEB:
            return
        if modes == tenancy.EVERYONE:
            self.openings.add(tenancy.current().why)
        else:
            self.stores |= set(filter(None, stores.strip("{}").split(",")))
            self.modes |= set(filter(None, modes.strip("{}").split(",")))


@contextmanager
def watched() -> Iterator[Seen]:
    """The server's own settings with which each statement ran, but the one that finds them out
    itself."""
    seen = Seen()

    def look(execute: Any, sql: str, *rest: Any) -> Any:
        raw = connection.connection
        answer = execute(sql, *rest)
        if (
            "concat(set_config(" not in sql
            and raw.info.transaction_status != TransactionStatus.INERROR
        ):
            seen.note(*roles.ask(raw, SETTINGS))
        return answer

    with connection.execute_wrapper(look):
        yield seen


def leave_scope_of(shop: Shop) -> None:
    """Leave the scope that a request of this store would leave on the connection."""
    with tenancy.within(tenancy.of([shop.store], ["test"])), connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def is_of(shop: Shop, seen: Seen, mode: str = "test") -> bool:
    """True if everything but the openings was shown this store in this mode; some requests ask for
    nothing more."""
    return (seen.stores, seen.modes) in (({str(shop.store.pk)}, {mode}), (set(), set()))


def left_on_the_server() -> tuple[str, ...]:
    _, *settings = roles.ask(connection.connection, SETTINGS)
    return tuple(settings)


def test_every_opening_stands_in_the_list() -> None:
    texts = [
        path.read_text() for folder in ("apps", "config") for path in (ROOT / folder).rglob("*.py")
    ]
    named = [
        re.findall(r'tenancy\.(?:everyone|opened|open_for)\(\s*"([^"]+)"', text) for text in texts
    ]
    assert {item for found in named for item in found} == set(OPENINGS)
    assert sum(
        len(re.findall(r"tenancy\.(?:everyone|opened|open_for)\(", text)) for text in texts
    ) == sum(map(len, named))


@dataclass
class World:
    """A platform with every credential that asks for something, and a public link of each kind."""

    cast: Cast
    keys: dict[str, Api]  # mode -> a key with every scope
    agents: dict[str, Api]
    links: dict[str, str]  # opening -> what stands for the link in a path
    subscription_id: str


def everything_that_asks() -> World:
    cast = assemble()
    cast.charlie  # noqa: B018  whose requests come between
    shop = cast.bakery
    change_store(shop.store, is_platform=True)
    subscription = billing.subscribe(shop.test)
    customer = Subscription.objects.get(pk=subscription["id"]).customer
    return World(
        cast=cast,
        keys={mode: shop.with_scopes(*ALL, mode=mode) for mode in ("live", "test")},
        agents={mode: Api(shop.secrets[f"{mode}_agent"]) for mode in ("live", "test")},
        links={
            PAYMENT: make.payment(shop.test)["reference"],
            INVOICE: billing.opened(shop.test)["public_token"],
            REUSABLE: made_link(shop).token,
            SALE: sold(shop.owner_access(), offered_bps=[1000]).token,
            CUSTOMER: portal_url(customer).rsplit("/", 1)[1],
        },
        subscription_id=subscription["id"],
    )


@pytest.fixture(scope="module")
def whole_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, everything_that_asks)


@pytest.fixture
def world(whole_world: World, db: None) -> World:
    return whole_world


# --- the API --------------------------------------------------------------------------------------


def noun_of(row: Route | Page) -> str:
    return row.path.partition("/")[0]


PRIVATE = [route for route in ROUTES if PUBLIC not in route.scopes.values()]
PRIVATE_OF = {noun: list(found) for noun, found in groupby(sorted(PRIVATE, key=noun_of), noun_of)}


def in_modes(routes: list[Route]) -> Iterator[tuple[Route, str]]:
    """Each in one of the modes, in turns: the credential alone says which. Only the whole suite
    asks in both."""
    for number, (route, mode) in enumerate(product(routes, ("live", "test"))):
        if IS_WHOLE or number % 4 in (0, 3):
            yield route, mode


@pytest.mark.parametrize("noun", PRIVATE_OF)
def test_a_credential_is_shown_its_store_in_its_mode(world: World, noun: str) -> None:
    bakery = world.cast.bakery
    for route, mode in in_modes(PRIVATE_OF[noun]):
        api = (world.agents if noun == "agentic" else world.keys)[mode]
        empty_buckets()
        for method in route.scopes:
            call = f"{method} {route.path} in {mode} mode"
            leave_scope_of(world.cast.strangers)
            with watched() as seen:
                api(
                    method,
                    "/" + re.sub(r"<str:\w+>", UNKNOWN, route.path),
                    {} if method in ("POST", "PATCH") else None,
                    key=f"{method}-key" if method == "POST" else None,
                )
            assert is_of(bakery, seen, mode), call
            assert not seen.openings, call
            stores, modes, _ = left_on_the_server()
            assert (stores, modes) == (f"{{{bakery.store.pk}}}", f"{{{mode}}}"), call


def test_a_platform_that_acts_is_shown_two_stores(world: World) -> None:
    api = world.keys["test"]
    account = api.post("/platform/accounts", {"account": {"name": "Corner"}}).json()["id"]
    with watched() as seen:
        assert api.get("/payments", **{"X-Service-Account": account}).status_code == 200
    assert (seen.stores, seen.modes, seen.openings) == (
        {account, str(world.cast.bakery.store.pk)},
        {"test"},
        set(),
    )


# path: the opening through which its row is found, or why there is none
PUBLIC_PATHS: dict[str, str] = {
    "checkout/<str:reference>": PAYMENT,
    "checkout/<str:reference>/onramp/payment_methods": PAYMENT,
    "checkout/<str:reference>/onramp_sessions": PAYMENT,
    "billing/invoice/<str:token>": INVOICE,
    "billing/invoice/<str:token>/payment_intent": INVOICE,
    "offramp_callbacks": "signed by the bank, for the service",
    "onramp_callbacks/<str:id>": "signed by a network: tests/onramp",
    "platform/onboarding_links/<str:token>": (
        "a token that is shown once: tests/platforms/test_onboarding"
    ),
    "oauth/authorize": "of a person, who chooses the store",
    "oauth/token": "of an app, whose tokens are under no policy",
    "oauth/revoke": "of an app, whose tokens are under no policy",
    "oauth/userinfo": "of a person",
    "oauth/agent_credentials": "narrowed to the token's store: tests/contract/oauth",
}


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route not in PRIVATE], ids=lambda route: route.path
)
def test_a_public_path_is_shown_the_store_of_its_link(world: World, route: Route) -> None:
    opening = PUBLIC_PATHS.get(route.path, "of no store")
    if opening not in OPENINGS:
        assert route.path in PUBLIC_PATHS or not re.search(
            "store|payment|invoice|customer", route.path
        )
        return
    leave_scope_of(world.cast.strangers)
    for method in route.scopes:
        with watched() as seen:
            answer = Api()(
                method,
                "/" + re.sub(r"<str:\w+>", world.links[opening], route.path),
                {} if method == "POST" else None,
            )
        assert answer.status_code != 404
        assert seen.openings == {opening}
        assert is_of(world.cast.bakery, seen)


# --- the dashboard --------------------------------------------------------------------------------

STORE_PAGES = [page for page in PAGES if page.permission not in (EVERYBODY, SIGNED_IN)]
PAGES_OF = {noun: list(found) for noun, found in groupby(sorted(STORE_PAGES, key=noun_of), noun_of)}
# Pages that show both modes on purpose, or all accounts of a platform.
BOTH_MODES = {
    "home": "the first steps are of both modes",
    "features": "the first steps are of both modes",
    "settings_selling": "the first steps are of both modes",
    "setup": "the first steps are of both modes",
    "platform_account_create": "an account accepts coins in both modes from its first day",
    "platform_account_close": "what an account has left in either mode stands against closing it",
    "settings_store_close": "live mode, and subscriptions of either, stand against closing it",
}
OPEN_PAGES = {
    "oauth_app_deactivate": "an app is let into many stores",
    "oauth_grant_revoke": "tokens are found by their hash",
}


@pytest.mark.parametrize("noun", PAGES_OF)
def test_a_page_is_shown_the_chosen_store_in_the_chosen_mode(records: Records, noun: str) -> None:
    for page in PAGES_OF[noun]:
        empty_buckets()
        with transaction.atomic():
            for method in page.methods:
                ask_and_look(records, page, method)
            transaction.set_rollback(True)


def test_the_first_page_of_a_session_asks_whether_its_store_is_paid_live_and_no_later_one_does(
    world: World,
) -> None:
    browser = Browser(world.cast.alice)
    seen_modes = []
    for _ in range(2):
        leave_scope_of(world.cast.strangers)
        with watched() as seen:
            browser.get("team")
        assert seen.stores == {str(world.cast.bakery.store.pk)}
        seen_modes.append(seen.modes)
    assert seen_modes == [{"live", "test"}, {"test"}]


def ask_and_look(records: Records, page: Page, method: str) -> None:
    call = f"{method} {page.name}"
    store = records.cast.bakery.store
    path = path_of(page, records)
    browser = records.browser("owner with a recent code")
    leave_scope_of(records.cast.strangers)
    with watched() as seen:
        answer = browser.get(path) if method == "GET" else browser.post(path)
        b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert answer.status_code < 500, call
    assert str(store.pk) in seen.stores, call
    if others := seen.stores - {str(store.pk)}:
        accounts = Store.objects.filter(platform=store).values_list("pk", flat=True)
        assert others <= set(map(str, accounts)), call
    assert seen.modes == {"test"} or page.name in BOTH_MODES, call
    assert seen.openings <= {OPEN_PAGES.get(page.name, "")}, call


# --- public pages ---------------------------------------------------------------------------------

PAYMENT_LINKS = (
    "checkout",
    "checkout_pulse",
    "checkout_brand",
    "checkout_wallets",
    "checkout_signature",
    "checkout_x402",
    "checkout_simulate",
    "checkout_card",
    "checkout_card_leave",
    "checkout_quote",
    "checkout_sent",
    "checkout_receipt",
    "checkout_refund_link",
    "checkout_refund_address",
    "checkout_refund",
)
_INVOICE = ("", "_pay", "_simulate", "_portal", "_brand", "_pdf", "_data", "_receipt", "_x402")
INVOICE_LINKS = (
    *(f"invoice{part}" for part in _INVOICE),
    *(f"credit_note{part}" for part in ("_pdf", "_data")),
)
REUSABLE_LINKS = ("link", "link_brand", "link_x402")
SALE_LINKS = ("sale", "sale_display", "sale_brand")
CUSTOMER_LINKS = ("portal", "portal_brand", "portal_link", "portal_cancel", "portal_keep")
NO_LINK = {
    "domain_allowed": "of no store: asks whether a domain is served",
    "embed_script": "of no store: the same for all",
    "logo": "a file, named by its content",
    "private_file": "a file, named by a signed link",
    "sandbox_card": "tests/onramp: one session by its id, then its store",
    "onboarding": (
        "tests/platforms/test_onboarding: one link by the hash of its token, then its store and"
        " platform"
    ),
    "destination": (
        "tests/platforms/destinations: one row that a signed link names, then its store"
        " and platform"
    ),
    "destination_send": "as destination",
    "destination_stop": "as destination",
    "onboarding_business": "as onboarding",
    "onboarding_payout": "as onboarding",
    "onboarding_finish": "as onboarding",
}


def test_every_public_page_is_asked_or_says_why_not() -> None:
    assert {item.name for item in HOSTED} == {
        *PAYMENT_LINKS,
        *INVOICE_LINKS,
        *REUSABLE_LINKS,
        *SALE_LINKS,
        *CUSTOMER_LINKS,
        *NO_LINK,
    }


@pytest.mark.parametrize(
    ("opening", "names"),
    {
        PAYMENT: PAYMENT_LINKS,
        INVOICE: INVOICE_LINKS,
        REUSABLE: REUSABLE_LINKS,
        SALE: SALE_LINKS,
        CUSTOMER: CUSTOMER_LINKS,
    }.items(),
)
def test_a_public_page_is_shown_the_store_of_its_link(
    world: World, opening: str, names: tuple[str, ...]
) -> None:
    for name in names:
        pattern = next(item for item in HOSTED if item.name == name)
        path = "/" + pattern.pattern.regex.pattern.strip("^$").replace("\\", "")  # type: ignore[union-attr]
        path = path.replace("(?:pay/)?", "")
        path = re.sub(
            r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)",
            lambda found: {"id": world.subscription_id, "number": "1"}.get(
                found[1], world.links[opening]
            ),
            path,
        )
        leave_scope_of(world.cast.strangers)
        with transaction.atomic():
            look_at(path, opening, world.cast.bakery)
            transaction.set_rollback(True)


def look_at(path: str, opening: str, shop: Shop) -> None:
    """By the first method that asks for something."""
    for method in ("get", "post"):
        with watched() as seen:
            getattr(Client(), method)(path)
        if seen.openings or seen.stores:
            assert seen.openings == {opening}, path
            assert is_of(shop, seen), path
            return
    raise AssertionError(f"{path} asked for nothing")

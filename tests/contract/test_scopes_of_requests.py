"""Whose rows PostgreSQL shows each request: every path, page and public link is asked, and every
statement that it sends is looked at."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from psycopg.pq import TransactionStatus

from apps.access.scopes import ALL
from apps.api.plumbing.routes import PUBLIC, Route
from apps.api.urls import ROUTES
from apps.audit.grants import WEB
from apps.billing.models import Invoice, Subscription
from apps.billing.services.portal import portal_url
from apps.core.db import tenancy
from apps.dashboard.plumbing import EVERYBODY, SIGNED_IN, Page
from apps.dashboard.urls import PAGES
from apps.hosted.urls import urlpatterns as HOSTED
from apps.payments.models import Payment
from apps.stores.models import Store
from tests import make, roles
from tests.billing import records as billing
from tests.cast import Api, Cast, Shop
from tests.dashboard.test_pages import Records, _full_buckets, made, path_of, records
from tests.links.makers import made_link

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


class Seen:
    """What the web's statements were shown: openings by name, and the stores and modes of all
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
    """What a request of this store would leave on the connection."""
    with tenancy.within(tenancy.of([shop.store], ["test"])), connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def is_of(shop: Shop, seen: Seen, mode: str = "test") -> bool:
    """Whether everything but the openings was shown this store in this mode; some requests ask for
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


# --- the API --------------------------------------------------------------------------------------


def credential(shop: Shop, mode: str, path: str) -> Api:
    if path.startswith("agentic/"):
        return Api(shop.secrets[f"{mode}_agent"])
    return shop.with_scopes(*ALL, mode=mode)


def named(route: Route) -> str:
    return "/" + re.sub(r"<str:\w+>", UNKNOWN, route.path)


PRIVATE = [route for route in ROUTES if PUBLIC not in route.scopes.values()]


@pytest.mark.parametrize("mode", ["live", "test"])
@pytest.mark.parametrize("route", PRIVATE, ids=lambda route: route.path)
def test_a_credential_is_shown_its_store_in_its_mode(cast: Cast, route: Route, mode: str) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(is_platform=True)
    api = credential(cast.bakery, mode, route.path)
    for method in route.scopes:
        leave_scope_of(cast.strangers)
        with watched() as seen:
            api(
                method,
                named(route),
                {} if method in ("POST", "PATCH") else None,
                key=f"{method}-key" if method == "POST" else None,
            )
        assert is_of(cast.bakery, seen, mode), method
        assert not seen.openings
        stores, modes, _ = left_on_the_server()
        assert (stores, modes) == (f"{{{cast.bakery.store.pk}}}", f"{{{mode}}}"), method


def test_a_platform_that_acts_is_shown_two_stores(cast: Cast) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(is_platform=True)
    api = cast.bakery.with_scopes(*ALL)
    account = api.post("/platform/accounts", {"account": {"name": "Corner"}}).json()["id"]
    with watched() as seen:
        assert api.get("/payments", **{"X-Service-Account": account}).status_code == 200
    assert (seen.stores, seen.modes, seen.openings) == (
        {account, str(cast.bakery.store.pk)},
        {"test"},
        set(),
    )


# path: what stands for its part, and the opening through which it is found; or why there is none
BY_PAYMENT = (
    "the public link of a payment",
    lambda cast: Payment.objects.get(pk=make.payment(cast.bakery.test)["id"]).reference,
)
PUBLIC_PATHS: dict[str, tuple[str, Callable[[Cast], str]] | str] = {
    "checkout/<str:reference>": BY_PAYMENT,
    "checkout/<str:reference>/onramp/payment_methods": BY_PAYMENT,
    "checkout/<str:reference>/onramp_sessions": BY_PAYMENT,
    "billing/invoice/<str:token>": ("the public link of an invoice", lambda cast: invoice(cast)),
    "billing/invoice/<str:token>/payment_intent": (
        "the public link of an invoice",
        lambda cast: invoice(cast),
    ),
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


def invoice(cast: Cast) -> str:
    return str(Invoice.objects.get(pk=billing.opened(cast.bakery.test)["id"]).public_token)


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route not in PRIVATE], ids=lambda route: route.path
)
def test_a_public_path_is_shown_the_store_of_its_link(cast: Cast, route: Route) -> None:
    found = PUBLIC_PATHS.get(route.path, "of no store")
    if isinstance(found, str):
        assert route.path in PUBLIC_PATHS or not re.search(
            "store|payment|invoice|customer", route.path
        )
        return
    opening, make_one = found
    reference = make_one(cast)
    cast.strangers.test.get("/payments")
    for method in route.scopes:
        with watched() as seen:
            answer = Api()(
                method,
                "/" + re.sub(r"<str:\w+>", reference, route.path),
                {} if method == "POST" else None,
            )
        assert answer.status_code != 404
        assert seen.openings == {opening}
        assert is_of(cast.bakery, seen)


# --- the dashboard --------------------------------------------------------------------------------

STORE_PAGES = [page for page in PAGES if page.permission not in (EVERYBODY, SIGNED_IN)]
# Pages that show both modes on purpose, or all accounts of a platform.
BOTH_MODES = {
    "home": "the first steps are of both modes",
    "platform_account_create": "an account accepts coins in both modes from its first day",
    "platform_account_close": "what an account has left in either mode stands against closing it",
    "settings_store_close": "live mode, and subscriptions of either, stand against closing it",
}
OPEN_PAGES = {
    "oauth_app_deactivate": "an app is let into many stores",
    "oauth_grant_revoke": "tokens are found by their hash",
}


@pytest.mark.parametrize("page", STORE_PAGES, ids=lambda page: page.name)
def test_a_page_is_shown_the_chosen_store_in_the_chosen_mode(records: Records, page: Page) -> None:
    cast = records.cast
    path = path_of(page, records)
    browser = records.browser("owner with a recent code")
    for method in page.methods:
        leave_scope_of(cast.strangers)
        with watched() as seen:
            answer = browser.get(path) if method == "GET" else browser.post(path)
            b"".join(answer.streaming_content) if answer.streaming else answer.content
        mine = {
            str(store)
            for store in Store.objects.filter(platform=cast.bakery.store).values_list(
                "pk", flat=True
            )
        }
        assert answer.status_code < 500
        assert str(cast.bakery.store.pk) in seen.stores
        assert seen.stores <= {str(cast.bakery.store.pk), *mine}
        assert seen.modes == {"test"} or page.name in BOTH_MODES
        assert seen.openings <= {OPEN_PAGES.get(page.name, "")}


# --- public pages ---------------------------------------------------------------------------------

PAYMENT_LINKS = (
    "checkout",
    "checkout_brand",
    "checkout_wallets",
    "checkout_simulate",
    "checkout_card",
    "checkout_card_leave",
    "checkout_quote",
    "checkout_sent",
    "checkout_receipt",
)
INVOICE_LINKS = tuple(
    f"invoice{part}"
    for part in ("", "_pay", "_simulate", "_portal", "_brand", "_pdf", "_data", "_receipt")
)
REUSABLE_LINKS = ("link", "link_brand")
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
        *CUSTOMER_LINKS,
        *NO_LINK,
    }


@pytest.mark.parametrize("name", [*PAYMENT_LINKS, *INVOICE_LINKS, *REUSABLE_LINKS, *CUSTOMER_LINKS])
def test_a_public_page_is_shown_the_store_of_its_link(cast: Cast, name: str) -> None:
    opening, reference, id = link_of(cast, name)
    pattern = next(item for item in HOSTED if item.name == name)
    path = "/" + pattern.pattern.regex.pattern.strip("^$").replace("\\", "")  # type: ignore[union-attr]
    path = path.replace("(?:pay/)?", "")
    path = re.sub(
        r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)",
        lambda found: id if found[1] == "id" else reference,
        path,
    )
    cast.strangers.test.get("/payments")
    for method in ("get", "post"):
        with watched() as seen:
            getattr(Client(), method)(path)
        if seen.openings or seen.stores:
            assert seen.openings == {opening}
            assert is_of(cast.bakery, seen)
            break
    else:
        raise AssertionError(f"{path} asked for nothing")


def link_of(cast: Cast, name: str) -> tuple[str, str, str]:
    """The opening, what stands for the link, and what for an id in the path."""
    if name in PAYMENT_LINKS:
        return "the public link of a payment", BY_PAYMENT[1](cast), ""
    if name in INVOICE_LINKS:
        return "the public link of an invoice", invoice(cast), ""
    if name in REUSABLE_LINKS:
        return "the public page of a payment link", made_link(cast.bakery).token, ""
    subscription = billing.subscribe(cast.bakery.test)
    customer = Subscription.objects.get(pk=subscription["id"]).customer
    return "a customer's link", portal_url(customer).rsplit("/", 1)[1], subscription["id"]

"""No header that is read, whatever it contains and however often, makes the server fail; and an app
that proves itself by one (HTTP Basic) is asked for in words that a database can be asked."""

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings

from apps.stores.services import change_store
from tests import make
from tests.cast import PASSWORD, Cast, assemble
from tests.contract.oauth.apps import BACK, VERIFIER, App
from tests.stack import ROOT
from tests.web.wire import Answer, Web, bearer
from tests.whole import usually

FORM = b"Content-Type: application/x-www-form-urlencoded"
# Read by Django, and by what we name with a constant.
READ_BESIDES = {
    "Host",
    "Cookie",
    "Origin",
    "Referer",
    "X-CSRFToken",
    "X-Forwarded-Proto",
    "Content-Type",
    "If-None-Match",
    "If-Modified-Since",
    "Range",
    "Accept-Encoding",
    "X-Service-Account",
    "X-Onramper-Webhook-Signature",
    "HX-Request",
    "HX-Target",
    "HX-Current-URL",
    "X-Forwarded-Host",
    "Forwarded",
    "X-Real-IP",
    "Via",
    "CF-Connecting-IP",
    "True-Client-IP",
}
_NAMED = re.compile(r'headers(?:\.get\(|\[)\s*"([\w-]+)"')
LONG = b"x" * 60_000
LONG_AT_ONCE = 5  # the server takes less than half a megabyte of headers
READABLE = ("clé".encode(), b"\xff\xfe", b"%00")
ODD = (*READABLE, b"\x7f\x80", LONG)
TWICE = (b"one", "clé".encode())
_addresses = (f"127.{n // 60_000 + 1}.{n // 250 % 240}.{n % 250 + 1}" for n in count())


def read_headers() -> set[str]:
    """Headers that the source asks a request for by name, and those that edges are said to send."""
    found = set(READ_BESIDES)
    for file in (*ROOT.glob("apps/**/*.py"), *ROOT.glob("config/*.py")):
        if "providers" not in file.parts:
            found |= set(_NAMED.findall(file.read_text()))
    return found | {*settings.EDGE_COUNTRY_HEADERS, *settings.EDGE_REGION_HEADERS}


@dataclass(frozen=True)
class Place:
    """A request that is answered."""

    method: str
    path: str
    lines: tuple[bytes, ...] = ()
    form: str | None = None

    def ask(self, web: Web, *lines: bytes) -> Answer:
        """Each time from an address of its own, so that no budget answers instead."""
        names = {line.partition(b":")[0].lower() for line in lines}
        own = [line for line in self.lines if line.partition(b":")[0].lower() not in names]
        body = (self.form or "").encode()
        length = () if self.form is None else (f"Content-Length: {len(body)}".encode(),)
        asker = replace(web, address=next(_addresses))
        return asker.begin(self.method, self.path, *own, *length, *lines, body=body).answer()


@dataclass
class World:
    """Records that the requests are about, which none of them changes."""

    cast: Cast
    app: App
    places: dict[str, Place]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> World:
    with django_db_blocker.unblock():
        cast = assemble()
        app = App(cast)
        return World(cast, app, places_of(app, cast))


def places_of(app: App, cast: Cast) -> dict[str, Place]:
    shop = cast.bakery
    change_store(shop.store, card_funding_test=True)
    reference = make.payment(shop.test)["reference"]
    cookies = "; ".join(f"{name}={item.value}" for name, item in app.alice.client.cookies.items())
    key = bearer(shop.secrets["test"])
    entering = {
        "email": cast.bob.email,  # alice's session ends when her password is hashed anew
        "password": PASSWORD,
        "csrfmiddlewaretoken": "a" * 32,
    }
    return {
        "api": Place("GET", "/api/v2/payments", (key,)),
        "checkout": Place("GET", f"/pay/{reference}"),
        "card": Place("GET", f"/api/v2/checkout/{reference}/onramp/payment_methods?country=DE"),
        "dashboard": Place("GET", "/dashboard/payments", (f"Cookie: {cookies}".encode(),)),
        "sign-in": Place(
            "POST",
            "/dashboard/sign-in",
            (FORM, b"Cookie: csrftoken=" + b"a" * 32, b"Origin: http://localhost"),
            urlencode(entering),
        ),
        "authorize": Place("GET", f"/oauth/authorize?{urlencode(app.query())}"),
        "exchange": Place("POST", "/api/v2/oauth/token", (FORM,), exchange_form(app)),
        "revocation": Place("POST", "/api/v2/oauth/revoke", (FORM,), revocation_form(app)),
    }


def exchange_form(app: App) -> str:
    """All that an app sends for its tokens, but who it is."""
    fields = {"code": app.code(), "redirect_uri": BACK, "code_verifier": VERIFIER}
    return urlencode({"grant_type": "authorization_code", **fields})


def revocation_form(app: App) -> str:
    return urlencode({"token": app.tokens()["access_token"]})


PLACES = (*("api", "checkout", "card", "dashboard", "authorize", "exchange", "revocation"),)
# Whoever sends these may be answered with less than a place has to say.
DECIDING = {
    "Authorization",
    "Content-Encoding",
    "Content-Type",
    "Cookie",
    "Host",
    "Idempotency-Key",
    "X-Service-Account",
    "HX-Request",
    "HX-Target",
    "HX-History-Restore-Request",
    "If-None-Match",
    "If-Modified-Since",
}


def askable(place: str, names: set[str]) -> set[str]:
    """A place that few may ask in a minute, or that takes long, is asked with what it reads
    alone."""
    edges = {*settings.EDGE_COUNTRY_HEADERS, *settings.EDGE_REGION_HEADERS, "Host"}
    few = {
        "card": edges,
        "checkout": {"Accept-Language", "Cookie", "HX-Request", "If-None-Match"},
        "dashboard": {"User-Agent", "Cookie", "HX-Request", "HX-History-Restore-Request"},
    }
    return few.get(place, names)


def alone(names: set[str], every: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    """The lines of each request about what decides, and in the whole suite about every header."""
    for name in sorted(usually(short=names & DECIDING, whole=names)):
        for odd in (*((odd,) for odd in every), TWICE):
            yield tuple(f"{name}: ".encode() + line for line in odd)


def together(names: set[str], every: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    """Those that decide nothing, in one request: who answers it has read them all."""
    rest = sorted(names - DECIDING)
    for odd in (*((odd,) for odd in every if odd in READABLE), TWICE):
        yield tuple(f"{name}: ".encode() + line for name in rest for line in odd)
    for start in range(0, len(rest) if LONG in every else 0, LONG_AT_ONCE):
        yield tuple(f"{name}: ".encode() + LONG for name in rest[start : start + LONG_AT_ONCE])


@pytest.mark.parametrize("place", PLACES)
def test_no_header_makes_the_server_fail(web: Web, world: World, place: str) -> None:
    asked = world.places[place]
    whole = asked.ask(web)
    assert whole.status < 400 or (place, whole.status) in {
        ("exchange", 401),
        ("revocation", 401),
        ("authorize", 401),
    }, whole
    # What may stand in a header is asked of the API; elsewhere each header has something odd in it.
    every = ODD if place == "api" else usually(short=ODD[:2], whole=ODD)
    names = askable(place, read_headers())
    for lines in alone(names, every):
        answer = asked.ask(web, *lines)
        assert answer.status < 500 and answer.status != 429, (lines, answer)
    for lines in together(names, every):
        assert asked.ask(web, *lines).status == whole.status, lines


def test_who_signs_in_with_an_odd_browser_is_let_in(web: Web, world: World) -> None:
    for odd in (READABLE[1], LONG):
        assert world.places["sign-in"].ask(web, b"User-Agent: " + odd).status == 302


@pytest.mark.parametrize("odd", ["clé".encode(), b"a\x7f.example", b"localhost, other.example"])
def test_a_host_that_is_none_is_refused(web: Web, db: None, odd: bytes) -> None:
    for path in ("/api/v2/payments", "/dashboard/sign-in", "/pay/ABCDEFGHJKLMNPQR"):
        assert web.ask("GET", path, b"Host: " + odd).status == 400
    assert web.ask("GET", "/healthz", b"Host: localhost", b"Host: other.example").status == 400


def basic(text: bytes) -> bytes:
    return b"Authorization: Basic " + b64encode(text)


NOBODY = (
    "Authorization: Basic clé".encode(),
    b"Authorization: Basic \xff\xfe",
    b"Authorization: Basic abc",
    basic(b"\x00\x00:x"),
    basic(b"%00:x"),
    basic(b"app\x00:"),
    basic(b"app:%00"),
    basic("clé:clé".encode()),
    basic(b"cl%C3%A9:"),
    basic(b"%ED%A0%80:%FF"),
    basic(b"nocolon"),
    basic(b""),
)


def test_an_app_that_names_itself_in_no_words_is_nobody(web: Web, world: World) -> None:
    for place, line in product(("exchange", "revocation"), NOBODY):
        answer = world.places[place].ask(web, line)
        assert (answer.status, answer.json()["error"]) == (401, "invalid_client"), (place, line)
        assert answer.headers["www-authenticate"].startswith("B"), (place, line)


def test_an_app_that_proves_itself_is_let_in(web: Web, world: World) -> None:
    app = world.app
    proof = basic(f"{app.client_id}:{app.secret}".encode())
    for place, form in (("revocation", revocation_form(app)), ("exchange", exchange_form(app))):
        assert replace(world.places[place], form=form).ask(web, proof).status == 200

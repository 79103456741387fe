"""The hosted checkout as a client without a browser sees it: addresses, headers, who may frame it,
and what it never shows."""

import re
from pathlib import Path
from typing import Any

import pytest
import segno
from django.test import Client
from django.utils.html import escape

from apps.assets.models import Asset
from apps.core.redis import buckets
from apps.stores import branding
from apps.stores.models import Store
from apps.stores.services import change_embedding
from tests import make
from tests.cast import Shop

pytestmark = pytest.mark.django_db
ORIGIN = "https://shop.example"
ROOT = Path(__file__).parents[2]


def page(made: dict[str, Any], query: str = "", root: str = "/pay/", **headers: str) -> Any:
    return Client().get(
        f"{root}{made['reference']}?{query}", headers={"Accept": "text/html", **headers}
    )


def ancestors(answer: Any) -> str:
    (found,) = re.findall(r"frame-ancestors ([^;]*)", answer["Content-Security-Policy"])
    return str(found)


def brand(store: Store, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(store, name, value)
    store.save()


@pytest.mark.parametrize("root", ["/pay/", "/"])
def test_the_page_stands_under_pay_and_at_the_root(bakery: Shop, root: str) -> None:
    answer = page(make.payment(bakery.test, title="Rye"), root=root)
    assert (
        answer.status_code == 200
        and b"Rye" in answer.content
        and "text/html" in answer["Content-Type"]
    )


UNKNOWN: list[str] = [
    "ABCDEFGHIJKLMNOP",
    "ABC",
    "abcdefghijklmnop",
    "ABCDEFGHIJKLMNOP/brand.css",
    "ABCDEFGHIJKLMNOP/pulse",
    "ABCDEFGHIJKLMNO%00",
]


def test_an_unknown_reference_is_not_found(db: None) -> None:
    for reference in UNKNOWN:
        assert Client().get(f"/pay/{reference}").status_code == 404, reference
        assert Client().get(f"/{reference}").status_code == 404, reference


def test_nothing_is_cached_or_told_to_other_sites(bakery: Shop) -> None:
    live = page(make.payment(bakery.live))
    test = page(make.payment(bakery.test))
    assert live["Cache-Control"] == test["Cache-Control"] == "no-store"
    assert live["Referrer-Policy"] == "no-referrer" and test["Referrer-Policy"] == "same-origin"
    assert live["X-Robots-Tag"] == "noindex"
    assert not live.cookies


def test_nobody_may_frame_the_page_unasked(bakery: Shop) -> None:
    answer = page(make.payment(bakery.test))
    assert ancestors(answer) == "'none'" and answer["X-Frame-Options"] == "DENY"


def test_the_page_that_asks_may_frame_it_and_nobody_else(bakery: Shop) -> None:
    answer = page(make.payment(bakery.test), f"embed=1&origin={ORIGIN}", root="/")
    assert ancestors(answer) == ORIGIN and "X-Frame-Options" not in answer
    assert f'data-embedded-in="{ORIGIN}"' in answer.content.decode()
    assert b"checkout-foot" not in answer.content


def test_a_store_that_lists_sites_lets_no_other_frame_it(bakery: Shop) -> None:
    change_embedding(bakery.store, [ORIGIN])
    made = make.payment(bakery.test)
    assert ancestors(page(made, f"embed=1&origin={ORIGIN}")) == ORIGIN
    other = page(made, "embed=1&origin=https://evil.example")
    assert ancestors(other) == "'none'" and other["X-Frame-Options"] == "DENY"
    assert b"data-embedded-in" not in other.content


NO_ORIGIN: list[str] = [
    *[
        "",
        "*",
        "https:",
        "https://",
        "'self'",
        "null",
        "javascript:alert(1)",
        "HTTPS://A.EXAMPLE",
        "https://*.example",
    ],
    *[
        "https://a.example/path",
        "https://a.example;script-src *",
        "https://a.example https://b.example",
    ],
    *["https://user@a.example", "https://a.example\n"],
]


def test_what_is_no_origin_may_not_frame_it(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    for origin in NO_ORIGIN:
        answer = Client().get(f"/{made['reference']}", {"embed": "1", "origin": origin})
        assert ancestors(answer) == "'none'" and answer["X-Frame-Options"] == "DENY", origin


@pytest.mark.parametrize("origin", [ORIGIN, "http://localhost:3000", "http://127.0.0.1:9191"])
def test_what_isnt_found_says_so_in_the_frame_that_asks(db: None, origin: str) -> None:
    answer = Client().get("/ABCDEFGHIJKLMNOP", {"embed": "1", "origin": origin})
    assert (
        answer.status_code == 404
        and ancestors(answer) == origin
        and "X-Frame-Options" not in answer
    )
    assert (
        f'data-embedded-in="{origin}"' in answer.content.decode()
        and b'data-status="failed"' in answer.content
    )
    assert answer["Cache-Control"] == "no-store" and answer["X-Robots-Tag"] == "noindex"


def test_other_sites_may_not_frame_what_isnt_found(db: None) -> None:
    for origin in [
        "http://shop.example",
        "*",
        "https://a.example;script-src *",
        "https://user@a.example",
    ]:
        answer = Client().get("/ABCDEFGHIJKLMNOP", {"embed": "1", "origin": origin})
        assert (
            answer.status_code == 404
            and ancestors(answer) == "'none'"
            and answer["X-Frame-Options"] == "DENY"
        ), origin


def test_any_page_may_read_how_often_it_may_ask(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    answer = Client().get(f"/api/v2/checkout/{made['reference']}", headers={"Origin": ORIGIN})
    told = {part.strip() for part in answer["Access-Control-Expose-Headers"].split(",")}
    assert told >= {
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "RateLimit",
        "RateLimit-Policy",
    }
    assert told >= {"Retry-After", "X-Request-Id"}


def test_the_embedding_script_is_served(client: Client, db: None) -> None:
    answer = client.get("/embed.js")
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/javascript")
    assert b"service:checkout" in answer.content


def test_a_swapped_part_is_rendered_by_the_same_view(bakery: Shop) -> None:
    made = make.payment(bakery.live)
    part = page(made, **{"HX-Request": "true"}).content.decode().strip()
    assert part.startswith('<div id="checkout"') and part in page(made).content.decode()


def test_a_waiting_page_polls_and_a_finished_one_does_not(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    assert b"data-poll" in page(made).content and b'http-equiv="refresh"' in page(made).content
    make.simulated(bakery.test, made["id"])
    assert (
        b"data-poll" not in page(made).content and b'http-equiv="refresh"' not in page(made).content
    )


def test_reading_expires_a_payment_whose_time_is_past(bakery: Shop) -> None:
    made = make.payment(bakery.test, failed_url="https://shop.example/basket")
    Store.objects.filter(pk=bakery.store.pk).update(test_offset_seconds=90_000)
    shown = page(made, root="/").content.decode()
    assert "This payment has expired" in shown and 'href="https://shop.example/basket"' in shown
    assert make.detail(bakery.test, made["id"])["status"] == "expired"


def test_it_never_shows_what_is_the_merchants_own(bakery: Shop) -> None:
    made = make.paid(bakery.test, order_id="ORDER-4711", metadata={"note": "margin is thin"})
    text = page(made).content.decode()
    assert "ORDER-4711" not in text and "margin" not in text


def test_a_return_from_a_card_page_proves_nothing(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    answer = page(made, "onramp=success").content.decode()
    assert (
        "Pending: we’re waiting for the card provider" in answer
        and "was charged" not in answer
        and "Pay with crypto" in answer
    )
    assert make.detail(bakery.test, made["id"])["status"] == "pending"


def test_links_never_come_from_the_host_header(bakery: Shop) -> None:
    answer = page(make.payment(bakery.test), Host="localhost")
    assert "localhost" not in answer.content.decode()


def test_return_links_carry_no_referrer_and_show_their_real_host(bakery: Shop) -> None:
    made = make.paid(bakery.test, success_url="https://xn--80ak6aa92e.example/thanks?a=1&b=2")
    text = page(made).content.decode()
    assert (
        'href="https://xn--80ak6aa92e.example/thanks?a=1&amp;b=2" rel="noopener noreferrer"' in text
    )
    assert ">xn--80ak6aa92e.example<" in text


def test_the_rest_of_a_part_payment_is_asked_for_in_every_coin(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    (address,) = made["payment_addresses"]
    make.simulated(
        bakery.test, made["id"], None, amount_atomic=str(int(address["crypto_amount_atomic"]) // 4)
    )
    document = bakery.test.get(f"/checkout/{made['reference']}").json()
    (told,) = document["payment_addresses"]
    rest = int(told["crypto_amount_atomic"]) - int(told["received_atomic"])
    assert rest <= int(told["outstanding_atomic"]) < rest + 10**10
    assert told["payment_uri"].endswith(f"?value={told['outstanding_atomic']}")


def test_hostile_text_stays_text(bakery: Shop) -> None:
    title = '" onmouseover=alert(1) x="'
    description = '<div hx-get="/x" hx-trigger="load"></div>{{7*7}} \u202egnp.exe'
    shown = page(make.payment(bakery.test, title=title, description=description)).content.decode()
    assert escape(title) in shown and escape(description) in shown
    assert title not in shown and '<div hx-get="/x"' not in shown


# --- the test panel ---


def press(made: dict[str, Any], client: Client | None = None, **fields: str) -> Any:
    return (client or Client()).post(f"/pay/{made['reference']}/simulate", fields)


@pytest.mark.parametrize(
    ("scenario", "status", "reason"),
    [
        ("exact", "completed", "completed_exact"),
        ("underpaid", "processing", "processing_underpaid"),
        ("overpaid", "completed", "completed_overpaid"),
        ("unconfirmed", "processing", "pending_confirmations"),
        ("failed", "pending", None),
    ],
)
def test_anybody_with_the_link_may_play_a_test_payment(
    bakery: Shop, scenario: str, status: str, reason: str | None
) -> None:
    made = make.payment(bakery.test)
    answer = press(made, scenario=scenario, query="asset=SETH&embed=1&next=//evil.example")
    assert (
        answer.status_code == 303 and answer["Location"] == f"/pay/{made['reference']}?asset=SETH"
    )
    now = make.detail(bakery.test, made["id"])
    assert (now["status"], now["state_reason"]) == (status, reason)


def test_a_live_payment_can_not_be_played(bakery: Shop) -> None:
    made = make.payment(bakery.live)
    assert press(made, scenario="exact").status_code == 404
    assert make.detail(bakery.live, made["id"])["status"] == "pending"
    assert b"simulate" not in page(made).content


def test_a_scenario_nobody_offers_is_not_found(bakery: Shop) -> None:
    assert press(make.payment(bakery.test), scenario="everything").status_code == 404


def test_a_refusal_is_told_on_the_page(bakery: Shop) -> None:
    answer = press(make.payment(bakery.test), scenario="exact", asset_id="DOGE")
    assert answer.status_code == 422 and b"no deposit address for this asset" in answer.content


def test_a_reference_that_can_not_be_one_is_told_on_the_page(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    answer = press(made, scenario="exact", reference="x" * 256)
    assert (
        answer.status_code == 422
        and b"Reference must be a string of 1 to 255 characters." in answer.content
    )
    assert make.detail(bakery.test, made["id"])["status"] == "pending"


def test_the_panel_refuses_a_forged_form(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    assert press(made, Client(enforce_csrf_checks=True), scenario="exact").status_code == 403
    assert make.detail(bakery.test, made["id"])["status"] == "pending"


# --- a store's look ---


@pytest.mark.parametrize(
    ("colour", "ink"), [("#7b2d8b", "#ffffff"), ("#F2C14E", "#000000"), ("#000000", "#ffffff")]
)
def test_a_stores_colour_comes_with_ink_that_reads_on_it(
    bakery: Shop, colour: str, ink: str
) -> None:
    brand(bakery.store, primary_color=colour)
    made = make.payment(bakery.test)
    style = Client().get(f"/pay/{made['reference']}/brand.css")
    assert style["Content-Type"].startswith("text/css")
    assert f"--accent:{colour.lower()};--on-accent:{ink}" in style.content.decode()
    assert f"/pay/{made['reference']}/brand.css" in page(made).content.decode()


def test_a_dark_colour_is_lighter_on_dark_pages(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    for colour, dark in [
        ("#000000", "#e8efeb"),
        ("#222426", "#e8efeb"),
        ("#001f5b", "#1e6bff"),
        ("#7b2d8b", "#ae46c3"),
        ("#f2c14e", ""),
        ("#ffffff", ""),
    ]:
        brand(bakery.store, primary_color=colour)
        light, _, told = (
            Client().get(f"/pay/{made['reference']}/brand.css").content.decode().partition("@media")
        )
        assert f"--accent:{colour};" in light, colour
        assert told.startswith(" (prefers-color-scheme:dark)" if dark else ""), colour
        assert (
            (f"--accent:{dark};--on-accent:{branding.ink_on(dark)}" in told) if dark else not told
        ), colour
        assert (
            branding.contrast(dark or colour, branding.DARK_SURFACE) >= branding.DARK_CONTRAST_MIN
        ), colour


def test_what_dark_pages_stand_on_is_what_their_tokens_say() -> None:
    tokens = (ROOT / "static" / "css" / "tokens.css").read_text()
    for name, value in (("surface", branding.DARK_SURFACE), ("ink", branding.DARK_INK)):
        assert re.search(rf"--{name}: light-dark\(#[0-9a-f]{{6}}, {value}\);", tokens)


def test_what_is_no_colour_styles_nothing(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    for colour in ("red", "#ggg000", "#12345", "};*{x:y", "#12345;"):
        brand(bakery.store, primary_color=colour)
        assert Client().get(f"/{made['reference']}/brand.css").content == b"", colour
        assert b"brand.css" not in page(made).content, colour


def test_a_logo_is_only_fetched_over_https(bakery: Shop) -> None:
    brand(bakery.store, logo_url="http://a.example/logo.png")
    assert b"logo.png" not in page(make.payment(bakery.test)).content
    brand(bakery.store, logo_url="https://a.example/logo.png")
    assert b'src="https://a.example/logo.png"' in page(make.payment(bakery.test)).content


# --- limits ---


def test_a_reference_that_is_asked_for_too_often_is_refused_for_a_while(
    bakery: Shop, settings: Any
) -> None:
    settings.LIMITS = {**settings.LIMITS, "checkout": {"live": (1, 3), "test": (1, 3)}}
    buckets._bucket.cache_clear()
    made = make.payment(bakery.test)
    other = make.payment(bakery.test)
    assert [page(made).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = page(made)
    assert int(refused["Retry-After"]) >= 1 and refused["RateLimit-Policy"] == '"checkout";q=1;w=60'
    assert page(other).status_code == 200
    buckets._bucket.cache_clear()


def test_customers_are_let_through_when_redis_is_gone(bakery: Shop, settings: Any) -> None:
    made = make.payment(bakery.test)
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    buckets._bucket.cache_clear()
    assert page(made).status_code == 200
    buckets._bucket.cache_clear()


def code_on(answer: Any) -> str:
    (found,) = re.findall(r'aria-label="QR code: ([^"]*)"', answer.content.decode())
    return str(found)


def drawn(text: str) -> str:
    return segno.make_qr(text, error="m").svg_inline(
        border=4, omitsize=True, svgclass=None, lineclass=None
    )


@pytest.mark.parametrize("asset", ["ETH", "ETH_USDC"])
def test_the_code_holds_network_coin_and_amount_unless_the_plain_address_is_asked_for(
    bakery: Shop, asset: str
) -> None:
    made = make.payment(bakery.live)
    (entry,) = (
        payment_address
        for payment_address in made["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == asset
    )
    chain = Asset.objects.get(pk=asset).chain.chain_id
    if asset == "ETH":
        assert (
            entry["payment_uri"]
            == f"ethereum:{entry['address']}@{chain}?value={entry['crypto_amount_atomic']}"
        )
    else:
        called = (
            f"@{chain}/transfer?address={entry['address']}&uint256={entry['crypto_amount_atomic']}"
        )
        assert (
            entry["payment_uri"].endswith(called)
            and entry["address"] not in entry["payment_uri"].partition("@")[0]
        )
    first = page(made, f"asset={asset}&code=link")
    assert "amount" in code_on(first) and drawn(entry["payment_uri"]) in first.content.decode()
    default = code_on(page(made, f"asset={asset}"))
    assert ("amount" if asset == "ETH" else "address only") in default
    plain = page(made, f"asset={asset}&code=address")
    assert "address only" in code_on(plain) and drawn(entry["address"]) in plain.content.decode()


def test_a_browser_keeps_the_code_that_its_customer_chose(bakery: Shop) -> None:
    browser = Client()
    made = make.payment(bakery.live)
    path = f"/pay/{made['reference']}?asset=ETH"
    assert "amount" in code_on(browser.get(path)) and not browser.cookies
    browser.get(path + "&code=address")
    other = f"/pay/{make.payment(bakery.live)['reference']}?asset=ETH"
    assert "address only" in code_on(browser.get(other))
    assert "amount" in code_on(browser.get(other + "&code=link"))
    assert "amount" in code_on(browser.get(path))


CELL = ' </td> <td class="number">'


@pytest.mark.parametrize(
    ("amount", "line"),
    [
        ("24.90", f"Other charges{CELL}€12.70<"),
        ("10.00", f"Discounts and credits{CELL}−€2.20<"),
        ("12.20", ""),
    ],
)
def test_the_lines_of_an_order_add_up_to_what_is_asked_for(
    bakery: Shop, amount: str, line: str
) -> None:
    items = [
        {"description": "Rye", "quantity": 2, "unit_amount_cents": 450},
        {"description": "Rolls", "quantity": 1, "unit_amount_cents": 320},
    ]
    made = make.payment(bakery.test, amount=amount, line_items=items)
    for scenario in ("", "exact"):
        if scenario:
            make.simulated(bakery.test, made["id"], scenario)
        text = " ".join(page(made).content.decode().split())
        assert line in text and ("Other charges" in text or "Discounts" in text) == bool(line)
    told = Client().get(f"/api/v2/checkout/{made['reference']}").json()["order_summary"]
    assert told["line_items"] == made["line_items"] and len(told["line_items"]) == 2

"""Customers' pages in the language of their reader; everybody else's stay English."""

import io
import re
from collections.abc import Iterable
from typing import Any

import pytest
from django.conf import settings
from django.core import mail as outbox
from django.test import Client
from pypdf import PdfReader

from apps.billing.models import Customer
from apps.billing.services.portal import portal_url
from apps.core import mail
from apps.stores.requests import StoreDetails
from apps.stores.services import change_details
from tests import make
from tests.billing import records as r
from tests.cast import Shop
from tests.hosted.wrapping import LANGUAGE, wrapping

UNKNOWN = "/pay/AAAAAAAAAAAAAAAA"


def language_of(page: str) -> tuple[str, str]:
    found = re.search(r'<html lang="([^"]+)" dir="([^"]+)"', page)
    assert found is not None
    return found[1], found[2]


ASKED: list[tuple[str, tuple[str, str]]] = [
    ("de-AT,de;q=0.9,en;q=0.5", ("de", "ltr")),
    ("xx,ar;q=0.4,fr;q=0.9", ("fr", "ltr")),
    ("ar-EG", ("ar", "rtl")),
    ("pt-PT", ("pt", "ltr")),
    ("zh-CN,zh;q=0.9", ("zh-hans", "ltr")),
    ("tlh", ("en", "ltr")),
    ("", ("en", "ltr")),
]


def test_a_customer_reads_what_the_browser_asks_for(bakery: Shop) -> None:
    path = f"/pay/{make.payment(bakery.test)['reference']}"
    for asked, expected in ASKED:
        response = Client().get(path, headers={"Accept-Language": asked} if asked else {})
        assert language_of(response.text) == expected, asked
        assert response["Content-Language"] == expected[0], asked
        assert {"Accept-Language", "Cookie"} <= {
            part.strip() for part in response["Vary"].split(",")
        }, asked


def test_what_was_chosen_by_hand_is_kept_and_goes_before_the_browser(bakery: Shop) -> None:
    path = f"/pay/{make.payment(bakery.test)['reference']}"
    client = Client(headers={"Accept-Language": "fr"})
    assert "checkout_language" not in client.get(path).cookies
    assert language_of(client.get(f"{path}?lang=ja").text)[0] == "ja"
    assert language_of(client.get(path).text)[0] == "ja"
    assert language_of(client.get(f"{path}?lang=xx").text)[0] == "ja"
    assert client.cookies["checkout_language"]["samesite"] == "Lax"


def test_a_frame_says_its_language_in_its_address_and_keeps_no_cookie(bakery: Shop) -> None:
    path = f"/pay/{make.payment(bakery.test)['reference']}"
    client = Client()
    page = client.get(f"{path}?embed=1&origin=https://shop.example&lang=ko")
    assert (
        language_of(page.text)[0] == "ko" and "lang=ko" in page.text
    )  # what the page asks for anew has it too
    assert "checkout_language" not in client.cookies


def test_a_page_leads_to_itself_in_every_language(bakery: Shop) -> None:
    path = f"/pay/{make.payment(bakery.test)['reference']}"
    page = Client().get(f"{path}?code=address").text
    for code, name in settings.LANGUAGES:
        assert f'href="?code=address&amp;lang={code}" lang="{code}"' in page and name in page


def test_pages_without_a_record_speak_to_customers_too(db: None) -> None:
    for path in [UNKNOWN, "/no-such-page", "/portal/x", "/onboarding/unknown", "/status"]:
        assert language_of(Client(headers={"Accept-Language": "ar"}).get(path).text) == (
            "ar",
            "rtl",
        ), path


def test_no_page_but_a_customers_has_every_language(db: None) -> None:
    for path in ("/dashboard/sign-in", "/dashboard/nothing", "/admin/nothing", "/oauth/nothing"):
        page = remembering("ar").get(
            f"{path}?lang=ar", headers={"Accept-Language": "ar"}, follow=True
        )
        assert language_of(page.text) == ("en", "ltr"), path


def test_the_api_answers_in_english_whatever_is_asked_for(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wrapping(monkeypatch):
        response = bakery.test.get(
            "/payments/nothing",
            **{"Accept-Language": LANGUAGE, "Cookie": f"checkout_language={LANGUAGE}"},
        )
    assert response.json() == {"error": {"message": "Not found", "code": None}}
    assert "Content-Language" not in response.headers


def remembering(language: str) -> Client:
    """A browser with a cookie of an earlier choice."""
    client = Client()
    client.cookies["checkout_language"] = language
    return client


def test_what_has_no_words_is_kept_by_caches_for_everybody(db: None) -> None:
    response = Client(headers={"Accept-Language": "ar"}).get("/embed.js?lang=ar")
    assert "public" in response["Cache-Control"]
    assert not response.cookies
    assert "Content-Language" not in response.headers and "Cookie" not in response.headers.get(
        "Vary", ""
    )


def customer_of(made: dict[str, Any]) -> Customer:
    return Customer.objects.select_related("store").get(pk=made["customer"]["id"])


def test_what_a_customer_chose_on_an_invoice_counts_for_emails_files_and_the_portal(
    bakery: Shop,
) -> None:
    made = r.opened(bakery.test)
    path = f"/invoice/{made['public_token']}"
    assert language_of(Client().get(f"{path}?lang=ja").text)[0] == "ja"
    customer = customer_of(made)
    assert customer.language == "ja"
    assert language_of(Client(headers={"Accept-Language": "fr"}).get(path).text)[0] == "ja"
    assert (
        language_of(Client(headers={"Accept-Language": "fr"}).get(f"{path}?lang=xx").text)[0]
        == "ja"
    )
    portal = "/portal/" + portal_url(customer).rpartition("/")[2]
    assert language_of(Client().get(portal).text)[0] == "ja"
    assert language_of(remembering("de").get(portal).text)[0] == "de"
    assert customer_of(made).language == "ja"
    r.ok(r.act(bakery.test, made["id"], "send"))
    assert 'lang="ja"' in email_to(customer)


def test_who_chose_nothing_is_written_to_in_the_language_of_the_store(bakery: Shop) -> None:
    change_details(bakery.store, StoreDetails(name="Bäckerei", customer_language="de"))
    made = r.opened(bakery.test)
    r.ok(r.act(bakery.test, made["id"], "send"))
    assert 'lang="de"' in email_to(customer_of(made))


def test_an_email_speaks_to_its_reader_and_not_to_whoever_caused_it(bakery: Shop) -> None:
    made = r.opened(bakery.test)
    Client(headers={"Accept-Language": "ko"}).post(f"/invoice/{made['public_token']}/portal")
    assert 'lang="en"' in email_to(customer_of(made))


def email_to(customer: Customer) -> str:
    mail.send_due()
    html, _ = outbox.outbox[-1].alternatives[0]  # type: ignore[attr-defined]
    assert outbox.outbox[-1].to == [customer.email]
    return str(html)


@pytest.mark.parametrize(
    ("language", "words", "font"),
    [
        ("ja", "2026年", "CJK"),
        pytest.param("ko", "2026년", "CJK", marks=pytest.mark.whole),
        ("ar", "تفاح", "DejaVu"),
    ],
)
def test_a_file_has_the_letters_of_its_language(
    bakery: Shop, language: str, words: str, font: str
) -> None:
    item = {"description": "りんご 사과 تفاح", "quantity": 1, "unit_amount_cents": 1000}
    path = f"/invoice/{r.opened(bakery.test, line_items=[item])['public_token']}"
    pages = PdfReader(io.BytesIO(Client().get(f"{path}/invoice.pdf?lang={language}").content)).pages
    text = "".join(page.extract_text() for page in pages)
    assert words in text and "りんご" in text
    fonts = fonts_of(pages)
    assert any(font in item for item in fonts), fonts


def test_emoji_in_what_a_merchant_wrote_are_drawn(bakery: Shop) -> None:
    item = {"description": "Coffee ☕️ 🎉", "quantity": 1, "unit_amount_cents": 1000}
    path = f"/invoice/{r.opened(bakery.test, line_items=[item])['public_token']}"
    pages = PdfReader(io.BytesIO(Client().get(f"{path}/invoice.pdf").content)).pages
    assert any("Emoji" in font for font in fonts_of(pages)), fonts_of(pages)


def fonts_of(pages: Iterable[Any]) -> set[str]:
    fonts = (font.get_object() for page in pages for font in page["/Resources"]["/Font"].values())
    return {str(font["/BaseFont"]) for font in fonts}

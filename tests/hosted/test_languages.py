"""Customers' pages in the language of whoever reads them; everybody else's stay English."""

import re

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext, trans_real

from tests import make
from tests.cast import Shop

UNKNOWN = "/pay/AAAAAAAAAAAAAAAA"


def language_of(page: str) -> tuple[str, str]:
    found = re.search(r'<html lang="([^"]+)" dir="([^"]+)"', page)
    assert found is not None
    return found[1], found[2]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", ("de", "ltr")),
        ("xx,ar;q=0.4,fr;q=0.9", ("fr", "ltr")),
        ("ar-EG", ("ar", "rtl")),
        ("pt-PT", ("pt", "ltr")),
        ("zh-CN,zh;q=0.9", ("zh-hans", "ltr")),
        ("tlh", ("en", "ltr")),
        ("", ("en", "ltr")),
    ],
)
def test_a_customer_reads_what_the_browser_asks_for(bakery: Shop, asked: str, expected: tuple[str, str]) -> None:
    path = f"/pay/{make.payment(bakery.test)['reference']}"
    response = Client().get(path, headers={"Accept-Language": asked} if asked else {})
    assert language_of(response.text) == expected
    assert response["Content-Language"] == expected[0]
    assert {"Accept-Language", "Cookie"} <= {one.strip() for one in response["Vary"].split(",")}


def test_what_was_chosen_by_hand_is_kept_and_goes_before_the_browser(bakery: Shop) -> None:
    path, client = f"/pay/{make.payment(bakery.test)['reference']}", Client(headers={"Accept-Language": "fr"})
    assert "checkout_language" not in client.get(path).cookies
    assert language_of(client.get(f"{path}?lang=ja").text)[0] == "ja"
    assert language_of(client.get(path).text)[0] == "ja"
    assert language_of(client.get(f"{path}?lang=xx").text)[0] == "ja"
    assert client.cookies["checkout_language"]["samesite"] == "Lax"


def test_a_frame_says_its_language_in_its_address_and_keeps_no_cookie(bakery: Shop) -> None:
    path, client = f"/pay/{make.payment(bakery.test)['reference']}", Client()
    page = client.get(f"{path}?embed=1&origin=https://shop.example&lang=ko")
    assert language_of(page.text)[0] == "ko" and "lang=ko" in page.text  # what the page asks for anew has it too
    assert "checkout_language" not in client.cookies


def test_a_page_leads_to_itself_in_every_language(bakery: Shop) -> None:
    path = f"/pay/{make.payment(bakery.test)['reference']}"
    page = Client().get(f"{path}?code=address").text
    for code, name in settings.LANGUAGES:
        assert f'href="?code=address&amp;lang={code}" lang="{code}"' in page and name in page


@pytest.mark.parametrize("path", [UNKNOWN, "/no-such-page", "/portal/x", "/onboarding/unknown", "/status"])
def test_pages_without_a_record_speak_to_customers_too(db: None, path: str) -> None:
    assert language_of(Client(headers={"Accept-Language": "ar"}).get(path).text) == ("ar", "rtl")


@pytest.mark.parametrize("path", ["/dashboard/sign-in", "/dashboard/nothing", "/admin/nothing", "/docs", "/oauth/nothing"])
def test_merchants_staff_and_documentation_stay_english(db: None, path: str) -> None:
    page = Client(headers={"Accept-Language": "ar"}, cookies={"checkout_language": "ar"}).get(f"{path}?lang=ar", follow=True)
    assert language_of(page.text) == ("en", "ltr")


def test_the_api_answers_in_english_whatever_is_asked_for(bakery: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped(monkeypatch, "ar")
    response = bakery.test.get("/payments/nothing", headers={"Accept-Language": "ar", "Cookie": "checkout_language=ar"})
    assert response.json() == {"error": {"message": "Not found", "code": None}}
    assert "Content-Language" not in response.headers


def wrapped(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    """A translation that shows what goes through it: every message in brackets."""

    class Wrapping(trans_real.DjangoTranslation):
        def gettext(self, message: str) -> str:
            return f"⟦{message}⟧" if message else ""

        def ngettext(self, singular: str, plural: str, number: int) -> str:
            return f"⟦{singular if number == 1 else plural}⟧"

    monkeypatch.setitem(trans_real._translations, language, Wrapping(language))  # type: ignore[attr-defined]  # where Django keeps them
    with translation.override(language):
        assert gettext("anything") == "⟦anything⟧"

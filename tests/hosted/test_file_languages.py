"""A PDF is in the language of the page that it was opened from, in test mode too: the one that the
browser asks for, that was chosen by hand, or that the customer is known by."""

import io
from typing import Any

import pytest
from django.test import Client
from pypdf import PdfReader

from apps.billing.models import Customer
from tests.billing import records as r
from tests.cast import Cast

GERMAN = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.8"}


def file_text(client: Client, made: dict[str, Any], kind: str, **headers: str) -> str:
    answer = client.get(f"/invoice/{made['public_token']}/{kind}.pdf", headers=headers)
    assert answer.status_code == 200
    return PdfReader(io.BytesIO(answer.content)).pages[0].extract_text()


@pytest.fixture
def made(cast: Cast) -> dict[str, Any]:
    return r.opened(cast.bakery.test, line_items=[r.line(description="Roggenbrot")])


def test_a_german_browser_gets_a_german_test_invoice_and_receipt(
    cast: Cast, made: dict[str, Any]
) -> None:
    client = Client()
    page = client.get(f"/invoice/{made['public_token']}", headers=GERMAN).content.decode()
    assert 'lang="de"' in page
    invoice = file_text(client, made, "invoice", **GERMAN)
    r.pay(cast.bakery.test, made)
    receipt = file_text(client, made, "receipt", **GERMAN)
    for text, words in ((invoice, "Testrechnung"), (receipt, "Testbeleg")):
        assert words in text and "TEST – kein echtes Geld" in text
        for english in ("Invoice", "Receipt", "no real money", "Paid", "Total", "Subtotal"):
            assert english not in text, english


def test_what_was_chosen_on_the_page_is_the_files_too_whatever_the_browser_asks_for(
    cast: Cast, made: dict[str, Any]
) -> None:
    client = Client()
    client.get(f"/invoice/{made['public_token']}?lang=de", headers={"Accept-Language": "fr"})
    assert "Testrechnung" in file_text(client, made, "invoice", **{"Accept-Language": "fr"})
    Customer.objects.update(language="de")
    assert "Testrechnung" in file_text(Client(), made, "invoice")

"""Ways to pay of card networks in the customer's language, brands as they are."""

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import translation

from apps.hosted.cards import method_name
from apps.stores.services import change_store
from tests import make
from tests.cast import Shop


@pytest.mark.parametrize(
    ("name", "english", "german"),
    [
        ("Credit Card", "Credit card", "Kreditkarte"),
        ("Debit or credit card", "Debit or credit card", "Debit- oder Kreditkarte"),
        ("SEPA Bank Transfer", "SEPA transfer", "SEPA-Überweisung"),
        ("Bank transfer (ACH)", "Bank transfer (ACH)", "Banküberweisung (ACH)"),
        ("Apple Pay", "Apple Pay", "Apple Pay"),
        ("Faster Payments", "Faster Payments", "Faster Payments"),
        ("(ACH)", "(ACH)", "(ACH)"),
        ("", "", ""),
    ],
)
def test_usual_names_are_translated_and_brands_stay(name: str, english: str, german: str) -> None:
    with translation.override("en"):
        assert method_name(name) == english
    with translation.override("de"):
        assert method_name(name) == german


@pytest.mark.django_db
def test_the_room_for_cards_names_them_in_the_readers_language(bakery: Shop) -> None:
    cache.clear()
    change_store(bakery.store, country="US", card_funding_test=True)
    reference = make.payment(bakery.test, amount="50.00")["reference"]
    shown = Client().get(f"/pay/{reference}", {"pay": "card", "lang": "de"}).content.decode()
    assert "Banküberweisung (ACH)" in shown and "Debit- oder Kreditkarte" in shown

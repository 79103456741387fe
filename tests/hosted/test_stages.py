"""The customer's page of a payment that came out uneven: how much is left, how much was too much,
and what happens with it."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.hosted.stages import ending_seconds
from apps.payments.documents.progress import progress_of
from apps.payments.models import Payment
from apps.payments.selectors import received_by
from apps.stores.services import change_store
from tests import make
from tests.cast import Shop
from tests.onramp.cards import opened, press

pytestmark = pytest.mark.django_db


def words(made: dict[str, Any], **query: str) -> str:
    shown = Client().get(f"/pay/{made['reference']}", query).content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", shown).replace("&#x27;", "'").split())


def progress(made: dict[str, Any]) -> Any:
    payment = Payment.objects.select_related("store").get(pk=made["id"])
    return progress_of(payment, received_by(payment))


def test_a_part_is_told_in_money_and_coins_with_a_bar(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    make.simulated(bakery.test, made["id"], "underpaid")
    text = words(made)
    assert "€12.45 of €24.90 received" in text and "0.00691667 ETH" in text
    assert re.search(
        r'<progress [^>]*value="1245" max="2490"',
        Client().get(f"/pay/{made['reference']}").content.decode(),
    )


def test_the_bar_is_plain_figures_in_every_language(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="249000.00")
    make.simulated(bakery.test, made["id"], "underpaid")
    for language in ("en", "de", "ar"):
        shown = Client().get(f"/pay/{made['reference']}", {"lang": language}).content.decode()
        assert re.search(r'<progress [^>]*value="12450000" max="24900000"', shown), language


def test_yen_are_whole_and_what_is_left_is_never_too_small(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="1001", currency="JPY")
    make.simulated(bakery.test, made["id"], "underpaid")
    told = progress(made)
    assert (told.received_cents, told.left_cents) == (50_000, 50_100) and told.over is None


def test_nothing_has_come_of_a_new_one(bakery: Shop) -> None:
    told = progress(make.payment(bakery.test, amount="24.90"))
    assert (told.received_cents, told.left_cents, told.over) == (0, 2490, None)


def test_what_is_confirming_is_not_due_any_more(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    assert "Amount due" in words(made)
    make.simulated(bakery.test, made["id"], "unconfirmed", confirmations=0)
    assert "Payment detected" in words(made) and "Amount due" not in words(made)


def test_too_much_is_told_in_both_units_with_what_happens(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    make.simulated(bakery.test, made["id"], "overpaid")
    text = words(made)
    assert (
        "Overpaid €0.50 · 0.0002766668 ETH" in text and "ask them to refund the difference" in text
    )
    assert progress(made).left_cents == 0


def test_a_little_more_than_due_is_nobodys_worry(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    due = int(made["payment_addresses"][0]["crypto_amount_atomic"])
    make.simulated(bakery.test, made["id"], None, amount_atomic=str(due + due // 1000))
    assert "Overpaid" not in words(made)


def test_a_refused_overpayment_says_that_it_is_sent_back(bakery: Shop) -> None:
    change_store(bakery.store, accept_overpayments=False)
    made = make.payment(bakery.test, amount="24.90")
    make.simulated(bakery.test, made["id"], "overpaid")
    text = words(made)
    assert (
        "doesn’t accept overpayments" in text
        and "What arrived is being returned" in text
        and "Overpaid €0.50" in text
    )


def test_a_refused_part_says_how_much_had_come(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    make.simulated(bakery.test, made["id"], "underpaid")
    make.advance(bakery.test, 3601)
    assert "Only €12.45 of €24.90 had arrived when time was up." in words(made)


@pytest.mark.parametrize(
    ("lifetime", "warned"), [(3600, 300), (86_400, 300), (900, 180), (300, 60)]
)
def test_the_warning_comes_in_good_time(bakery: Shop, lifetime: int, warned: int) -> None:
    made = make.payment(bakery.test, expires_in=lifetime)
    assert ending_seconds(Payment.objects.get(pk=made["id"])) == warned
    make.advance(bakery.test, lifetime - warned - 30)
    assert "left to pay." not in words(made)
    make.advance(bakery.test, 40)
    assert "left to pay." in words(made)


def test_a_failed_transaction_says_what_happened_and_what_to_do(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    sentence = "This transaction failed, so nothing is paid with it yet. It may still go"
    assert sentence not in words(made)
    make.simulated(bakery.test, made["id"], "failed")
    assert sentence in words(made)


def refund(shop: Shop, made: dict[str, Any], **fields: Any) -> None:
    """Confirmed by the network."""
    make.funded(shop.test)
    make.simulated(shop.test, made["id"], "exact")
    body = {"refund": {"destination_address": make.fresh_address(), **fields}} if fields else {}
    answer = shop.test.post(f"/payments/{made['id']}/refunds", body, key="back")
    assert answer.status_code == 201, answer.content
    make.advance(shop.test, 61)
    make.advance(shop.test, 61)


def test_a_refund_says_how_much_came_back_in_money_and_coins(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    refund(bakery, made)
    text = words(made)
    assert (
        "Refunded Alice's Bakery has refunded everything that you paid: €24.90."
        " Refunded €24.90 0.01383334 ETH Ethereum Sepolia" in text
    )
    assert text.count(made["reference"]) == 1 + text.count("with the payment reference")


def test_a_refund_of_a_part_says_of_how_much_in_the_readers_language(bakery: Shop) -> None:
    made = make.payment(bakery.test, amount="24.90")
    refund(bakery, made, amount="0.001")
    text = words(made)
    assert (
        "Refunded in part Alice's Bakery has refunded €1.80 of €24.90."
        " Refunded €1.80 0.001 ETH Ethereum Sepolia" in text
    )
    assert text.count(made["reference"]) == 1 + text.count("with the payment reference")
    for language, sentence in (
        ("de", "Alice's Bakery hat 1,80 € von 24,90 € erstattet."),
        ("ja", "Alice's Bakeryは€24.90のうち€1.80を返金しました。"),
    ):
        assert sentence in words(made, lang=language).replace("\N{NO-BREAK SPACE}", " ")


def test_a_button_ends_a_long_name_where_the_name_ends(bakery: Shop) -> None:
    """Whichever way it runs; in full it is at the top."""
    name = "قهوة عربية بالهيل والزعفران مع تمر المجهول الفاخر من المدينة"
    change_store(bakery.store, brand_name=name)
    made = make.paid(bakery.test, success_url="https://shop.example/thanks")
    shown = Client().get(f"/pay/{made['reference']}").content.decode()
    assert f"Return to <bdi>{name[:39]}…</bdi>" in shown and f">{name}</p>" in shown


def test_who_paid_too_late_is_not_asked_to_pay_again(bakery: Shop) -> None:
    made = make.payment(bakery.test, failed_url="https://shop.example/basket")
    make.advance(bakery.test, 3601)
    assert "Get a new quote" in words(made)
    make.late_deposit(made["id"])
    text = words(made)
    assert "Your payment arrived after time was up. It’s safe: Alice's Bakery can" in text
    assert "Get a new quote" not in text and "start again" not in text


def test_a_card_that_was_charged_leaves_nothing_due_and_no_hurry(bakery: Shop) -> None:
    change_store(bakery.store, country="DE", card_funding_test=True)
    made = make.payment(bakery.test, amount="50.00")
    due = words(made)
    assert "Amount due" in due and "left" in due
    press(opened(made), "paid")
    text = words(made)
    assert "Paid, waiting for crypto" in text and "your card" not in text
    assert "Amount due" not in text and "minutes left" not in text

"""Refunds from the payment page: what is said before, that nothing else is sent, and that it is
sent once."""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from html import unescape
from typing import Any

import pytest

from apps.access.factors import second_factor
from apps.assets.models import Rate
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.templatetags.tillgate import crypto
from apps.payments.models import PaymentAddress, Refund
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser, field_errors, next_code, text
from tests.make import advance, detail, late_deposit, paid, payment
from tests.stage import standing

TO = "0x1111111111111111111111111111111111111111"


@dataclass
class Sale:
    """A completed payment in a store that can bear a refund of the whole of it."""

    cast: Cast
    payment: dict[str, Any]


def sold() -> Sale:
    cast = assemble()
    paid(cast.bakery.test, amount="50.00")
    return Sale(cast, paid(cast.bakery.test))


@pytest.fixture(scope="module")
def sale(django_db_setup: None, django_db_blocker: Any) -> Iterator[Sale]:
    yield from standing(django_db_blocker, sold)


@pytest.fixture
def cast(sale: Sale, db: None) -> Cast:
    return sale.cast.again()


@pytest.fixture
def made(sale: Sale) -> dict[str, Any]:
    return sale.payment


def hidden(answer: Any) -> dict[str, str]:
    """The fields that a page's form brings back by itself."""
    found = re.findall(
        r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.content.decode()
    )
    return {name: value for name, value in found if name not in ("csrfmiddlewaretoken", "next")}


def reviewed(browser: Browser, made: dict[str, Any], **fields: str) -> Any:
    return browser.post(f"payments/{made['id']}/refund", **{"form_key": uuid.uuid4().hex, **fields})


def confirmed(browser: Browser, made: dict[str, Any], review: Any, **changed: str) -> Any:
    return browser.post(f"payments/{made['id']}/refund", **{**hidden(review), **changed})


def test_a_refund_says_what_leaves_and_where_to_before_it_is_sent(
    cast: Cast, made: dict[str, Any]
) -> None:
    browser = Browser(cast.alice)
    assert (
        f"/dashboard/payments/{made['id']}/refund"
        in browser.get(f"payments/{made['id']}").content.decode()
    )
    form = browser.get(f"payments/{made['id']}/refund")
    review = reviewed(browser, made, **hidden(form))
    shown = text(review)
    assert (
        made["payment_addresses"][0]["crypto_amount"] in shown
        and made["transaction"]["from_address"] in shown
    )
    assert (
        "The rest can’t be refunded later" not in shown
        and "Test mode: no real money moves" in shown
    )
    assert not Refund.objects.exists()
    assert confirmed(browser, made, review)["Location"] == f"/dashboard/payments/{made['id']}"
    (refund,) = Refund.objects.all()
    assert str(refund.amount_atomic) == made["payment_addresses"][0]["crypto_amount_atomic"]
    page = text(browser.get(f"payments/{made['id']}"))
    assert (
        "Refund in progress" in page
        and "Refund requested" in page
        and made["transaction"]["from_address"] in page
    )
    assert f"/dashboard/payments/{made['id']}/refund" not in page


def test_pressing_twice_sends_once(cast: Cast, made: dict[str, Any]) -> None:
    browser = Browser(cast.alice)
    review = reviewed(browser, made)
    answers = [confirmed(browser, made, review) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert Refund.objects.count() == 1


def test_a_part_is_warned_about_and_shown_as_partial(cast: Cast, made: dict[str, Any]) -> None:
    browser = Browser(cast.alice)
    review = reviewed(browser, made, amount="0.001", destination_address=TO)
    told = text(review)
    assert "The rest can’t be refunded later" in told and TO in told
    confirmed(browser, made, review)
    for _ in range(2):
        advance(cast.bakery.test, 61)
    assert "Partially refunded" in text(browser.get(f"payments/{made['id']}"))
    assert detail(cast.bakery.test, made["id"])["refund_state"] == "partial"


REFUSED = (
    ({"amount": "1000"}, "amount", "Amount exceeds the refundable balance."),
    ({"amount": "0"}, "amount", "Amount must be greater than zero."),
    (
        {"amount": "0.1234567890123456789"},
        "amount",
        "Amount must be a decimal number of coins with at most 18 places.",
    ),
    (
        {"destination_address": "0x12"},
        "destination_address",
        "Destination address is not valid for Ethereum Sepolia.",
    ),
    (
        {"amount": "10.01", "unit": "locked"},
        "amount",
        "Amount is more than the maximum of €10.00.",
    ),
    (
        {"amount": "x", "unit": "locked"},
        "amount",
        "Amount must be a number such as 12.50.",
    ),
    ({"amount": "0", "unit": "locked"}, "amount", "Amount must be greater than zero."),
)


def test_a_request_that_can_not_be_met_comes_back_with_its_reason_at_its_input(
    cast: Cast, made: dict[str, Any]
) -> None:
    browser = Browser(cast.alice)
    for fields, name, sentence in REFUSED:
        answer = reviewed(browser, made, **fields)
        assert answer.status_code == 422 and field_errors(answer) == {name: sentence}, fields
        shown = text(answer)
        assert f'value="{fields[name]}"' in shown, fields
        is_fiat = '<option value="locked" selected>' in shown
        assert is_fiat is ("unit" in fields), fields
    assert not Refund.objects.exists()


def test_what_is_wrong_about_no_input_of_the_page_stands_above_them(
    cast: Cast, made: dict[str, Any]
) -> None:
    browser = Browser(cast.alice)
    for fields, sentence in (
        ({"form_key": "x"}, "The form is too old; open it again."),
        ({"asset_id": "BTC"}, "Payment did not receive this asset."),
    ):
        answer = reviewed(browser, made, **fields)
        assert answer.status_code == 422 and field_errors(answer) == {}, fields
        assert sentence in text(answer)
    assert not Refund.objects.exists()


def test_nothing_is_sent_that_was_not_on_the_page(cast: Cast, made: dict[str, Any]) -> None:
    browser = Browser(cast.alice)
    review = reviewed(browser, made, amount="0.001", destination_address=TO)
    for changed in (
        {"amount": "0.002"},
        {"destination_address": "0x" + "2" * 40},
        {"agreed": "other"},
    ):
        answer = confirmed(browser, made, review, **changed)
        assert answer.status_code == 422 and "review the new figures" in text(answer), changed
        assert not Refund.objects.exists(), changed
    assert confirmed(browser, made, answer).status_code == 303


def test_a_balance_that_does_not_reach_is_said(cast: Cast) -> None:
    alone = paid(cast.strangers.test)
    browser = Browser(cast.charlie)
    answer = confirmed(browser, alone, reviewed(browser, alone))
    assert answer.status_code == 422 and "Insufficient balance to refund." in text(answer)


def test_a_late_deposit_goes_back_from_what_is_held(cast: Cast) -> None:
    late = payment(cast.bakery.test, expires_in=300)
    browser = Browser(cast.alice)
    assert (
        f"/dashboard/payments/{late['id']}/refund"
        not in browser.get(f"payments/{late['id']}").content.decode()
    )
    advance(cast.bakery.test, 400)
    late_deposit(late["id"])
    review = reviewed(browser, late)
    assert "From the funds held for this payment" in text(review)
    assert confirmed(browser, late, review).status_code == 303
    assert Refund.objects.get().is_from_held


def test_several_transfers_are_shown_each_with_what_they_come_to(cast: Cast) -> None:
    late = payment(cast.bakery.test, expires_in=300)
    browser = Browser(cast.alice)
    advance(cast.bakery.test, 400)
    late_deposit(late["id"])
    addresses = PaymentAddress.objects.filter(payment=late["id"]).values("address_id")
    Deposit.objects.filter(address__in=addresses).update(
        simulated_reference="of somebody else", from_address=TO
    )
    late_deposit(late["id"])
    shown = text(reviewed(browser, late))
    one = int(late["payment_addresses"][0]["crypto_amount_atomic"])
    assert TO in shown and shown.count("<dt>You send</dt>") == 2
    assert f"<dt>Total</dt> <dd>{crypto(2 * one, 18, 'ETH')}" in shown


def test_a_second_request_while_one_is_under_way_leads_back_to_it(
    cast: Cast, made: dict[str, Any]
) -> None:
    browser = Browser(cast.alice)
    confirmed(browser, made, reviewed(browser, made))
    assert reviewed(browser, made)["Location"] == f"/dashboard/payments/{made['id']}"
    assert Refund.objects.count() == 1


def test_who_may_not_move_money_is_not_offered_a_refund(cast: Cast, made: dict[str, Any]) -> None:
    browser = Browser(cast.bob)
    assert (
        f"/dashboard/payments/{made['id']}/refund"
        not in browser.get(f"payments/{made['id']}").content.decode()
    )
    assert browser.get(f"payments/{made['id']}/refund").status_code == 403


def test_other_figures_are_told_before_a_code_is_taken(cast: Cast, made: dict[str, Any]) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = Browser(cast.alice)
    code = next_code(cast.alice)
    review = reviewed(browser, made, amount="0.001", destination_address=TO)
    changed = confirmed(browser, made, review, amount="0.002", code=code)
    assert changed.status_code == 422 and "review the new figures" in text(changed)
    assert confirmed(browser, made, changed, code=code).status_code == 303
    assert Refund.objects.get().amount_atomic == 2 * 10**15


# --- amounts in the payment's currency ------------------------------------------------------------


def options(page: str) -> list[str]:
    return re.findall(r'<option value="(\w*)"', page)


def dearer(rate: str) -> None:
    """Raise the price of a coin today."""
    Rate.objects.filter(asset="SETH", currency="EUR").update(rate=Decimal(rate))


def test_the_maximum_is_told_in_coins_and_at_both_rates(cast: Cast, made: dict[str, Any]) -> None:
    dearer("3600")
    page = text(Browser(cast.alice).get(f"payments/{made['id']}/refund"))
    most = crypto(made["payment_addresses"][0]["crypto_amount_atomic"], 18, "ETH")
    assert f"<dt>Maximum</dt> <dd>{most}" in page
    assert "1 ETH = €1,800.00" in page and "1 ETH = €3,600.00" in page and "At today’s rate" in page
    assert options(page)[-3:] == ["", "locked", "today"]


def test_a_rate_stays_on_one_line(cast: Cast, made: dict[str, Any]) -> None:
    page = Browser(cast.alice).get(f"payments/{made['id']}/refund").content.decode()
    assert "(1\xa0ETH\xa0=\xa0€1,800.00)" in page


@pytest.mark.parametrize(
    ("unit", "atomic"), [("locked", 277_777 * 10**10), ("today", 138_888 * 10**10)]
)
def test_an_amount_in_fiat_is_converted_at_the_rate_that_was_chosen(
    cast: Cast, made: dict[str, Any], unit: str, atomic: int
) -> None:
    dearer("3600")
    browser = Browser(cast.alice)
    review = reviewed(browser, made, amount="5", unit=unit)
    told = text(review)
    assert ("€5.00" in told) and ("€10.00" in told if unit == "locked" else "€2.50" in told)
    assert "<dt>Not refunded</dt>" in told
    dearer("4000")
    assert confirmed(browser, made, review).status_code == 303
    assert Refund.objects.get().amount_atomic == atomic


def test_a_part_fills_in_the_amount(cast: Cast, made: dict[str, Any]) -> None:
    browser = Browser(cast.alice)
    paid_atomic = int(made["payment_addresses"][0]["crypto_amount_atomic"])

    def filled_in(part: int, unit: str) -> str:
        form = browser.get(f"payments/{made['id']}/refund?part={part}&unit={unit}")
        (amount,) = re.findall(r'id="amount"[^>]*?value="([\d.]*)"', form.content.decode(), re.S)
        return str(amount)

    for part, fiat in ((25, "2.50"), (50, "5.00"), (75, "7.50"), (100, "10.00")):
        assert Decimal(filled_in(part, "")) * 10**18 == paid_atomic * part // 100, part
        assert filled_in(part, "locked") == fiat, part
    review = reviewed(browser, made, amount="10.00", unit="locked")
    confirmed(browser, made, review)
    assert Refund.objects.get().amount_atomic == paid_atomic, "the whole, to the last unit"


def test_without_a_rate_of_today_none_is_offered(cast: Cast, made: dict[str, Any]) -> None:
    Rate.objects.filter(asset="SETH").update(valid_until=clock.real_now())
    browser = Browser(cast.alice)
    assert "today" not in options(text(browser.get(f"payments/{made['id']}/refund")))
    answer = reviewed(browser, made, amount="5", unit="today")
    assert answer.status_code == 422
    assert field_errors(answer) == {
        "unit": "There is no current rate for this coin; enter the amount in coins."
    }


def test_the_review_says_which_payment_it_is(cast: Cast) -> None:
    ugly = "مرحبا <b>&amp; " + "x" * 120
    titled = paid(cast.bakery.test, title=ugly, order_id="A-17")
    browser = Browser(cast.alice)
    told = unescape(text(reviewed(browser, titled)))
    assert ugly in told and "A-17" in told and "€10.00" in told
    assert "<dt>Not refunded</dt>" not in told

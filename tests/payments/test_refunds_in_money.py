"""A refund is asked for in the payment's currency, as shops keep it: coins at the rate that was
locked."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.payments.models import PaymentAddress, Refund
from tests import auditing, make
from tests.cast import Shop

pytestmark = pytest.mark.django_db
TO = "0x" + "ab" * 20


def refund(shop: Shop, payment: str, key: str = "k", **fields: Any) -> Any:
    body = {"destination_address": TO, **fields}
    return shop.test.post(f"/payments/{payment}/refunds", {"refund": body}, key=key)


def came(payment: str) -> int:
    """Atomic units of the one coin that has come."""
    (way,) = PaymentAddress.objects.filter(payment=UUID(payment), asset_id="SETH")
    return sum(deposit.amount_atomic for deposit in way.address.deposits.all())


def rate(payment: str) -> Decimal:
    return Decimal(PaymentAddress.objects.get(payment=UUID(payment), asset_id="SETH").exchange_rate)


def test_a_part_is_worth_what_was_asked_for_at_the_locked_rate(bakery: Shop) -> None:
    paid = make.paid(bakery.test, amount="100.00")["id"]
    answer = refund(bakery, paid, settlement_amount="11.50")
    assert answer.status_code == 201
    atomic = Refund.objects.get().amount_atomic
    worth = Decimal(atomic) / 10**18 * rate(paid)
    assert Decimal("11.50") - Decimal("0.005") < worth <= Decimal("11.50")
    assert auditing.breaches() == []


def test_the_whole_amount_is_all_that_came(bakery: Shop) -> None:
    make.paid(bakery.test, amount="500.00")  # a refund takes the fees that were kept as well
    paid = make.paid(bakery.test, amount="18.70")["id"]
    assert refund(bakery, paid, settlement_amount="18.70").status_code == 201
    assert Refund.objects.get().amount_atomic == came(paid)


def test_the_whole_amount_of_an_accepted_shortfall_is_all_that_came(bakery: Shop) -> None:
    make.paid(bakery.test, amount="500.00")
    short = make.payment(bakery.test, amount="10.00")["id"]
    make.simulated(bakery.test, short, "underpaid")
    assert bakery.test.post(f"/payments/{short}/accept_shortfall", {}).status_code == 200
    over = refund(bakery, short, settlement_amount="9.99")
    assert over.status_code == 422 and "worth 5.00 EUR" in over.content.decode()
    assert refund(bakery, short, settlement_amount="10.00").status_code == 201
    assert Refund.objects.get().amount_atomic == came(short)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"settlement_amount": "100.01"}, "settlement_amount exceeds"),
        ({"settlement_amount": "0"}, "greater than zero"),
        ({"settlement_amount": "0.00"}, "greater than zero"),
        ({"settlement_amount": "1,50"}, "decimal string"),
        ({"settlement_amount": "1.505"}, "decimal string"),
        ({"settlement_amount": "-1"}, "decimal string"),
        ({"settlement_amount": 5}, "ettlement"),
        ({"settlement_amount": "5.00", "amount": "0.001"}, "Give one of amount"),
    ],
)
def test_bad_amounts_are_refused(bakery: Shop, fields: dict[str, Any], said: str) -> None:
    paid = make.paid(bakery.test, amount="100.00")["id"]
    answer = refund(bakery, paid, **fields)
    assert answer.status_code == 422 and said in answer.content.decode(), answer.content
    assert not Refund.objects.exists()


def test_yen_are_whole(bakery: Shop) -> None:
    paid = make.paid(bakery.test, amount="3000", currency="JPY")["id"]
    answer = refund(bakery, paid, settlement_amount="10.50")
    assert answer.status_code == 422 and "whole number in JPY" in answer.content.decode()
    assert refund(bakery, paid, settlement_amount="1000").status_code == 201


def test_of_what_ended_without_success_all_goes_back(bakery: Shop) -> None:
    short = make.payment(bakery.test)["id"]
    make.simulated(bakery.test, short, "underpaid")
    assert refund(bakery, short, settlement_amount="1.00").status_code == 422
    assert not Refund.objects.exists()


def test_the_same_again_is_the_same_refund_and_another_amount_is_said_to_be_another(
    bakery: Shop,
) -> None:
    paid = make.paid(bakery.test, amount="100.00")["id"]
    (first,) = refund(bakery, paid, settlement_amount="10.00").json()
    (same,) = refund(bakery, paid, key="l", settlement_amount="10.00").json()
    (other,) = refund(bakery, paid, key="m", settlement_amount="20.00").json()
    assert {document["id"] for document in (same, other)} == {first["id"]}
    assert "refund_in_progress" not in same and other["refund_in_progress"] is True
    assert Refund.objects.count() == 1


def test_the_whole_of_what_came_in_two_coins_is_not_the_part_in_one_of_them(bakery: Shop) -> None:
    """The part would be final, and the shop would have it down as the whole."""
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    accept_all_active(bakery.store)
    make.paid(bakery.test, amount="500.00", asset_id="SETH")
    both = make.payment(bakery.test, amount="100.00")["id"]
    make.simulated(bakery.test, both, "underpaid", asset_id="SETH")
    make.simulated(bakery.test, both, asset_id="USDC_SETH")
    assert make.detail(bakery.test, both)["status"] == "completed"
    assert refund(bakery, both, settlement_amount="100.00").status_code == 422  # of which coin?
    over = refund(bakery, both, asset_id="SETH", settlement_amount="100.00")
    assert over.status_code == 422 and "worth 50.00 EUR" in over.content.decode(), over.content
    assert not Refund.objects.exists()
    assert refund(bakery, both, asset_id="SETH", settlement_amount="50.00").status_code == 201

"""Sending a simulated deposit's reference again changes that deposit, and the books with it, as
long as the payment is open."""

from typing import Any

import pytest

from apps.chain.models import Deposit
from apps.ledger.selectors import balances
from tests import auditing, make
from tests.cast import Shop


def send(shop: Shop, payment: dict[str, Any], amount: int, **fields: Any) -> Any:
    body = {"amount_atomic": str(amount), "reference": "r", **fields}
    return shop.test.post(f"/payments/{payment['id']}/simulated_payments", body)


@pytest.mark.parametrize("amounts", [(5, 9), (9, 5)])
def test_a_booked_deposit_of_an_open_payment_is_booked_anew(
    bakery: Shop, amounts: tuple[int, int]
) -> None:
    payment = make.payment(bakery.test)

    for amount in amounts:
        assert send(bakery, payment, amount).status_code == 201

    assert balances(bakery.store.pk, "test")["SETH"].held_atomic == amounts[-1]
    assert auditing.breaches() == []


@pytest.mark.parametrize("by", [-1, 1])
def test_a_deposit_of_a_finished_payment_stays_what_it_was_settled_for(
    bakery: Shop, by: int
) -> None:
    payment = make.payment(bakery.test)
    make.simulated(bakery.test, payment["id"], reference="r")
    settled = Deposit.objects.get(simulated_reference="r").amount_atomic

    answer = send(bakery, payment, settled + by, late=True)

    assert (answer.status_code, answer.json()["error"]["code"]) == (
        422,
        "simulated_payment_already_finalized",
    )
    assert Deposit.objects.get(simulated_reference="r").amount_atomic == settled
    assert send(bakery, payment, settled, late=True).status_code == 201
    assert auditing.breaches() == []

"""Conditions between the fields of a body stand in its schema, so that a client that
checks a request by it isn't refused for it, and isn't held back from what is taken."""

from itertools import product
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from apps.billing.models import TaxCategory
from apps.billing.requests import TaxRateRequest
from apps.core.messages.requests import Request, shape_of
from apps.payments.requests import RefundRequest, SimulationRequest
from tests import make
from tests.cast import Shop

AMOUNTS = {"settlement_amount": "1.00", "amount": "0.5", "amount_atomic": "7"}


def validator(request: type[Request]) -> Any:
    return Draft202012Validator(shape_of(request).schema())


@pytest.mark.parametrize("request_class", [SimulationRequest, RefundRequest])
def test_two_amounts_are_one_too_many_for_the_schema_as_well(request_class: type[Request]) -> None:
    is_valid = validator(request_class).is_valid
    names = [name for name in AMOUNTS if name in shape_of(request_class).fields]
    assert is_valid({})
    for name in names:
        assert is_valid({name: AMOUNTS[name]})
        for other in names:
            if other != name:
                assert not is_valid({name: AMOUNTS[name], other: AMOUNTS[other]})


def test_a_simulated_payment_of_two_amounts_is_refused_still(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    path = f"/payments/{made['id']}/simulated_payments"
    for names in (("amount", "amount_atomic"), ("settlement_amount", "amount")):
        two = {name: AMOUNTS[name] for name in names}
        assert bakery.test.post(path, {"simulated_payment": two}).status_code == 422
    assert bakery.test.post(path, {"simulated_payment": {"amount": "0.5"}}).status_code == 201


def bodies() -> list[dict[str, Any]]:
    """Every category with and without a rate, a reason and a code, inclusive or not."""
    choices = product(TaxCategory.values, (0, 1900), (False, True), (None, "", "By law"))
    return [
        {
            "name": "Rate",
            "category": category,
            "rate_bps": rate,
            "inclusive": inclusive,
            **({} if reason is None else {"reason": reason}),
        }
        for category, rate, inclusive, reason in choices
    ]


def test_a_tax_rate_is_refused_where_its_schema_refuses_it_and_nowhere_else(
    bakery: Shop,
) -> None:
    is_valid = validator(TaxRateRequest).is_valid
    differing = []
    counts = {True: 0, False: 0}
    for body in bodies():
        answer = bakery.test.post("/billing/tax_rates", {"tax_rate": body})
        assert answer.status_code in (201, 422), answer.content
        is_taken = answer.status_code == 201
        counts[is_taken] += 1
        if is_taken != is_valid(body):
            differing.append((body, answer.json()))
    assert differing == []
    assert min(counts.values()) > 20

"""Refusals of a simulated deposit, each with its code."""

from typing import Any

from tests import make
from tests.cast import Shop


def simulate(shop: Shop, payment: dict[str, Any], **body: Any) -> Any:
    return shop.test.post(f"/payments/{payment['id']}/simulated_payments", body)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"scenario": "nope"}, "simulated_payment_unknown_scenario"),
    ({"scenario": 5}, "simulated_payment_unknown_scenario"),
    ({"amount": "0.1", "amount_atomic": "5"}, "simulated_payment_ambiguous_amount"),
    ({"amount": "0.1", "settlement_amount": "x"}, "simulated_payment_ambiguous_amount"),
    ({"amount": 5}, "simulated_payment_invalid_amount"),
    ({"amount": "0"}, "simulated_payment_invalid_amount"),
    ({"amount": "0.1234567890123456789"}, "simulated_payment_invalid_amount"),
    ({"amount_atomic": "0"}, "simulated_payment_invalid_amount"),
    ({"amount_atomic": "-1"}, "simulated_payment_invalid_amount"),
    ({"settlement_amount": "1.234"}, "simulated_payment_invalid_amount"),
    ({"settlement_amount": "0.00"}, "simulated_payment_invalid_amount"),
    ({"asset_id": "NOPE"}, "simulated_payment_no_address"),
    ({"asset_id": 5}, "simulated_payment_no_address"),
    ({"simulated_payment": {"scenario": "nope"}}, "simulated_payment_unknown_scenario"),
]


def test_each_refusal_has_its_code(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    for body, code in REFUSED:
        answer = simulate(bakery, payment, **body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, code), body


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"confirmations": "1"}, "confirmations must be an integer"),
    ({"confirmations": True}, "confirmations must be an integer"),
    ({"late": "yes"}, "late must be true or false"),
    ({"reference": ""}, "reference must be a string of 1 to 255 characters"),
    ({"reference": "x" * 256}, "reference must be a string of 1 to 255 characters"),
    ({"reference": 5}, "reference must be a string of 1 to 255 characters"),
]


def test_a_broken_field_without_a_code_is_named(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    for body, sentence in BROKEN:
        answer = simulate(bakery, payment, **body)
        assert (answer.status_code, answer.json()) == (
            422,
            {"error": {"message": sentence, "code": None}},
        ), body


def test_live_money_is_never_simulated(bakery: Shop) -> None:
    made = make.payment(bakery.live)
    answer = bakery.live.post(f"/payments/{made['id']}/simulated_payments", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (
        403,
        "simulated_payment_live_mode",
    )


def test_an_ended_payment_takes_no_more(bakery: Shop) -> None:
    answer = simulate(bakery, make.paid(bakery.test))
    assert (answer.status_code, answer.json()["error"]["code"]) == (
        422,
        "simulated_payment_already_finalized",
    )


def test_nulls_are_missing_and_negative_confirmations_none(bakery: Shop) -> None:
    body = {
        "scenario": "unconfirmed",
        "amount": None,
        "asset_id": None,
        "late": None,
        "reference": "A",
        "confirmations": -3,
    }
    answer = simulate(bakery, make.payment(bakery.test), **body)
    told = answer.json()["simulated_payment"]
    assert (answer.status_code, told["confirmations"], told["reference"], told["status"]) == (
        201,
        0,
        "A",
        "confirming",
    )
    assert answer.json()["payment_status"] == "processing"

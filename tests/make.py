"""Makers: each goes through the API or a service, so that what it makes is what a customer's world would hold."""

from typing import Any

from tests.cast import Api


def payment(api: Api, *, key: str | None = None, **fields: Any) -> dict[str, Any]:
    """A payment intent, 10.00 EUR unless told otherwise."""
    answer = api.post("/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR", **fields}}, key=key)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def simulated(api: Api, payment_id: str, scenario: str | None = "exact", **fields: Any) -> dict[str, Any]:
    """The intent after a simulated deposit."""
    answer = api.post(f"/payments/{payment_id}/simulated_payments", {**({"scenario": scenario} if scenario else {}), **fields})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def paid(api: Api, **fields: Any) -> dict[str, Any]:
    """A completed test payment."""
    return simulated(api, payment(api, **fields)["id"])


def detail(api: Api, payment_id: str) -> dict[str, Any]:
    answer = api.get(f"/payments/{payment_id}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def advance(api: Api, seconds: int) -> dict[str, Any]:
    """Move the store's test clock."""
    answer = api.post("/test_clock/advance", {"seconds": seconds})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body

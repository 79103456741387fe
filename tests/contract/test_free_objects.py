"""Objects that are kept as they came: no number in them that a reader wouldn't get back, and old
ones stay readable."""

import json
from itertools import product
from typing import Any

from apps.stores.settings import write_settings
from apps.webhooks.models import Endpoint
from tests.cast import Api, Shop

HOOK = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.completed"]}
BAD = [
    "1e999",
    "-1e999",
    str(2**53 + 1),
    str(-(2**53) - 1),
    "1e300",
    '[1, {"deep": 1e999}]',
    "9" * 40,
]


def raw(wrapper: str, fields: dict[str, Any], name: str, number: str) -> bytes:
    """JSON cannot say infinity, and Python's own writer would."""
    body = json.dumps({wrapper: {**fields, name: {"n": "@"}}})
    return body.replace('"@"', number).encode()


def test_an_endpoint_stores_no_such_number(bakery: Shop) -> None:
    sentence = "Metadata contains a number that is too large"
    for number in BAD:
        sent = raw("webhook_endpoint", HOOK, "metadata", number)
        answer = bakery.test.post("/webhook_endpoints", raw=sent)
        assert (answer.status_code, answer.json()) == (422, {"errors": [sentence]}), number
    assert not Endpoint.objects.exists()
    assert bakery.test.get("/webhook_endpoints").json() == []


def test_a_customer_stores_no_such_number(bakery: Shop) -> None:
    for field, number in product(("address", "metadata"), BAD):
        sent = raw("customer", {"email": "a@example.com", "name": "A"}, field, number)
        answer = bakery.test.post("/billing/customers", raw=sent)
        assert (answer.status_code, "errors" in answer.json()) == (422, True), (field, number)
        assert field in answer.json()["errors"][0].lower(), (field, number)


def test_what_every_reader_gets_back_is_kept(bakery: Shop) -> None:
    kept = {"n": 2**53, "m": -(2**53), "part": 0.25, "yes": True, "text": "9" * 40}
    body = {"webhook_endpoint": {**HOOK, "metadata": kept}}
    assert bakery.test.post("/webhook_endpoints", body).json()["metadata"] == kept


def test_one_that_was_stored_before_breaks_no_list(bakery: Shop) -> None:
    made = bakery.test.post("/webhook_endpoints", {"webhook_endpoint": HOOK}).json()
    Endpoint.objects.filter(pk=made["id"]).update(metadata={"n": 10**40})
    shown = bakery.test.get("/webhook_endpoints")
    assert shown.status_code == 200
    assert shown.json()[0]["metadata"] == {"n": 10**40}
    assert bakery.test.delete(f"/webhook_endpoints/{made['id']}").status_code == 204


def test_an_agents_requirements_hold_no_such_number(bakery: Shop) -> None:
    write_settings(bakery.store, {"authorization_provider": "policy"})
    agent = Api(bakery.secrets["test_agent"])
    wanted = {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "m"}
    assert agent.post("/agentic/mandates", wanted, key="m").status_code == 201
    fields = {
        "asset_id": "SETH",
        "amount_atomic": "0",
        "mandate_ref": "m",
        "requirements": {"n": "@"},
    }
    sentence = "requirements contains a number that is too large"
    for number in BAD:
        sent = json.dumps(fields).replace('"@"', number).encode()
        answer = agent.post("/agentic/x402/settlements", raw=sent, key="s")
        assert answer.status_code == 422, number
        assert sentence in answer.json()["error"]["message"], number

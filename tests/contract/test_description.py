"""The API description is valid, names every path, and its pages load nothing from outside."""

import re

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from apps.api.description import _document
from apps.api.schemas import ALSO, ANSWERS, PDFS
from apps.api.schemas.events import envelope, operation_of
from apps.api.urls import ROUTES
from apps.webhooks.catalogue import PLATFORM_ONLY, SUBSCRIBABLE
from apps.webhooks.models import Event
from tests import described, make
from tests.cast import Api, Shop


def test_the_description_is_valid_and_names_every_route(db: None) -> None:
    answer = Api().get("/openapi.json")
    spec = answer.json()
    validate(spec)
    assert spec["openapi"].startswith("3.1")
    for route in ROUTES:
        described = spec["paths"]["/api/v2/" + route.path.replace("<str:", "{").replace(">", "}")]
        assert {method.upper() for method in described if method in ("get", "post", "patch", "put", "delete")} == set(route.scopes)


def test_every_write_tells_its_refusals_in_their_shapes(db: None) -> None:
    spec = Api().get("/openapi.json").json()
    create = spec["paths"]["/api/v2/payments"]["post"]
    assert {"201", "400", "401", "403", "404", "409", "413", "415", "422", "429", "500", "502", "503"} == set(create["responses"])
    fields = create["requestBody"]["content"]["application/json"]["schema"]["properties"]["payment_intent"]["properties"]
    assert (fields["title"]["maxLength"], fields["expires_in"]["minimum"]) == (150, 300)


def test_the_pages_are_served_without_any_outside_host(db: None) -> None:
    page = Api().client.get("/docs", headers={"Host": "localhost"})
    assert page.status_code == 200
    assert not re.findall(r"(?:src|href)=[\"'](?:https?:)?//", page.content.decode())
    assert "unsafe" not in page.headers["Content-Security-Policy"]


def test_every_method_tells_what_a_success_looks_like() -> None:
    silent = {"POST onramp_callbacks/<str:id>", "POST payments/<str:id>/test_payments", *PDFS}
    for route in ROUTES:
        for method in route.scopes:
            operation = f"{method} {route.path}"
            assert operation in ANSWERS or operation in silent or method == "DELETE", operation
    assert {*ANSWERS, *ALSO} <= {f"{method} {route.path}" for route in ROUTES for method in route.scopes}


@pytest.mark.parametrize("event", [*SUBSCRIBABLE, *PLATFORM_ONLY])
def test_every_event_is_described_and_its_example_has_that_shape(event: str) -> None:
    told = operation_of(event)["requestBody"]["content"]["application/json"]
    Draft202012Validator(told["schema"]).validate(told["example"])


def test_the_events_that_are_really_recorded_have_the_described_shape(bakery: Shop) -> None:
    make.simulated(bakery.test, make.payment(bakery.test)["id"], "unconfirmed", reference="a")
    make.paid(bakery.test)
    advance_past = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 400)
    make.detail(bakery.test, advance_past["id"])
    seen = set()
    for event in Event.objects.seen_by(bakery.access()):
        Draft202012Validator(envelope(event.type)["properties"]["data"]).validate({"object": event.object})
        seen.add(event.type)
    assert {"payment_intent.created", "payment_intent.completed", "payment_intent.expired", "transaction.confirming"} <= seen


def test_the_document_is_drawn_up_once(db: None) -> None:
    assert _document() is _document()


def test_an_answer_that_is_not_described_is_noticed(bakery: Shop) -> None:
    answer = bakery.test.get("/payment_currencies")
    described.check("GET", answer)
    answer.content = b'[{"code": 1}]'
    with pytest.raises(described.Undescribed):
        described.check("GET", answer)

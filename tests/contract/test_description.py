"""The API description is valid, names every path, and says what each takes and answers."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from jsonschema_rs import Draft202012Validator as Fast
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from openapi_spec_validator.schemas import openapi_v31_schema_validator
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError

from apps.api.description import _document
from apps.api.plumbing.components import reference
from apps.api.plumbing.description import answers
from apps.api.plumbing.events import envelope, operation_of
from apps.api.urls import ROUTES
from apps.api.webhook_endpoints import WRAPPER
from apps.core.messages.documents import Document
from apps.payouts import documents
from apps.webhooks.catalogue import PLATFORM_ONLY, SUBSCRIBABLE
from apps.webhooks.models import Event
from tests import described, make
from tests.cast import Api, Shop
from tests.described import closed

# Those that ask for no row too: they share one drawing, which a worker of its own would draw anew.
pytestmark = pytest.mark.django_db
GENERATOR = "drf_spectacular.generators"


class Shape:
    """The shape of an OpenAPI document, asked of a validator that is a hundred times faster than
    the one of openapi_spec_validator, which looks at all else."""

    def __init__(self) -> None:
        self._fast = Fast(openapi_v31_schema_validator.schema)

    def iter_errors(self, spec: Any) -> Iterator[ValidationError]:
        yield from (ValidationError(str(error)) for error in self._fast.iter_errors(spec))


class Validator(OpenAPIV31SpecValidator):
    schema_validator = Shape()


def test_the_description_is_drawn_up_by_a_process_that_ends_is_valid_and_names_every_route(
    monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    """The process that draws the description up isn't the one that answers. (Modules that the
    latter has loaded before are tested in tests/console/test_budgets.py.)"""
    monkeypatch.delitem(sys.modules, GENERATOR, raising=False)
    _document.cache_clear()
    answer = Api().get("/openapi.json")
    assert (answer.status_code, len(answer.content) > 100_000) == (200, True)
    assert GENERATOR not in sys.modules
    spec = answer.json()
    validate(spec, cls=Validator)
    assert spec["openapi"].startswith("3.1")
    for route in ROUTES:
        described = spec["paths"]["/api/v2/" + route.path.replace("<str:", "{").replace(">", "}")]
        assert {
            method.upper()
            for method in described
            if method in ("get", "post", "patch", "put", "delete")
        } == set(route.scopes)


def test_what_is_no_description_is_noticed() -> None:
    for broken in ({"paths": 1}, {"info": {"title": "Tillgate"}}):
        with pytest.raises(OpenAPIValidationError):
            validate({**json.loads(_document()), **broken}, cls=Validator)


def test_every_write_tells_its_refusals_in_their_shapes(db: None) -> None:
    spec = Api().get("/openapi.json").json()
    create = spec["paths"]["/api/v2/payments"]["post"]
    assert {
        "201",
        "400",
        "401",
        "403",
        "404",
        "409",
        "413",
        "415",
        "422",
        "429",
        "500",
        "502",
        "503",
    } == set(create["responses"])
    fields = create["requestBody"]["content"]["application/json"]["schema"]["properties"][
        "payment_intent"
    ]["properties"]
    assert (fields["title"]["maxLength"], fields["expires_in"]["minimum"]) == (150, 300)


@pytest.mark.parametrize(
    ("path", "method", "words", "schemes"),
    [
        ("/payments", "post", "Scope: `payments:write`.", ["bearer", "basic"]),
        (
            "/payment_currencies",
            "get",
            "Any valid credential but a publishable key.",
            ["bearer", "basic"],
        ),
        ("/api_keys", "post", "For a person who is signed in", ["session"]),
        ("/merchants/oauth_apps/{id}", "patch", "For a person who is signed in", ["session"]),
        ("/agentic/mandates", "post", "Agent credentials with the scope `x402:write`.", ["bearer"]),
        ("/agentic/account", "get", "Any agent credential.", ["bearer"]),
        ("/checkout/{reference}", "get", "Public", []),
    ],
)
def test_every_operation_tells_who_may_call_it(
    path: str, method: str, words: str, schemes: list[str]
) -> None:
    operation = json.loads(_document())["paths"]["/api/v2" + path][method]
    assert words in operation["description"]
    assert [name for item in operation.get("security", []) for name in item] == schemes


def test_a_field_with_few_values_names_them() -> None:
    body = json.loads(_document())["paths"]["/api/v2/payout_schedules"]["post"]["requestBody"][
        "content"
    ]["application/json"]["schema"]
    fields = body["properties"]["payout_schedule"]["properties"]
    assert (
        fields["frequency"]["enum"] == ["daily", "weekly", "monthly"]
        and "EUR" in fields["minimum_fiat_currency"]["enum"]
    )


def test_every_method_tells_what_a_success_looks_like() -> None:
    for route in ROUTES:
        for method in route.scopes:
            assert (
                method in route.view.answers
                or None not in answers(route.view, route, method).values()
                or method == "DELETE"
            ), route.path
            declared = {
                *route.view.answers,
                *route.view.also,
                *route.view.further,
                *route.view.bodies,
            }
            assert declared <= set(route.scopes), (
                f"{route.path} declares a method that it doesn't have"
            )


def is_bare(schema: Any) -> bool:
    """Tell whether a schema says nothing about the value."""
    if "$ref" in schema:
        return False
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return any(is_bare(item) for item in several)
    if schema.get("type") == "array":
        return is_bare(schema.get("items", {}))
    return not schema.get("properties") if schema.get("type") == "object" else "type" not in schema


def test_no_operation_is_silent_about_its_body_or_its_answer() -> None:
    """Every body and every success has fields; what takes or gives none says so."""
    paths = json.loads(_document())["paths"]
    operations = [(route, method) for route in ROUTES for method in route.scopes]
    for route, method in operations:
        name = f"{method} {route.path}"
        told = paths["/api/v2/" + route.path.replace("<str:", "{").replace(">", "}")][
            method.lower()
        ]
        if method in ("POST", "PATCH"):
            assert ("requestBody" in told) != (route.view.bodies[method] is None), name
        bodies = [
            item["schema"] for item in told.get("requestBody", {}).get("content", {}).values()
        ]
        done = [
            told["responses"][status]
            for status in told["responses"]
            if status in ("200", "201", "202")
        ]
        schemas = [item["schema"] for answer in done for item in answer.get("content", {}).values()]
        assert not [schema for schema in [*bodies, *schemas] if is_bare(schema)], name
        empty = method in route.view.answers and route.view.answers[method] is None
        assert bool(schemas) != (empty or next(iter(told["responses"])) == "204"), name


def test_each_budget_is_told() -> None:
    told = json.loads(_document())["paths"]
    words = told["/api/v2/payouts"]["post"]["description"]
    assert "Budget `payouts` by store: live 300 a minute, burst 200" in words
    assert "publishable keys only" in told["/api/v2/payments"]["post"]["description"]


def test_what_a_report_is_asked_in_its_address_is_named() -> None:
    paths = json.loads(_document())["paths"]
    asked = paths["/api/v2/reports/merchant_statement"]["get"]["parameters"]
    assert {item["name"]: item.get("required", False) for item in asked} == {
        "start_date": True, "end_date": True, "currency": False, "format": False,
        "time_zone": False,
    }  # fmt: skip


def test_every_filter_that_a_list_reads_is_told() -> None:
    assert all("GET" in route.scopes for route in ROUTES if route.view.query is not None)
    paged = json.loads(_document())["paths"]["/api/v2/payouts"]["get"]["parameters"]
    assert {"page", "per_page", "status", "payout_rail", "payout_schedule_id", "asset_id"} <= {
        item["name"] for item in paged
    }


def test_the_token_endpoint_takes_json_and_forms() -> None:
    told = json.loads(_document())["paths"]["/api/v2/oauth/token"]["post"]["requestBody"]["content"]
    assert set(told) == {"application/json", "application/x-www-form-urlencoded"}


def test_every_event_is_described_and_its_example_has_that_shape() -> None:
    for event in [*SUBSCRIBABLE, *PLATFORM_ONLY]:
        told = operation_of(event)["requestBody"]["content"]["application/json"]
        Draft202012Validator(closed(told["schema"])).validate(told["example"])


def test_the_events_that_are_really_recorded_have_the_described_shape(bakery: Shop) -> None:
    make.simulated(bakery.test, make.payment(bakery.test)["id"], "unconfirmed", reference="a")
    make.paid(bakery.test)
    advance_past = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 400)
    make.detail(bakery.test, advance_past["id"])
    seen = set()
    for event in Event.objects.visible_to(bakery.access()):
        Draft202012Validator(closed(envelope(event.type)["properties"]["data"])).validate(
            {"object": event.object}
        )
        seen.add(event.type)
    assert {
        "payment_intent.created",
        "payment_intent.completed",
        "payment_intent.expired",
        "transaction.confirming",
    } <= seen


def test_every_operation_says_where_it_is_who_may_call_it_and_what_it_does() -> None:
    document = json.loads(_document())
    assert [server["url"] for server in document["servers"]] == ["http://localhost:8000"]
    for part in ("paths", "webhooks"):
        for path, methods in document[part].items():
            for method, operation in methods.items():
                assert operation["summary"] and "security" in operation, f"{method} {path}"
    for path, method in (("userinfo", "get"), ("agent_credentials", "post")):
        assert document["paths"][f"/api/v2/oauth/{path}"][method]["security"] == [{"bearer": []}]
    assert document["paths"]["/api/v2/checkout/{reference}"]["get"]["security"] == []


def test_a_client_tells_a_refusal_with_a_code_from_one_without() -> None:
    """Generated clients take the first shape that fits: the one with a code comes before the bare
    sentence, which fits everything."""
    schemas = json.loads(_document())["components"]["schemas"]
    assert [schema["$ref"].rpartition("/")[2] for schema in schemas["AnyError"]["anyOf"]] == [
        "Error",
        "ErrorText",
    ]


@pytest.mark.parametrize(
    ("path", "wrapper"),
    [
        ("/payments/{id}/refunds", "refund"),
        ("/payments/{id}/simulated_payments", "simulated_payment"),
        ("/payments/{id}/test_payments", "test_payment"),
        ("/platform/accounts/{id}/verification", "verification_request"),
        ("/platform/accounts/{id}/onboarding_links", "onboarding_link"),
    ],
)
def test_a_wrapper_that_may_be_left_out_is_told_as_such(path: str, wrapper: str) -> None:
    body = json.loads(_document())["paths"]["/api/v2" + path]["post"]["requestBody"]["content"][
        "application/json"
    ]["schema"]
    fields = {name: schema for name, schema in body["properties"].items() if name != wrapper}
    assert fields and body["properties"][wrapper]["properties"] == fields and "required" not in body


def test_documents_have_names_that_a_client_can_use() -> None:
    """A generated client has a class of each name, beside all the others."""
    document = json.loads(_document())
    names = set(document["components"]["schemas"])
    assert {
        "PaymentIntent",
        "Payout",
        "PayoutPage",
        "Invoice",
        "OAuthApp",
        "WebhookEndpoint",
        "ErrorText",
    } <= names
    assert (
        not {
            "Array",
            "Created",
            "Detail",
            "Flat",
            "Either",
            "Object",
            "Document",
            "Item",
            "Line",
            "Data",
        }
        & names
    )
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status, answer in operation["responses"].items():
                for item in answer.get("content", {}).values():
                    schema = item["schema"]
                    told = schema.get("items", schema)
                    assert "$ref" in told or "anyOf" in told or told.get("format") == "binary", (
                        f"{method} {path} {status}"
                    )


def test_two_documents_of_one_name_are_an_error() -> None:
    class PayoutDocument(Document, frozen=True, kw_only=True):
        id: str

    reference(documents.PayoutDocument)
    with pytest.raises(TypeError, match="described as Payout"):
        reference(PayoutDocument)


def test_the_document_is_drawn_up_once(db: None) -> None:
    assert _document() is _document()


def test_an_answer_that_is_not_described_is_noticed(bakery: Shop) -> None:
    answer = bakery.test.get("/payment_currencies")
    described.check("GET", answer)
    told = answer.json()
    answer.content = b'[{"code": 1}]'
    with pytest.raises(described.Undescribed):
        described.check("GET", answer)
    answer.content = json.dumps([{**told[0], "color": "red"}]).encode()
    with pytest.raises(described.Undescribed, match="color"):
        described.check("GET", answer)


def test_each_example_fits_the_schema_beside_it() -> None:
    description = json.loads(_document())
    count = 0
    for methods in description["paths"].values():
        for operation in methods.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for body in bodies:
                content = body.get("content", {}).get("application/json", {})
                if "example" in content:
                    whole = {**content["schema"], "components": description["components"]}
                    Draft202012Validator(whole).validate(content["example"])
                    count += 1
    assert count > 150


def test_every_body_and_every_success_has_an_example() -> None:
    missing = []
    for path, methods in json.loads(_document())["paths"].items():
        for method, operation in methods.items():
            contents = list(operation.get("requestBody", {}).get("content", {}).values())
            for status, response in operation["responses"].items():
                if status.startswith("2"):
                    contents += response.get("content", {}).values()
            if any("example" not in content for content in contents):
                missing.append(f"{method} {path}")
    assert missing == []


def test_every_operation_has_a_title_of_its_own_and_a_group_that_is_described() -> None:
    description = json.loads(_document())
    groups = [tag["name"] for tag in description["tags"]]
    assert len(set(groups)) == len(groups) and all(
        tag["description"] for tag in description["tags"]
    )
    titles: dict[str, list[str]] = {}
    for path, methods in description["paths"].items():
        for operation in methods.values():
            assert operation["tags"][0] in groups
            if path.startswith("/api/v2/"):
                titles.setdefault(operation["summary"], []).append(path)
    assert {title: paths for title, paths in titles.items() if len(paths) > 1} == {}


def test_a_body_that_an_operation_needs_is_said_to_be_required() -> None:
    for path, methods in json.loads(_document())["paths"].items():
        for operation in methods.values():
            body = operation.get("requestBody", {})
            schemas = [content["schema"] for content in body.get("content", {}).values()]
            if schemas and not any(Draft202012Validator(schema).is_valid({}) for schema in schemas):
                assert body["required"] is True, path


def test_a_change_of_an_endpoint_without_anything_is_refused_and_not_described(
    bakery: Shop,
) -> None:
    url = "/webhook_endpoints/{id}"
    body = json.loads(_document())["paths"]["/api/v2" + url]["patch"]["requestBody"]
    check = Draft202012Validator(body["content"]["application/json"]["schema"]).is_valid
    fields = {"url": "https://1.1.1.1/hook", "subscribed_events": ["invoice.paid"]}
    endpoint = bakery.test.post("/webhook_endpoints", {WRAPPER: fields}).json()["id"]
    for change, status in (({}, 422), ({"description": "x"}, 200), ({WRAPPER: {}}, 200)):
        answer = bakery.test("PATCH", url.format(id=endpoint), change)
        assert (answer.status_code, check(change)) == (status, status == 200), answer.content
    assert body["required"] is True

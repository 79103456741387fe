"""The API description is valid, names every path, and its pages load nothing from outside."""

import re

from openapi_spec_validator import validate

from apps.api.urls import ROUTES
from tests.cast import Api


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
    assert {"201", "400", "401", "403", "413", "415", "422", "429"} == set(create["responses"])
    fields = create["requestBody"]["content"]["application/json"]["schema"]["properties"]["payment_intent"]["properties"]
    assert (fields["title"]["maxLength"], fields["expires_in"]["minimum"]) == (150, 300)


def test_the_pages_are_served_without_any_outside_host(db: None) -> None:
    page = Api().client.get("/docs", headers={"Host": "localhost"})
    assert page.status_code == 200
    assert not re.findall(r"(?:src|href)=[\"'](?:https?:)?//", page.content.decode())
    assert "unsafe" not in page.headers["Content-Security-Policy"]

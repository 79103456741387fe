"""The OpenAPI 3.1 description, made by drf-spectacular from the route table: scopes, bodies and error shapes come from each door."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from apps.api.plumbing.routes import FORM, PUBLIC, Budget
from apps.api.schemas import ALSO, ANSWERS, BLOCKS, EMPTY, FURTHER, MIXED, PDFS
from apps.api.schemas.queries import QUERIES
from apps.core.errors import Coded, Listed
from apps.core.literal import Schema, wrapper_schema
from apps.core.requests import shape_of

TEXT = {"type": "string"}
FLAT = {"type": "object", "properties": {"error": TEXT}, "required": ["error"]}
STRUCTURED = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"message": TEXT, "code": {"type": ["string", "null"]}},
            "required": ["message", "code"],
        }
    },
    "required": ["error"],
}
# What stands in the way is told beside the code.
BLOCKED = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "message": TEXT,
                "code": TEXT,
                "blockers": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"type": TEXT, "count": {"type": "integer"}},
                        "required": ["type", "count"],
                    },
                },
            },
            "required": ["message", "code", "blockers"],
        }
    },
    "required": ["error"],
}
ARRAY = {"type": "object", "properties": {"errors": {"type": "array", "items": TEXT}}, "required": ["errors"]}
OBJECT: Schema = {"type": "object", "additionalProperties": True}
# The strictest first: a generated client takes the first that fits.
EITHER: Schema = {"anyOf": [STRUCTURED, FLAT]}
ANY: Schema = {"anyOf": [STRUCTURED, ARRAY, FLAT]}
RFC6749: Schema = {"type": "object", "properties": {"error": TEXT, "error_description": TEXT}, "required": ["error"]}
OAUTH = {status: (RFC6749, words) for status, words in {401: "Who calls isn't known", 403: "Not allowed"}.items()}


def refusal_schema(door: Any) -> dict[str, Any]:
    """The shape in which this door tells that a rule was broken."""
    if isinstance(door.shape, type) and issubclass(door.shape, Coded):
        return STRUCTURED
    return ARRAY if door.shape is Listed else EITHER


def _in_query(name: str, told: dict[str, Any]) -> OpenApiParameter:
    schema = {key: value for key, value in told.items() if key != "required"}
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, required=bool(told.get("required")))


class DoorSchema(AutoSchema):
    """What drf-spectacular asks about one method of one door."""

    view: Any

    def get_operation_id(self) -> str:
        words = [part.strip("<>").partition(":")[2] or part for part in self.view.route.path.split("/")]
        return "_".join([self.method.lower(), *([] if self.path.startswith("/api/v2") else ["short"]), *words])

    def get_tags(self) -> list[str]:
        return [self.view.route.path.partition("/")[0]]

    def get_summary(self) -> str:
        return (type(self.view).__doc__ or type(self.view).__name__).strip().splitlines()[0]

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular calls it
        return " ".join([self._who_may(), *_budgets(self.view.route.budget.get(self.method, ()))])

    def _who_may(self) -> str:
        scope = self.view.route.scopes.get(self.method)
        if self.view.takes_token:
            return "For an app's access token."
        if scope == PUBLIC:
            return "Public: no credential is asked for."
        if self._is_for_people:
            return "For a person who is signed in to the dashboard; keys, tokens and agents are told to sign in."
        if self.view.for_agents:
            return f"Agent credentials with the scope `{scope}`." if scope else "Any agent credential."
        return f"Scope: `{scope}`." if scope else "Any valid credential but a publishable key."

    def get_auth(self) -> list[dict[str, list[str]]]:
        if self.view.takes_token:
            return [{"bearer": []}]
        if PUBLIC in self.view.route.scopes.values():
            return []
        if self._is_for_people:
            return [{"session": []}]
        return [{"bearer": []}] if self.view.for_agents else [{"bearer": []}, {"basic": []}]

    @property
    def _is_for_people(self) -> bool:
        return bool(getattr(self.view, "for_people", False))

    def get_override_parameters(self) -> Any:
        rule = self.view.route.keys.get(self.method)
        if self.method == "GET":
            return [_in_query(name, schema) for name, schema in {**self.view.queries, **QUERIES.get(self.view.route.path, {})}.items()]
        if rule is None:
            return []
        return [OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=rule == "required")]

    def get_request_serializer(self) -> Any:
        told = self.view.bodies.get(self.method)
        if told is None:
            return None
        schema = body_schema(told, self.view.wrapper)
        return dict.fromkeys(("application/json", FORM) if self.view.takes_forms else ("application/json",), schema)

    def get_response_serializers(self) -> Any:
        route, method = self.view.route, self.method
        return {**self._successes(), **dict(sorted(refusals(self.view, route, method).items()))}

    def _successes(self) -> dict[Any, OpenApiResponse]:
        operation = f"{self.method} {self.view.route.path}"
        done = done_status(self.view, self.method)
        if operation in PDFS:
            return {(200, "application/pdf"): OpenApiResponse(OpenApiTypes.BINARY, description="The file")}
        if done == 204 or operation in EMPTY:
            return {done: OpenApiResponse(None, description="Done")}
        schema = ANSWERS.get(operation, OBJECT)
        return {status: OpenApiResponse(schema, description="Done") for status in (done, *ALSO.get(operation, ()))}


def _budgets(lines: Iterable[Budget]) -> Iterator[str]:
    """What each bucket lets through, for whom, as the limits have it."""
    for line in lines:
        told = {mode: settings.LIMITS[line.policy][mode] for mode in ("live", "test")}
        words = [f"{mode} {rate} a minute, burst {burst}" for mode, (rate, burst) in told.items()]
        whose = " and ".join(line.by) + (f", {' and '.join(line.kinds)} keys only" if line.kinds else "")
        yield f"Budget `{line.policy}` by {whose}: {'; '.join(words)}."


def body_schema(told: Any, wrapper: str) -> Schema:
    """What a door tells of a body: its class, or a schema as it is."""
    if not isinstance(told, type):
        return dict(told)
    return wrapper_schema(wrapper, shape_of(told)) if wrapper else shape_of(told).schema()


def done_status(door: Any, method: str) -> int:
    return int(door.statuses.get(method, 204 if method == "DELETE" else 200))


def refusals(door: Any, route: Any, method: str) -> dict[Any, OpenApiResponse]:
    """Every status that isn't a success, in the shapes that this method of this door tells it in."""
    is_public, has_body = PUBLIC in route.scopes.values(), method in ("POST", "PATCH", "PUT")
    broken = ANY if f"{method} {route.path}" in MIXED else refusal_schema(door)
    told: dict[int, tuple[Schema, str]] = {
        404: (EITHER, "Unknown, or another store's or mode's"),
        409: (ANY, "It meets what is there already"),
        422: (ANY if broken is ARRAY else broken, "A rule is broken; the message names the field"),
        429: (STRUCTURED, "Too many requests; see Retry-After"),
        500: (STRUCTURED, "Ours to mend; name the X-Request-Id"),
        502: (EITHER, "An outside provider failed"),
        503: (STRUCTURED, "Try again after Retry-After"),
    }
    if not is_public:
        told[401] = STRUCTURED, "No, an unknown or a revoked credential"
        told[403] = EITHER, "The credential, or the store, may not do this"
    if has_body:
        told[400] = STRUCTURED, "The body is no JSON object"
        told[413] = STRUCTURED, "The body is larger than 1 MiB"
        told[415] = STRUCTURED, "The body is no application/json"
    if f"{method} {route.path}" in BLOCKS:
        told[409] = {"anyOf": [BLOCKED, STRUCTURED]}, "Something stands in the way"
    told |= {status: (STRUCTURED, words) for status, words in FURTHER.get(f"{method} {route.path}", {}).items()}
    if route.path.startswith("oauth/"):
        told = {status: (RFC6749, words) for status, (_, words) in {**told, 400: told.get(400, told[422]), **OAUTH}.items()}
    return {status: OpenApiResponse(schema, description=words) for status, (schema, words) in told.items()}

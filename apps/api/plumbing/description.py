"""The OpenAPI 3.1 description, made by drf-spectacular from the route table: scopes, bodies and error shapes come from each door."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from apps.api.plumbing.routes import PUBLIC
from apps.core.errors import Coded, Listed

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
ARRAY = {"type": "object", "properties": {"errors": {"type": "array", "items": TEXT}}, "required": ["errors"]}
OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}


def refusal_schema(door: Any) -> dict[str, Any]:
    """The shape in which this door tells that a rule was broken."""
    if isinstance(door.shape, type) and issubclass(door.shape, Coded):
        return STRUCTURED
    return ARRAY if door.shape is Listed else {"oneOf": [FLAT, STRUCTURED]}


class DoorSchema(AutoSchema):
    """What drf-spectacular asks about one method of one door."""

    view: Any

    def get_operation_id(self) -> str:
        words = [part.strip("<>").partition(":")[2] or part for part in self.view.route.path.split("/")]
        return "_".join([self.method.lower(), *words])

    def get_tags(self) -> list[str]:
        return [self.view.route.path.partition("/")[0]]

    def get_summary(self) -> str:
        return (type(self.view).__doc__ or type(self.view).__name__).strip().splitlines()[0]

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular calls it
        scope = self.view.route.scopes.get(self.method)
        if scope == PUBLIC:
            return "Public: no credential is asked for."
        return f"Scope: `{scope}`." if scope else "Any valid credential but a publishable key."

    def get_auth(self) -> list[dict[str, list[str]]]:
        return [] if PUBLIC in self.view.route.scopes.values() else [{"bearer": []}, {"basic": []}]

    def get_override_parameters(self) -> Any:
        rule = self.view.route.keys.get(self.method)
        if rule is None:
            return []
        return [OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=rule == "required")]

    def get_request_serializer(self) -> Any:
        schema = self.view.bodies.get(self.method)
        return {"application/json": schema} if schema is not None else None

    def get_response_serializers(self) -> Any:
        route, method = self.view.route, self.method
        done = self.view.statuses.get(method, 200)
        answers = {done: OpenApiResponse(None if done == 204 else OBJECT, description="Done")}
        if PUBLIC not in route.scopes.values():
            answers[401] = OpenApiResponse(STRUCTURED, description="No, an unknown or a revoked credential")
            answers[403] = OpenApiResponse(STRUCTURED, description="The credential may not do this")
        if "<str:" in route.path:
            answers[404] = OpenApiResponse({"oneOf": [FLAT, STRUCTURED]}, description="Unknown, or another store's or mode's")
        if method in ("POST", "PATCH", "PUT"):
            answers[400] = OpenApiResponse(STRUCTURED, description="The body is no JSON object")
            answers[413] = OpenApiResponse(STRUCTURED, description="The body is larger than 1 MiB")
            answers[415] = OpenApiResponse(STRUCTURED, description="The body is no application/json")
            answers[422] = OpenApiResponse(refusal_schema(self.view), description="A rule is broken; the message names the field")
        answers[429] = OpenApiResponse(STRUCTURED, description="Too many requests; see Retry-After")
        return dict(sorted(answers.items()))

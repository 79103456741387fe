"""The OpenAPI 3.1 description, made by drf-spectacular from the route table: scopes, bodies and
error shapes come from each view."""

import inspect
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, cast, get_args

from django.conf import settings
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from msgspec import Struct
from msgspec import inspect as types

from apps.access.documents import OAuthError
from apps.api.plumbing.components import told_by_name
from apps.api.plumbing.queries import Query
from apps.api.plumbing.refusals import AnyError, AnyErrors, ErrorDocument, ErrorTexts, Refused
from apps.api.plumbing.routes import FORM, PUBLIC, Budget
from apps.core.errors import Coded, Listed
from apps.core.messages.documents import Pdf, type_schema
from apps.core.messages.fields import Schema
from apps.core.messages.requests import Request, shape_of


def refusal_shape(view: Any) -> Any:
    """The shape in which this view tells that a rule was broken."""
    if isinstance(view.shape, type) and issubclass(view.shape, Coded):
        return ErrorDocument
    return ErrorTexts if view.shape is Listed else AnyError


def _parameters(query: type[Query]) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(
            one.encode_name, _in_query(one), OpenApiParameter.QUERY, required=one.required
        )
        for one in _fields(query)
    ]


def _form(query: type[Struct]) -> Schema:
    """The fields of a body that others read: a form, or a callback."""
    fields = _fields(query)
    properties = {one.encode_name: _in_query(one) for one in fields}
    return {
        "type": "object",
        "properties": properties,
        "required": [one.encode_name for one in fields if one.required],
    }


def _fields(query: type[Struct]) -> tuple[types.Field, ...]:
    return cast(types.StructType, types.type_info(query)).fields


def _in_query(field: types.Field) -> Schema:
    info = field.type
    if isinstance(info, types.UnionType):
        info = next(one for one in info.types if not isinstance(one, types.NoneType))
    default = {} if field.required or field.default is None else {"default": field.default}
    return {**type_schema(info, told_by_name), **default}


class ViewSchema(AutoSchema):
    """What drf-spectacular asks about one method of one view."""

    view: Any

    def get_operation_id(self) -> str:
        words = [
            part.strip("<>").partition(":")[2] or part for part in self.view.route.path.split("/")
        ]
        return "_".join(
            [self.method.lower(), *([] if self.path.startswith("/api/v2") else ["short"]), *words]
        )

    def get_tags(self) -> list[str]:
        return [self.view.route.path.partition("/")[0]]

    def get_summary(self) -> str:
        words = inspect.getdoc(type(self.view)) or type(self.view).__name__
        return " ".join(words.partition("\n\n")[0].split())

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular calls it
        return " ".join([self._who_may(), *_budgets(self.view.route.budget.get(self.method, ()))])

    def _who_may(self) -> str:
        scope = self.view.route.scopes.get(self.method)
        if self.view.takes_token:
            return "For an app's access token."
        if scope == PUBLIC:
            return "Public: no credential is asked for."
        if self._is_for_people:
            return (
                "For a person who is signed in to the dashboard; keys, tokens and agents are told"
                " to sign in."
            )
        if self.view.for_agents:
            return (
                f"Agent credentials with the scope `{scope}`." if scope else "Any agent credential."
            )
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
            return [] if self.view.query is None else _parameters(self.view.query)
        if rule is None:
            return []
        return [
            OpenApiParameter(
                "Idempotency-Key", str, OpenApiParameter.HEADER, required=rule == "required"
            )
        ]

    def get_request_serializer(self) -> Any:
        told = self.view.bodies.get(self.method)
        if told is None:
            return None
        schema = body_schema(told, self.view)
        return dict.fromkeys(
            ("application/json", FORM) if self.view.takes_forms else ("application/json",), schema
        )

    def get_response_serializers(self) -> Any:
        route = self.view.route
        method = self.method
        refused = {
            status: OpenApiResponse(told_by_name(one.shape), description=one.words)
            for status, one in refusals(self.view, route, method)
        }
        return {**self._successes(), **refused}

    def _successes(self) -> dict[Any, OpenApiResponse]:
        told = answers(self.view, self.view.route, self.method)
        if told.get(200) is Pdf:
            return {
                (200, "application/pdf"): OpenApiResponse(
                    OpenApiTypes.BINARY, description="The file"
                )
            }
        return {
            status: OpenApiResponse(_answer(one), description="Done")
            for status, one in told.items()
        }


def answers(view: Any, route: Any, method: str) -> dict[int, Any]:
    """What each status of a success is told with: a type, or None where there is nothing to
    tell."""
    usual = view.answers.get(method)
    return {
        done_status(view, method): usual,
        **{status: told or usual for status, told in view.also.get(method, {}).items()},
    }


def _answer(told: Any) -> Any:
    return told if told is None or isinstance(told, dict) else told_by_name(told)


def _budgets(lines: Iterable[Budget]) -> Iterator[str]:
    """What each bucket lets through, for whom, as the limits have it."""
    for line in lines:
        told = {mode: settings.LIMITS[line.policy][mode] for mode in ("live", "test")}
        words = [f"{mode} {rate} a minute, burst {burst}" for mode, (rate, burst) in told.items()]
        whose = " and ".join(line.by) + (
            f", {' and '.join(line.kinds)} keys only" if line.kinds else ""
        )
        yield f"Budget `{line.policy}` by {whose}: {'; '.join(words)}."


def body_schema(told: Any, view: Any) -> Schema:
    """What a view tells of a body: its class, a choice of classes, or a schema as it is."""
    if isinstance(told, UnionType):
        return {"anyOf": [body_schema(one, view) for one in get_args(told)]}
    if isinstance(told, dict):
        return told
    if not issubclass(told, Request):
        return _form(told)
    fields = shape_of(told).schema()
    if view.wrapper and view.wrapper_is_optional:
        return {"type": "object", "properties": {view.wrapper: fields, **fields["properties"]}}
    return (
        {"type": "object", "properties": {view.wrapper: fields}, "required": [view.wrapper]}
        if view.wrapper
        else fields
    )


def done_status(view: Any, method: str) -> int:
    return int(view.statuses.get(method, 204 if method == "DELETE" else 200))


def refusals(view: Any, route: Any, method: str) -> list[tuple[int, Refused]]:
    """Every status that isn't a success, in the shape that this method of this view tells it in."""
    is_public = PUBLIC in route.scopes.values()
    has_body = method in ("POST", "PATCH", "PUT")
    broken = refusal_shape(view)
    told: dict[int, Refused] = {
        404: Refused("Unknown, or another store's or mode's", AnyError),
        409: Refused("It meets what is there already", AnyErrors),
        422: Refused(
            "A rule is broken; the message names the field",
            AnyErrors if broken is ErrorTexts else broken,
        ),
        429: Refused("Too many requests; see Retry-After"),
        500: Refused("Ours to mend; name the X-Request-Id"),
        502: Refused("An outside provider failed", AnyError),
        503: Refused("Try again after Retry-After"),
    }
    if not is_public:
        told[401] = Refused("No, an unknown or a revoked credential")
        told[403] = Refused("The credential, or the store, may not do this", AnyError)
    if has_body:
        told[400] = Refused("The body is no JSON object")
        told[413] = Refused("The body is larger than 1 MiB")
        told[415] = Refused("The body is no application/json")
    told |= view.further.get(method, {})
    return sorted(_of_oauth(told).items() if view.speaks_oauth else told.items())


def _of_oauth(told: dict[int, Refused]) -> dict[int, Refused]:
    """The same in the one shape of RFC 6749."""
    who = {401: Refused("Who calls isn't known"), 403: Refused("Not allowed")}
    return {
        status: Refused(one.words, OAuthError)
        for status, one in {**told, 400: told.get(400, told[422]), **who}.items()
    }

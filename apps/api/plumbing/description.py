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
from apps.api.plumbing import unknown_fields
from apps.api.plumbing.components import schema_named
from apps.api.plumbing.queries import Query
from apps.api.plumbing.refusals import AnyError, AnyErrors, ErrorText, ErrorTexts, Refused
from apps.api.plumbing.routes import FORM, PUBLIC, Budget
from apps.core.messages.documents import Pdf, XmlFile, type_schema
from apps.core.messages.fields import Schema
from apps.core.messages.requests import Request, shape_of

KEY: Schema = {"type": "string", "pattern": "^[ -~]{1,255}$"}


def refusal_shape(view: Any) -> Any:
    """The shape in which this view tells that a rule was broken."""
    return AnyError if view.shape is ErrorText else view.shape


def _parameters(query: type[Query]) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(
            field.encode_name, _in_query(field), OpenApiParameter.QUERY, required=field.required
        )
        for field in _fields(query)
    ]


def _form(query: type[Struct]) -> Schema:
    """The fields of a body that others read: a form, or a callback."""
    fields = _fields(query)
    properties = {field.encode_name: _in_query(field) for field in fields}
    return {
        "type": "object",
        "properties": properties,
        "required": [field.encode_name for field in fields if field.required],
        "additionalProperties": {"type": "string"},
    }


def closed(schema: Any) -> Any:
    """A schema whose objects have no properties beyond those that are listed."""
    if not isinstance(schema, dict):
        return schema
    inner = {
        name: {key: closed(value) for key, value in part.items()}
        if name == "properties"
        else [closed(item) for item in part]
        if name == "anyOf"
        else closed(part)
        if name == "items"
        else part
        for name, part in schema.items()
    }
    return {**inner, "additionalProperties": False} if "properties" in schema else inner


def _fields(query: type[Struct]) -> tuple[types.Field, ...]:
    return cast(types.StructType, types.type_info(query)).fields


def _in_query(field: types.Field) -> Schema:
    info = field.type
    if isinstance(info, types.UnionType):
        info = next(member for member in info.types if not isinstance(member, types.NoneType))
    default = {} if field.required or field.default is None else {"default": field.default}
    return {**type_schema(info, schema_named), **default}


class ViewSchema(AutoSchema):
    """Schema of one method of one view, for drf-spectacular."""

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
        words = [self._who_may(), *_budgets(self.view.route.budgets(self.method))]
        if self._refuses_unknown:
            words.append("A field that isn't listed is refused, and nothing is done.")
        return " ".join(words)

    @property
    def _refuses_unknown(self) -> bool:
        return self.method in self.view.bodies and self.view.refuses_unknown

    def _who_may(self) -> str:
        scope = self.view.route.scopes.get(self.method)
        if self.view.takes_token:
            return "For an app's access token."
        if scope == PUBLIC:
            return "Public: no credential is asked for."
        if self._is_for_people:
            return (
                "For a person who is signed in to the dashboard. Keys, tokens and agents are"
                " rejected."
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
        parameters = []
        if rule is not None:
            parameters.append(
                OpenApiParameter(
                    "Idempotency-Key", KEY, OpenApiParameter.HEADER, required=rule == "required"
                )
            )
        if self._names_ignored:
            parameters.append(
                OpenApiParameter(
                    unknown_fields.HEADER,
                    str,
                    OpenApiParameter.HEADER,
                    description="Names of fields that were sent and aren't known here.",
                    response=list(map(str, self._successes())),
                )
            )
        return parameters

    @property
    def _names_ignored(self) -> bool:
        """Tells whether unknown fields are ignored and named; a body that others define, a protocol
        or a provider, has fields of theirs."""
        is_ours = self.method in self.view.bodies and not self.view.takes_forms
        return is_ours and not self.view.refuses_unknown and not self.view.body_is_of_others

    def get_request_serializer(self) -> Any:
        body = self.view.bodies.get(self.method)
        if body is None:
            return None
        schema = body_schema(body, self.view)
        if self.view.refuses_unknown:
            schema = closed(schema)
        return dict.fromkeys(
            ("application/json", FORM) if self.view.takes_forms else ("application/json",), schema
        )

    def get_response_serializers(self) -> Any:
        route = self.view.route
        method = self.method
        refused = {
            status: OpenApiResponse(schema_named(refusal.shape), description=refusal.words)
            for status, refusal in refusals(self.view, route, method)
        }
        return {**self._successes(), **refused}

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Every answer names its whole shape, lists too: the library guesses nothing, which it
        would do anew for each status."""
        return False

    def _successes(self) -> dict[Any, OpenApiResponse]:
        documents = answers(self.view, self.view.route, self.method)
        file = documents.get(200)
        if file is Pdf or file is XmlFile:
            return {
                (200, file.content_type): OpenApiResponse(
                    OpenApiTypes.BINARY, description="The file"
                )
            }
        return {
            status: OpenApiResponse(_answer(document), description="Done")
            for status, document in documents.items()
        }


def answers(view: Any, route: Any, method: str) -> dict[int, Any]:
    """Body of each status of a success: a type, or None where there is no body."""
    usual = view.answers.get(method)
    return {
        done_status(view, method): usual,
        **{status: document or usual for status, document in view.also.get(method, {}).items()},
    }


def _answer(document: Any) -> Any:
    return document if document is None or isinstance(document, dict) else schema_named(document)


def _budgets(lines: Iterable[Budget]) -> Iterator[str]:
    """Limits of each bucket in words, and for whom they are."""
    for line in lines:
        rates = {mode: settings.LIMITS[line.policy][mode] for mode in ("live", "test")}
        words = [
            f"{mode} {rate:,} a minute, burst {burst:,}" for mode, (rate, burst) in rates.items()
        ]
        counted_by = " and ".join(line.by) + (
            f", {' and '.join(line.kinds)} keys only" if line.kinds else ""
        )
        yield f"Budget `{line.policy}` by {counted_by}: {'; '.join(words)}."


def body_schema(body: Any, view: Any) -> Schema:
    """Schema of a body that a view takes: its class, a choice of classes, or a schema as it is."""
    if isinstance(body, UnionType):
        return {"anyOf": [body_schema(member, view) for member in get_args(body)]}
    if isinstance(body, dict):
        return body
    if not issubclass(body, Request):
        return _form(body)
    fields = shape_of(body).schema()
    if view.wrapper and view.wrapper_is_optional:
        return _wrapped_or_not(view.wrapper, fields)
    return (
        {"type": "object", "properties": {view.wrapper: fields}, "required": [view.wrapper]}
        if view.wrapper
        else fields
    )


def _wrapped_or_not(wrapper: str, fields: Schema) -> Schema:
    """Schema of a body that has its fields in a wrapper, and then nothing beside it, or without."""
    alone = {name: part for name, part in fields.items() if name != "required"}
    body = {
        **alone,
        "properties": {wrapper: fields, **fields["properties"]},
        "dependentSchemas": {wrapper: {"maxProperties": 1}},
    }
    if "required" not in fields:
        return body
    return {
        **body,
        "if": {"properties": {wrapper: False}},
        "then": {"required": fields["required"]},
    }


def done_status(view: Any, method: str) -> int:
    return int(view.statuses.get(method, 204 if method == "DELETE" else 200))


def refusals(view: Any, route: Any, method: str) -> list[tuple[int, Refused]]:
    """Every status that isn't a success, in the shape that this method of this view tells it in."""
    is_public = PUBLIC in route.scopes.values()
    has_body = method in ("POST", "PATCH", "PUT")
    broken = refusal_shape(view)
    by_status: dict[int, Refused] = {
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
        by_status[401] = Refused("No, an unknown or a revoked credential")
        by_status[403] = Refused("The credential, or the store, may not do this", AnyError)
    if has_body:
        by_status[400] = Refused("The body is no JSON object")
        by_status[413] = Refused("The body is larger than 1 MiB")
        by_status[415] = Refused("The body is no application/json")
    by_status |= view.further.get(method, {})
    return sorted(_of_oauth(by_status).items() if view.speaks_oauth else by_status.items())


def _of_oauth(by_status: dict[int, Refused]) -> dict[int, Refused]:
    """Refusals in the one shape of RFC 6749."""
    who = {401: Refused("Who calls isn't known"), 403: Refused("Not allowed")}
    return {
        status: Refused(refusal.words, OAuthError)
        for status, refusal in {**by_status, 400: by_status.get(400, by_status[422]), **who}.items()
    }

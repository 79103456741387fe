"""JSON in and out: a body is one object without duplicate keys, NaN or deep nesting; the answer is
JSON whatever was asked."""

import json
from typing import Any

import msgspec
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from apps.core.messages.fields import is_deeper

DEPTH_MAX = 32


class JsonRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return b"" if data is None else dumps(data)


def dumps(data: Any) -> bytes:
    """Documents, and what else JSON has; numbers of any size."""
    return msgspec.json.encode(data, enc_hook=_plain)


def _plain(value: object) -> str:
    """Text that is more than text, such as what a template may show as it is."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value)} is no JSON")


class OnlyJson(BaseContentNegotiation):
    """Answers are JSON, whatever the Accept header says."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return parsers[0] if media_type == "application/json" else None

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


class JsonObjectParser(BaseParser):
    """A JSON object without duplicate keys, NaN or nesting deeper than 32."""

    media_type = "application/json"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, object]:
        return parse_object(stream.read())


def parse_object(raw: bytes) -> dict[str, object]:
    """The object in a body; ParseError on anything else."""
    if is_deeper(raw, DEPTH_MAX):
        raise ParseError
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse_constant
        )
    except ValueError:
        raise ParseError from None
    if not isinstance(value, dict):
        raise ParseError
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)

"""Requests about endpoints, test deliveries and redeliveries: the same classes for every interface.

What only the store knows (which hosts, which events) is checked by the service, and reported
together with what couldn't be read.
"""

import json
from datetime import datetime
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from apps.core.messages.documents import FreeForm
from apps.core.messages.fields import (
    NOT_EMPTY,
    Field,
    Invalid,
    Moment,
    Schema,
    Text,
    check_free,
    split_url,
)
from apps.core.messages.requests import Changes, Request, by
from apps.webhooks.catalogue import EVENTS
from apps.webhooks.models import Endpoint

DESCRIPTION_MAX = 500
URL_MAX = 2048
METADATA_BYTES_MAX = 16 * 1024
EVENTS_MAX = 100


class HttpUrl(Field):
    """An address that can be called; empty only where it `may_be_empty`."""

    def __init__(self, *, may_be_empty: bool = False) -> None:
        super().__init__()
        self.may_be_empty = may_be_empty

    def check(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise Invalid(name, "string")
        if value == "":
            if self.may_be_empty:
                return value
            raise Invalid(name, "blank")
        if len(value) > URL_MAX:
            raise Invalid(name, "too_long", maximum=URL_MAX)
        if not value.lower().startswith(("http://", "https://")):
            raise Invalid(name, "http_url")
        if split_url(value) is None:
            raise Invalid(name, "clean_url")
        return value

    def schema(self) -> Schema:
        return {"type": "string", "format": "uri", "maxLength": URL_MAX, "pattern": "^https?://"}


class EventNames(Field):
    """Names of events, each once. Whether there are such events depends on the store."""

    def check(self, value: object, name: str) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Invalid(name, "event_names")
        if len(value) > EVENTS_MAX:
            raise Invalid(name, "list_too_long", maximum=EVENTS_MAX)
        return list(dict.fromkeys(value))

    def schema(self) -> Schema:
        items = EventName().schema()
        return {"type": "array", "minItems": 1, "maxItems": EVENTS_MAX, "items": items}


class EventName(Field):
    def check(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise Invalid(name, "event_name")
        return value

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(EVENTS)}


class FreeObject(Field):
    """An object of any form, kept as it came."""

    def check(self, value: object, name: str) -> FreeForm:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        check_free(value, name)
        if len(json.dumps(value, ensure_ascii=False).encode()) > METADATA_BYTES_MAX:
            raise Invalid(name, "too_large", maximum=METADATA_BYTES_MAX)
        return value

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": True}


class PlatformName(Field):
    """A shop system; an empty name is none."""

    def check(self, value: object, name: str) -> str:
        if not isinstance(value, str) or value not in ("", *Endpoint.Platform.values):
            raise Invalid(name, "inclusion")
        return value

    def schema(self) -> Schema:
        return {"type": "string", "enum": Endpoint.Platform.values}


class RecordId(Field):
    """ID of a record; anything but text is an id that no record has."""

    def check(self, value: object, name: str) -> str:
        return str(value)

    def schema(self) -> Schema:
        return {"type": "string", **NOT_EMPTY}


Url = Annotated[str, by(HttpUrl())]
Events = Annotated[list[str], by(EventNames())]
Description = Annotated[str, by(Text(DESCRIPTION_MAX))]
Metadata = Annotated[FreeForm, by(FreeObject())]


class EndpointRequest(Changes, frozen=True, kw_only=True):
    """A new endpoint, or what a platform integration is registered with again."""

    platform: Annotated[str, by(PlatformName())] | UnsetType = UNSET
    url: Url | UnsetType = UNSET
    subscribed_events: Events | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    platform_store_url: Annotated[str, by(HttpUrl(may_be_empty=True))] | UnsetType = UNSET
    metadata: Metadata | UnsetType = UNSET


class EndpointChanges(Changes, frozen=True, kw_only=True):
    """Fields of an endpoint that may change later."""

    url: Url | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    subscribed_events: Events | UnsetType = UNSET
    metadata: Metadata | UnsetType = UNSET


class SendTestBody(Request, frozen=True, kw_only=True):
    """POST send_test. Without a name it is the first event that the endpoint asked for."""

    event_type: Annotated[str, by(EventName())] | None = None


class ResendRequest(Struct, frozen=True):
    """Everything that happened between two moments, both included."""

    first: datetime
    last: datetime


class ResendMissedBody(Request, frozen=True, kw_only=True):
    """POST resend_missed. Without a moment it is all of the last 30 days."""

    since: Annotated[datetime, by(Moment())] | None = None


class RedeliverBody(Request, frozen=True, kw_only=True):
    """POST redeliver. The id may also be in the address."""

    described: ClassVar[Schema] = {"required": ["delivery_id"]}

    delivery_id: Annotated[Any, by(RecordId())] = None  # read as text by its rule

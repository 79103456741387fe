"""What is asked for with a product, a price and a customer: the same classes for every door.

A PATCH is a class of edits: what wasn't sent stays, a null clears a field that may be empty.
"""

from typing import Annotated, Any

import orjson
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from msgspec import UNSET, UnsetType

from apps.billing.models import Interval
from apps.core.literal import Field, Integer, Invalid, Schema, Text, check_free
from apps.core.money import CENTS
from apps.core.requests import Edits, Request, by
from apps.stores.models import Currency

AMOUNT_CENTS_MAX = 100_000_000 * CENTS
METADATA_BYTES_MAX, ADDRESS_BYTES_MAX = 16 * 1024, 4 * 1024
TEXT_MAX = 5000


class Free(Field):
    """An object of any form, at most so many bytes of JSON."""

    def __init__(self, bytes_max: int, **options: Any) -> None:
        super().__init__(**options)
        self.bytes_max = bytes_max

    def check(self, value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        check_free(value, name)
        if len(orjson.dumps(value)) > self.bytes_max:
            raise Invalid(name, "too_large", maximum=self.bytes_max)
        return value

    def schema(self) -> Schema:
        return {"type": "object"}


class Email(Text):
    """An address that mail can be sent to."""

    _valid = EmailValidator()

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        try:
            self._valid(text)
        except ValidationError:
            raise Invalid(name, "postal_email" if text else "blank") from None
        return text

    def schema(self) -> Schema:
        return {"type": "string", "format": "email", "maxLength": self.longest}


Name = Annotated[str, by(Text(255, shortest=1, trim=True))]
LongText = Annotated[str, by(Text(TEXT_MAX))]
Cents = Annotated[int, by(Integer(0, AMOUNT_CENTS_MAX))]
CurrencyCode = Annotated[str, by(Text(3, choices=Currency.values))]
Metadata = Annotated[dict[str, Any], by(Free(METADATA_BYTES_MAX, default=dict))]


# --- products and prices --------------------------------------------------------------------------


class ProductRequest(Request, frozen=True, kw_only=True):
    name: Name
    description: LongText | None = None
    metadata: Metadata = {}


class ProductChanges(Edits, frozen=True, kw_only=True):
    name: Name | UnsetType = UNSET
    description: LongText | UnsetType | None = UNSET
    metadata: Metadata | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class PriceRequest(Request, frozen=True, kw_only=True):
    unit_amount_cents: Cents
    currency: CurrencyCode
    interval: Annotated[str, by(Text(10, choices=Interval.values))]
    interval_count: Annotated[int, by(Integer(1, 365))] = 1
    metadata: Metadata = {}


# --- customers ------------------------------------------------------------------------------------

PostalEmail = Annotated[str, by(Email(254))]
PersonName = Annotated[str, by(Text(255, trim=True))]
Phone = Annotated[str, by(Text(50))]
Address = Annotated[dict[str, Any], by(Free(ADDRESS_BYTES_MAX))]


class CustomerRequest(Request, frozen=True, kw_only=True):
    email: PostalEmail
    name: PersonName | None = None
    phone: Phone | None = None
    address: Address | None = None
    metadata: Metadata = {}


class CustomerChanges(Edits, frozen=True, kw_only=True):
    email: PostalEmail | UnsetType = UNSET
    name: PersonName | UnsetType | None = UNSET
    phone: Phone | UnsetType | None = UNSET
    address: Address | UnsetType | None = UNSET
    metadata: Metadata | UnsetType = UNSET

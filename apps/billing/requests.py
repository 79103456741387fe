"""Requests about the records of billing: the same classes for every interface.

A PATCH is a class of edits: what wasn't sent stays, a null clears a field that may be empty.
"""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar

import orjson
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from msgspec import UNSET, UnsetType

from apps.billing.e_invoices.formats import COMMON_FORMATS
from apps.billing.models import (
    CreditNote,
    EInvoiceDelivery,
    Interval,
    Invoice,
    SupplyType,
    TaxCategory,
)
from apps.billing.models.tax import UNTAXED, WITH_REASON
from apps.core.messages.documents import FreeForm
from apps.core.messages.fields import (
    Field,
    Integer,
    Invalid,
    List,
    Pattern,
    Schema,
    Text,
    check_free,
    parse_date,
    parse_moment,
    trimmed_pattern,
)
from apps.core.messages.requests import Edits, Request, by
from apps.core.money import BASIS_POINTS, CENTS
from apps.stores.models import Currency

AMOUNT_CENTS_MAX = 100_000_000 * CENTS
METADATA_BYTES_MAX = 16 * 1024
ADDRESS_BYTES_MAX = 4 * 1024
TEXT_MAX = 5000
QUANTITY_MAX = 1_000_000_000
LINES_MAX = 200
ITEMS_MAX = 20
TRIAL_DAYS_MAX = 3650
GRACE_CYCLES_MAX = 1000


class FreeObjectField(Field):
    """An object of any form, at most so many bytes of JSON."""

    def __init__(self, bytes_max: int, **options: Any) -> None:
        super().__init__(**options)
        self.bytes_max = bytes_max

    def check(self, value: Any, name: str) -> FreeForm:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        check_free(value, name)
        if len(orjson.dumps(value)) > self.bytes_max:
            raise Invalid(name, "too_large", maximum=self.bytes_max)
        return value

    def schema(self) -> Schema:
        return {"type": "object"}


class CustomerEmail(Text):
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


class InvoiceTime(Field):
    """An ISO 8601 time; one without an offset is UTC."""

    def check(self, value: Any, name: str) -> datetime:
        moment = parse_moment(value) or parse_moment(
            f"{value}Z" if isinstance(value, str) else None
        )
        try:
            result = moment.astimezone(UTC) if moment is not None else None
        except OverflowError:
            result = None
        if result is None:
            raise Invalid(name, "time")
        return result

    def schema(self) -> Schema:
        return {"type": "string", "format": "date-time"}


class DayField(Field):
    """A day of the store's time zone."""

    def check(self, value: Any, name: str) -> date:
        day = parse_date(value) if isinstance(value, str) else None
        if day is None:
            raise Invalid(name, "date")
        return day

    def schema(self) -> Schema:
        return {"type": "string", "format": "date"}


Name = Annotated[str, by(Text(255, shortest=1, trim=True))]
LongText = Annotated[str, by(Text(TEXT_MAX))]
Cents = Annotated[int, by(Integer(0, AMOUNT_CENTS_MAX))]
CurrencyCode = Annotated[str, by(Text(3, choices=Currency.values))]
Quantity = Annotated[int, by(Integer(1, QUANTITY_MAX))]
RecordId = Annotated[str, by(Text(100))]
Metadata = Annotated[FreeForm, by(FreeObjectField(METADATA_BYTES_MAX, default=dict))]


SupplyTypeName = Annotated[str, by(Text(10, choices=SupplyType.values))]
DiscountTypeName = Annotated[str, by(Text(10, choices=Invoice.DiscountType.values))]
CountryCode = Annotated[str, by(Pattern(r"[A-Z]{2}", "country"))]
VatNumber = Annotated[str, by(Text(30, trim=True))]


# --- taxes ----------------------------------------------------------------------------------------

RateName = Annotated[str, by(Text(100, shortest=1, trim=True))]


def _says_why(name: str) -> Schema:
    return {
        "required": [name],
        "properties": {name: {"type": "string", "pattern": trimmed_pattern(1)}},
    }


def _where(name: str, **rule: object) -> Schema:
    return {"required": [name], "properties": {name: rule}}


_NO_REASON: Schema = {"reason": {"maxLength": 0}, "reason_code": {"maxLength": 0}}
_NOT_INCLUSIVE: Schema = {"inclusive": {"const": False}}


class TaxRateRequest(Request, frozen=True, kw_only=True):
    """A rate above zero for what is taxed; what isn't says why, unless it is zero-rated."""

    described: ClassVar[Schema] = {
        "if": _where("category", enum=list(UNTAXED)),
        "then": {
            "properties": {"rate_bps": {"maximum": 0}, **_NOT_INCLUSIVE},
            "if": _where("category", enum=list(WITH_REASON)),
            "then": {"anyOf": [_says_why("reason"), _says_why("reason_code")]},
            "else": {"properties": _NO_REASON},
        },
        "else": {
            "properties": _NO_REASON,
            "if": _where("category", const=TaxCategory.STANDARD.value),
            "then": {"properties": {"rate_bps": {"minimum": 1}}},
            "else": {
                "if": _where("rate_bps", maximum=0),
                "then": {"properties": _NOT_INCLUSIVE},
            },
        },
    }

    name: RateName
    category: Annotated[str, by(Text(2, choices=TaxCategory.values))]
    rate_bps: Annotated[int, by(Integer(0, BASIS_POINTS))]
    inclusive: bool = False
    reason: Annotated[str, by(Text(300, trim=True))] | None = None
    reason_code: Annotated[str, by(Text(30, trim=True))] | None = None


class TaxRateChanges(Edits, frozen=True, kw_only=True):
    name: RateName | UnsetType = UNSET
    active: bool | UnsetType = UNSET


KsefToken = Annotated[str, by(Text(200, trim=True, shortest=20))]


class TaxSettingsChanges(Edits, frozen=True, kw_only=True):
    tax_rate_id: RecordId | UnsetType | None = UNSET
    is_automatic: bool | UnsetType = UNSET
    is_small_business: bool | UnsetType = UNSET
    charges_abroad: bool | UnsetType = UNSET
    supply_type: SupplyTypeName | UnsetType = UNSET
    ksef_token: KsefToken | UnsetType | None = UNSET


class Prefix(Text):
    """Beginning of numbers: letters, digits and marks, and no digit at the end, so that the number
    behind it can be recognized."""

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        if not _PREFIX.fullmatch(text):
            raise Invalid(name, "number_prefix")
        return text

    def schema(self) -> Schema:
        # As _PREFIX, without the look behind that not every program's regular expressions have.
        several = "[A-Za-z0-9][A-Za-z0-9./_-]*[A-Za-z./_-]"
        return {**super().schema(), "pattern": f"^([A-Za-z]|{several})$"}


_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_-]*(?<![0-9])", re.ASCII)
NumberPrefix = Annotated[str, by(Prefix(20, shortest=1))]


class DocumentSettingsChanges(Edits, frozen=True, kw_only=True):
    invoice_prefix: NumberPrefix | UnsetType = UNSET
    credit_note_prefix: NumberPrefix | UnsetType = UNSET
    restarts_yearly: bool | UnsetType = UNSET
    credits_automatically: bool | UnsetType | None = UNSET


# --- products and prices --------------------------------------------------------------------------


class ProductRequest(Request, frozen=True, kw_only=True):
    name: Name
    description: LongText | None = None
    tax_rate_id: RecordId | None = None
    supply_type: SupplyTypeName | None = None
    metadata: Metadata = {}


class ProductChanges(Edits, frozen=True, kw_only=True):
    name: Name | UnsetType = UNSET
    description: LongText | UnsetType | None = UNSET
    metadata: Metadata | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    tax_rate_id: RecordId | UnsetType | None = UNSET
    supply_type: SupplyTypeName | UnsetType | None = UNSET


class PriceRequest(Request, frozen=True, kw_only=True):
    unit_amount_cents: Cents
    currency: CurrencyCode
    interval: Annotated[str, by(Text(10, choices=Interval.values))]
    interval_count: Annotated[int, by(Integer(1, 365))] = 1
    tax_rate_id: RecordId | None = None
    metadata: Metadata = {}


# --- customers ------------------------------------------------------------------------------------

PostalEmail = Annotated[str, by(CustomerEmail(254))]
PersonName = Annotated[str, by(Text(255, trim=True))]
Phone = Annotated[str, by(Text(50))]
Address = Annotated[FreeForm, by(FreeObjectField(ADDRESS_BYTES_MAX))]
Reference = Annotated[str, by(Text(100, trim=True))]
ElectronicAddress = Annotated[str, by(Pattern(r"([0-9]{4}|EM):[!-~]{1,90}", "electronic_address"))]

EInvoiceFormatName = Annotated[str, by(Text(20, choices=list(COMMON_FORMATS)))]


class CustomerRequest(Request, frozen=True, kw_only=True):
    email: PostalEmail
    name: PersonName | None = None
    phone: Phone | None = None
    address: Address | None = None
    country: CountryCode | None = None
    vat_number: VatNumber | None = None
    tax_rate_id: RecordId | None = None
    buyer_reference: Reference | None = None
    electronic_address: ElectronicAddress | None = None
    e_invoice_format: EInvoiceFormatName | None = None
    metadata: Metadata = {}


class CustomerChanges(Edits, frozen=True, kw_only=True):
    email: PostalEmail | UnsetType = UNSET
    name: PersonName | UnsetType | None = UNSET
    phone: Phone | UnsetType | None = UNSET
    address: Address | UnsetType | None = UNSET
    country: CountryCode | UnsetType | None = UNSET
    vat_number: VatNumber | UnsetType | None = UNSET
    tax_rate_id: RecordId | UnsetType | None = UNSET
    buyer_reference: Reference | UnsetType | None = UNSET
    electronic_address: ElectronicAddress | UnsetType | None = UNSET
    e_invoice_format: EInvoiceFormatName | UnsetType | None = UNSET
    metadata: Metadata | UnsetType = UNSET


# --- subscriptions --------------------------------------------------------------------------------

GraceCycles = Annotated[int, by(Integer(0, GRACE_CYCLES_MAX, default=1))]


class ItemPrice(Request, frozen=True, kw_only=True):
    id: RecordId | None = None


class ItemRequest(Request, frozen=True, kw_only=True):
    """It may be sent as it is read: with the price as an object, and the id of an add-on."""

    id: RecordId | None = None
    price_id: RecordId | None = None
    price: ItemPrice | None = None
    quantity: Quantity | None = None


Items = Annotated[list[ItemRequest], by(List(Field(), ITEMS_MAX))]


class SubscriptionRequest(Request, frozen=True, kw_only=True):
    """`items`, or else `price_id` with `quantity`."""

    customer_id: RecordId
    price_id: RecordId | None = None
    items: Items | None = None
    quantity: Quantity | None = None
    grace_cycles: GraceCycles = 1
    tax_rate_id: RecordId | None = None
    discount_type: DiscountTypeName | None = None
    discount_value: Cents | None = None
    metadata: Metadata = {}
    trial_period_days: Annotated[int, by(Integer(0, TRIAL_DAYS_MAX))] = 0


class SubscriptionChanges(Edits, frozen=True, kw_only=True):
    """A null of the first three is as if it hadn't been sent."""

    price_id: RecordId | UnsetType | None = UNSET
    items: Items | UnsetType | None = UNSET
    quantity: Quantity | UnsetType | None = UNSET
    grace_cycles: GraceCycles | UnsetType = UNSET
    tax_rate_id: RecordId | UnsetType | None = UNSET
    discount_type: DiscountTypeName | UnsetType | None = UNSET
    discount_value: Cents | UnsetType | None = UNSET
    metadata: Metadata | UnsetType = UNSET


class CancelRequest(Request, frozen=True, kw_only=True):
    at_period_end: bool = False


# --- invoices -------------------------------------------------------------------------------------

Number = Annotated[str, by(Text(100, shortest=1))]
OrderNumber = Annotated[str, by(Text(100))]
DueAt = Annotated[datetime, by(InvoiceTime())]
SupplyDay = Annotated[date, by(DayField())]
TaxRate = Annotated[int, by(Integer(0, BASIS_POINTS))]


class LineRequest(Request, frozen=True, kw_only=True):
    description: Annotated[str, by(Text(500, shortest=1))]
    quantity: Quantity = 1
    unit_amount_cents: Cents
    tax_rate_id: RecordId | None = None


Lines = Annotated[list[LineRequest], by(List(Field(), LINES_MAX))]


class InvoiceRequest(Request, frozen=True, kw_only=True):
    customer_id: RecordId
    currency: CurrencyCode
    line_items: Lines = []
    due_at: DueAt | None = None
    description: LongText | None = None
    metadata: Metadata = {}
    custom_number: Number | None = None
    po_number: OrderNumber | None = None
    buyer_reference: Reference | None = None
    discount_type: DiscountTypeName | None = None
    discount_value: Cents | None = None
    tax_rate_bps: TaxRate | None = None
    tax_rate_id: RecordId | None = None
    supplied_from: SupplyDay | None = None
    supplied_until: SupplyDay | None = None
    notes: LongText | None = None
    footer: LongText | None = None


class CreditNoteRequest(Request, frozen=True, kw_only=True):
    """Without an amount it takes back all that is left."""

    amount_cents: Annotated[int, by(Integer(1, AMOUNT_CENTS_MAX))] | None = None
    reason: Annotated[str, by(Text(10, choices=CreditNote.Reason.values))] = "other"
    memo: LongText | None = None


class InvoiceChanges(Edits, frozen=True, kw_only=True):
    currency: CurrencyCode | UnsetType = UNSET
    line_items: Lines | UnsetType = UNSET
    due_at: DueAt | UnsetType | None = UNSET
    description: LongText | UnsetType | None = UNSET
    metadata: Metadata | UnsetType = UNSET
    custom_number: Number | UnsetType | None = UNSET
    po_number: OrderNumber | UnsetType | None = UNSET
    buyer_reference: Reference | UnsetType | None = UNSET
    discount_type: DiscountTypeName | UnsetType | None = UNSET
    discount_value: Cents | UnsetType | None = UNSET
    tax_rate_bps: TaxRate | UnsetType | None = UNSET
    tax_rate_id: RecordId | UnsetType | None = UNSET
    supplied_from: SupplyDay | UnsetType | None = UNSET
    supplied_until: SupplyDay | UnsetType | None = UNSET
    notes: LongText | UnsetType | None = UNSET
    footer: LongText | UnsetType | None = UNSET


class DeliveryRequest(Request, frozen=True, kw_only=True):
    """The network that a document goes through to its buyer."""

    network: Annotated[str, by(Text(10, choices=EInvoiceDelivery.Network.values))] = (
        EInvoiceDelivery.Network.PEPPOL.value
    )

"""Interfaces of a registry of VAT numbers, of a network that carries e-invoices, and of the rates
that Polish VAT in other currencies is stated in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True)
class RegistryAnswer:
    """`answer` in the registry's own words; a `consultation_number` only for who asked as
    somebody."""

    is_valid: bool
    name: str = ""
    address: str = ""
    consultation_number: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)


class VatRegistry(Protocol):
    def check(self, number: str, requester_number: str) -> RegistryAnswer:
        """Ask about a number with its prefix; `requester_number` may be empty. Raises ProviderError
        when the registry doesn't answer, or not for this country."""
        ...


@dataclass(frozen=True)
class Parcel:
    """An e-invoice on its way: the same `id` and `content` in every attempt. Electronic addresses
    have the code of their list in front, "9930:DE123456789"; in KSeF they are tax numbers. `trace`
    is what the network answered to the last attempt, empty before the first; `token` is the
    seller's own for a network where each seller has one."""

    id: str
    is_credit_note: bool
    sender: str
    receiver: str
    country: str
    content: bytes
    trace: str = ""
    token: str = field(default="", repr=False)


class ParcelState(StrEnum):
    UNKNOWN = "unknown"  # the network has nothing under this ID
    ON_ITS_WAY = "on_its_way"
    DELIVERED = "delivered"
    REFUSED = "refused"


@dataclass(frozen=True)
class ParcelAnswer:
    """`message` says why it was refused, or what holds it up, in the network's words. `trace` finds
    the document there again; `number` is the one that the network gave it, and `receipt` what
    proves that, both empty where it gives none."""

    state: ParcelState
    message: str = ""
    trace: str = ""
    number: str = ""
    receipt: str = ""


class EInvoiceNetwork(Protocol):
    """Sending the same parcel twice is one parcel there."""

    def send(self, parcel: Parcel) -> ParcelAnswer:
        """Hand it over. Raises ProviderError when nobody knows what became of it."""
        ...

    def look(self, parcel: Parcel) -> ParcelAnswer:
        """Ask what became of it. Raises ProviderError."""
        ...


class ZlotyRates(Protocol):
    def before(self, currency: str, day: date) -> Decimal:
        """The rate of a currency in złoty on the last working day before a day. Raises
        ProviderError."""
        ...

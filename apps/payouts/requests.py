"""Requests about payouts, quotes and schedules: the same classes for every interface.

`PayoutBody` is a payout as the API's callers write it; everybody else makes a `PayoutRequest`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from apps.core.messages.fields import (
    NOT_EMPTY,
    POSITIVE_DIGITS,
    AtomicAmount,
    Field,
    Integer,
    Moment,
    Schema,
    Text,
    any_of,
)
from apps.core.messages.invalid import Invalid
from apps.core.messages.requests import Changes, Request, by
from apps.payouts.models import Schedule

MINIMUM_CURRENCIES = ("USD", "EUR", "GBP", "HKD", "SGD", "JPY")


class WalletTarget(Struct, frozen=True):
    """A saved wallet, by the id of its record."""

    detail_id: str


class Bank(Struct, frozen=True):
    """A saved bank account, by the id of its record."""

    detail_id: str


class RawAddress(Struct, frozen=True):
    """An address that is named in full."""

    address: str


class PayoutRequest(Struct, frozen=True):
    """A part of the balance, and where to."""

    asset_id: str
    amount_atomic: int
    target: WalletTarget | Bank | RawAddress


def target_of(
    bank_id: str | None, wallet_id: str | None, address: str | None
) -> WalletTarget | Bank | RawAddress:
    """The one destination that was named; a saved wallet beside an address wins. Raises Invalid."""
    if bank_id is not None and wallet_id is None and address is None:
        return Bank(bank_id)
    if bank_id is None and wallet_id is not None:
        return WalletTarget(wallet_id)
    if bank_id is None and address is not None:
        return RawAddress(address)
    raise Invalid("destination_address", "one_destination")


# --- as the API takes them ------------------------------------------------------------------------


class PositiveDigits(AtomicAmount):
    """A positive whole number as digits; every error about it is one sentence."""

    described = POSITIVE_DIGITS

    def read(self, source: Mapping[str, Any], name: str) -> str:
        return self.check(source.get(name), name)

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not self.pattern.fullmatch(value) or not value.strip("0"):
            raise Invalid(name, "positive_digits")
        return value


class OneDestination(Text):
    """The only destination that there can be."""

    def read(self, source: Mapping[str, Any], name: str) -> Any:
        if source.get(name) is None:
            raise Invalid(name, "one_destination")
        return super().read(source, name)


_DESTINATIONS = ("fiat_payout_detail_id", "crypto_payout_detail_id", "destination_address")
Name = Annotated[str, by(Text(255, described=NOT_EMPTY))]
Amount = Annotated[str, by(PositiveDigits())]


class PayoutBody(Request, frozen=True, kw_only=True):
    """POST /payouts."""

    described: ClassVar[Schema] = any_of(*_DESTINATIONS)

    asset_id: Name
    amount_atomic: Amount
    fiat_payout_detail_id: Name | None = None
    crypto_payout_detail_id: Name | None = None
    destination_address: Name | None = None

    def request(self) -> PayoutRequest:
        """Raises Invalid when it names no destination, or two."""
        target = target_of(
            self.fiat_payout_detail_id, self.crypto_payout_detail_id, self.destination_address
        )
        return PayoutRequest(self.asset_id, int(self.amount_atomic), target)


class QuoteBody(Request, frozen=True, kw_only=True):
    """POST /payouts/quote."""

    asset_id: Name
    amount_atomic: Amount
    fiat_payout_detail_id: Annotated[str, by(OneDestination(255, described=NOT_EMPTY))]

    def request(self) -> PayoutRequest:
        return PayoutRequest(
            self.asset_id, int(self.amount_atomic), Bank(self.fiat_payout_detail_id)
        )


# --- schedules ------------------------------------------------------------------------------------


class ScheduleName(Field):
    """One of a few names. What else is sent is refused by the sentence of a schedule, not of a
    field."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.names)}


class ScheduleRequest(Changes, frozen=True, kw_only=True):
    """Values of a new schedule, or changes of one."""

    asset_id: Name | UnsetType = UNSET
    frequency: Annotated[Any, by(ScheduleName(Schedule.Frequency.values))] = UNSET
    fiat_payout_detail_id: Name | UnsetType = UNSET
    crypto_payout_detail_id: Name | UnsetType = UNSET
    destination_address: Name | UnsetType = UNSET
    minimum_fiat_cents: Annotated[int, by(Integer())] | UnsetType = UNSET
    minimum_fiat_currency: Annotated[Any, by(ScheduleName(MINIMUM_CURRENCIES))] = UNSET
    next_payout_at: Annotated[datetime, by(Moment())] | UnsetType = UNSET
    swap_target_asset_id: Name | UnsetType = UNSET
    active: bool | UnsetType = UNSET

    @property
    def names_destination(self) -> bool:
        return not self.sent().keys().isdisjoint(_DESTINATIONS)

    @property
    def target(self) -> WalletTarget | Bank | RawAddress:
        """Raises Invalid when it names no destination, or two."""
        fields = self.sent()
        return target_of(
            fields.get("fiat_payout_detail_id"),
            fields.get("crypto_payout_detail_id"),
            fields.get("destination_address"),
        )


class NewSchedule(ScheduleRequest, frozen=True, kw_only=True):
    """A schedule that begins; its service says what is missing."""

    described: ClassVar[Schema] = {
        "required": ["asset_id", "frequency"],
        **any_of(*_DESTINATIONS),
    }

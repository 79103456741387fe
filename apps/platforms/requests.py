"""Requests of platforms and their sub-merchants: the same classes for every interface."""

from typing import Annotated, Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from apps.core.messages.fields import Integer, Invalid, Pattern, Schema, Text, Url
from apps.core.messages.requests import Changes, Request, by
from apps.core.models import Mode
from apps.platforms.models import OnboardingLink


class AccountEmail(Text):
    """An email address."""

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        try:
            validate_email(text)
        except ValidationError:
            raise Invalid(name, "email") from None
        return text

    def schema(self) -> Schema:
        return {**super().schema(), "format": "email"}


Country = Annotated[str, by(Pattern(r"[A-Z]{2}", "country"))]
AccountName = Annotated[str, by(Text(100, shortest=1, trim=True))]
ExternalId = Annotated[str, by(Text(255, shortest=1))]
Fee = Annotated[str, by(Pattern(r"0(\.[0-9]{1,8})?", "fraction"))]
Number = Annotated[str, by(Text(100))]


class PlatformAccess(Request, frozen=True, kw_only=True):
    """To be a platform."""

    reason: Annotated[str, by(Text(2000))] | None = None


class AccountRequest(Request, frozen=True, kw_only=True):
    """A sub-merchant. Without a fee of its own it has the platform's."""

    name: AccountName
    external_id: ExternalId | None = None
    platform_fee_percentage: Fee | None = None
    country: Country | None = None


class AccountChanges(Changes, frozen=True, kw_only=True):
    """Of a sub-merchant. None takes the external id away and brings the platform's fee back."""

    name: AccountName | UnsetType = UNSET
    external_id: ExternalId | UnsetType | None = UNSET
    platform_fee_percentage: Fee | UnsetType | None = UNSET

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        changes = super().read(value, name)
        fields = value if isinstance(value, dict) else {}
        removals = {name: None for name in _REMOVABLE if name in fields and fields[name] is None}
        return replace(changes, **removals)


_REMOVABLE = ("external_id", "platform_fee_percentage")


class SellerChanges(Changes, frozen=True, kw_only=True):
    """The seller that a sub-merchant's invoices name. An empty text takes a value away."""

    legal_name: Annotated[str, by(Text(200, trim=True))] | UnsetType = UNSET
    street: Annotated[str, by(Text(200, trim=True))] | UnsetType = UNSET
    postal_code: Annotated[str, by(Text(20, trim=True))] | UnsetType = UNSET
    city: Annotated[str, by(Text(100, trim=True))] | UnsetType = UNSET
    country: Country | UnsetType = UNSET
    vat_number: Annotated[str, by(Text(30, trim=True))] | UnsetType = UNSET
    register_number: Annotated[str, by(Text(100, trim=True))] | UnsetType = UNSET
    time_zone: Annotated[str, by(Text(64))] | UnsetType = UNSET


class VerificationRequest(Request, frozen=True, kw_only=True):
    """A business as it describes itself, or its platform does."""

    business_legal_name: Annotated[str, by(Text(200, shortest=1, trim=True))]
    business_country: Country
    registration_number: Number | None = None
    tax_id: Number | None = None
    business_website: Annotated[str, by(Url(plain_http="any"))] | None = None
    contact_email: Annotated[str, by(AccountEmail(254))] | None = None
    contact_phone: Annotated[str, by(Text(50))] | None = None
    business_description: Annotated[str, by(Text(5000))] | None = None


class OwnVerificationRequest(VerificationRequest, frozen=True, kw_only=True):
    """A business as it describes itself in the dashboard: a person decides by it, so more of it is
    asked for."""

    legal_form: Annotated[str, by(Text(100, shortest=1, trim=True))]
    representative: Annotated[str, by(Text(200, shortest=1, trim=True))]
    street: Annotated[str, by(Text(200, shortest=1, trim=True))]
    postal_code: Annotated[str, by(Text(20, trim=True))] | None = None
    city: Annotated[str, by(Text(100, shortest=1, trim=True))]
    business_description: Annotated[str, by(Text(5000, shortest=1, trim=True))]


Purpose = Annotated[str, by(Text(18, choices=OnboardingLink.Purpose.values))]
Seconds = Annotated[int, by(Integer(1))]


class OnboardingLinkRequest(Request, frozen=True, kw_only=True):
    """An onboarding link; it leads back over plain http to this machine alone."""

    purpose: Purpose = OnboardingLink.Purpose.ONBOARDING.value
    return_url: Annotated[str, by(Url(plain_http="localhost"))] | None = None
    expires_in: Seconds | None = None


class TestLinkRequest(OnboardingLinkRequest, frozen=True, kw_only=True):
    """One for tests, which leads back over plain http to anywhere."""

    purpose: Purpose = OnboardingLink.Purpose.ONBOARDING.value
    return_url: Annotated[str, by(Url(plain_http="any"))] | None = None
    expires_in: Seconds | None = None


LINK_REQUESTS: dict[str, type[OnboardingLinkRequest]] = {
    Mode.LIVE: OnboardingLinkRequest,
    Mode.TEST: TestLinkRequest,
}

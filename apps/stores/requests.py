"""Requests of people who open a store."""

from typing import Annotated

from django.conf import settings

from apps.core.messages.fields import Pattern, Text, Url
from apps.core.messages.requests import Request, by
from apps.stores.models import Currency

Name = Annotated[str, by(Text(100, shortest=1, trim=True))]


class StoreRequest(Request, frozen=True, kw_only=True):
    """A store of one's own; a zone that isn't in the list counts as none."""

    name: Name
    country: Annotated[str, by(Pattern(r"[A-Z]{2}", "country"))] | None = None
    settlement_currency: Annotated[str, by(Text(3, choices=Currency.values))]
    time_zone: Annotated[str, by(Text(64))] | None = None


class StoreDetails(Request, frozen=True, kw_only=True):
    """The seller, as customers, invoices and tax offices know it. Missing is empty."""

    name: Name
    street: Annotated[str, by(Text(200, trim=True))] | None = None
    postal_code: Annotated[str, by(Text(20, trim=True))] | None = None
    city: Annotated[str, by(Text(100, trim=True))] | None = None
    country: Annotated[str, by(Pattern(r"[A-Z]{2}", "country"))] | None = None
    legal_name: Annotated[str, by(Text(200, trim=True))] | None = None
    vat_number: Annotated[str, by(Text(30, trim=True))] | None = None
    register_number: Annotated[str, by(Text(100, trim=True))] | None = None
    website: Annotated[str, by(Url(plain_http="any"))] | None = None
    time_zone: Annotated[str, by(Text(64))] | None = None
    customer_language: (
        Annotated[str, by(Text(10, choices=[code for code, _ in settings.LANGUAGES]))] | None
    ) = None


class PersonRequest(Request, frozen=True, kw_only=True):
    """Details of a person who signs up. The password is judged with the person whose it is to
    be."""

    person_name: Name
    password: Annotated[str, by(Text(1024, shortest=1))]

"""Requests of a customer who pays by card: the same class for every interface."""

from typing import Annotated

from apps.core.messages.fields import Pattern, Text
from apps.core.messages.requests import Request, by

_EMAIL = Pattern(
    r"[A-Za-z0-9.!#$%&*+/=?^_{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}",
    "payer_email",
)
Choice = Annotated[str, by(Text(200))]


class CardRequest(Request, frozen=True, kw_only=True):
    """A method of paying, at a place. Without a service of it the best one is taken, also when the
    one chosen is gone."""

    payment_method_id: Choice | None = None
    provider_service_id: Choice | None = None
    customer_email: Annotated[str, by(_EMAIL)] | None = None
    provider: Annotated[str, by(Text(50))] | None = None
    country: Annotated[str, by(Text(10))] | None = None
    region: Annotated[str, by(Text(50))] | None = None

"""The customer portal's links: signed, for thirty days, and for the address they were sent to.
Anyone who holds one is the customer.

Nothing is stored. A link stops when it is too old, when the customer's email address changes, and
when the customer is deleted.
"""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner

from apps.billing.models import Customer
from apps.core.db import tenancy

LINK_LIFETIME = timedelta(days=30)
_TOKEN_MAX = 200


class LinkExpired(Exception):
    """The link was right once; `customer` is whose it was."""

    def __init__(self, customer: Customer) -> None:
        super().__init__()
        self.customer = customer


def portal_url(customer: Customer) -> str:
    """A new link to the customer's own page, a secret between the customer and its sender."""
    return f"{settings.PUBLIC_URL}/portal/{_signer(customer).sign(customer.pk.hex)}"


def customer_behind(token: str) -> Customer | None:
    """The link's customer, None when it is nobody's. Raises LinkExpired."""
    customer = _named_in(token)
    if customer is None:
        return None
    try:
        _signer(customer).unsign(token, max_age=LINK_LIFETIME)
    except SignatureExpired:
        raise LinkExpired(customer) from None
    except BadSignature:
        return None
    return customer


def _named_in(token: str) -> Customer | None:
    """The customer that the token names: not yet proved."""
    try:
        customer_id = UUID(hex=token[:_TOKEN_MAX].partition(".")[0])
    except ValueError:
        return None
    rows = Customer.objects.filter(pk=customer_id, deleted_at=None, store__deleted_at=None)
    return tenancy.opened("a customer's link", rows.select_related("store").first)


def _signer(customer: Customer) -> TimestampSigner:
    return TimestampSigner(sep=".", salt=f"apps.billing.portal:{customer.email.lower()}")

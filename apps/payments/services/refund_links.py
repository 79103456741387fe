"""The link in an email with which a customer says where a refund goes: once, for a week, and only
for who reads that mailbox.

The mailbox was named when the payment was made (`customer_email` of its metadata, or the invoice's
customer), never on the payment's page, whose address anybody may know.
"""

import hashlib
import secrets
from datetime import timedelta
from importlib import import_module
from typing import Protocol, cast

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from apps.core import clock, emails, mail
from apps.payments.documents.held import held_coins
from apps.payments.models import Payment, RefundLink
from apps.stores.emailing import customer_mail

TEMPLATE = "refund_address"
LINK_LIFETIME = timedelta(days=7)
TOKEN_BYTES = 32
TOKEN_LENGTH_MAX = 100
_HOUR = 3600


class Contacts(Protocol):
    """A module of settings.PAYMENT_CONTACTS."""

    def email_of(self, payment: Payment) -> str: ...


def known_email(payment: Payment) -> str:
    """The customer's address, as the merchant knows it; empty without one."""
    metadata = payment.metadata if isinstance(payment.metadata, dict) else {}
    email = metadata.get("customer_email")
    candidates = [email if isinstance(email, str) else ""]
    for path in settings.PAYMENT_CONTACTS:
        contacts = cast(Contacts, import_module(path))
        candidates.append(contacts.email_of(payment))
    return next((item.strip() for item in candidates if _is_email(item.strip())), "")


def _is_email(text: str) -> bool:
    if not text or len(text) > emails.LENGTH_MAX:
        return False
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def ask_customer(payment: Payment, language: str = "") -> bool:
    """Write to the known mailbox with a new link, at most once an hour; whether there is one. What
    was sent before keeps working."""
    email = known_email(payment)
    coins = held_coins(payment)
    if not email or not coins:
        return False
    real = clock.real_now()
    token = secrets.token_urlsafe(TOKEN_BYTES)
    key = f"{key_start(payment)}{int(real.timestamp()) // _HOUR}"
    if mail.was_asked(key):
        return True
    RefundLink.objects.create(
        store_id=payment.store_id,
        mode=payment.mode,
        payment=payment,
        token_digest=_digest(token),
        created_at=real,
        expires_at=real + LINK_LIFETIME,
    )
    customer_mail.send(
        payment.store,
        payment.mode,
        key=key,
        to=email,
        template=TEMPLATE,
        context={
            "payment": payment,
            "merchant": emails.shown_name(payment.store.brand_name or payment.store.name),
            "coins": coins,
            "is_test": not payment.is_live,
            "url": f"{settings.PUBLIC_URL}/pay/{payment.reference}/refund/{token}",
            "days": LINK_LIFETIME.days,
        },
        language=language,
    )
    return True


def key_start(payment: Payment) -> str:
    """Beginning of the keys of these emails about a payment."""
    return f"{TEMPLATE}:{payment.pk}:"


def link_behind(payment: Payment, token: str) -> RefundLink | None:
    """The link of this payment with this token, None when it is another's, used or too old."""
    if not token or len(token) > TOKEN_LENGTH_MAX:
        return None
    rows = RefundLink.objects.filter(
        token_digest=_digest(token), payment=payment, used_at=None, expires_at__gt=clock.real_now()
    )
    return rows.first()


def use(link: RefundLink) -> bool:
    """True the first time; inside the transaction of what it lets through."""
    rows = RefundLink.objects.filter(pk=link.pk, used_at=None)
    return bool(rows.update(used_at=clock.real_now()))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

"""A receipt by email, for anyone who has the link of a paid payment and enters an address. The
payment doesn't keep the address.

Strangers can cause these emails, so each payment and each mailbox has a limit
(settings.EMAIL_LIMITS).
"""

import hashlib

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from apps.core import emails
from apps.core.clock import real_now
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Invalid, check_storable
from apps.core.models import OutgoingMail
from apps.payments.documents.receipt import receipt_of
from apps.payments.models import Payment
from apps.stores.emailing import customer_mail

TEMPLATE = "payment_receipt"
MAILBOXES_MAX = 5
_HOUR = 3600


class NoReceipt(Failure):
    message = "This payment has no receipt"


class TooManyReceipts(Failure):
    """Of this payment, or to this mailbox today."""

    kind = RefusalKind.TOO_MANY
    message = "Too many receipts were sent; try again tomorrow"


def email_receipt(payment: Payment, email: str, language: str = "") -> None:
    """Queue it, to one address at most once an hour. Raises Invalid, NoReceipt or
    TooManyReceipts."""
    to = _checked(email)
    receipt = receipt_of(payment)
    if receipt is None:
        raise NoReceipt
    prefix = key_start(payment)
    mailbox = hashlib.sha256(emails.mailbox(to).encode()).hexdigest()[:16]
    keys = set(
        OutgoingMail.objects.filter(key__startswith=prefix).values_list("key", flat=True)[
            : MAILBOXES_MAX * 24
        ]
    )
    if len({key.split(":")[2] for key in keys} | {mailbox}) > MAILBOXES_MAX:
        raise TooManyReceipts
    key = f"{prefix}{mailbox}:{int(real_now().timestamp()) // _HOUR}"
    context = {"receipt": receipt, "email": to, "is_test": receipt.is_test}
    with transaction.atomic():
        if not customer_mail.send(
            payment.store,
            payment.mode,
            key=key,
            to=to,
            template=TEMPLATE,
            context=context,
            language=language,
        ):
            raise TooManyReceipts


def key_start(payment: Payment) -> str:
    """Beginning of the keys of a payment's receipts."""
    return f"{TEMPLATE}:{payment.pk}:"


def _checked(email: str) -> str:
    typed = email.strip()
    check_storable(typed, "email")
    try:
        validate_email(typed)
    except ValidationError:
        raise Invalid("email", "payer_email") from None
    if len(typed) > emails.LENGTH_MAX:
        raise Invalid("email", "payer_email")
    return typed

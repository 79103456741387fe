"""The answer to "I already paid" in the address of the page: signed, so that nobody else's words
stand in it, and kept for a day.

What was found since is told instead of it whenever the page is drawn; chains are asked by the form
alone.
"""

from dataclasses import asdict

from django.core import signing

from apps.payments.models import Payment
from apps.payments.services.sent import Answer, Found, known

_KEPT_SECONDS = 24 * 3600
_PACKED_MAX = 1000


def packed(payment: Payment, answer: Answer) -> str:
    return signing.dumps(asdict(answer), salt=_salt(payment), compress=True)


def answer_shown(payment: Payment, text: str) -> Answer | None:
    """What stands in the address of the page, brought up to date."""
    if not text or len(text) > _PACKED_MAX:
        return None
    try:
        told = signing.loads(text, salt=_salt(payment), max_age=_KEPT_SECONDS)
    except signing.BadSignature:
        return None
    answer = Answer(**{**told, "found": Found(told["found"]), "chains": tuple(told["chains"])})
    return (known(payment, answer.tx_hash) if answer.tx_hash else None) or answer


def _salt(payment: Payment) -> str:
    """An answer is of its own payment's page."""
    return f"sent:{payment.reference}"

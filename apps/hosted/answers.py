"""The answer to "I already paid" in the address of the page: signed, so that nobody else's words
be in it, and kept for a day.

Whenever the page is drawn, what is booked since then replaces it; only the form asks the chains.
"""

from dataclasses import asdict

from django.core import signing

from apps.payments.models import Payment
from apps.payments.services.transaction_lookup import (
    LookupResult,
    TransactionLookup,
    booked_transaction,
)

_KEPT_SECONDS = 24 * 3600
_PACKED_MAX = 1000


def packed(payment: Payment, answer: TransactionLookup) -> str:
    return signing.dumps(asdict(answer), salt=_salt(payment), compress=True)


def answer_shown(payment: Payment, text: str) -> TransactionLookup | None:
    """The answer in the page's address, brought up to date."""
    if not text or len(text) > _PACKED_MAX:
        return None
    try:
        fields = signing.loads(text, salt=_salt(payment), max_age=_KEPT_SECONDS)
    except signing.BadSignature:
        return None
    answer = TransactionLookup(
        **{**fields, "result": LookupResult(fields["result"]), "chains": tuple(fields["chains"])}
    )
    return (booked_transaction(payment, answer.tx_hash) if answer.tx_hash else None) or answer


def _salt(payment: Payment) -> str:
    """An answer is of its own payment's page."""
    return f"transaction-lookup:{payment.reference}"

"""Which values of records are codes: hashes, addresses and IDs, which people copy, and names of
ours, which they read as words."""

import re
from typing import Any
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core.templatetags.tillgate import url_text

# Whose badges say what a code of a record means.
CODE_NOUNS: dict[str, str] = {
    "billing.InvoiceChange.change": "invoice_change",
    "billing.SubscriptionChange.change": "subscription_change",
    "payments.Payment.state_reason": "reason",
    "payments.PaymentEvent.event_type": "payment_event",
}
# What is copied rather than read, by its form: addresses, hashes, IDs and references.
_IDENTIFIER = re.compile(
    r"\S*0x[0-9a-fA-F]{8,}\S*|[0-9a-f]{16,}|[A-Z0-9]{16}"
    r"|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_HEX = re.compile(r"(0x)?[0-9a-fA-F]{32,}")
_URL = re.compile(r"https?://\S+")
# The same by the name of the column, where the form doesn't tell.
_IDENTIFIERS = frozenset(
    {
        "approval",
        "call_data",
        "caller",
        "client_id",
        "error_code",
        "host",
        "id",
        "idempotency_key",
        "job",
        "key",
        "last_four",
        "nonce",
        "path",
        "period_key",
        "prefix",
        "primary_color",
        "provider_tx_id",
        "provider_txid",
        "principal",
        "route",
        "secondary_color",
        "secret_preview",
        "token",
        "token_prefix",
    }
)


def code(value: object) -> SafeString:
    """A hash or an address, which nothing divides, breaks anywhere."""
    kind = "code hash" if _HEX.fullmatch(str(value)) else "code"
    return format_html('<bdi class="{}">{}</bdi>', kind, value)


def is_identifier(value: object, column: str = "") -> bool:
    """Whether it is copied rather than read; `column` is where it stands."""
    if isinstance(value, UUID):
        return True
    if not isinstance(value, str) or isinstance(value, SafeString):
        return False
    return column in _IDENTIFIERS or _IDENTIFIER.fullmatch(value) is not None


def code_or_text(value: Any, column: str = "") -> Any:
    """A URL breaks between its parts."""
    if isinstance(value, str) and not isinstance(value, SafeString) and _URL.fullmatch(value):
        return url_text(value)
    return code(value) if is_identifier(value, column) else value

"""Values of records that are codes: hashes, addresses and IDs, which people copy, and names of
ours, which they read as words."""

import re
from typing import Any
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from apps.core.templatetags.tillgate import UNBROKEN_MAX, email_text, url_text

# What is copied rather than read, by its form: addresses, hashes, IDs and references.
_IDENTIFIER = re.compile(
    r"\S*0x[0-9a-fA-F]{8,}\S*|[0-9a-f]{16,}|[A-Z0-9]{16}"
    r"|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_HEX = re.compile(r"(\w+:)?(0x)?[0-9a-fA-F]{32,}(:\w+)?")
_URL = re.compile(r"https?://\S+")
_EMAIL = re.compile(r"[^\s@,:;<>]+@[^\s@,:;<>]+\.[^\s@,:;<>]+")
_EMAILS = re.compile(f"({_EMAIL.pattern})")
_SETTINGS = re.compile(r"([A-Z]+(?:_[A-Z]+)+(?:=\w+)?|X-Forwarded-For)")
_PATH_PARTS = re.compile(r"(?<=[^/][/_])(?=[^/_])")
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
    """True if it is copied rather than read; `column` is where it is shown."""
    if isinstance(value, UUID):
        return True
    if not isinstance(value, str) or isinstance(value, SafeString):
        return False
    return column in _IDENTIFIERS or _IDENTIFIER.fullmatch(value) is not None


def code_or_text(value: Any, column: str = "") -> Any:
    """A URL and an email address break between their parts."""
    if isinstance(value, str) and not isinstance(value, SafeString):
        if _URL.fullmatch(value):
            return url_text(value)
        if _EMAIL.fullmatch(value):
            return email_text(value)
    return code(value) if is_identifier(value, column) else value


def path_text(path: str) -> SafeString:
    """The path of a request, which breaks between its words."""
    parts = ((part,) for part in _PATH_PARTS.split(path))
    return format_html_join(mark_safe("<wbr>"), "{}", parts)  # ours alone


def with_emails(text: str) -> SafeString:
    """Text that may name people, whose long email addresses break between their parts."""
    words = (
        email_text(part) if len(part) > UNBROKEN_MAX and "@" in part else part
        for part in _EMAILS.split(text)
    )
    return format_html_join("", "{}", ((word,) for word in words))


def with_settings(text: str) -> SafeString:
    """A sentence that names settings and headers, which are copied."""
    parts = enumerate(_SETTINGS.split(text))
    return format_html_join("", "{}", ((code(x) if number % 2 else x,) for number, x in parts))


def heading_text(text: str) -> SafeString:
    """Heading of a record: paths, URLs and email addresses break between their parts, and all else
    where a line ends."""
    words = (
        url_text(word)
        if _URL.fullmatch(word)
        else path_text(word)
        if word.startswith("/")
        else with_emails(word)
        for word in text.split(" ")
    )
    return format_html_join(" ", "{}", ((word,) for word in words))

"""Why a delivery got no answer, in words for people; developers see the code beside them. The
codes are those of `core.posting` and of the sender."""

from django.utils.translation import gettext_noop

FAILURES = {
    "private_address": gettext_noop("URL leads to a private address"),
    "invalid_url": gettext_noop("URL not valid"),
    "name_not_resolved": gettext_noop("Host name not found"),
    "connection_refused": gettext_noop("Connection refused"),
    "connect_timeout": gettext_noop("Connection timed out"),
    "tls_failed": gettext_noop("Secure connection failed"),
    "certificate_invalid": gettext_noop("Certificate not valid"),
    "connection_lost": gettext_noop("Connection lost before the response"),
    "timeout": gettext_noop("No response in time"),
    "invalid_answer": gettext_noop("Response not valid"),
}
UNEXPECTED = gettext_noop("Unexpected error")


def failure_words(code: str | None) -> str:
    """Empty when nothing failed, or when the receiver's own status says it."""
    if not code or code.startswith("http_"):
        return ""
    return FAILURES.get(code, UNEXPECTED)


def error_words(code: str | None, response_status: int | None = None) -> str:
    """Error in words where nothing is beside it: with the receiver's own status."""
    if code and code.startswith("http_"):
        return f"HTTP {code.removeprefix('http_')}"
    return failure_words(code) or (f"HTTP {response_status}" if response_status else "")

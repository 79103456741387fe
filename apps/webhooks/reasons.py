"""Why a delivery got no answer, in words for people; developers see the code beside them. The
codes are those of `core.posting` and of the sender."""

FAILURES = {
    "private_address": "URL leads to a private address",
    "invalid_url": "URL not valid",
    "name_not_resolved": "Host name not found",
    "connection_refused": "Connection refused",
    "connect_timeout": "Connection timed out",
    "tls_failed": "Secure connection failed",
    "certificate_invalid": "Certificate not valid",
    "connection_lost": "Connection lost before the response",
    "timeout": "No response in time",
    "invalid_answer": "Response not valid",
}
UNEXPECTED = "Unexpected error"


def failure_words(code: str | None) -> str:
    """Empty when nothing failed, or when the receiver's own status says it."""
    if not code or code.startswith("http_"):
        return ""
    return FAILURES.get(code, UNEXPECTED)


def error_words(code: str | None, response_status: int | None = None) -> str:
    """The same where nothing stands beside it: with the receiver's own status."""
    if code and code.startswith("http_"):
        return f"HTTP {code.removeprefix('http_')}"
    return failure_words(code) or (f"HTTP {response_status}" if response_status else "")

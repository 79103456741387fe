"""JSON log records, a line each, with the request ID; keys, tokens and signatures are removed
before any handler sees them."""

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import structlog

from apps.core.process import troubles

request_id: ContextVar[str] = ContextVar("request_id", default="")

_SECRETS = re.compile(
    r"svc[a-z]{0,2}_[A-Za-z0-9_]{8,}|whsec_[0-9a-fA-F]+|(?ai:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}|0x[0-9a-fA-F]{64,}|otpauth://\S+"
    # An extended private key, also with a wrong character.
    r"|(?<![0-9A-Za-z])[A-Za-z](?:prv|tpv)[0-9A-Za-z]{40,}"
    # Of a link that is its own key: any long part of a path but an id (a UUID) and an address
    # (0x…).
    r"|(?<=/)(?!0x|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w.:=~-]))"
    r"(?=[\w.:=~-]*[A-Z0-9])[\w.:=~-]{32,}"
)
_SECRET_NAMES = re.compile(
    r"(?i)secret|password|passwd|token(?!_standard)|api_?key|authorization|cookie|private|mnemonic|otp"
    r"|raw_transaction"
)
_SECRET_MIN = 7  # characters
_SECRET_PART_MIN = 32  # characters of one without a word of its own
_SHORT = 64  # characters of a name that is remembered
REDACTED = "[redacted]"


def names_secret(name: str) -> bool:
    """Tell whether the value of a field of this name is never shown."""
    return _short_is_secret(name) if len(name) <= _SHORT else _SECRET_NAMES.search(name) is not None


@lru_cache(maxsize=1024)
def _short_is_secret(name: str) -> bool:
    """Names in code and documents are few, and come in every line and answer."""
    return _SECRET_NAMES.search(name) is not None


def redact(value: Any) -> Any:
    """The value with everything secret in it replaced; transaction hashes are cut too, their first
    characters stay."""
    if isinstance(value, str):
        if not _may_be_secret(value):
            return value
        return _SECRETS.sub(lambda match: _shorten(match.group()), value)
    if isinstance(value, dict):
        return {
            key: REDACTED if names_secret(str(key)) else redact(inner)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redact(inner) for inner in value]
    return value


def _may_be_secret(text: str) -> bool:
    """Tell quickly what most texts are not: each secret has a word of its own, or is long."""
    if len(text) < _SECRET_MIN:
        return False
    lower = text.lower()
    if "svc" in lower or "whsec_" in lower or "bearer" in lower or "basic" in lower:
        return True
    if len(text) < _SECRET_PART_MIN:
        return "otpauth:" in text
    is_marked = "/" in text or "tpv" in text or "prv" in text or "otpauth:" in text
    return is_marked or "0x" in text


def _shorten(text: str) -> str:
    return text[:10] + "…" if text.startswith("0x") else REDACTED


class Redact(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, dict):
            record.msg = redact(record.msg)
        else:
            record.msg = redact(record.getMessage())
            record.args = ()
        return True


class WithoutProbes(logging.Filter):
    """Probes aren't logged: their answer says what isn't ready. A line for each, which says no
    more, would bury the one that tells why."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return request is None or not request.path.startswith("/readyz")


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = (
            dict(record.msg) if isinstance(record.msg, dict) else {"event": record.getMessage()}
        )
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            **fields,
        }
        if request_id.get():
            line["request_id"] = request_id.get()
        if record.exc_info:
            line["exception"] = redact(self.formatException(record.exc_info))
        return json.dumps(line, default=str, ensure_ascii=False)


structlog.configure(
    processors=[
        troubles.count,
        structlog.processors.format_exc_info,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    wrapper_class=structlog.stdlib.BoundLogger,
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)

"""Bodies in the request log: JSON with secrets and personal data masked, cut at a few
kilobytes.

A body is kept of what changes something, and of every refusal; answers to other reads are not: who
may read them asks again. Nothing is kept of calls that hand out credentials.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from apps.core.process.logs import redact

KEPT_MAX = 4096  # characters of each body
READ_BYTES_MAX = 64 * 1024  # a larger one isn't looked through
MASK = "[masked]"
CUT = " …"
# Calls whose bodies are credentials, or ask for some.
_UNKEPT_ROUTES = ("oauth", "api_keys", "merchants/oauth_apps")
_PERSONAL = re.compile(
    r"(?i)e_?mail|phone|street|postal|(?:^|_)zip|(?:^|_)city|iban|account_number|holder"
    r"|representative|(?:legal|first|last|full|sur|family|given|customer|payer|buyer|recipient)_?name"
    r"|birth|tax_?id|vat_(?:id|number)|registration_number|ip_address|^notes?$|signature"
)
# A name or an address is a person's in these, and a product's or a wallet's elsewhere.
_PEOPLE = re.compile(r"(?i)customer|contact|payer|billing_details|shipping|person|user")
_OF_PEOPLE = ("name", "address")
# Begins where a word begins: so that a long word is looked through once, not from each character.
_EMAIL = re.compile(r"(?<![^\s@<>,;\"'])[^\s@<>,;\"']+@[^\s@<>,;\"']+\.[^\s@<>,;\"']+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")
_WITH_BODY = ("POST", "PATCH", "PUT")


def kept_request(method: str, route: str, data: Any) -> str | None:
    """The body of a call, or None."""
    if method not in _WITH_BODY or route.startswith(_UNKEPT_ROUTES) or not isinstance(data, dict):
        return None
    return _kept(route, data)


def kept_response(method: str, route: str, status: int, data: Any) -> str | None:
    """The answer, or None."""
    is_kept = method in (*_WITH_BODY, "DELETE") or status >= 400
    if not is_kept or data is None or route.startswith(_UNKEPT_ROUTES):
        return None
    return _kept(route, data)


def _kept(route: str, data: Any) -> str | None:
    try:
        encoded = msgspec.json.encode(data)
        if len(encoded) > READ_BYTES_MAX:
            return f"{len(encoded)} bytes, not kept"
        plain = msgspec.json.decode(encoded)
    except (TypeError, ValueError, msgspec.MsgspecError):
        return None
    text = msgspec.json.encode(redact(masked(plain, of_person=_is_of_people(route)))).decode()
    return text if len(text) <= KEPT_MAX else f"{text[:KEPT_MAX]}{CUT}"


def _is_of_people(name: str) -> bool:
    return _PEOPLE.search(name) is not None


def masked(value: Any, *, of_person: bool = False) -> Any:
    """The value without what tells of a person; whatever isn't text or a container says nothing."""
    if isinstance(value, Mapping):
        return {_text(str(key)): _field(str(key), inner, of_person) for key, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner, of_person=of_person) for inner in value]
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    return _EMAIL.sub(MASK, value)


def _field(name: str, value: Any, of_person: bool) -> Any:
    if value in (None, "", [], {}):
        return value
    plain = _WORDS.sub("_", name).lower()
    if _PERSONAL.search(plain) or (of_person and plain in _OF_PEOPLE):
        return MASK
    if isinstance(value, str) and plain.endswith("url"):
        return _without_path(value)
    return masked(value, of_person=of_person or _is_of_people(plain))


def _without_path(url: str) -> str:
    """An address without what may be its key: the rest of its path, its query and its fragment.
    Of what is none, its beginning."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    if not parts.hostname:
        beginning = re.split("[/?#]", url.lstrip("/"), maxsplit=1)[0]
        return _text(beginning if beginning == url else f"{beginning}/…")
    first, _, rest = parts.path.lstrip("/").partition("/")
    tail = f"/{first}/…" if rest else parts.path
    return _text(f"{parts.scheme}://{parts.hostname}{tail}{'?…' if parts.query else ''}")

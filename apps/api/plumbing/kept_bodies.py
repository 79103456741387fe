"""Bodies in the request log: JSON with secrets and personal data masked, cut at a few
kilobytes.

A body is kept of what changes something, and of every refusal; answers to other reads are not: who
may read them asks again. Nothing is kept of calls that hand out credentials.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import msgspec

from apps.chain.addresses import may_be_secret
from apps.chain.networks.bitcoin.accounts import is_secret
from apps.core.process.logs import redact

KEPT_MAX = 4096  # characters of each body
_LOOKED_AT = KEPT_MAX + 1024  # bytes that are masked at least: a mask may be shorter than the value
READ_BYTES_MAX = 64 * 1024  # a larger one isn't looked through
MASK = "[masked]"
CUT = " …"
SECRET_LENGTH_MIN = 45  # keys are longer, and recovery phrases
# Calls whose bodies are credentials, or ask for some.
_UNKEPT_ROUTES = (
    "oauth",
    "api_keys",
    "merchants/oauth_apps",
    "compat/btcpay/api/v1/stores/<str:store_id>/webhooks",
)
_PERSONAL = re.compile(
    r"(?i)e_?mail|phone|street|postal|(?:^|_)zip|(?:^|_)city|iban|account_number|holder"
    r"|representative|(?:legal|first|last|full|sur|family|given|customer|payer|buyer|recipient)_?name"
    r"|birth|tax_?id|vat_(?:id|number)|registration_number|ip_address|^notes?$|signature"
)
# A name or an address is a person's in these, and a product's or a wallet's elsewhere.
_PEOPLE = re.compile(r"(?i)customer|contact|payer|billing_details|shipping|person|user")
# Where coins go: 64 hex digits may be a key there, and a hash or a nonce elsewhere.
_PLACE = re.compile(r"address|^pay_to$")
_OF_PEOPLE = ("name", "address")
# Begins where a word begins: so that a long word is looked through once, not from each character.
_EMAIL = re.compile(r"(?<![^\s@<>,;\"'])[^\s@<>,;\"']+@[^\s@<>,;\"']+\.[^\s@<>,;\"']+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")
_SHORT = 64  # characters of a name that is remembered
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
    if len(encoded) > _LOOKED_AT and isinstance(plain, dict):
        plain = _beginning(plain)
    text = msgspec.json.encode(redact(masked(plain, of_person=_is_of_people(route)))).decode()
    is_whole = len(encoded) <= _LOOKED_AT and len(text) <= KEPT_MAX
    return text if is_whole else f"{text[:KEPT_MAX]}{CUT}"


def _beginning(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Fields, and entries of their lists, as far as they reach into what is looked at: of a long
    list most would be masked only to be cut."""
    kept: dict[str, object] = {}
    left = _LOOKED_AT
    for name, value in fields.items():
        if left <= 0:
            break
        entries = value if isinstance(value, list) else [value]
        begun = []
        for entry in entries:
            if left <= 0:
                break
            begun.append(entry)
            left -= len(msgspec.json.encode(entry))
        kept[name] = begun if isinstance(value, list) else value
    return kept


@dataclass(frozen=True)
class _FieldName:
    """A field by its name: its text, kept in place of the name, and what its value tells."""

    text: str
    is_personal: bool
    names_people: bool  # a name or an address, which is a person's where people are shown
    is_of_people: bool
    is_url: bool
    is_place: bool  # where coins go


def _field_name(name: str) -> _FieldName:
    """Of one that a body has. Names of our documents are few and come in every answer."""
    return _short_name(name) if len(name) <= _SHORT else _read_name(name)


def _read_name(name: str) -> _FieldName:
    plain = _WORDS.sub("_", name).lower()
    return _FieldName(
        _text(name),
        _PERSONAL.search(plain) is not None,
        plain in _OF_PEOPLE,
        _is_of_people(plain),
        plain.endswith("url"),
        _PLACE.search(plain) is not None,
    )


_short_name = lru_cache(maxsize=1024)(_read_name)


def _is_of_people(name: str) -> bool:
    return _PEOPLE.search(name) is not None


def masked(value: Any, *, of_person: bool = False) -> Any:
    """The value without what tells of a person or spends coins; whatever isn't text or a container
    says nothing."""
    if isinstance(value, Mapping):
        fields = [(_field_name(str(key)), inner) for key, inner in value.items()]
        return {name.text: _field(name, inner, of_person) for name, inner in fields}
    if isinstance(value, list):
        return [masked(inner, of_person=of_person) for inner in value]
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    if SECRET_LENGTH_MIN <= len(value) <= KEPT_MAX and is_secret(value):
        return MASK
    return _EMAIL.sub(MASK, value) if "@" in value else value


def _field(name: _FieldName, value: Any, of_person: bool) -> Any:
    if value in (None, "", [], {}):
        return value
    if name.is_personal or (of_person and name.names_people):
        return MASK
    if name.is_place and isinstance(value, str) and may_be_secret(value[:KEPT_MAX]):
        return MASK
    if name.is_url and isinstance(value, str):
        return _without_path(value)
    return masked(value, of_person=of_person or name.is_of_people)


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

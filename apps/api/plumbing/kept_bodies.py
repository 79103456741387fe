"""Bodies in the request log: JSON with secrets and personal data masked, cut at a few
kilobytes.

A body is kept of what changes something, and of every refusal; answers to other reads are not: who
may read them asks again. Nothing is kept of calls that hand out credentials. Bodies are taken while
a call is answered, and masked when they are written, for which no call waits.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit

import msgspec

from apps.chain.addresses import may_be_secret
from apps.chain.networks.bitcoin.accounts import is_secret
from apps.core.process.logs import REDACTED, names_secret, redact

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


Kept = Callable[[], str | None]


def kept_request(method: str, route: str, data: Any) -> Kept | None:
    """Masks the body of a call when it is called; None where none is kept."""
    if method not in _WITH_BODY or route.startswith(_UNKEPT_ROUTES) or not isinstance(data, dict):
        return None
    return _kept(route, data)


def kept_response(method: str, route: str, status: int, data: Any) -> Kept | None:
    """Masks the answer when it is called; None where none is kept."""
    is_kept = method in (*_WITH_BODY, "DELETE") or status >= 400
    if not is_kept or data is None or route.startswith(_UNKEPT_ROUTES):
        return None
    return _kept(route, data)


def _kept(route: str, data: Any) -> Kept | None:
    """Its bytes wait; of a large one no more than is looked at."""
    try:
        encoded = msgspec.json.encode(data)
        size = len(encoded)
        if size > READ_BYTES_MAX:
            return partial(str, f"{size} bytes, not kept")
        plain = msgspec.json.decode(encoded) if size > _LOOKED_AT else None
    except (TypeError, ValueError, msgspec.MsgspecError):
        return None
    if isinstance(plain, dict):
        encoded = msgspec.json.encode(_beginning(plain))
    return partial(_masked, encoded, is_whole=size <= _LOOKED_AT, of_person=_is_of_people(route))


def _masked(encoded: bytes, *, is_whole: bool, of_person: bool) -> str | None:
    try:
        plain = msgspec.json.decode(encoded)
    except (ValueError, msgspec.MsgspecError):
        return None
    text = msgspec.json.encode(masked(plain, of_person=of_person)).decode()
    return text if is_whole and len(text) <= KEPT_MAX else f"{text[:KEPT_MAX]}{CUT}"


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
    is_secret: bool
    is_personal: bool
    names_people: bool  # a name or an address, which is a person's where people are shown
    is_of_people: bool
    is_url: bool
    is_place: bool  # where coins go


def _read_name(name: str) -> _FieldName:
    plain = _WORDS.sub("_", name).lower()
    text = _text(name)
    return _FieldName(
        text,
        names_secret(text),
        _PERSONAL.search(plain) is not None,
        plain in _OF_PEOPLE,
        _is_of_people(plain),
        plain.endswith("url"),
        _PLACE.search(plain) is not None,
    )


# Names of our documents are few and come in every answer.
_short_name = lru_cache(maxsize=1024)(_read_name)


def _is_of_people(name: str) -> bool:
    return _PEOPLE.search(name) is not None


def masked(value: Any, *, of_person: bool = False) -> Any:
    """Decoded JSON without what tells of a person, opens a door or spends coins; numbers, booleans
    and null say nothing."""
    kind = type(value)
    if kind is str:
        return _text(value)
    if kind is list:
        return [masked(inner, of_person=of_person) for inner in value]
    if kind is not dict:
        return value
    fields = {}
    for key, inner in value.items():
        name = _short_name(key) if len(key) <= _SHORT else _read_name(key)
        if name.is_secret:
            fields[name.text] = REDACTED
        else:
            fields[name.text] = _field(name, inner, of_person) if inner else inner
    return fields


def _text(value: str) -> str:
    if len(value) >= SECRET_LENGTH_MIN and len(value) <= KEPT_MAX and is_secret(value):
        return MASK
    return str(redact(_EMAIL.sub(MASK, value) if "@" in value else value))


def _field(name: _FieldName, value: Any, of_person: bool) -> Any:
    if name.is_personal or (of_person and name.names_people):
        return MASK
    if type(value) is str:
        if name.is_place and may_be_secret(value[:KEPT_MAX]):
            return MASK
        return _without_path(value) if name.is_url else _text(value)
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

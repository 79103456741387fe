"""Input taken literally: nothing is coerced. A field checks one value, names itself in the refusal
and knows its JSON schema.

A broken rule is an `Invalid`; the view chooses the shape it is stated in.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import combinations
from typing import Any
from urllib.parse import SplitResult, urlsplit

from apps.core.messages.invalid import Invalid as Invalid

MAX_INTEGER = 2**63 - 1
LOOPBACK = ("localhost", "127.0.0.1", "::1")
EXACT_MAX = 2**53  # up to here every JSON reader has the same integer
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(
    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})", re.ASCII
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\.?|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_URL_UNSAFE = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{}|]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NESTING = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
Schema = dict[str, Any]  # of JSON: what is in it depends on its own keywords
# Pattern of a text without NUL, which no database keeps. Half characters have no pattern.
STORABLE = r"^[^\u0000]*$"
NOT_EMPTY: Schema = {"minLength": 1}  # of an id: an empty one is no record's
CURRENCY: Schema = {"minLength": 3, "maxLength": 3, "pattern": "^[A-Z]{3}$"}


def any_of(*names: str) -> Schema:
    """Schema of an object that has one of these fields at least. Written so that programs that make
    clients, which know no condition, see the fields all the same."""
    return {"if": {"properties": dict.fromkeys(names, False)}, "then": {"required": [names[0]]}}


def one_of(*names: str) -> Schema:
    """Schema of an object that has exactly one of two fields."""
    return {**any_of(*names), "not": {"required": list(names)}}


def at_most_one_of(*names: str) -> Schema:
    """Schema of an object that has none or one of these fields."""
    return {"not": {"anyOf": [{"required": list(pair)} for pair in combinations(names, 2)]}}


def is_uuid(text: str) -> bool:
    """Canonical form only; either case of letters."""
    return _UUID.fullmatch(text) is not None


def is_deeper(raw: bytes, levels: int) -> bool:
    """True if JSON nests deeper. Asked before parsing: the parser recurses, and how deep it may is
    not ours to say."""
    if raw.count(b"[") + raw.count(b"{") <= levels:
        return False
    depth = 0
    for token in _NESTING.finditer(raw):
        first = token.group()[0]
        if first in b"[{":
            depth += 1
            if depth > levels:
                return True
        elif first in b"]}":
            depth -= 1
    return False


def check_storable(value: Any, path: str = "") -> None:
    """Refuse NUL and lone surrogates anywhere in a JSON value, keys included; names the way to the
    field."""
    if not _is_storable(value):
        _refuse_unstorable(value, path)


def _is_storable(value: Any) -> bool:
    """Tell whether all of its texts are, in one walk that keeps no ways."""
    values = [value]
    for inner in values:  # it grows while it is walked
        if isinstance(inner, str):
            if _UNSTORABLE.search(inner):
                return False
        elif isinstance(inner, dict):
            values += inner
            values += inner.values()
        elif isinstance(inner, list):
            values += inner
    return True


def _refuse_unstorable(value: Any, path: str) -> None:
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise Invalid(path or "body", "unstorable")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _refuse_unstorable(key, path)
            _refuse_unstorable(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            _refuse_unstorable(inner, path)


def check_free(value: Any, name: str) -> None:
    """For an object that is stored as it came: what check_storable refuses, and numbers that no
    reader gets back as they were (infinities, NaN, and what is beyond 2^53)."""
    check_storable(value, name)
    if _has_huge_number(value):
        raise Invalid(name, "huge_number")


def _has_huge_number(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_huge_number(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_huge_number(item) for item in value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and not -EXACT_MAX <= value <= EXACT_MAX


class Field:
    """A value. A missing or null optional value becomes `default` (made anew when it is
    callable)."""

    def __init__(self, *, required: bool = False, default: Any = None) -> None:
        self.required = required
        self.default = default

    def read(self, source: Mapping[str, Any], name: str) -> Any:
        value = source.get(name)
        if value is None:
            if self.required:
                raise Invalid(name, "required")
            return self.default() if callable(self.default) else self.default
        return self.check(value, name)

    def check(self, value: Any, name: str) -> Any:
        return value

    def schema(self) -> Schema:
        return {}


class Text(Field):
    """A string of at most `longest` characters; `trim` is for names. `described` is what the schema
    says beyond that, where a later check refuses more."""

    def __init__(
        self,
        longest: int,
        *,
        shortest: int = 0,
        trim: bool = False,
        choices: Sequence[str] | None = None,
        described: Schema | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.longest = longest
        self.shortest = shortest
        self.trim = trim
        self.choices = choices
        self.described = described or {}

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise Invalid(name, "string")
        check_storable(value, name)
        text = value.strip() if self.trim else value
        if len(text) > self.longest:
            raise Invalid(name, "too_long", maximum=self.longest)
        if len(text) < self.shortest:
            raise Invalid(name, "blank")
        if self.choices is not None and text not in self.choices:
            raise Invalid(name, "choice", choices=", ".join(self.choices))
        return text

    def schema(self) -> Schema:
        shortest = {"minLength": self.shortest} if self.shortest else {}
        return {
            "type": "string",
            **shortest,
            "maxLength": self.longest,
            **({"enum": list(self.choices)} if self.choices else {"pattern": self._pattern()}),
            **self.described,
        }

    def _pattern(self) -> str:
        return trimmed_pattern(self.shortest) if self.shortest and self.trim else STORABLE


def trimmed_pattern(shortest: int) -> str:
    """Pattern of a text that has so many characters without the spaces around it, and no NUL."""
    edge = r"[^\s\u0000]"
    middle = edge if shortest == 1 else rf"{edge}[^\u0000]{{{shortest - 2},}}{edge}"
    return rf"^[^\u0000]*{middle}[^\u0000]*$"


class Integer(Field):
    def __init__(self, least: int = 0, most: int = MAX_INTEGER, **options: Any) -> None:
        super().__init__(**options)
        self.least = least
        self.most = most

    def check(self, value: Any, name: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Invalid(name, "integer")
        if value < self.least:
            raise Invalid(name, "at_least", minimum=self.least)
        if value > self.most:
            raise Invalid(name, "at_most", maximum=self.most)
        return value

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Boolean(Field):
    def check(self, value: Any, name: str) -> bool:
        if not isinstance(value, bool):
            raise Invalid(name, "boolean")
        return value

    def schema(self) -> Schema:
        return {"type": "boolean"}


class Pattern(Field):
    """A string that matches a whole pattern, or else breaks `rule`. `described` is the pattern of
    the schema where a further rule makes it narrower."""

    described: str | None = None

    def __init__(self, pattern: str, rule: str, **options: Any) -> None:
        super().__init__(**options)
        self.pattern = re.compile(pattern, re.ASCII)
        self.rule = rule

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            raise Invalid(name, self.rule)
        return value

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{self.described or self.pattern.pattern}$"}


# More than zero, without zeros in front: patterns that every program's regular expressions have.
POSITIVE_DIGITS = "[1-9][0-9]{0,59}"
POSITIVE_FIAT = r"(?:[1-9][0-9]{0,7}(?:\.[0-9]{1,2})?|0\.(?:0[1-9]|[1-9][0-9]?))"


class FiatAmount(Pattern):
    """Major units as text, at most two places; greater than zero unless `zero`."""

    def __init__(self, *, zero: bool = False, **options: Any) -> None:
        super().__init__(r"[0-9]{1,9}(\.[0-9]{1,2})?", "decimal_cents", **options)
        self.zero = zero
        self.described = None if zero else POSITIVE_FIAT

    def check(self, value: Any, name: str) -> str:
        text = super().check(value, name)
        if not self.zero and not text.strip("0."):
            raise Invalid(name, "positive")
        return text


class AtomicAmount(Pattern):
    """Atomic units as a string of digits."""

    def __init__(self, **options: Any) -> None:
        super().__init__(r"[0-9]{1,60}", "digits", **options)


class Url(Field):
    """An absolute http(s) URL that is safe in an href: ASCII, no user info, no quotes or brackets.

    `plain_http` tells for which hosts http is allowed: "any", "localhost", "loopback" (its
    addresses as well, for apps on the same computer) or "none".
    """

    def __init__(self, *, longest: int = 2048, plain_http: str = "none", **options: Any) -> None:
        super().__init__(**options)
        self.longest = longest
        self.plain_http = plain_http

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise Invalid(name, "string")
        if len(value) > self.longest:
            raise Invalid(name, "too_long", maximum=self.longest)
        parts = split_url(value)
        if parts is None:
            raise Invalid(name, "url")
        if parts.scheme == "http" and not self._may_be_plain(parts.hostname):
            raise Invalid(name, "https_or_loopback" if self.plain_http == "loopback" else "https")
        return value

    def _may_be_plain(self, host: str | None) -> bool:
        match self.plain_http:
            case "any":
                return True
            case "localhost":
                return host == "localhost"
            case "loopback":
                return host in LOOPBACK
        return False

    def schema(self) -> Schema:
        return {"type": "string", "format": "uri", "maxLength": self.longest}


def split_url(value: str) -> SplitResult | None:
    """The parts of an absolute http(s) URL, None when it isn't a clean one."""
    if _URL_UNSAFE.search(value):
        return None
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    if (
        parts.scheme not in ("http", "https")
        or "@" in parts.netloc
        or "%" in parts.netloc
        or not parts.hostname
    ):
        return None
    host = (
        parts.netloc.rsplit(":", 1)[0]
        if port is not None or parts.netloc.endswith(":")
        else parts.netloc
    )
    if not _HOST.fullmatch(host) or len(host) > 253 or port == 0:
        return None
    return parts


class Metadata(Field):
    """An object of strings: at most 50 keys, at most 16 KiB in all."""

    KEYS_MAX = 50
    BYTES_MAX = 16 * 1024

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"default": dict, **options})

    def check(self, value: Any, name: str) -> dict[str, str]:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        if len(value) > self.KEYS_MAX:
            raise Invalid(name, "too_many_keys", maximum=self.KEYS_MAX)
        size = 0
        for key, text in value.items():
            if not isinstance(text, str):
                raise Invalid(name, "string_values")
            check_storable(key, name)
            check_storable(text, name)
            size += len(key.encode()) + len(text.encode())
        if size > self.BYTES_MAX:
            raise Invalid(name, "too_large", maximum=self.BYTES_MAX)
        return value

    def schema(self) -> Schema:
        return {
            "type": "object",
            "maxProperties": self.KEYS_MAX,
            "propertyNames": {"pattern": STORABLE},
            "additionalProperties": {"type": "string", "pattern": STORABLE},
        }


class List(Field):
    """A list of at most `longest` items, each checked by `item`."""

    def __init__(self, item: Field, longest: int, **options: Any) -> None:
        super().__init__(**{"default": list, **options})
        self.item = item
        self.longest = longest

    def check(self, value: Any, name: str) -> list[Any]:
        if not isinstance(value, list):
            raise Invalid(name, "list")
        if len(value) > self.longest:
            raise Invalid(name, "too_many_items", maximum=self.longest)
        return [self.item.check(item, f"{name}[{index}]") for index, item in enumerate(value)]

    def schema(self) -> Schema:
        return {"type": "array", "maxItems": self.longest, "items": self.item.schema()}


class Moment(Field):
    """An ISO 8601 date-time with its offset, as one in UTC."""

    def check(self, value: Any, name: str) -> datetime:
        moment = parse_moment(value)
        try:
            found = moment.astimezone(UTC) if moment is not None else None
        except OverflowError:
            found = None
        if found is None:
            raise Invalid(name, "time_with_zone")
        return found

    def schema(self) -> Schema:
        return {"type": "string", "format": "date-time"}


def parse_date(text: str | None) -> date | None:
    """An ISO date, None when it isn't one."""
    if text is None or not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_moment(text: Any) -> datetime | None:
    """An ISO date-time with an offset or `Z`, None when it isn't one."""
    if not isinstance(text, str) or not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

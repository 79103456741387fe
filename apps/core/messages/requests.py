"""Requests, as one frozen class each: its type, its check and its schema.

A field's rule is in its type: `title: Annotated[str, by(Text(150))] | None = None`. Null is
missing, unknown keys are left out, nothing is coerced, and the first broken field is named, in the
order of declaration (decision 160); `read_all` finds every one. Where a null of a PATCH clears a
field, `Edits` says so (170). `unknown_fields` names the keys that were left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, ClassVar, Self, cast

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct
from msgspec import inspect as types
from msgspec.structs import force_setattr

from apps.core.messages.fields import Boolean, Field, Integer, Invalid, List, Schema, Text

NAMED_MAX = 10  # unknown fields that are named
NAME_MAX = 64  # characters of a name that is somebody else's
# By field: whatever the field's own rule has made of what was sent; a class has a type for each.
Values = dict[str, Any]


def by(field: Field) -> Meta:
    """The rule of a field, for `Annotated`; what msgspec can check of it is checked in C."""
    rule = {"field": field}
    match field:
        case Text(trim=False):
            return Meta(min_length=field.shortest or None, max_length=field.longest, extra=rule)
        case Integer():
            return Meta(ge=field.least, le=field.most, extra=rule)
        case List():
            return Meta(max_length=field.longest, extra=rule)
    return Meta(extra=rule)


class Shape(Field):
    """The fields of a class, by their rules; unknown ones are left out."""

    def __init__(
        self, fields: Mapping[str, Field], described: Schema | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.fields = fields
        self.described = described or {}

    def check(self, value: Any, name: str) -> Values:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        prefix = f"{name}." if "[" in name else ""
        return {key: self._read(value, key, prefix) for key in self.fields}

    def _read(self, value: Mapping[str, Any], key: str, prefix: str) -> Any:
        if not prefix:
            return self.fields[key].read(value, key)
        try:
            return self.fields[key].read(value, key)
        except Invalid as refusal:
            raise Invalid(prefix + refusal.field, refusal.rule, **refusal.params) from None

    def edits(self, value: Any, name: str) -> Values:
        """For updates: only the fields that were sent and aren't null."""
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        return {
            key: field.check(value[key], key)
            for key, field in self.fields.items()
            if value.get(key) is not None
        }

    def schema(self) -> Schema:
        required = [key for key, field in self.fields.items() if field.required]
        body: Schema = {
            "type": "object",
            "properties": {key: field.schema() for key, field in self.fields.items()},
            **self.described,
        }
        return {**body, "required": required} if required else body


class Request(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A caller's request. Only `read` checks: anyone who calls the class has checked, or knows.

    Written as JSON, it leaves out what was left out. `also_read` are keys that it has no field for
    and that aren't unknown: it refuses them in its own words, or they change nothing.
    `described` is what the schema says of the fields together.
    """

    also_read: ClassVar[Sequence[str]] = ()
    described: ClassVar[Schema] = {}

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        """An object as it came in JSON, whose text a view has found storable. Raises Invalid."""
        if isinstance(value, dict):
            content = _sent(value)
            try:
                struct = msgspec.convert(content, cls)
                _finish(struct, content)
            except (msgspec.ValidationError, Invalid):
                pass
            else:
                return struct
        # Slowly, in our order and words. It also takes what msgspec refuses and we don't.
        return msgspec.convert(_sent(cls._checked(value, name)), cls)

    @classmethod
    def _checked(cls, value: object, name: str) -> Values:
        return shape_of(cls).check(value, name)


class Changes(Request, frozen=True, kw_only=True):
    """Changes of a record: the fields that were sent and aren't null; the others are UNSET."""

    @classmethod
    def read_all(cls, value: object, name: str = "body") -> tuple[Self, dict[str, Invalid]]:
        """Fields that could be read, and the rule that each other field breaks: for answers that
        list all of them.

        Raises Invalid for what is no object.
        """
        try:
            return cls.read(value, name), {}
        except Invalid:
            if not isinstance(value, dict):
                raise
        good = {}
        broken = {}
        for key, field in shape_of(cls).fields.items():
            if value.get(key) is not None:
                try:
                    good[key] = field.check(value[key], key)
                except Invalid as refusal:
                    broken[key] = refusal
        return msgspec.convert(good, cls), broken

    @classmethod
    def _checked(cls, value: object, name: str) -> Values:
        return shape_of(cls).edits(value, name)

    def sent(self) -> Values:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


class Edits(Changes, frozen=True, kw_only=True):
    """Edits of a record, nulls too: a null makes a field what a new record has, if that is
    anything."""

    @classmethod
    def read(cls, value: object, name: str = "body") -> Self:
        return msgspec.convert(cls._checked(value, name), cls)

    @classmethod
    def _checked(cls, value: object, name: str) -> Values:
        if not isinstance(value, dict):
            raise Invalid(name, "object")
        return {key: field.read(value, key) for key, field in _edited(cls).items() if key in value}


def unknown_fields(cls: type[Struct] | None, value: object) -> list[str]:
    """The keys of an object that a class doesn't have, as they were sent: at most NAMED_MAX, and
    the way to one that is inside (`line_items[0].color`). A class of None has no fields."""
    if not isinstance(value, dict):
        return []
    fields = {} if cls is None else shape_of(cls).fields
    also_read = getattr(cls, "also_read", ())
    names = (name for name in _unknown(fields, value) if name not in also_read)
    return list(islice(names, NAMED_MAX))


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that somebody who wrote `name` may have meant."""
    return next(iter(get_close_matches(name[:NAME_MAX], list(names), n=1)), None)


def _unknown(fields: Mapping[str, Field], value: Values) -> Iterator[str]:
    for key, inner in value.items():
        field = fields.get(key)
        if field is None:
            yield key
        elif isinstance(field, Shape) and isinstance(inner, dict):
            yield from (f"{key}.{name}" for name in _unknown(field.fields, inner))
        elif isinstance(field, List) and isinstance(field.item, Shape) and isinstance(inner, list):
            for index, item in enumerate(inner):
                if isinstance(item, dict):
                    names = _unknown(field.item.fields, item)
                    yield from (f"{key}[{index}].{name}" for name in names)


def _sent(fields: Values) -> Values:
    return {name: value for name, value in fields.items() if value is not None}


def _finish(struct: Struct, content: Values) -> None:
    """The rules that msgspec doesn't know. Raises Invalid."""
    for name, field, is_one, is_many in _further(type(struct)):
        value = content.get(name)
        if value is None:
            continue
        if is_one:
            _finish(getattr(struct, name), value)
        elif is_many:
            for item, raw in zip(getattr(struct, name), value, strict=True):
                _finish(item, raw)
        else:
            force_setattr(struct, name, field.check(value, name))


@cache
def shape_of(cls: type[Struct]) -> Shape:
    """The fields of a class, which check slowly and have the schema."""
    info = cast(types.StructType, types.type_info(cls))
    fields = {field.name: _field_of(field) for field in info.fields}
    return Shape(fields, getattr(cls, "described", None))


@cache
def _edited(cls: type[Struct]) -> dict[str, Field]:
    """The fields of a class of edits: `| None` in its type is what a null means, else the rule's
    own default."""
    info = cast(types.StructType, types.type_info(cls))
    return {field.name: _edit_of(field.type) for field in info.fields}


def _edit_of(info: types.Type) -> Field:
    field = copy(_rule_of(info))
    if isinstance(info, types.UnionType) and info.includes_none:
        field.default = None
    else:
        field.required = field.default is None
    return field


def _field_of(info: types.Field) -> Field:
    field = copy(_rule_of(info.type))
    default = info.default_factory if info.default is NODEFAULT else info.default
    if default is not NODEFAULT:
        field.default = default
    field.required = info.required
    return field


def _rule_of(info: types.Type) -> Field:
    match info:
        case types.UnionType(types=several):
            return _rule_of(
                next(member for member in several if not isinstance(member, types.NoneType))
            )
        case types.Metadata(type=types.ListType(item_type=item), extra={"field": List() as field}):
            rule_copy = copy(field)
            rule_copy.item = _rule_of(item)
            return rule_copy
        case types.Metadata(extra={"field": Field() as field}):
            return field
        case types.BoolType():
            return Boolean()
        case types.StructType(cls=cls):
            return shape_of(cls)
    raise TypeError(f"{info} has no rule")


@cache
def _further(cls: type[Struct]) -> tuple[tuple[str, Field, bool, bool], ...]:
    """(name, rule, is it an object, is it a list of objects) of the fields that C alone can't
    check."""
    fields = shape_of(cls).fields.items()
    return tuple(
        (
            name,
            field,
            isinstance(field, Shape),
            isinstance(field, List) and isinstance(field.item, Shape),
        )
        for name, field in fields
        if not _is_checked_in_c(field)
    )


def _is_checked_in_c(field: Field) -> bool:
    match field:
        case Shape():
            return all(map(_is_checked_in_c, field.fields.values()))
        case List():
            return _is_checked_in_c(field.item)
        case Text():
            return type(field) is Text and not field.trim and field.choices is None
    return type(field) in (Integer, Boolean, Field)

"""JSON into the dataclasses that stand for it. Fields that a class doesn't know are left out."""

from __future__ import annotations

import dataclasses
import sys
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def decode(type_: Any, value: Any) -> Any:
    """The value as its type. What a newer service says otherwise is passed on as it came."""
    if value is None:
        return None
    if isinstance(type_, type) and dataclasses.is_dataclass(type_) and isinstance(value, dict):
        hints = _hints(type_)
        return type_(**{name: decode(hint, _of(value, name)) for name, hint in hints.items()})
    origin = get_origin(type_)
    arguments = get_args(type_)
    if origin is list and isinstance(value, list):
        return [decode(arguments[0], one) for one in value]
    if origin is dict and isinstance(value, dict):
        return {name: decode(arguments[1], one) for name, one in value.items()}
    if origin in (Union, UnionType):
        return decode(_fitting(arguments, value), value)
    return value


def _of(value: dict[str, Any], name: str) -> Any:
    """A field whose name is a word of Python has an underscore behind it: `from_`."""
    return value.get(name, value.get(name.removesuffix("_")))


def _fitting(choices: tuple[Any, ...], value: Any) -> Any:
    """Of several documents the one that has most of what was answered, and lacks least of it."""
    if isinstance(value, list):
        return next((one for one in choices if get_origin(one) is list), Any)
    if not isinstance(value, dict):
        return Any
    classes = [one for one in choices if dataclasses.is_dataclass(one)]
    maps = [one for one in choices if get_origin(one) is dict]

    def fit(one: Any) -> tuple[int, int]:
        names = _hints(one).keys()
        return len(names & value.keys()), -len(names - value.keys())

    return max(classes, key=fit) if classes else (maps[0] if maps else Any)


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls, vars(sys.modules[cls.__module__]))

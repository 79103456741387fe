"""What a line of the route table holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PUBLIC = "public"


@dataclass(frozen=True)
class Route:
    """One line of the route table.

    `scopes` has each method's scope (None: any credential but a publishable key; PUBLIC: no credential). `budget` names the
    bucket a method takes from, `publishable` the methods a publishable key may call, `keys` which take an Idempotency-Key
    ("required" or "optional"), `cors` the methods that answer any origin.
    """

    path: str
    view: type[Any]
    scopes: Mapping[str, str | None]
    budget: Mapping[str, str] = field(default_factory=dict)
    publishable: frozenset[str] = frozenset()
    keys: Mapping[str, str] = field(default_factory=dict)
    cors: frozenset[str] = frozenset()

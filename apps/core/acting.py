"""The actor of this request, command or job: set once by its entry point, read by everything that
records it.

Nobody said so: the service itself, on its own account.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum


class ActorKind(StrEnum):
    """In what capacity."""

    PERSON = "person"
    STAFF = "staff"
    KEY = "key"
    APP = "app"
    AGENT = "agent"
    COMMAND = "command"
    VISITOR = "visitor"
    SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """`id` is the person's or credential's; `name` is what people know it by, never a secret;
    `address` is the client's."""

    kind: str = ActorKind.SYSTEM
    id: str = ""
    name: str = ""
    address: str = ""


_NOBODY = Actor()
_actor: ContextVar[Actor] = ContextVar("actor", default=_NOBODY)


def current() -> Actor:
    return _actor.get()


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Within this, `actor` acts, or who `become` says."""
    mark = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(mark)


def become(kind: str, id: object = "", name: str = "") -> None:
    """The entry point has learned who it is; the address stays."""
    _actor.set(Actor(kind, str(id or ""), name, _actor.get().address))

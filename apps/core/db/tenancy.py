"""Tenancy in PostgreSQL: the stores and modes that row-level policies let the running code see.

A view says it once it knows who asks; before that nobody's rows are shown. apps.core.db.postgresql
tells the connection before the next statement, so what an earlier request left on it never counts.
Policies are for the web's role; others see every row.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
# The names under which PostgreSQL's policies read it, in the order of Scope.settings.
SETTINGS = ("tillgate.stores", "tillgate.modes", "tillgate.told")
EVERYONE = "{all}"  # in place of the modes: every store's rows in each


class OwnedStore(Protocol):
    """A store, which may be a platform's sub-merchant."""

    @property
    def pk(self) -> uuid.UUID: ...

    platform_id: uuid.UUID | None


@dataclass(frozen=True)
class Scope:
    """Arrays as PostgreSQL reads them. `listeners` are the stores that hear of what is done: a
    sub-merchant's platform too."""

    stores: str = "{}"
    modes: str = "{}"
    listeners: str = "{}"
    why: str = ""  # of an opening: what needs everybody's rows

    def __or__(self, other: "Scope") -> "Scope":
        """The rows of either's stores in either's modes."""
        both = (
            (self.stores, other.stores),
            (self.modes, other.modes),
            (self.listeners, other.listeners),
        )
        stores, modes, listeners = (
            _array(dict.fromkeys(filter(None, f"{first[1:-1]},{second[1:-1]}".split(","))))
            for first, second in both
        )
        return Scope(stores, modes, listeners, self.why)

    def settings(self) -> tuple[str, str, str]:
        return self.stores, EVERYONE if self.why else self.modes, self.listeners


NOBODY = Scope()
_scope: ContextVar[Scope] = ContextVar("scope", default=NOBODY)


def current() -> Scope:
    return _scope.get()


def of(stores: Iterable[OwnedStore], modes: Iterable[str]) -> Scope:
    """The rows of these stores in these modes."""
    rows = list(stores)
    ids = [str(store.pk) for store in rows]
    platforms = [str(store.platform_id) for store in rows if store.platform_id is not None]
    own = _array(ids)
    return Scope(
        own, _array(modes), _array(dict.fromkeys([*ids, *platforms])) if platforms else own
    )


def _array(values: Iterable[str]) -> str:
    return "{" + ",".join(values) + "}"


def narrow(*stores: OwnedStore, modes: Iterable[str]) -> None:
    """From here on what runs in this request sees these rows alone."""
    _scope.set(of(stores, modes))


@contextmanager
def within(scope: Scope) -> Iterator[None]:
    """Within this, these rows; afterwards those of before."""
    mark = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(mark)


def also(stores: Iterable[OwnedStore], modes: Iterable[str] = ()) -> AbstractContextManager[None]:
    """Within this these stores and modes too, each store in each mode: a platform's accounts, or
    one's own store in both modes."""
    return within(_scope.get() | of(stores, modes))


@contextmanager
def everyone(why: str) -> Iterator[None]:
    """The named opening: every store's rows, for what can't know yet, or doesn't ask, whose they
    are."""
    with within(Scope(why=why)):
        yield


def open_for(why: str) -> None:
    """From here on this request sees every store's rows."""
    _scope.set(Scope(why=why))


def opened(why: str, find: Callable[[], T | None]) -> T | None:
    """The one row that a public link or token names, read with an opening; whose it is, is the
    scope from there on. None where nothing of its store is shown in its mode (decision 740)."""
    with everyone(why):
        row = find()
    if row is not None:
        owned: Any = row
        if owned.store.is_closed_in(owned.mode):
            return None
        narrow(owned.store, modes=[owned.mode])
    return row


def scoped(content: Iterable[T]) -> Iterator[T]:
    """Send content after the request's end, part by part, with the rows that it had."""
    return _parts(iter(content), _scope.get())


def _parts(content: Iterator[T], scope: Scope) -> Iterator[T]:
    while True:
        with within(scope):
            try:
                part = next(content)
            except StopIteration:
                return
        yield part

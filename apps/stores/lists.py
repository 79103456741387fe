"""A person's settings of a store's lists: the columns they chose, and the filters they saved under
a name.

It is in their membership, so it costs no query and ends with it. What can't be read counts as
not set up.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec
from django.db import transaction
from msgspec.structs import replace

from apps.core.errors import Failure
from apps.stores.models import Member

NAME_MAX = 40
QUERY_MAX = 2000
FILTERS_MAX = 20
COLUMNS_MAX = 50


class FilterRefused(Failure):
    """The text says why."""

    field = "name"


class FilterNameMissing(FilterRefused):
    message = "Enter a name for the filter"


class FilterNameTooLong(FilterRefused):
    message = f"The name can have {NAME_MAX} characters at most"


class FilterEmpty(FilterRefused):
    message = "Choose a filter before you save it"


class TooManyFilters(FilterRefused):
    message = f"You can save {FILTERS_MAX} filters for each list. Delete one first"


class SavedFilter(msgspec.Struct, frozen=True):
    """`query` is that of the list's address."""

    name: str
    query: str


class ListSetup(msgspec.Struct, frozen=True):
    """Of one list. No columns: those that are shown by default."""

    columns: Annotated[tuple[str, ...], msgspec.Meta(max_length=COLUMNS_MAX)] = ()
    filters: tuple[SavedFilter, ...] = ()


def setup_of(member: Member, noun: str) -> ListSetup:
    try:
        return msgspec.convert(member.lists.get(noun, {}), ListSetup)
    except (msgspec.ValidationError, AttributeError):
        return ListSetup()


def choose_columns(member: Member, noun: str, columns: tuple[str, ...]) -> None:
    """None: those of the default again."""
    _change(member, noun, lambda setup: replace(setup, columns=columns))


def save_filter(member: Member, noun: str, name: str, query: str) -> None:
    """Under this name, instead of what was saved under it before. Raises FilterRefused."""
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise FilterNameMissing
    if len(name) > NAME_MAX:
        raise FilterNameTooLong
    if not query or len(query) > QUERY_MAX:
        raise FilterEmpty
    _change(member, noun, lambda setup: _with(setup, SavedFilter(name, query)))


def _with(setup: ListSetup, saved: SavedFilter) -> ListSetup:
    remaining = _without(setup, saved.name)
    if len(remaining) >= FILTERS_MAX:
        raise TooManyFilters
    return replace(setup, filters=(*remaining, saved))


def delete_filter(member: Member, noun: str, name: str) -> None:
    """Deletes a filter; a missing one is deleted already."""
    _change(member, noun, lambda setup: replace(setup, filters=_without(setup, name)))


def _without(setup: ListSetup, name: str) -> tuple[SavedFilter, ...]:
    return tuple(saved for saved in setup.filters if saved.name != name)


def _change(member: Member, noun: str, change: Callable[[ListSetup], ListSetup]) -> None:
    """Under a lock: two windows of the same person lose nothing of each other's."""
    with transaction.atomic():
        locked = Member.objects.select_for_update(of=("self",)).get(pk=member.pk)
        changed = msgspec.to_builtins(change(setup_of(locked, noun)))
        locked.lists = {**locked.lists, noun: changed}
        locked.save(update_fields=["lists"])

"""No page asks more of the database when there is more to show: of one of each record and of three,
each with more parts, every page takes as many statements, but for those that are named."""

import re
from collections import Counter

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.dashboard.notices import inbox
from apps.staff.pages import ReadOnly
from tests import make
from tests.dashboard.browse import Browser
from tests.growth import pages, world
from tests.growth.each import each
from tests.growth.seed import forget
from tests.growth.world import World
from tests.staff.test_roles import signed_in
from tests.whole import usually

MORE = 2
ON_ONE_PAGE = 1_000  # lists of more than a page find it before they read it
# Once a minute a session notes that somebody came.
_OF_SESSION = re.compile(r'UPDATE "(django_session|access_signin)"|SAVEPOINT')
_VALUE = re.compile(r"'[^']*'(::\w+)?|\b\d+\b")
_VALUES = re.compile(r"\?(, \?)+")
# Pages that take more statements of more records, and of what. It may only get shorter.
GROWING: dict[str, str] = {}


class Reader:
    """Everybody who reads, by what they ask for: lists are asked for as they open."""

    def __init__(self, place: World) -> None:
        self.place = place
        self.owner = Browser(place.shop.owner).prove()
        self.partner = Browser(place.cast.charlie)
        self.clerk = signed_in(make.clerk("finance"))

    def asks(self) -> dict[str, pages.Ask]:
        found = [
            *pages.dashboard(self.place, self.owner),
            *pages.hosted(self.place, Client()),
            *pages.staff(self.clerk),
        ]
        of_platform = [
            ask
            for ask in pages.dashboard(self.place, self.partner)
            if ask.name.startswith("dashboard platform")
        ]
        found += [pages.Ask(f"partner {ask.name}", ask.get) for ask in of_platform]
        return {ask.name: ask for ask in found if "?" not in ask.name or "search" in ask.name}

    def statements(self, names: set[str] | None = None) -> dict[str, list[str]]:
        """Statements of each page, by its name."""
        found = {}
        for name, ask in self.asks().items():
            if names is not None and name not in names:
                continue
            pages.forget_calls()
            with CaptureQueriesContext(connection) as asked:
                answer = ask.get()
            assert answer.status_code in pages.ANSWERS, f"{name}: {answer.status_code}"
            told = [item["sql"] or "" for item in asked]
            found[name] = [statement for statement in told if not _OF_SESSION.search(statement)]
        return found


def test_a_page_takes_as_many_statements_of_three_records_as_of_one(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statements for each record are sent more than once of three: only pages that send some more
    than once are asked for with one, and in the whole suite all."""
    monkeypatch.setattr(ReadOnly, "list_per_page", ON_ONE_PAGE)
    monkeypatch.setattr(inbox, "KEPT_SECONDS", 3600)
    forget()
    place = world.open_store()
    each(place, 0)
    reader = Reader(place)
    with transaction.atomic():
        for number in range(MORE):
            each(place, number + 1, parts=2)
        found = reader.statements()
        repeating = {name for name, asked in found.items() if len(shapes(asked)) < len(asked)}
        again = usually(short=repeating, whole=set(found))
        many = reader.statements(again)  # what a process learns once is known in both now
        transaction.set_rollback(True)
    forget()
    few = reader.statements(again)
    # What the first to come notes and draws was rolled back: some of these are asked only once.
    few |= reader.statements({name for name in again if shapes(few[name]) != shapes(many[name])})

    grown = {
        name: f"{len(few[name])} -> {len(asked)}\n" + "\n".join(added(few[name], asked))
        for name, asked in many.items()
        if len(asked) != len(few[name]) and name not in GROWING
    }
    assert grown == {}, "\n".join(f"{name}: {told}" for name, told in grown.items())
    other = {name for name, asked in many.items() if len(asked) != len(few[name])}
    assert set(GROWING) <= other, "some don't grow any more"


def shapes(statements: list[str]) -> "Counter[str]":
    """How often each is asked, whatever its values are and however many."""
    return Counter(_VALUES.sub("?", _VALUE.sub("?", item)) for item in statements)


def added(few: list[str], many: list[str]) -> list[str]:
    """The statements of which there are more or fewer, without their values."""
    before, after = shapes(few), shapes(many)
    return [
        f"  {after[item] - before[item]:+d} {item[:60]} ... {item[item.find(' FROM ') :][:160]}"
        for item in before | after
        if before[item] != after[item]
    ]

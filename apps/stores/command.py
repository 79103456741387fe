"""Shared behavior of operator commands: `--json` prints one object and nothing else; a refusal is
one line and exit 1."""

import json
import os
import re
import sys
from decimal import Decimal
from getpass import getuser
from typing import Any, Generic, TypeVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError
from msgspec import Struct, to_builtins
from psycopg.errors import UndefinedTable

from apps.core import clock
from apps.core.acting import Actor, ActorKind, acting
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid, is_uuid
from apps.stores.models import StaffRequest, Store, User
from apps.stores.staff import four_eyes

_FRACTION = re.compile(r"0(\.[0-9]{1,8})?", re.ASCII)


class Result(Struct, frozen=True, kw_only=True):
    """A command's results, in the order in which `--json` prints them."""


ResultT = TypeVar("ResultT", bound=Result | None)


class OperatorCommand(BaseCommand, Generic[ResultT]):
    """A subclass has `arguments` and `run`, which returns what `--json` prints."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object and nothing else"
        )
        self.arguments(parser)

    def arguments(self, parser: CommandParser) -> None:
        """The command's own options."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with acting(
                Actor(
                    ActorKind.COMMAND,
                    name=f"{type(self).__module__.rpartition('.')[2]} ({_user()})",
                )
            ):
                result = self.run(**options)
        except (Failure, Invalid) as refusal:
            sys.stderr.write(f"{refusal}\n")
            raise SystemExit(1) from None
        except CommandError as error:
            sys.stderr.write(f"{error}\n")
            raise SystemExit(1) from None
        except ProgrammingError as error:
            if not isinstance(error.__cause__, UndefinedTable):
                raise
            sys.stderr.write(
                "The database has no tables yet: run manage.py migrate, or start the demo once\n"
            )
            raise SystemExit(1) from None
        self.stdout.write(
            json.dumps(to_builtins(result)) if options["json"] else self.words(result)
        )

    def run(self, **options: Any) -> ResultT:
        raise TypeError("a command defines run")

    def words(self, result: ResultT) -> str:
        """The result for a person."""
        return json.dumps(to_builtins(result), indent=2)


def _user() -> str:
    """Name of the person who is logged in on this machine; a container's user may have no name."""
    try:
        return getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def fraction(text: str) -> Decimal:
    """A decimal fraction below 1, as fees are given; CommandError otherwise."""
    if not _FRACTION.fullmatch(text):
        raise CommandError(f"{text!r} is not a decimal fraction below 1 with at most 8 places")
    return Decimal(text)


def staff_named(email: str | None) -> User:
    """An active member of staff; CommandError when there is none. What they may is asked by the
    services."""
    person = User.objects.with_email(email) if email else None
    if person is None or not (person.is_staff and person.is_active):
        raise CommandError("Give --staff: the email address of the responsible member of staff")
    return person


class StaffRequestResult(Result, frozen=True, kw_only=True):
    """A request to a second member of staff; a line says what is changed, from what and to what."""

    id: str
    kind: str
    name: str
    lines: list[tuple[str, str, str]]
    reason: str
    state: str
    asked_by: str
    asked_at: str | None
    expires_at: str | None
    decided_by: str | None


def staff_request_result(row: StaffRequest) -> StaffRequestResult:
    return StaffRequestResult(
        id=str(row.pk),
        kind=row.kind,
        name=row.name,
        lines=four_eyes.content_of(row).lines,
        reason=row.reason,
        state=row.state,
        asked_by=row.asked_by.email,
        asked_at=clock.iso(row.asked_at),
        expires_at=clock.iso(row.expires_at),
        decided_by=row.decided_by.email if row.decided_by else None,
    )


def store_named(store_id: str) -> Store:
    """The store with this id; CommandError when there is none."""
    store = (
        Store.objects.filter(pk=store_id, deleted_at=None).first() if is_uuid(store_id) else None
    )
    if store is None:
        raise CommandError(f"There is no store {store_id}")
    return store

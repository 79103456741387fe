"""Every operation of the table, asked for by everybody through every door that has it: what comes
back is what the table says.

Which refusals are right is worked out here from the row alone. Nothing stays of an attempt: each is
rolled back.
"""

import itertools

import pytest
from django.test import Client

from apps.access.operations import ACT, ALWAYS, ANY_SCOPE, LIVE, TABLE, Operation
from apps.access.scopes import AGENT, ALL
from apps.access.services import create_agent_credential, create_api_key
from apps.stores import roles
from apps.stores.models import Role
from tests.access.matrix.asking import REFUSALS, ask, signed_in, told
from tests.access.matrix.lines import APART, LINES, OF_BOTH_MODES, Line
from tests.access.matrix.world import World, token_of
from tests.contract.oauth.apps import App
from tests.whole import IS_WHOLE

FACTORS = ("none", "enrolled", "recent")
# What a credential is told of what people, or others, do.
NOT_YOURS = REFUSALS - {"mfa_required", "otp_required"}


def test_every_row_is_asked_for_or_has_a_test_of_its_own() -> None:
    assert {line.row for line in LINES} | set(APART) == set(TABLE)
    assert not {line.row for line in LINES} & set(APART)


def reasons(row: Operation, role: str, factor: str, mode: str) -> set[str]:
    """Reasons that this person may be given; none for who is let in."""
    found = set()
    if not row.permission or not roles.may(role, row.permission):
        found |= {"role_forbidden", "insufficient_scope", "credential_forbidden"}
    is_live = mode == "live" or not row.has_mode or row in OF_BOTH_MODES
    if factor == "none":
        if row.factor == ALWAYS or (row.factor == LIVE and is_live):
            found.add("mfa_required")
    elif row.code and not (factor == "recent" and row.code != ACT):
        found.add("otp_required")
    return found


def agrees(got: str, allowed: set[str]) -> bool:
    return got in allowed if allowed else got == "passed"


def groups(*doors: str) -> list[list[Line]]:
    """The lines by the noun of their row: a world is made once for each."""
    found: dict[str, list[Line]] = {}
    for line in LINES:
        if line.door in doors:
            found.setdefault(line.row.name.partition(".")[0], []).append(line)
    return list(found.values())


def named(lines: list[Line]) -> str:
    return lines[0].row.name.partition(".")[0]


def is_asked(line: Line, mode: str, role: str, factor: str) -> bool:
    """Each role asks for each line once, and an owner without a factor in each mode: role, factor
    and mode are asked about one after the other, and only the whole suite crosses them."""
    if mode not in line.modes:
        return False
    if IS_WHOLE:
        return True
    first, last = line.modes[0], line.modes[-1]
    does_admin = roles.may(Role.ADMIN, line.row.permission)
    if role == Role.OWNER:
        return factor == "none" or (mode == last and (factor == "recent" or not does_admin))
    if role == Role.ADMIN and does_admin:
        return (mode, factor) == (first, "enrolled")
    return (mode, factor) == (last, "recent")


@pytest.mark.parametrize("lines", groups("api", "page"), ids=named)
def test_a_person_may_what_the_table_says(world: World, lines: list[Line]) -> None:
    wrong = []
    for mode, role, factor in itertools.product(("test", "live"), Role.values, FACTORS):
        asked = [line for line in lines if is_asked(line, mode, role, factor)]
        if not asked:
            continue
        client = signed_in(
            world, role, mode, has_factor=factor != "none", is_recent=factor == "recent"
        )
        for line in asked:
            allowed = reasons(line.row, role, factor, mode)
            got = ask(world, line, mode, client, as_part="role_forbidden" in allowed)
            if not agrees(got, allowed):
                wrong.append(told(line, mode, role, factor, got, allowed))
    nobody = [
        told(line)
        for line in lines
        if ask(world, line, "test", Client()) not in ("authentication_required", "login_required")
    ]
    assert not wrong + nobody, "\n".join(wrong + nobody)


def asked_with(row: Operation) -> list[tuple[tuple[str, ...], bool]]:
    """Scopes of a key, and whether it may: the right one alone, and all the others together, which
    finds any of them that would replace it. Only the whole suite asks with each."""
    if row.key == ANY_SCOPE:
        return [((), True)]
    others = tuple(scope for scope in ALL if scope != row.key)
    alone = [((scope,), scope == row.key) for scope in ALL if IS_WHOLE or scope == row.key]
    return [((), False), (others, False), *alone]


class Keys(dict[tuple[str, ...], str]):
    """Keys by their scopes, each made when it is asked for."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def __missing__(self, scopes: tuple[str, ...]) -> str:
        made = create_api_key(self.world.store, "test", scope_names=list(scopes))[1]
        return self.setdefault(scopes, made)


@pytest.mark.parametrize("lines", groups("api"), ids=named)
def test_a_credential_may_what_its_scope_says_and_nothing_that_people_do(
    world: World, lines: list[Line]
) -> None:
    keys = Keys(world)
    agent = create_agent_credential(world.store, "test")[1]
    live = create_api_key(world.store, "live", scope_names=ALL)[1]
    wrong = []
    for line in lines:
        for scopes, is_right in asked_with(line.row):
            got = ask(world, line, "test", Client(), Authorization=f"Bearer {keys[scopes]}")
            if not agrees(got, set() if is_right else NOT_YOURS):
                wrong.append(told(line, *scopes, got))
        if (ask(world, line, "live", Client(), Authorization=f"Bearer {live}") == "passed") != (
            line.row.key is not None
        ):
            wrong.append(told(line, "live"))
        if ask(world, line, "test", Client(), Authorization=f"Bearer {agent}") not in (
            "invalid_api_key",
            "login_required",
        ):
            wrong.append(told(line, "an agent"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("lines", groups("api"), ids=named)
def test_an_app_and_a_platform_may_what_the_table_says(world: World, lines: list[Line]) -> None:
    app = App(world.cast)
    wrong = []
    acting = {
        "Authorization": f"Bearer {create_api_key(world.store, 'test', scope_names=ALL)[1]}",
        "X-Service-Account": str(world.names["test"]["account"]),
    }
    tokens = {
        role: token_of(world.people[role, False], world.store, "test", app, " ".join(ALL))[0]
        for role in Role.values
    }
    for line in lines:
        for role, token in tokens.items():
            is_right = line.row.key is not None and roles.may(role, line.row.permission)
            got = ask(world, line, "test", Client(), Authorization=f"Bearer {token}")
            if not agrees(got, set() if is_right else NOT_YOURS):
                wrong.append(told(line, role, got))
        got = ask(world, line, "test", Client(), **acting)
        if not agrees(got, set() if line.row.for_platforms else NOT_YOURS):
            wrong.append(told(line, "acting", got))
    assert not wrong, "\n".join(wrong)


def test_an_agent_may_what_its_scope_says(world: World) -> None:
    wrong = []
    agents = {
        scope: create_agent_credential(world.store, "test", scope_names=[scope])[1]
        for scope in AGENT
    }
    for line, scope in itertools.product([line for line in LINES if line.door == "agent"], AGENT):
        got = ask(world, line, "test", Client(), Authorization=f"Bearer {agents[scope]}")
        if not agrees(got, set() if line.row.agent == scope else {"insufficient_scope"}):
            wrong.append(told(line, scope, got))
    assert not wrong, "\n".join(wrong)

"""No operation that takes no code of its own opens a way to one that does: the table is walked
along what each of its rows opens, and that is compared with what the services make."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from apps.access import operations as T
from apps.access.operations import ACT, NO_CODE, RECENT, TABLE, Operation
from apps.stores import roles
from tests.access.test_operations import reach, services

ROWS = {name: row for name, row in vars(T).items() if isinstance(row, Operation)}
# What somebody has afterwards who does an operation, for whatever they, or others, do then.
NOTHING = "nothing"
CREDENTIAL = "credential"  # a key, agent or app, which is asked for no code
MEMBER = "member"  # a person with a role that may more
PROOF = "proof"  # another code, passkey or mailbox that is taken for the person
DESTINATION = "destination"  # where money goes without being asked again
OPENS = {
    CREDENTIAL: (
        T.KEY_CREATE,
        T.GUARDED_KEY_CREATE,
        T.AGENT_CREATE,
        T.GUARDED_AGENT_CREATE,
        T.APP_CHANGE,
        T.APP_ROTATE,
        T.GRANT,
        T.GUARDED_GRANT,
        T.TAKE_OVER,
    ),
    MEMBER: (T.INVITE, T.ROLE_CHANGE, T.HAND_OVER),
    PROOF: (T.FACTOR_REMOVE, T.CODES_RENEW, T.PASSKEY_ADD, T.EMAIL_CHANGE),
    DESTINATION: (T.DESTINATION_ADD, T.SCHEDULE_CREATE, T.SCHEDULE_CHANGE, T.LINK_CREATE),
    # Each of these was looked at: what comes of it pays nobody, and signs nobody in.
    NOTHING: (
        T.PAYOUT_GIVE_UP,
        T.PAYOUT_REJECT,
        T.BATCH_DISCARD,
        T.LATE_DEPOSIT,
        T.SHORTFALL,
        T.MANDATE_REVOKE,
        T.DESTINATION_REMOVE,
        T.SCHEDULE_PAUSE,
        T.SCHEDULE_DELETE,
        T.AUTO_SWAP_STOP,
        T.CREDENTIALS_SEE,
        T.KEY_REVOKE,
        T.AGENT_REVOKE,
        T.APP_CREATE,  # an app that nobody has authorized
        T.APP_DEACTIVATE,
        T.GRANT_REVOKE,
        T.ACT_FOR,  # what is done then is asked for its own code
        T.HOOK_CREATE,
        T.HOOK_CHANGE,
        T.HOOK_ROTATE,
        T.HOOK_SWITCH,
        T.HOOK_DELETE,
        T.ACCOUNT_CLOSE,
        T.STORE_CLOSE,
        T.COMPATIBLE_APIS,  # its callers need a key of the store
        T.TEST_DATA_RESET,
        T.INVITE_REVOKE,
        T.MEMBER_REMOVE,
    ),
}
KIND = {row: kind for kind, rows in OPENS.items() for row in rows}
PAYS = {T.PAYOUT, T.BANK_PAYOUT, T.SCHEDULE_RUN, T.BATCH_RELEASE}


def opened_by(kind: str) -> set[Operation]:
    """The rows that somebody, or something, can do then and couldn't before."""
    if kind == CREDENTIAL:
        return {other for other in TABLE if other.key or other.agent}
    if kind == MEMBER:
        return {other for other in TABLE if other.permission in roles.TABLE}
    if kind == PROOF:
        return {other for other in TABLE if other.code in (RECENT, ACT)}
    return PAYS if kind == DESTINATION else set()


def ways_of(table: tuple[Operation, ...], kinds: Mapping[Operation, str]) -> list[str]:
    """Complaints, each about a row that people do without a code of its own, and where it leads."""
    wrong = []
    for row in table:
        if row.code not in (NO_CODE, RECENT) or not row.permission:
            continue
        if row not in kinds:
            wrong.append(f"nobody has said what {row.name} opens")
            continue
        opened = opened_by(kinds[row])
        wrong += [f"{row.name} opens {other.name}" for other in opened if other.code == ACT]
    return wrong


def test_no_row_without_a_code_of_its_own_opens_one_that_takes_one() -> None:
    assert ways_of(TABLE, KIND) == []
    assert sum(map(len, OPENS.values())) == len(KIND), "each row stands there once"


@pytest.mark.parametrize("code", [NO_CODE, RECENT])
@pytest.mark.parametrize("kind", ["", CREDENTIAL, MEMBER, PROOF, DESTINATION])
def test_a_row_that_somebody_adds_carelessly_is_found(code: str, kind: str) -> None:
    careless = replace(T.KEY_CREATE, name="key.lend", code=code)
    assert ways_of((*TABLE, careless), KIND | ({careless: kind} if kind else {}))


@pytest.mark.parametrize("row", [row for row, kind in KIND.items() if kind != NOTHING])
def test_a_row_that_loses_its_code_is_found(row: Operation) -> None:
    weaker = replace(row, code=RECENT)
    assert ways_of((weaker,), {weaker: KIND[row]})


# --- what the services make ---

# What is minted, or kept, for later -> what the row of its service must say.
MAKES = {
    "credentials.mint": {CREDENTIAL, DESTINATION},
    "_fresh_secret": {CREDENTIAL},
    "Invitation": {MEMBER},
    "second_factor.take_off": {PROOF},
    "second_factor.renew_backup_codes": {PROOF},
    "passkeys.add": {PROOF},
}
# Minted, but nobody can use it yet.
UNUSABLE = {
    "apps.access.authorization.apps.create_app": "an app that nobody has authorized holds nothing",
    "apps.access.authorization.apps.agent_credential": "an authorized app does it, no person",
}


def made_by_services() -> Iterator[tuple[str, str, set[str]]]:
    """Each service that names rows and makes something for later: it, what, and the rows."""
    for module, functions in services().items():
        for name, function in functions.items():
            named = {
                node.attr
                for node in ast.walk(function)
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "operations"
                and node.attr in ROWS
            }
            made = reach(module, name) & set(MAKES) if named else set()
            yield from ((f"{module}.{name}", what, named) for what in made)


def test_what_services_make_is_what_their_rows_say() -> None:
    found = list(made_by_services())
    wrong = [
        (service, what, row)
        for service, what, named in found
        for row in named
        if service not in UNUSABLE and KIND.get(ROWS[row]) not in MAKES[what]
    ]
    assert wrong == []
    assert {what for _, what, _ in found} == set(MAKES), "each is found somewhere"
    assert set(UNUSABLE) <= {service for service, _, _ in found}

"""One table says who may do what: services ask it, doors hand them the person or key, and each
operation that a door reaches is in it or says why not."""

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from apps.access import operations
from apps.access.operations import ANY_SCOPE, GUARDED_SCOPES, TABLE, YOURSELF
from apps.access.scopes import AGENTS, ALL
from apps.stores import roles

ROOT = Path(__file__).resolve().parents[2]
APPS = ("access", "chain", "payouts", "payments", "swaps", "agents", "platforms", "webhooks")
DOORS = ("api", "dashboard", "hosted")
ASKS = {"operations.check", "operations.check_person", "rights.check_grant"}
CHANGES = {"change_status", "change_locked", "change_many", "change_all"}
SAVES = {"create", "update_or_create", "get_or_create", "bulk_create", "save", "delete", "update"}
WRITES = {"audit.record", "sender.request", "insert", *CHANGES, *SAVES}
_SQL_THAT_WRITES = re.compile(r"\s*(WITH\b.*\b)?(INSERT|UPDATE|DELETE)\b", re.DOTALL)
# What a door calls and what writes, but moves no money and opens no way for it.
ELSEWHERE = {
    "access.person.account_closing.close_account": "their own, with the password and a fresh code",
    "access.person.email_change.finish": (
        "by a link that was sent to the new address, asked for with the password"
    ),
    "access.members.invitations.accept": "by the invited person, with the token of the email",
    "access.members.invitations.accept_as_new": "by the invited person, with the email's token",
    "access.person.new_browsers.end": "by the link of the person's email, and only ends a session",
    "access.factors.passkeys.rename": "a name",
    "access.factors.second_factor.pending": "a key that is in force once a code of it was seen",
    "access.services.active_token": "notes that the token was used",
    "access.services.authenticate": "notes that the credential was used",
    "access.person.sessions.adopt": "their own session",
    "access.person.sessions.choose_mode": "what they look at themselves",
    "access.person.sessions.end": "their own session",
    "access.person.sessions.keep": "their own session",
    "access.person.sessions.leave": "their own session",
    "access.members.team.leave": "nobody is kept in a store",
    "access.waiting_period.stop_change": "by an owner's link, and only closes",
    "payouts.approval_rules.stop_change": "by an owner's link, and only closes",
    "payouts.batches.stop_batch": "by an owner's link, and only closes",
    "access.authorization.grants.revoke_by_link": "by an owner's link, and only closes",
    "payouts.schedules.stop_schedule": "by an owner's link, and only closes",
    "swaps.auto.stop_auto_swap": "by an owner's link, and only closes",
    "agents.x402_settle.settle": "takes a customer's money for the store",
    "payments.cancel.cancel_payment": (
        "an agent's scope, and only closes an intent that nothing has come to"
    ),
    "payments.cancel.cancel_for_merchant": "only closes an intent that nothing has come to",
    "payments.extend.extend_payment": "gives a customer more time for the same money",
    "payments.notes.add_note": "words for the store's own people, which move nothing",
    "payments.refund_destinations.enter_unproven": (
        "shown to the merchant as unproved, who sends a refund there with a code or not"
    ),
    "payments.refund_links.ask_customer": "a link to the email that the payment has had before",
    "payments.renew.renew_payment": "asks a customer for the same money as before",
    "payments.simulate.simulate_deposit": "test mode, coins of nothing",
    "payments.test_wallet.send_test_payment": "test mode, coins of nothing",
    "payments.transaction_lookup.find_for_customer": "a note of coins that nobody can return",
    "payments.transaction_lookup.find_named_transaction": "a note of coins that nobody can return",
    "payments.views.note_viewed": "that whoever has the link looked at it, once",
    "payouts.batches.open_batch": "a list that waits for its release",
    "payouts.callbacks.take_callback": "signed by the off-ramp",
    "platforms.access_requests.request_access": "staff decide",
    "platforms.accounts.create_account": "an empty store",
    "platforms.accounts.restore_account": "its credentials stay off",
    "platforms.accounts.update_account": "a name and the platform's own fee",
    "platforms.sellers.change_seller": "whom the invoices of a sub-merchant name",
    "platforms.confirmations.enter_code": (
        "by the contact of the business, with the code of the email"
    ),
    "platforms.confirmations.send_again": "a new code, to the contact alone",
    "platforms.confirmations.stop": "by the contact's link, and only closes",
    "platforms.verifications.submit_own": "staff decide",
    "platforms.onboarding.finish": "by the sub-merchant, with the token of the link",
    "platforms.onboarding.save_bank": (
        "with the token of the link; in live mode held until the business's contact was told"
    ),
    "platforms.onboarding.save_wallet": (
        "with the token of the link; in live mode held until the business's contact was told"
    ),
    "platforms.onboarding.tell_business": "by the sub-merchant, with the token of the link",
    "platforms.verifications.submit_verification": "staff decide",
    "webhooks.deliveries.redeliver": "what was told before, to the same place",
    "webhooks.deliveries.resend_missed": "what was told before, to the same place",
    "webhooks.deliveries.resend_range": "what was told before, to the same place",
    "webhooks.deliveries.send_test": "made-up events",
}


@cache
def services() -> dict[str, dict[str, ast.FunctionDef]]:
    """Module -> its functions, of every module in which merchants' writes are."""
    found = {}
    for app in APPS:
        folder = ROOT / "apps" / app
        for path in (folder if app == "access" else folder / "services").rglob("*.py"):
            tree = ast.parse(path.read_text())
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name] = {
                node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)
            }
    return found


def has_sql_that_writes(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and _SQL_THAT_WRITES.match(part.value)
        for part in ast.walk(node)
    )


def calls_of(function: ast.FunctionDef) -> set[str]:
    """Calls of a function, and the names of what it may hand on to be called. A statement of its
    own that writes is an update."""
    handed = {
        arg.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        for arg in node.args
        if isinstance(arg, ast.Name)
    }
    called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    sql = {"update"} if has_sql_that_writes(function) else set()
    return called | (handed - WRITES) | sql


def reach(module: str, name: str) -> set[str]:
    """Calls of a function and of those of its module that it calls."""
    seen: set[str] = set()
    due = [name]
    while due:
        called = calls_of(services()[module][due.pop()])
        due += [item for item in called - seen if item in services()[module]]
        seen |= called
    return seen


def asks(module: str, name: str) -> bool:
    return not ASKS.isdisjoint(reach(module, name))


def writes(module: str, name: str) -> bool:
    return any(
        item in WRITES or item.rpartition(".")[2] in WRITES or item.startswith("movements.")
        for item in reach(module, name)
    )


def uses(text: str) -> Iterator[tuple[str, str, ast.Call | None]]:
    """The functions of services that a door's module names, each with the call if it is one."""
    tree = ast.parse(text)
    names = {}
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                if name.name in services().get(node.module, {}):
                    names[name.asname or name.name] = (node.module, name.name)
                elif f"{node.module}.{name.name}" in services():
                    modules[name.asname or name.name] = f"{node.module}.{name.name}"
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else node
        call = node if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name) and function.id in names:
            yield (*names[function.id], call)
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id in modules
        ):
            module = modules[function.value.id]
            if function.attr in services()[module]:
                yield module, function.attr, call


def uses_of_doors() -> Iterator[tuple[str, str, ast.Call | None]]:
    for door in DOORS:
        for path in (ROOT / "apps" / door).rglob("*.py"):
            yield from uses(path.read_text())


def short(module: str, name: str) -> str:
    return f"{module.removeprefix('apps.').replace('.services.', '.')}.{name}"


def test_what_a_door_can_write_names_its_operation_or_stands_in_the_list_with_its_reason() -> None:
    reached = {(module, name) for module, name, _ in uses_of_doors()}
    unasked = {short(*item) for item in reached if writes(*item) and not asks(*item)}
    assert unasked == set(ELSEWHERE)


def test_a_service_that_takes_who_asks_is_told_by_every_door() -> None:
    """`by=None` is the operator: a door that leaves it out would be one."""
    silent = []
    for module, name, call in uses_of_doors():
        arguments = services()[module][name].args
        takes = {item.arg for item in (*arguments.args, *arguments.kwonlyargs)}
        if call is not None and "by" in takes - {keyword.arg for keyword in call.keywords}:
            silent.append(f"{module}.{name}")
    assert not silent


def test_the_rules_find_what_they_should() -> None:
    """A door of a bad house: one call without who asks, and a service that asks nothing."""
    text = "from apps.payouts.services.retry import retry_payout\nretry_payout(row)\n"
    (module, name, _), *_ = uses(text)
    assert short(module, name) == "payouts.retry.retry_payout"
    assert asks(module, name) and writes(module, name)
    assert not asks("apps.payouts.services.create", "make_payout")
    assert writes("apps.payouts.services.create", "make_payout")


def test_every_row_is_asked_by_some_service() -> None:
    text = "".join(
        path.read_text()
        for app in APPS
        for path in (ROOT / "apps" / app).rglob("*.py")
        if path.name != "operations.py"
    )
    names = {
        name for name, value in vars(operations).items() if isinstance(value, operations.Operation)
    }
    assert {name for name in names if f"operations.{name}" not in text} == set()


def test_a_row_makes_sense() -> None:
    for row in TABLE:
        assert row.permission in {*roles.TABLE, YOURSELF, ""}, row
        assert row.key in {None, ANY_SCOPE, AGENTS, *ALL}, row
        assert row.permission or row.key or row.agent, f"nobody does {row.name}"
        assert not row.waits or (row.code and row.emails), (
            f"{row.name}: a waiting period goes with a code and an email"
        )
        if row.permission and row.key in ALL and row.permission != YOURSELF:
            for role in roles.Role.values:
                held = row.key in roles.scopes_of(role, frozenset(ALL))
                assert held == roles.may(role, row.permission), (
                    f"{row.name}: a role has the scopes of what it may do, and no others"
                )


def test_names_are_different_and_money_scopes_are_those_of_the_table() -> None:
    assert len({row.name for row in TABLE}) == len(TABLE)
    money = {
        "payouts:write",
        "refunds:write",
        "x402:write",
        "webhooks:write",
        "accounts:write",
        "accounts:act",
        "agents:write",
    }
    assert money == GUARDED_SCOPES


# --- what people read ---

DOCUMENT = ROOT / "docs" / "security.md"
BEGIN = "<!-- operations: written by WRITE_OPERATIONS=1 -->"
END = "<!-- end of operations -->"
WHO = {
    "": "nobody",
    YOURSELF: "yourself",
    roles.INSPECT: "",
    roles.DEVELOP: "",
    roles.MOVE_MONEY: "",
    roles.MANAGE: "",
    roles.OWN: "",
}


def _cells(row: operations.Operation) -> list[str]:
    people = WHO[row.permission] or ", ".join(
        role for role in roles.Role.values if roles.may(role, row.permission)
    )
    key = {None: "no", ANY_SCOPE: "yes, with any scope"}.get(row.key, f"`{row.key}`")
    factor = row.factor if row.has_mode or row.factor == operations.NEVER else "always"
    code = {
        operations.NO_CODE: "no",
        operations.RECENT: "of the last 5 minutes",
        operations.ACT: "for this act",
    }.get(row.code, row.code)
    agent = f"`{row.agent}`" if row.agent else "no"
    acting = "yes" if row.for_platforms and row.key else "no"
    return [
        row.does,
        people,
        key,
        agent,
        acting,
        factor,
        code,
        "yes" if row.waits else "no",
        row.emails or "no",
    ]


def rendered() -> str:
    head = [
        "What",
        "People",
        "Keys and apps",
        "Agents",
        "Platform acting",
        "Second factor",
        "Code",
        "Waits",
        "Email",
    ]
    lines = [head, ["---"] * len(head), *(_cells(row) for row in TABLE)]
    return "\n".join([BEGIN, *("| " + " | ".join(cells) + " |" for cells in lines), END])


def test_the_document_has_the_table_as_it_is() -> None:
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    if os.environ.get("WRITE_OPERATIONS"):
        DOCUMENT.write_text(f"{before}{rendered()}{after}")
    assert f"{before}{rendered()}{after}" == DOCUMENT.read_text()

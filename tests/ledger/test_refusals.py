"""Refusals of PostgreSQL, for every role: each row is an attempt in plain SQL."""

import uuid

import pytest
from django.db import Error, connection, transaction

from apps.ledger.models import Account, Movement
from apps.ledger.posting import account_id
from tests.ledger.books import AT, COIN, Books

APPEND_ONLY = "23001"
BROKEN_RULE = "23514"
OVERDRAWN = "TG001"
TWICE = "23505"

NEW_MOVEMENT = (
    "INSERT INTO ledger_movement (key, kind, mode, reason, at) VALUES ('k', 'x', '{mode}', '',"
    " now()) RETURNING id"
)
# A movement of this transaction with the legs that follow: (account, asset, amount).
WITH_LEGS = (
    "WITH m AS (INSERT INTO ledger_movement (key, kind, mode, reason, at) VALUES ('k', 'x',"
    " '{mode}', '', now()) RETURNING id) INSERT INTO ledger_entry (movement_id, account_id,"
    " asset_id, amount_atomic, role) SELECT m.id, leg.* FROM m, (VALUES {legs}) AS leg(a, b, c, d)"
)


def legs(*rows: str, mode: str = "live") -> str:
    return WITH_LEGS.format(mode=mode, legs=", ".join(f"({row}, 'principal')" for row in rows))


def for_payment(statement: str) -> str:
    """The legs, serving a payment."""
    return statement.replace("mode, reason, at", "mode, reference, reason, at").replace(
        "'', now()", "'{payment}', '', now()"
    )


ATTEMPTS = {
    "change an entry": ("UPDATE ledger_entry SET amount_atomic = amount_atomic + 1", APPEND_ONLY),
    "change an entry to itself": ("UPDATE ledger_entry SET role = role", APPEND_ONLY),
    "delete an entry": ("DELETE FROM ledger_entry", APPEND_ONLY),
    "empty the entries": ("TRUNCATE ledger_entry", APPEND_ONLY),
    "change a movement": ("UPDATE ledger_movement SET reason = 'other'", APPEND_ONLY),
    "delete a movement": ("DELETE FROM ledger_movement", APPEND_ONLY),
    "empty everything": (
        "TRUNCATE ledger_movement, ledger_entry, ledger_account CASCADE",
        APPEND_ONLY,
    ),
    "delete an account": ("DELETE FROM ledger_account", APPEND_ONLY),
    "lift an account's guard": (
        "UPDATE ledger_account SET is_guarded = false WHERE id = {available}",
        APPEND_ONLY,
    ),
    "give an account to the other mode": (
        "UPDATE ledger_account SET mode = 'test' WHERE id = {available}",
        APPEND_ONLY,
    ),
    "invent a checkpoint": (
        "UPDATE ledger_account SET checkpoint_atomic = 7 WHERE id = {available}",
        BROKEN_RULE,
    ),
    "checkpoint into the future": (
        "UPDATE ledger_account SET checkpoint_id = 9000000000 WHERE id = {available}",
        BROKEN_RULE,
    ),
    "checkpoint what was only just observed": (
        (
            "UPDATE ledger_account SET checkpoint_id = (SELECT max(id) FROM ledger_entry WHERE"
            " account_id = {available}), checkpoint_atomic = ledger_balance({available}),"
            " observed_id = 9000000000, observed_xid = '3' WHERE id = {available}"
        ),
        BROKEN_RULE,
    ),
    "open an account with money on it": (
        (
            "INSERT INTO ledger_account (mode, asset_id, kind, is_guarded, checkpoint_atomic)"
            " VALUES ('live', 'ETH', 'treasury', false, 5)"
        ),
        BROKEN_RULE,
    ),
    "an unguarded store account": (
        (
            "INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded,"
            " checkpoint_atomic) VALUES ('{store}', 'live', 'ETH', 'available', false, 0)"
        ),
        BROKEN_RULE,
    ),
    "a store account of nobody": (
        (
            "INSERT INTO ledger_account (mode, asset_id, kind, is_guarded, checkpoint_atomic)"
            " VALUES ('live', 'ETH', 'held', true, 0)"
        ),
        BROKEN_RULE,
    ),
    "a service account of a store": (
        (
            "INSERT INTO ledger_account (store_id, mode, asset_id, kind, is_guarded,"
            " checkpoint_atomic) VALUES ('{store}', 'live', 'ETH', 'treasury', false, 0)"
        ),
        BROKEN_RULE,
    ),
    "an account of no known kind": (
        (
            "INSERT INTO ledger_account (mode, asset_id, kind, is_guarded, checkpoint_atomic)"
            " VALUES ('live', 'ETH', 'pocket', false, 0)"
        ),
        BROKEN_RULE,
    ),
    "the same account again": (
        (
            "INSERT INTO ledger_account (mode, asset_id, kind, is_guarded, checkpoint_atomic) "
            "VALUES ('live', '{coin}', 'custody_deposits', false, 0)"
        ),
        TWICE,
    ),
    "a movement without entries": (NEW_MOVEMENT.format(mode="live"), BROKEN_RULE),
    "a movement in no known mode": (
        legs("{custody}, '{coin}', -1", "{available}, '{coin}', 1", mode="demo"),
        BROKEN_RULE,
    ),
    "a movement with a used key": (
        legs("{custody}, '{coin}', -1", "{available}, '{coin}', 1").replace("'k'", "'{key}'"),
        TWICE,
    ),
    "an unsigned correction": (
        legs("{custody}, '{coin}', -1", "{available}, '{coin}', 1").replace("'x'", "'correction'"),
        BROKEN_RULE,
    ),
    "hold coins for no payment": (
        legs("{custody}, '{coin}', -1", "{held}, '{coin}', 1"),
        BROKEN_RULE,
    ),
    "one leg": (legs("{available}, '{coin}', 5"), BROKEN_RULE),
    "legs that don't cancel out": (
        legs("{custody}, '{coin}', -5", "{available}, '{coin}', 6"),
        BROKEN_RULE,
    ),
    "legs that cancel out across assets": (
        legs("{custody}, '{coin}', -5", "{native}, 'ETH', 5"),
        BROKEN_RULE,
    ),
    "a leg of nothing": (legs("{custody}, '{coin}', 0"), BROKEN_RULE),
    "a leg in another asset than its account": (
        legs("{custody}, 'ETH', -5", "{available}, 'ETH', 5"),
        BROKEN_RULE,
    ),
    "a live movement on a test account": (
        legs("{custody}, '{coin}', -5", "{test_held}, '{coin}', 5"),
        BROKEN_RULE,
    ),
    "a leg with no known role": (
        legs("{custody}, '{coin}', -1", "{available}, '{coin}', 1").replace("principal", "tip"),
        BROKEN_RULE,
    ),
    "a leg on no account": (legs("{custody}, '{coin}', -5", "987654321, '{coin}', 5"), BROKEN_RULE),
    "legs of no movement": (
        (
            "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)"
            " VALUES (987654321, {custody}, '{coin}', -5, 'principal'), (987654321, {available},"
            " '{coin}', 5, 'principal')"
        ),
        BROKEN_RULE,
    ),
    "legs added to an old movement": (
        (
            "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)"
            " VALUES ({movement}, {custody}, '{coin}', -5, 'principal'), ({movement}, {available},"
            " '{coin}', 5, 'principal')"
        ),
        BROKEN_RULE,
    ),
    "a leg with an id of before": (
        (
            "WITH m AS (INSERT INTO ledger_movement (key, kind, mode, reason, at) VALUES ('k', 'x',"
            " 'live', '', now()) RETURNING id) INSERT INTO ledger_entry (id, movement_id,"
            " account_id, asset_id, amount_atomic, role) SELECT leg.a, m.id, leg.b, leg.c, leg.d,"
            " leg.e FROM m, (VALUES (-5, {custody}, '{coin}', -1, 'principal'), (-4, {available},"
            " '{coin}', 1, 'principal')) AS leg(a, b, c, d, e)"
        ),
        BROKEN_RULE,
    ),
    "spend more than there is": (
        legs("{available}, '{coin}', -101", "{custody}, '{coin}', 101"),
        OVERDRAWN,
    ),
    "spend what only comes in with the same movement's other asset": (
        for_payment(legs("{held}, '{coin}', -1", "{available}, '{coin}', 1")),
        OVERDRAWN,
    ),
    "take what is held for another payment": (
        for_payment(legs("{held}, '{coin}', -1", "{available}, '{coin}', 1")).replace(
            "{payment}", "{other_payment}"
        ),
        OVERDRAWN,
    ),
}


@pytest.fixture
def names(committed: Books) -> dict[str, object]:
    payment = committed.earn(100)
    committed.refund(payment, 1)
    committed.mode = "test"
    committed.deposit(1, is_simulated=True)
    committed.mode = "live"

    other_payment = uuid.uuid4()
    committed.deposit(3, other_payment)
    committed.refund(other_payment, 3, is_from_held=True)
    committed.deposit(5)
    account = {
        kind: account_id(committed.store.pk, "live", COIN, kind) for kind in ("available", "held")
    }
    movement = Movement.objects.get(kind="payment_settled", reference=payment)
    return {
        "store": committed.store.pk,
        "coin": COIN,
        "custody": account_id(None, "live", COIN, "custody_deposits"),
        "native": account_id(None, "live", "ETH", "treasury"),
        "test_held": account_id(committed.store.pk, "test", COIN, "held"),
        "movement": movement.pk,
        "key": movement.key,
        "payment": uuid.uuid4(),
        "other_payment": other_payment,
        **account,
    }


def attempt(statement: str) -> str:
    """The error code that PostgreSQL answers, at the statement or at the commit; empty when it took
    it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except Error as error:
        return str(getattr(error.__cause__, "sqlstate", None))
    return ""


@pytest.mark.parametrize("name", ATTEMPTS)
def test_postgresql_refuses_to(name: str, names: dict[str, object]) -> None:
    statement, code = ATTEMPTS[name]
    before = list(Account.objects.order_by("pk").values()), Movement.objects.count()

    assert attempt(statement.format(**names)) == code

    assert (list(Account.objects.order_by("pk").values()), Movement.objects.count()) == before


def test_postgresql_takes_a_balanced_movement_in_plain_sql(names: dict[str, object]) -> None:
    assert (
        attempt(legs("{available}, '{coin}', -99", "{custody}, '{coin}', 99").format(**names)) == ""
    )


def test_a_movement_of_another_cluster_is_never_added_to(names: dict[str, object]) -> None:
    """There it bears a number that a transaction here has later."""
    statement, code = ATTEMPTS["legs added to an old movement"]
    codes = []
    for _ in range(20):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(
                "UPDATE ledger_movement SET xid = (pg_current_xact_id()::text::bigint +"
                " 1)::text::xid8"
                " WHERE id = %s RETURNING xid::text",
                [names["movement"]],
            )
            number = cursor.fetchone()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()::text")
            if cursor.fetchone() == number:
                codes.append(attempt(statement.format(**names)))
    assert set(codes) == {code}


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_guarded_account_is_not_debited_on_an_old_snapshot(
    level: str, names: dict[str, object]
) -> None:
    spend = legs("{available}, '{coin}', -1", "{custody}, '{coin}', 1").format(**names)

    assert attempt(f"SET TRANSACTION ISOLATION LEVEL {level}; {spend}") == "25001"


def test_the_orm_is_refused_too(committed: Books) -> None:
    committed.deposit(5)
    movement = Movement.objects.filter(kind="deposit_confirmed").latest("pk")

    for act in (
        movement.delete,
        movement.save,
        movement.entries.all().delete,
        lambda: movement.entries.update(role="net"),
    ):
        with pytest.raises(Error):
            act()
    with pytest.raises(Error), transaction.atomic():
        Movement.objects.create(key=str(uuid.uuid4()), kind="gift", mode="live", at=AT)

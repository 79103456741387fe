"""Row-level security, the second line behind `visible_to`: what PostgreSQL itself shows the web's
role, whatever is asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction

from apps.audit import grants, policies
from apps.audit.grants import READER, SIGNER, WEB, WORKER
from apps.core.db import tenancy
from apps.core.models import OwnedQuerySet
from apps.payments.models import Payment
from tests import make
from tests.billing import records
from tests.cast import Cast, Shop
from tests.roles import acting_as

OWNED = sorted(table for table, (rule, _) in policies.decided().items() if rule != "-")
INSERTED = [table for table in OWNED if "I" in grants.decided()[table][0]]
WITH_MODE = [table for table in INSERTED if policies.decided()[table][0] != "store"]
# Triggers before a row look at it before its policy does.
REFUSED = "violates row-level security|permission denied for wallet choice"


@contextmanager
def shown(*shops: Shop, mode: str = "test") -> Iterator[None]:
    """Rows that the web is shown on behalf of these stores."""
    with acting_as(WEB), tenancy.within(tenancy.of([shop.store for shop in shops], [mode])):
        yield


def ask(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else [cursor.rowcount]


def refused(statement: str, *values: Any) -> None:
    with pytest.raises(ProgrammingError, match=REFUSED), transaction.atomic():
        ask(statement, *values)


# --- what the file says is what stands ------------------------------------------------------------


# Their store and mode don't say who may see a row; policies.txt says why.
UNLIKE_THEIR_COLUMNS = {"stores_auditentry", "stores_workerorder", "payments_latedeposit"}


def test_every_table_says_which_rows_the_web_is_shown(db: None) -> None:
    """A new table has its line in apps/audit/policies.txt: its rule, or why it has none."""
    columns = {
        name: found
        for name, found in grants.columns().items()
        if not name.endswith(("_index", "_number", "()"))
    }
    assert set(policies.decided()) == set(columns)
    for table, (rule, reason) in policies.decided().items():
        assert rule in policies.RULES or (rule == "-" and reason), table
        if rule == "-" and {"store_id", "mode"} <= set(columns[table]):
            assert "before anybody is known" in reason or table in UNLIKE_THEIR_COLUMNS, table


def test_the_database_has_the_policies_of_the_file_and_no_other(db: None) -> None:
    assert policies.differences() == (set(), set())


def test_what_somebody_changed_is_put_right_once(db: None) -> None:
    ask("ALTER TABLE payments_payment DISABLE ROW LEVEL SECURITY")
    ask("ALTER POLICY rows_in_scope ON billing_customer USING (true)")
    ask("CREATE POLICY mine ON payouts_payout TO tillgate_web USING (true)")
    ask("DROP POLICY all_rows ON swaps_swap")
    assert (policies.apply(), policies.apply()) == (4, 0)
    assert policies.differences() == (set(), set())


# --- attacks --------------------------------------------------------------------------------------


def test_a_connection_that_has_not_said_for_whom_it_asks_is_shown_nothing(cast: Cast) -> None:
    make.payment(cast.bakery.test)
    asked = []
    with acting_as(WEB), tenancy.within(tenancy.NOBODY):
        for table in OWNED:
            column = (
                "store_id"
                if table in ("ledger_account", "chain_outgoingtransaction", "onramp_credential")
                else "id"
            )
            where = "WHERE store_id IS NOT NULL" if column == "store_id" else ""
            allowed = "S" in grants.decided()[table][0].replace("S(", "")
            if allowed:
                assert ask(f"SELECT count(*) FROM {table} {where}") == [(0,)], table
                asked.append(table)
    assert len(asked) > len(OWNED) / 2


def test_nobody_writes_a_row_of_another_store(cast: Cast) -> None:
    other = cast.strangers.store.pk
    with shown(cast.bakery):
        for table in INSERTED:
            columns, theirs = ("store_id, mode", "test") if table in WITH_MODE else ("store_id", "")
            values = [other, *filter(None, [theirs])]
            places = ", ".join("%s" for _ in values)
            refused(f"INSERT INTO {table} ({columns}) VALUES ({places})", *values)


def test_nobody_writes_a_row_of_the_other_mode(cast: Cast) -> None:
    with shown(cast.bakery):
        for table in WITH_MODE:
            values = (cast.bakery.store.pk,)
            refused(f"INSERT INTO {table} (store_id, mode) VALUES (%s, 'live')", *values)


def test_a_query_without_its_filter_finds_the_own_rows_alone(cast: Cast) -> None:
    mine = make.payment(cast.bakery.test)
    theirs = make.payment(cast.strangers.test)
    live = make.payment(cast.bakery.live)
    with shown(cast.bakery):
        assert {str(payment) for payment in Payment.objects.values_list("id", flat=True)} == {
            mine["id"]
        }
        assert ask("SELECT id::text FROM payments_payment") == [(mine["id"],)]
        for id in (theirs["id"], live["id"]):
            assert Payment.objects.filter(pk=id).first() is None
            assert ask("UPDATE payments_payment SET title = 'mine' WHERE id = %s", id) == [0]
        assert ask("UPDATE payments_payment SET title = 'mine'") == [1]
    with shown(cast.bakery, mode="live"):
        assert ask("SELECT id::text FROM payments_payment") == [(live["id"],)]


def test_a_row_is_not_given_to_another_store_or_mode(cast: Cast) -> None:
    mine = make.payment(cast.bakery.test)
    with shown(cast.bakery):
        # Of payments the web's role may update neither column, so no policy is asked.
        for change in ("store_id = gen_random_uuid()", "mode = 'live'"):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                ask(f"UPDATE payments_payment SET {change} WHERE id = %s", mine["id"])


def test_a_list_whose_filter_was_forgotten_shows_a_store_its_own(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack on every list at once: `visible_to` lets everything through."""
    theirs = [make.payment(cast.strangers.test)["id"], records.customer(cast.strangers.test)["id"]]
    theirs += [make.payment(cast.bakery.live)["id"]]
    mine = make.payment(cast.bakery.test)["id"]
    monkeypatch.setattr(OwnedQuerySet, "visible_to", lambda rows, viewer: rows.all())
    answers = [
        cast.bakery.test.get(f"/{path}")
        for path in (
            "payments",
            "billing/customers",
            "payouts",
            "webhook_endpoints",
            "balance_swaps",
        )
    ]
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    assert mine in answers[0].content.decode()
    for id in theirs:
        assert all(id not in answer.content.decode() for answer in answers)
        assert cast.bakery.test.get(f"/payments/{id}").status_code == 404
        assert cast.bakery.test.get(f"/billing/customers/{id}").status_code == 404


def test_others_see_every_row(cast: Cast) -> None:
    make.payment(cast.bakery.test), make.payment(cast.strangers.live)
    for role in (READER, SIGNER, WORKER):
        if "S" in grants.decided()["payments_payment"][grants.ROLES.index(role)]:
            with acting_as(role):
                assert ask("SELECT count(*) FROM payments_payment") == [(2,)]


def test_a_credential_is_found_by_its_hash_alone(cast: Cast) -> None:
    """The look-up that needs no scope answers one row, and none for a guess."""
    secret = cast.bakery.secrets["test"]
    from apps.access import credentials

    with acting_as(WEB), tenancy.within(tenancy.NOBODY):
        assert ask("SELECT count(*) FROM access_apikey") == [(0,)]
        assert ask(
            "SELECT store_id FROM access_apikey_by_hash(%s)", credentials.digest(secret)
        ) == [(cast.bakery.store.pk,)]
        assert ask("SELECT store_id FROM access_apikey_by_hash(%s)", b"x" * 32) == []

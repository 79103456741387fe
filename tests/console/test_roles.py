"""Each process has a role: it does its work as its own, and none can do another's."""

import re
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connection, connections, transaction

from apps.assets.models import Chain
from apps.audit import grants, verify
from apps.audit.grants import READER, ROLES, SIGNER, WATCHER, WEB, WORKER
from apps.chain.models import Address, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.core import clock
from apps.core.db.postgresql.base import DatabaseWrapper
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.auditing import found_of
from tests.cast import Shop
from tests.roles import acting_as
from tests.swaps.conftest import Venue, chain, place, proxy, watcher

__all__ = ["chain", "place", "proxy", "watcher"]
EVERYBODY = (*ROLES,)
OUTGOING = (
    "INSERT INTO chain_outgoingtransaction (id, mode, chain_id, asset_id, purpose, reference,"
    " to_address, amount_atomic, requested_at) VALUES (gen_random_uuid(), 'test', 'sepolia',"
    " 'SETH', 'payout', 'x', '0x1', 1, now())"
)
FORBIDDEN: list[tuple[tuple[str, ...], str]] = [
    *[
        (EVERYBODY, statement)
        for statement in (
            "ALTER TABLE ledger_entry DISABLE TRIGGER ALL",
            "DROP TRIGGER entry_no_truncate ON ledger_entry",
            "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_pkey",
            "TRUNCATE ledger_entry",
            "DROP TABLE stores_auditentry",
            "SET session_replication_role = replica",
            (
                "CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql"
                " AS 'BEGIN RETURN NEW; END'"
            ),
            "CREATE TABLE mine (id int)",
            "CREATE TABLE public.mine (id int)",
            "CREATE VIEW mine AS SELECT 1",
            "CREATE TYPE mine AS (id int)",
            "CREATE SCHEMA mine",
            "CREATE TEMPORARY TABLE ledger_account (id int)",
            "CREATE TEMPORARY VIEW ledger_account AS SELECT 1",
            "SELECT 1 AS id INTO TEMPORARY mine",
            "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "UPDATE ledger_entry SET amount_atomic = 1",
            "DELETE FROM ledger_entry",
            "UPDATE ledger_movement SET kind = 'x'",
            "DELETE FROM ledger_movement",
            "UPDATE ledger_account SET kind = 'available'",
            "DELETE FROM ledger_account",
            "UPDATE stores_auditentry SET action = 'x'",
            "DELETE FROM stores_auditentry",
            "DELETE FROM chain_outgoingtransaction",
            "DELETE FROM django_migrations",
            "INSERT INTO django_migrations (app, name, applied) VALUES ('x', 'x', now())",
        )
    ],
    ((WEB, WATCHER, SIGNER, READER), OUTGOING),
    ((WEB, WATCHER, READER), "UPDATE chain_outgoingtransaction SET status = 'requested'"),
    *[
        (EVERYBODY, f"UPDATE chain_outgoingtransaction SET {column} = {column}")
        for column in (
            "to_address",
            "amount_atomic",
            "call_data",
            "purpose",
            "reference",
            "asset_id",
            "store_id",
            "mode",
        )
    ],
    ((SIGNER,), "UPDATE chain_outgoingtransaction SET approval = 'x'"),
    *[
        (EVERYBODY, f"UPDATE payments_withdrawal SET {column} = {column}")
        for column in ("to_address", "amount_atomic", "asset_id", "reference", "requested_by_id")
    ],
    ((WATCHER, SIGNER), "SELECT 1 FROM payments_withdrawal"),
    ((WEB, WATCHER, READER), "UPDATE chain_hotwallet SET halted_at = NULL"),
    ((WEB, WATCHER, READER), "INSERT INTO chain_signedtransaction (tx_hash) VALUES ('x')"),
    ((WATCHER, SIGNER, READER), "INSERT INTO ledger_movement (key) VALUES ('x')"),
    ((WATCHER, SIGNER, READER), "UPDATE payouts_payout SET status = 'pending'"),
    ((WATCHER, SIGNER), "SELECT email FROM stores_user"),
    ((WATCHER, SIGNER, READER), "SELECT sealed_key FROM access_secondfactor"),
    ((WEB, WATCHER, SIGNER, READER), "SELECT sealed_secret FROM webhooks_endpoint"),
    ((WEB, WATCHER, SIGNER, READER), "SELECT sealed_letter FROM core_outgoingmail"),
    ((WATCHER, READER), "SELECT password FROM stores_user"),
    ((WATCHER, READER, SIGNER), "SELECT session_data FROM django_session"),
    ((WEB, WATCHER, SIGNER, READER), "SELECT account_sealed FROM payouts_destination"),
    *[
        ((WEB, WORKER, SIGNER, READER), statement)
        for statement in (
            "UPDATE chain_head SET number = 0",
            "INSERT INTO chain_head (number) VALUES (1)",
            "INSERT INTO chain_block (number) VALUES (1)",
            "UPDATE chain_block SET is_canonical = true",
            "INSERT INTO chain_balancecheck (block_number) VALUES (1)",
            "INSERT INTO chain_addresslook (block_number) VALUES (1)",
            "UPDATE chain_addresslook SET looked_until = now()",
            "INSERT INTO chain_unexplainedbalance (block_number) VALUES (1)",
        )
    ],
    ((WATCHER,), "UPDATE chain_address SET purpose = purpose"),
    ((WATCHER,), "UPDATE assets_asset SET contract_address = NULL"),
    ((WATCHER,), "UPDATE assets_chain SET required_confirmations = 1"),
    ((WATCHER,), "INSERT INTO chain_payer (kind) VALUES ('account')"),
]


def is_refused(statement: str) -> bool:
    """Tell whether the role that is being acted as can't do it."""
    try:
        with transaction.atomic():
            connection.cursor().execute(statement)
    except ProgrammingError as error:
        return bool(re.search(r"must be owner|permission denied", str(error)))
    return False


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_can_not_do(db: None, role: str) -> None:
    with acting_as(role):
        done = [
            statement
            for roles, statement in FORBIDDEN
            if role in roles and not is_refused(statement)
        ]
    assert done == []


def test_every_table_says_what_each_role_may_do_with_it(db: None) -> None:
    """A new table has its line in apps/audit/grants.txt, or nobody but the owner can use it."""
    assert set(grants.decided()) == set(grants.columns())
    assert all(len(cells) == len(ROLES) for cells in grants.decided().values())


def test_the_database_gives_what_the_file_says_and_nobody_anything_else(db: None) -> None:
    assert grants.differences() == (set(), set())


def test_what_somebody_changed_is_put_right_once(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "GRANT UPDATE ON ledger_entry TO tillgate_web; REVOKE SELECT ON stores_store FROM"
            " tillgate_worker"
        )
        cursor.execute(
            "GRANT SELECT (password) ON stores_user TO tillgate_reader; GRANT SELECT ON"
            " django_session TO PUBLIC"
        )
    assert (grants.apply(), grants.apply()) == (4, 0)
    assert grants.differences() == (set(), set())


def test_nobody_but_the_owner_makes_tables(db: None) -> None:
    """Privileges that somebody gave, and those that every new database gives at first, are taken
    and reported."""
    database = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(
            f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC; GRANT CREATE ON SCHEMA public TO"
            " tillgate_web, PUBLIC"
        )
    assert {(found.subject, found.detail) for found in found_of("grants_stand")} == {
        ("public", f"it may also TEMPORARY in DATABASE {connection.settings_dict['NAME']}"),
        ("public", "it may also CREATE in SCHEMA public"),
        ("tillgate_web", "it may also CREATE in SCHEMA public"),
    }
    with acting_as(WEB):
        assert not is_refused("CREATE TABLE mine (id int)")
    assert (grants.apply(), grants.apply()) == (3, 0)
    assert found_of("grants_stand") == []
    with acting_as(WEB):
        assert is_refused("CREATE TABLE yours (id int)")


def test_who_has_signed_in_as_the_web_makes_no_temporary_table(db: None) -> None:
    """Without a role that was set, as in production."""
    wrapper = DatabaseWrapper(
        {**connections[DEFAULT_DB_ALIAS].settings_dict, "USER": WEB}, DEFAULT_DB_ALIAS
    )
    try:
        with wrapper.cursor() as cursor:
            cursor.execute("SELECT session_user::text, current_setting('role')")
            assert cursor.fetchone() == (WEB, "none")
            with pytest.raises(ProgrammingError, match="permission denied"):
                cursor.execute("CREATE TEMPORARY TABLE payouts_approvalrule (id int)")
    finally:
        wrapper.close()


def test_a_table_without_a_line_is_nobodys(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE newcomer (id int)")
    grants.apply()
    for role in ROLES:
        with (
            acting_as(role),
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
        ):
            connection.cursor().execute("SELECT * FROM newcomer")


@pytest.mark.chain
def test_a_payment_is_booked_paid_out_and_swept_with_each_process_as_its_role(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    place.fund_hot(5)
    payment = make.payment(bakery.test, amount="500.00")  # requests are the web's
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="SETH")
    place.chain.pay(entry.address_id, entry.required_atomic)
    place.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
    place.reader.read()  # as the watcher's
    with acting_as(WORKER):
        settle_deposits()
    assert Payment.objects.get(pk=payment["id"]).status == "completed"
    paid_out = make.payout(bakery.test, 10**15)
    Address.objects.filter(pk=entry.address_id).update(watch_balance_until=clock.real_now())
    for _ in range(3):
        with acting_as(WORKER):
            advance_payouts()
            sweeper.sweep_due()
        with acting_as(SIGNER):
            signing_rounds.sign_due()
        with acting_as(WORKER):
            sender.run_due()
            place.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
            place.reader.read()
            sender.run_due()
            advance_payouts()
            book_sweeps()
    assert make.detail_of_payout(bakery.test, paid_out["id"])["status"] == "confirmed"
    assert set(OutgoingTransaction.objects.values_list("purpose", "status")) == {
        ("payout", "confirmed"),
        ("sweep", "confirmed"),
    }
    with acting_as(READER):
        assert verify.findings(check_chain=True) == []

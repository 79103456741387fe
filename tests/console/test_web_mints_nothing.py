"""Somebody who runs SQL as the web's role sets aside what a record says, and names no account and
no amount."""

import uuid

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit import grants
from apps.audit.grants import WEB
from apps.core import clock
from apps.core.db import tenancy
from apps.ledger import movements, posting_by_record
from apps.ledger.chart import AVAILABLE, CHART, HELD, RESERVED
from apps.ledger.movements.table import MOVEMENTS
from apps.ledger.posting import NotPostedByTheWeb, Posting, account_id, post
from apps.payments.models import Withdrawal
from apps.swaps.models import Swap
from tests import make
from tests.console.books_of_web import Books, books, call, refused
from tests.roles import acting_as

__all__ = ["books"]
ETHER = 10**18


# --- the list -------------------------------------------------------------------------------------


def test_every_movement_is_a_workers_or_has_a_function_of_the_webs(db: None) -> None:
    """A new one is decided: it gets its function, or its place among the workers'."""
    functions = posting_by_record.FUNCTIONS
    assert functions.keys() | posting_by_record.WORKERS == MOVEMENTS.keys()
    assert not functions.keys() & posting_by_record.WORKERS
    posts = grants._POSTS
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.proname, p.prosecdef,"
            " has_function_privilege('tillgate_web', p.oid, 'EXECUTE')"
            f" FROM pg_proc p WHERE {posts}"
        )
        found = {name: (is_owners, is_webs) for name, is_owners, is_webs in cursor.fetchall()}
    assert {name for name, (_, is_webs) in found.items() if is_webs} == set(functions.values())
    assert all(found[name] == (True, True) for name in functions.values())
    assert found["ledger_post"][1] is found["ledger_book"][1] is False


def test_the_functions_move_what_the_table_says(books: Books) -> None:
    """Kinds of accounts, the key and the roles of each are those of its row."""
    with connection.cursor() as cursor:
        for kind, function in posting_by_record.FUNCTIONS.items():
            cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = %s", [function])
            (source,) = cursor.fetchone()
            named = {account for account in CHART if f"'{account}'" in source}
            assert named <= MOVEMENTS[kind].accounts, function
            assert f"'{MOVEMENTS[kind].key.name}:'" in source, function
            roles = {leg.role for flow in MOVEMENTS[kind].flows for leg in flow.legs}
            assert all(f"'{role}'" in source for role in roles), function


@pytest.mark.parametrize("kind", sorted(posting_by_record.WORKERS))
def test_what_a_worker_posts_the_web_does_not(books: Books, kind: str) -> None:
    posting = Posting(
        MOVEMENTS[kind].key.of(uuid.uuid4()), kind, "live", uuid.uuid4(), clock.real_now(), []
    )
    with acting_as(WEB), pytest.raises(NotPostedByTheWeb):
        post(posting)


@pytest.mark.parametrize("kind", sorted(posting_by_record.FUNCTIONS))
def test_no_function_posts_for_a_record_that_is_not_there(books: Books, kind: str) -> None:
    function = posting_by_record.FUNCTIONS[kind]
    names = posting_by_record._POSTED[kind][1].split()
    values = {"first": uuid.uuid4(), "second": "ETH", "third": uuid.uuid4()}
    refused(function, *(values.get(name, books.payment.pk) for name in names))


@pytest.mark.parametrize("kind", sorted(MOVEMENTS))
@pytest.mark.parametrize("target", [AVAILABLE, HELD, RESERVED])
def test_no_account_is_named_by_the_web(books: Books, kind: str, target: str) -> None:
    """Three hundred ether of the treasury's, under every name that a movement has."""
    accounts = [
        account_id(None, "live", "ETH", "treasury"),
        account_id(books.shop.store.pk, "live", "ETH", target),
    ]
    key = MOVEMENTS[kind].key.of(books.payment.pk)
    values = [key, kind, books.payment.pk, accounts, [-300 * ETHER, 300 * ETHER]]
    with (
        acting_as(WEB),
        tenancy.everyone("an attack"),
        pytest.raises(DatabaseError, match="permission denied for function ledger_post"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SELECT * FROM ledger_post(%s, %s, 'live', %s, now(), %s, '{ETH,ETH}',"
            " %s, '{principal,principal}', NULL)",
            values,
        )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT ledger_book('a:b', 'payout_released', 'live', NULL, now(), 'ETH', NULL, NULL, NULL,"
        " NULL)",
        "SELECT ledger_post_many(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO ledger_movement (key, kind, mode, reason, at)"
        " VALUES ('a', 'b', 'live', '', now())",
        "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)"
        " SELECT movement_id, account_id, asset_id, amount_atomic, role FROM ledger_entry",
        "ALTER FUNCTION payouts_post_payout_released(uuid, timestamptz) SECURITY INVOKER",
        "GRANT EXECUTE ON FUNCTION ledger_post TO tillgate_web",
        "UPDATE swaps_swap SET sell_amount_atomic = 400",
        "UPDATE agents_settlement SET amount_atomic = 400",
        "UPDATE payments_transferreturn SET amount_atomic = 400",
        "INSERT INTO payouts_offramporder (payout_id, attempt, asked_at) VALUES (NULL, 0, now())",
        "UPDATE payouts_offramporder SET failed_at = now()",
        "UPDATE stores_workerorder SET due_at = now()",
        "UPDATE stores_workerorder SET is_done = true",
    ],
)
@pytest.mark.parametrize("role", [WEB, "tillgate_watcher", "tillgate_signer", "tillgate_reader"])
def test_the_books_have_no_other_way_in(books: Books, role: str, statement: str) -> None:
    denied = pytest.raises(DatabaseError, match=r"permission denied|must be owner")
    with acting_as(role), tenancy.everyone("an attack"), denied, transaction.atomic():
        connection.cursor().execute(statement)


def test_who_serves_others_calls_none_of_the_functions(books: Books) -> None:
    payout = books.payout()
    for role in ("tillgate_watcher", "tillgate_signer", "tillgate_reader"):
        with acting_as(role), pytest.raises(DatabaseError), transaction.atomic():
            movements.payout_created(
                store_id=payout.store_id,
                mode="live",
                asset_id="ETH",
                payout_id=payout.pk,
                amount_atomic=ETHER,
                at=clock.real_now(),
            )


def test_a_request_posts_to_accounts_of_its_own_scope_alone(books: Books) -> None:
    """The functions act as the owner of the tables, whom no policy holds."""
    payout = books.payout()
    for scope in (
        tenancy.of([books.other.store], ["live"]),
        tenancy.of([books.shop.store], ["test"]),
        tenancy.NOBODY,
    ):
        with pytest.raises(DatabaseError, match="an account is not in scope"):
            call("payouts_post_payout_created", payout.pk, scope=scope)
    within = tenancy.of([books.shop.store], ["live"])
    assert call("payouts_post_payout_created", payout.pk, scope=within)[1:] == (True, ETHER)


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01", None])
def test_nothing_is_booked_at_a_time_that_nobody_can_read(books: Books, moment: str | None) -> None:
    """The signer reads when the movements of a day began."""
    payout = books.payout()
    with (
        acting_as(WEB),
        tenancy.everyone("an attack"),
        pytest.raises(DatabaseError, match="it is at no time"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT * FROM payouts_post_payout_created(%s, %s)", [payout.pk, moment])


def test_a_table_of_ones_own_stands_in_for_none_of_the_books(books: Books) -> None:
    """Checks of balances read the ledger, whatever else has the names of its tables."""
    payout = books.payout(20 * ETHER)
    database = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT TEMPORARY ON DATABASE {database} TO {WEB}")
    with acting_as(WEB), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE ledger_account (LIKE public.ledger_account) ON COMMIT DROP"
        )
        cursor.execute("INSERT INTO ledger_account SELECT * FROM public.ledger_account")
        cursor.execute("UPDATE ledger_account SET is_guarded = false, checkpoint_atomic = 10 ^ 24")
    with pytest.raises(DatabaseError, match="insufficient balance"):
        call("payouts_post_payout_created", payout.pk)


# --- what is set aside ----------------------------------------------------------------------------


def test_a_payout_sets_its_own_amount_aside_once(books: Books) -> None:
    payout = books.payout()
    before = books.balance(AVAILABLE)
    first = call("payouts_post_payout_created", payout.pk)
    again = call("payouts_post_payout_created", payout.pk)
    assert (first[1], again[1], first[0]) == (True, False, again[0])
    assert books.balance(AVAILABLE) == before - ETHER and books.balance(RESERVED) == ETHER
    with pytest.raises(DatabaseError, match="insufficient balance"):
        call("payouts_post_payout_created", books.payout(100 * ETHER).pk)


def test_a_refund_is_of_a_payment_of_its_own_store(books: Books) -> None:
    theirs = books.refund(store=books.other.store)
    refused("payments_post_refund_created", theirs.pk)
    refused("payments_post_refund_created", books.refund(mode="test").pk)
    refused("payments_post_refund_created", books.refund(status="failed").pk)
    with pytest.raises(DatabaseError, match=r"insufficient balance|holds less"):
        call("payments_post_refund_created", books.refund(is_from_held=True).pk)
    assert call("payments_post_refund_created", books.refund().pk)[1:] == (True, ETHER)


def test_a_swap_that_has_ended_sets_nothing_aside(books: Books) -> None:
    columns = {
        "source_asset_id": "ETH",
        "buy_asset_id": "ETH_USDC",
        "sell_amount_atomic": ETHER,
        "expected_buy_amount_atomic": 1,
        "min_buy_amount_atomic": 1,
        "slippage_bps": 1,
        "provider": "treasury",
        "idempotency_key": "x",
    }
    swap = Swap.objects.create(**books.made(), **columns, status="submitted")
    refused("swaps_post_swap_created", swap.pk)
    Swap.objects.filter(pk=swap.pk).update(status="pending")
    assert call("swaps_post_swap_created", swap.pk)[1:] == (True, ETHER)


def test_a_withdrawal_is_one_that_was_asked_for(books: Books) -> None:
    row = Withdrawal.objects.create(
        reference="x",
        mode="live",
        asset_id="ETH",
        amount_atomic=ETHER,
        to_address=make.fresh_address(),
        reason="x",
        status="rejected",
        requested_by=make.clerk(),
        requested_at=clock.real_now(),
        decided_by=make.clerk(),
        decided_at=clock.real_now(),
    )
    refused("payments_post_withdrawal_created", row.pk)

"""The books under real threads, each with a connection of its own."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.ledger import checkpoints, movements, posting
from apps.ledger.models import Account, Entry
from apps.ledger.posting import EntryLine, InsufficientBalance, Posting, account_id, post
from apps.ledger.selectors import balance_of
from tests.ledger.books import AT, COIN, Books

WORKERS = 4


def together(*works: Callable[[], None]) -> None:
    """Run each in a thread; the first error of any is raised here."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]


def linger() -> None:
    """The rows are written, the commit comes a little later: what races there are get the time to
    happen."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.002)")


def entries_sum(account: int) -> int:
    return sum(Entry.objects.filter(account_id=account).values_list("amount_atomic", flat=True))


def test_of_many_who_spend_the_same_coins_exactly_as_many_succeed_as_there_are_coins(
    committed: Books,
) -> None:
    coins = 60
    payment = committed.earn(coins)
    outcomes: Counter[str] = Counter()

    def spend() -> None:
        for _ in range(coins // 2):
            try:
                with transaction.atomic():
                    committed.refund(payment, 1)
                    linger()
                outcomes["spent"] += 1
            except InsufficientBalance:
                outcomes["refused"] += 1

    together(*[spend] * WORKERS)

    assert outcomes == {"spent": coins, "refused": WORKERS * coins // 2 - coins}
    assert committed.balances("available", "reserved") == [0, coins]


def test_checkpoints_taken_against_posters_lose_nothing(committed: Books) -> None:
    account = account_id(committed.store.pk, "live", COIN, "held")
    is_over = threading.Event()
    posters_left = [WORKERS]

    def pay_in() -> None:
        for _ in range(60):
            with transaction.atomic():
                committed.deposit(7)
                linger()
        posters_left[0] -= 1
        if not posters_left[0]:
            is_over.set()

    def checkpoint() -> None:
        while not is_over.is_set():
            checkpoints.fold_long_tails(tail_max=1)
            assert balance_of(account) % 7 == 0

    together(*[pay_in] * WORKERS, checkpoint)

    checkpoints.fold_long_tails(tail_max=1)
    row = Account.objects.get(pk=account)
    assert balance_of(account) == entries_sum(account) == WORKERS * 60 * 7
    assert row.checkpoint_atomic > 0


def test_the_same_key_from_many_threads_posts_once(committed: Books) -> None:
    payment = uuid.uuid4()
    committed.deposit(10, payment)
    posted: list[posting.Posted] = []

    together(*[lambda: posted.append(committed.settle(payment, 10))] * WORKERS)

    assert sorted(item.is_new for item in posted) == [False] * (WORKERS - 1) + [True]
    assert len({item.movement_id for item in posted}) == 1
    assert committed.balances("held", "available") == [0, 10]


def test_an_account_that_many_use_for_the_first_time_is_made_once(committed: Books) -> None:
    together(*[lambda: committed.deposit(1) and None] * WORKERS)

    assert Account.objects.filter(store_id=committed.store.pk, kind="held").count() == 1
    assert committed.balance("held") == WORKERS


def test_transfers_in_opposite_directions_never_wait_in_a_circle(committed: Books) -> None:
    committed.earn(1_000)
    away = (
        EntryLine("available", COIN, -1, "net", committed.store.pk),
        EntryLine("available", COIN, 1, "net", committed.platform.pk),
    )
    post(
        Posting(
            "start", "platform_fee_returned", "live", None, AT, [_sized(line, 500) for line in away]
        )
    )

    def move(sign: int, name: str) -> None:
        for number in range(40):
            lines = [_sized(line, sign) for line in (away if sign > 0 else reversed(away))]
            post(Posting(f"{name}{number}", "platform_fee_returned", "live", None, AT, lines))

    together(
        lambda: move(1, "a"), lambda: move(-1, "b"), lambda: move(1, "c"), lambda: move(-1, "d")
    )

    assert (committed.balance("available"), committed.platform_available) == (500, 500)


def _sized(line: EntryLine, times: int) -> EntryLine:
    return EntryLine(line.kind, line.asset_id, line.amount_atomic * times, line.role, line.store_id)


def test_an_account_that_was_rolled_back_is_not_remembered(committed: Books) -> None:
    with transaction.atomic():
        committed.deposit(1)
        transaction.set_rollback(True)

    committed.deposit(2)

    assert committed.balance("held") == 2


def test_posting_is_one_round_trip(committed: Books) -> None:
    committed.deposit(1)

    with CaptureQueriesContext(connection) as queries:
        committed.deposit(1)

    assert len(queries) == 1


def test_credits_do_not_wait_for_a_debit_under_way(committed: Books) -> None:
    payment = committed.earn(10)

    with transaction.atomic():
        committed.refund(payment, 4)
        together(lambda: committed.earn(5) and None)

    assert committed.balances("available", "reserved") == [11, 4]


def test_a_debit_counts_what_came_in_while_it_waited(committed: Books) -> None:
    payment = committed.earn(10)
    is_spent = threading.Event()
    may_commit = threading.Event()

    def first() -> None:
        with transaction.atomic():
            committed.refund(payment, 10)
            is_spent.set()
            may_commit.wait(30)

    def second() -> None:
        is_spent.wait(30)
        committed.earn(3)
        may_commit.set()
        with pytest.raises(InsufficientBalance):
            committed.refund(payment, 4)
        committed.refund(payment, 3)

    together(first, second)

    assert committed.balances("available", "reserved") == [0, 13]


def test_an_account_that_is_debited_without_rest_folds_its_own_tail(committed: Books) -> None:
    committed.earn(10_000)
    spend = [
        EntryLine("available", COIN, -1, "net", committed.store.pk),
        EntryLine("custody_hot", COIN, 1, "principal"),
    ]
    postings = [
        Posting(f"spend{number}", "refund_confirmed", "live", None, AT, spend)
        for number in range(998)
    ]
    posting.post_many(postings)
    for number in range(260):
        post(Posting(f"more{number}", "refund_confirmed", "live", None, AT, spend))

    row = Account.objects.get(store_id=committed.store.pk, kind="available")

    assert row.checkpoint_atomic != 0
    assert balance_of(row.pk) == entries_sum(row.pk) == 10_000 - 998 - 260


def test_what_another_cluster_observed_is_settled_here_or_observed_anew(committed: Books) -> None:
    account = account_id(committed.store.pk, "live", COIN, "held")
    for xid in ("9000000000000", "3"):
        committed.deposit(5)
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(
                "UPDATE ledger_account SET observed_xid = %s, observed_id = (SELECT max(id) FROM"
                " ledger_entry WHERE account_id = %s) WHERE id = %s",
                [xid, account, account],
            )
            cursor.execute("SET session_replication_role = origin")
        committed.deposit(5)

        checkpoints.fold_long_tails(tail_max=0)

        row = Account.objects.get(pk=account)
        assert row.checkpoint_atomic == balance_of(account) == entries_sum(account)


def test_what_commits_late_is_behind_no_checkpoint(committed: Books) -> None:
    """Ids are drawn before others that are committed, folded and summed."""
    held = account_id(committed.store.pk, "live", COIN, "held")
    is_written = threading.Event()
    may_commit = threading.Event()

    def late() -> None:
        with transaction.atomic():
            committed.deposit(3)
            is_written.set()
            may_commit.wait(30)

    def early() -> None:
        is_written.wait(30)
        for _ in range(3):
            committed.deposit(5)
            checkpoints.fold_long_tails(tail_max=0)
            assert Account.objects.get(pk=held).checkpoint_atomic in (0, 7)
        may_commit.set()

    committed.deposit(7)
    checkpoints.fold_long_tails(tail_max=0)
    together(late, early)

    assert balance_of(held) == entries_sum(held) == 7 + 3 + 15
    committed.deposit(1)
    checkpoints.fold_long_tails(tail_max=0)
    assert Account.objects.get(pk=held).checkpoint_atomic == 26


def test_a_platform_returns_no_more_than_it_has_however_many_ask(committed: Books) -> None:
    payment = uuid.uuid4()
    committed.deposit(100, payment)
    committed.settle(payment, 100, platform_fee=10)
    returned: list[int] = []

    def give_back() -> None:
        for _ in range(3):
            amount = movements.platform_fee_returned(
                **committed.of_store,
                payment_id=payment,
                refund_id=uuid.uuid4(),
                platform_id=committed.platform.pk,
                share_atomic=3,
            )
            returned.append(amount)

    together(*[give_back] * WORKERS)

    assert sum(returned) == 10
    assert committed.platform_available == 0

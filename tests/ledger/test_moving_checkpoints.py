"""The migrations that make checkpoints end at entries, on books of the release before: in a
database of its own, with a posting under way whose entries come late."""

import threading
from random import Random

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from apps.ledger import checkpoints
from apps.ledger.models import Account, Entry
from apps.ledger.posting import account_id
from apps.ledger.selectors import balance_of
from tests.ledger.books import COIN, Books, open_books
from tests.ledger.test_another_cluster import Server, _django_db_helper, broken, here
from tests.ledger.test_daily_sums import sell

__all__ = ["_django_db_helper", "here"]
# Migrations go around a pooler.
pytestmark = pytest.mark.direct
BEFORE = ("ledger", "0008_one_index_a_column")
BOTH = ("ledger", "0010_checkpoints_by_entry")


def migrate(*target: str) -> None:
    """Without a target with everything that follows the last migration, grants too."""
    if target:
        MigrationExecutor(connection).migrate([target])
    else:
        call_command("migrate", verbosity=0)


def migrate_back(*target: str) -> None:
    """Each migration by the models that it began with: an executor that goes back draws up all
    models anew for every migration that stays."""
    executor = MigrationExecutor(connection)
    for migration, is_backwards in executor.migration_plan([target]):
        assert is_backwards
        key = (migration.app_label, migration.name)
        executor.unapply_migration(executor.loader.project_state(key, at_end=False), migration)


def ask(statement: str, *values: object) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


def of_both_kinds() -> tuple[int, int]:
    ((by_transaction, by_entry),) = ask(
        "SELECT count(*) FILTER (WHERE checkpoint_xid <> '0'),"
        " count(*) FILTER (WHERE checkpoint_id <> 0) FROM ledger_account"
    )
    return int(str(by_transaction)), int(str(by_entry))


@pytest.fixture
def earlier(here: Server) -> Books:
    """The books as the release before left them: what was folded bears transaction numbers."""
    migrate_back(*BEFORE)
    books = open_books()
    sell(books, 10, Random(1))
    for account in Account.objects.all():
        ask("SELECT ledger_checkpoint(%s)", account.pk)
    sell(books, 3, Random(2))
    return books


def entries_sum(account: int) -> int:
    return sum(Entry.objects.filter(account_id=account).values_list("amount_atomic", flat=True))


def whole() -> bool:
    return all(balance_of(row.pk) == entries_sum(row.pk) for row in Account.objects.all())


def test_what_was_folded_is_moved_and_moved_back_and_nothing_is_lost(earlier: Books) -> None:
    accounts = Account.objects.count()
    assert Account.objects.exclude(checkpoint_atomic=0).count() >= 3
    migrate(*BOTH)
    assert of_both_kinds() == (accounts, 0)
    assert whole()
    held = account_id(earlier.store.pk, "live", COIN, "held")
    is_written = threading.Event()
    may_commit = threading.Event()

    def late() -> None:
        try:
            with transaction.atomic():
                earlier.deposit(3)
                is_written.set()
                may_commit.wait(30)
        finally:
            connection.close()

    thread = threading.Thread(target=late)
    thread.start()
    is_written.wait(30)
    payment = earlier.earn(50)
    earlier.refund(payment, 50)
    assert whole()
    timer = threading.Timer(1.0, may_commit.set)  # while the migration waits for it
    timer.start()
    migrate()
    thread.join(30)

    assert of_both_kinds() == (0, accounts)
    assert whole()
    assert Entry.objects.filter(account_id=held, amount_atomic=3).exists()
    earlier.deposit(7)
    checkpoints.fold_long_tails(tail_max=0)
    assert whole()
    assert broken() == set()

    migrate_back(*BEFORE)
    for account in Account.objects.all():
        ask("SELECT ledger_checkpoint(%s)", account.pk)
    sell(earlier, 2, Random(3))
    assert whole()
    migrate()
    assert whole()
    assert broken() == set()

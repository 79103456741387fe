"""The books of two servers, posted to at once, as the federated database reads them: each balances
in every snapshot, and so do both together. And why it only reads."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from django.db import connection

from dev import embedded, template_database
from tests import postgres
from tests.federation import Federation, own_sums
from tests.forks import Forks
from tests.replicas import MigratedCluster
from tests.stack import wait_for
from tests.whole import usually

pytestmark = [pytest.mark.direct, pytest.mark.federated]
# So many figures of each server are seen to change, and so long that may take.
FIGURES = usually(short=24, whole=360)
SECONDS = 60
NAME = "federated_test"


class Servers(NamedTuple):
    """Two servers with the schema and without rows, and what reads both."""

    urls: dict[str, str]
    federation: Federation
    second: MigratedCluster


@pytest.fixture(scope="module")
def servers(django_db_setup: None, django_db_blocker: Any) -> Iterator[Servers]:
    if not template_database.for_tests(embedded.var_folder(embedded.TEST) / "postgres"):
        pytest.skip("needs the embedded PostgreSQL")
    with django_db_blocker.unblock():
        maintenance = postgres.direct_url("postgres")
        with psycopg.connect(maintenance, autocommit=True) as own:
            own.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)".encode())
            own.execute(f"CREATE DATABASE {NAME} TEMPLATE {template_database.DATABASE}".encode())
            own.execute(f"REVOKE TEMPORARY ON DATABASE {NAME} FROM PUBLIC".encode())
        first = postgres.direct_url(NAME)
        second = MigratedCluster(first)
        federation = Federation({"01": first, "02": second.url})
        yield Servers({"01": first, "02": second.url}, federation, second)
        connection.close()
        federation.remove()
        second.remove()
        with psycopg.connect(maintenance, autocommit=True) as own:
            own.execute(f"DROP DATABASE {NAME} WITH (FORCE)".encode())


POST = """
from pathlib import Path
from tests.shards import posting
posting.post({url!r}, {shard!r}, Path({folder!r}))
"""


class Posters:
    """Processes that post on each server from `go` to `end`, and their results."""

    def __init__(self, urls: dict[str, str], folder: Path) -> None:
        self.folder = folder
        self._forks = Forks({**os.environ, "TILLGATE_ENV": "test"}, "tests.shards.posting")
        self._logs = {shard: folder / shard for shard in urls}
        self._running = [
            self._forks.start(POST.format(url=urls[shard], shard=shard, folder=str(folder)), log)
            for shard, log in self._logs.items()
        ]
        for log in self._logs.values():
            wait_for(log.read_text, "ready\n".__eq__)

    def go(self) -> None:
        (self.folder / "go").touch()

    def end(self) -> dict[str, dict[str, Any]]:
        (self.folder / "end").touch()
        ended = [fork.wait(SECONDS) for fork in self._running]
        said = {shard: log.read_text() for shard, log in self._logs.items()}
        assert ended == [0, 0], said
        return {shard: json.loads(text.splitlines()[-1]) for shard, text in said.items()}

    def close(self) -> None:
        for fork in self._running:
            if fork.poll() is None:
                os.kill(fork.pid, signal.SIGKILL)
                fork.wait()
        self._forks.end()


@pytest.fixture
def posters(servers: Servers, tmp_path: Path) -> Iterator[Posters]:
    running = Posters(servers.urls, tmp_path)
    yield running
    running.close()


def test_books_of_two_servers_balance_in_every_snapshot_while_both_are_posted_to(
    servers: Servers, posters: Posters
) -> None:
    seen: dict[str, set[object]] = {shard: set() for shard in servers.urls}
    with psycopg.connect(servers.federation.url) as reading:
        posters.go()
        until = time.monotonic() + SECONDS
        while any(len(figures) < FIGURES for figures in seen.values()):
            assert time.monotonic() < until, seen
            with reading.transaction():
                balance = reading.execute("SELECT * FROM trial_balance").fetchall()
                again = reading.execute(
                    "SELECT shard, mode, asset_id, sum(debits_atomic), sum(credits_atomic)"
                    " FROM account_balance GROUP BY shard, mode, asset_id"
                ).fetchall()
            # The servers write on between both statements; the transaction reads what was.
            assert {row[:5] for row in balance} == {tuple(row) for row in again}
            assert [row for row in balance if row[5] != 0] == []
            for shard, _, _, _, credits_atomic, _ in balance:
                seen[shard].add(credits_atomic)
        said = posters.end()

    assert [said[shard]["broken"] for shard in said] == [[], []]
    assert all(said[shard]["posted"] > 10 for shard in said)
    for shard in servers.urls:
        found = [row[1:] for row in servers.federation.trial_balance() if row[0] == shard]
        assert found == own_sums(servers.urls[shard]) and found
    assert servers.federation.ask(
        "SELECT asset_id, sum(debits_atomic) + sum(credits_atomic) FROM trial_balance"
        " GROUP BY asset_id ORDER BY asset_id"
    ) == [("ETH", 0), ("ETH_USDC", 0)]
    stores = servers.federation.ask("SELECT shard, id::text FROM store")
    assert {(shard, said[shard]["store"]) for shard in said} <= set(stores)


def test_sums_are_made_on_the_servers(servers: Servers) -> None:
    plan = servers.federation.ask("EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM account_balance")
    text = json.dumps(plan)
    assert text.count("Remote SQL") == 2 and text.count("GROUP BY 1, 2, 3, 4") == 2, text


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("UPDATE entry SET amount_atomic = 1", 'column "ctid" does not exist'),
        ("DELETE FROM entry", 'column "ctid" does not exist'),
        ("INSERT INTO entry (shard, id) VALUES ('01', 1)", "does not allow inserts"),
    ],
)
def test_nothing_is_written_through_it(servers: Servers, statement: str, refusal: str) -> None:
    with pytest.raises(psycopg.Error, match=refusal):
        servers.federation.ask(statement)


def test_while_a_server_is_away_the_others_are_read_by_their_shard(servers: Servers) -> None:
    ask = servers.federation.ask
    of_first = "SELECT * FROM trial_balance WHERE shard = '01' ORDER BY 1, 2, 3"
    before = ask(of_first)
    servers.second.stop()
    try:
        assert ask(of_first) == before
        with pytest.raises(psycopg.OperationalError, match="could not connect to server"):
            ask("SELECT * FROM trial_balance")
    finally:
        servers.second.start()
    assert len(ask("SELECT * FROM store")) >= len(ask("SELECT * FROM store WHERE shard = '01'"))


FUNCTION = "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
SOURCE = (
    "DROP TABLE IF EXISTS source; CREATE TABLE source (shard text, id bigint);"
    " GRANT ALL ON source TO PUBLIC"
)
OF_SOURCE = "PARTITION OF part FOR VALUES IN ('01') SERVER shard_01 OPTIONS (table_name 'source')"
FOREIGN = f"CREATE FOREIGN TABLE part_01 {OF_SOURCE}"
PART = "CREATE TABLE part (shard text, id bigint) PARTITION BY LIST (shard)"
KEYED = PART.replace("bigint)", "bigint, PRIMARY KEY (shard, id))")
NEW = "AFTER INSERT ON {} REFERENCING NEW TABLE AS written FOR EACH STATEMENT"
LATER = "AFTER INSERT ON part_01 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"


@pytest.mark.parametrize(
    ("steps", "refusal"),
    [
        (
            [PART, FOREIGN, "CREATE UNIQUE INDEX ON part (shard, id)"],
            'cannot create unique index on partitioned table "part"',
        ),
        ([KEYED, FOREIGN], 'cannot create foreign partition of partitioned table "part"'),
        (
            [
                "CREATE TABLE held (shard text, id bigint, PRIMARY KEY (shard, id))",
                PART,
                "ALTER TABLE part ADD FOREIGN KEY (shard, id) REFERENCES held",
                FOREIGN,
            ],
            "foreign key constraints are not supported on foreign tables",
        ),
        (
            [
                PART,
                FOREIGN,
                "CREATE TABLE leg (shard text, id bigint)",
                "ALTER TABLE leg ADD FOREIGN KEY (shard, id) REFERENCES part (shard, id)",
            ],
            "there is no unique constraint matching given keys",
        ),
        (
            [PART, FOREIGN, f"CREATE TRIGGER t {NEW.format('part_01')} EXECUTE FUNCTION nothing()"],
            '"part_01" is a foreign table',
        ),
        (
            [
                PART,
                f"CREATE TRIGGER t {NEW.format('part')} EXECUTE FUNCTION nothing()",
                FOREIGN,
                "INSERT INTO part VALUES ('01', 1)",
            ],
            "cannot collect transition tuples from child foreign tables",
        ),
        (
            [PART, FOREIGN, f"CREATE CONSTRAINT TRIGGER t {LATER} EXECUTE FUNCTION nothing()"],
            '"part_01" is a foreign table',
        ),
        (
            [PART, FOREIGN, "SELECT * FROM part", "PREPARE TRANSACTION 'both'"],
            "cannot PREPARE a transaction that has operated on postgres_fdw foreign tables",
        ),
    ],
    ids=[
        "unique index",
        "primary key",
        "foreign key",
        "reference",
        "transition table",
        "transition table of all",
        "deferred trigger",
        "two phases",
    ],
)
def test_postgresql_refuses_what_the_ledger_is_guarded_with_on_foreign_partitions(
    servers: Servers, steps: list[str], refusal: str
) -> None:
    with psycopg.connect(servers.urls["01"], autocommit=True) as own:
        own.execute(SOURCE.encode())
    with psycopg.connect(servers.federation.url) as there:
        there.execute(FUNCTION.encode())
        for step in steps[:-1]:
            there.execute(step.encode())
        with pytest.raises(psycopg.Error, match=refusal):
            there.execute(steps[-1].encode())
        there.rollback()

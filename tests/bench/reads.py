"""Authenticated reads against those of a model serializer and the ORM, and against one bare
statement.

    .venv/bin/python -m tests.bench.reads [rounds]

All stand in one server with the same middleware, asked in turns over eight connections.
"""

import sys

from dev.ports import free_port
from tests.bench.harness import bench_database, figure, print_table
from tests.bench.load import Contender, measure, product, request_of, serving

PAYMENTS = 300
PAID = 30
READS = (
    ("GET /payments/{id}", "/api/v2/payments/{id}", "payment/{id}"),
    ("GET /payments", "/api/v2/payments", "payments"),
    ("GET /balances", "/api/v2/balances", "balances"),
)


def prepare() -> tuple[str, str]:
    """A store with payments, some of them paid: a key of it, and the id of a paid one."""
    from tests import make
    from tests.cast import person, shop_of

    shop = shop_of(person("alice"), "Bench")
    paid = [make.paid(shop.test)["id"] for _ in range(PAID)]
    for _ in range(PAYMENTS - PAID):
        make.payment(shop.test, metadata={"cart": "42"}, order_id="A-1001", title="Coffee beans")
    return shop.secrets["test"], str(paid[0])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with bench_database():
        from django.conf import settings

        settings.LIMITS["payment_create"] = dict.fromkeys(("live", "test"), (10_000_000, 1_000_000))
        key, id = prepare()
        port = free_port()
        with serving(*product("tests.bench.server:application"), port=port):
            for name, ours, theirs in READS:
                contenders = [
                    Contender(label, port, request_of("GET", path.format(id=id), key))
                    for label, path in (
                        (name, ours),
                        ("serializer and ORM", f"/bench/orm/{theirs}"),
                        ("one statement", f"/bench/sql/{theirs}"),
                    )
                ]
                measure(contenders, rounds)
                head = [
                    "what",
                    "8 connections",
                    "p50",
                    "p99",
                    "p99/p50",
                    "of the ORM",
                    "of one statement",
                ]
                print_table(
                    head,
                    [
                        [*contender.row(contenders[1]), contender.row(contenders[2])[-1]]
                        for contender in contenders
                    ],
                )
                print()
                figure(f"{name}, of one statement", float(contenders[0].row(contenders[2])[-1]))


if __name__ == "__main__":
    main()

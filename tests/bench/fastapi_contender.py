"""POST /payments against FastAPI with asyncpg writing the same rows, and against a serializer with
the ORM: servers of two processes.

    .venv/bin/uv pip install --group bench
    .venv/bin/python -m tests.bench.fastapi_contender [rounds]

Asked in turns over eight connections; both write the same rows and derive the same addresses. The
product runs twice: with the four threads a process that production starts with, because some calls
wait long, and with one, as FastAPI does.
"""

import json
import sys

from dev.ports import free_port
from tests.bench.harness import bench_database, figure, print_table
from tests.bench.load import WORKERS, Contender, measure, product, request_of, serving

BODY = {
    "payment_intent": {
        "amount": "49.90",
        "currency": "EUR",
        "order_id": "A-1001",
        "title": "Coffee beans",
        "description": "Two bags",
        "success_url": "https://shop.example/ok",
        "metadata": {"cart": "42", "campaign": "autumn"},
        "line_items": [{"description": "Bag", "quantity": 2, "unit_amount_cents": 2495}],
    }
}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with bench_database():
        from tests.cast import person, shop_of

        key = shop_of(person("alice"), "Bench").secrets["live"]
        raw = json.dumps(BODY).encode()
        django = free_port()
        single = free_port()
        fast = free_port()
        uvicorn = [
            "-m",
            "uvicorn",
            "tests.bench.fastapi_app:application",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
        ]
        contenders = [
            Contender(
                "POST /payments", django, request_of("POST", "/api/v2/payments", key, raw), 201
            ),
            Contender(
                "the same, one thread",
                single,
                request_of("POST", "/api/v2/payments", key, raw),
                201,
            ),
            Contender("FastAPI and asyncpg", fast, request_of("POST", "/payments", key, raw), 201),
            Contender(
                "serializer and ORM", django, request_of("POST", "/bench/create", key, raw), 201
            ),
        ]
        with (
            serving(*product("tests.bench.server:application"), port=django),
            serving(*product("tests.bench.server:application", threads=1), port=single),
            serving(
                sys.executable,
                *uvicorn,
                "--workers",
                str(WORKERS),
                "--log-level",
                "error",
                port=fast,
            ),
        ):
            measure(contenders, rounds)
    ours, alone, fastapi, plain = contenders
    head = ["what", "8 connections", "p50", "p99", "p99/p50", "of FastAPI", "of the ORM"]
    print_table(
        head, [[*contender.row(fastapi), contender.row(plain)[-1]] for contender in contenders]
    )
    of_fastapi = ours.row(fastapi)[-1]
    alone_of_fastapi = alone.row(fastapi)[-1]
    figure("POST /payments, of FastAPI and asyncpg", float(of_fastapi))
    print(
        f"\nmedian of {rounds} rounds: {of_fastapi} of FastAPI, {alone_of_fastapi} with one thread"
        " (goal: at least 1)"
    )


if __name__ == "__main__":
    main()

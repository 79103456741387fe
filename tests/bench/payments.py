"""POST /payments against the same rows written the plain way: a DRF serializer, the ORM and a key
looked up by the ORM.

    .venv/bin/python -m tests.bench.payments [rounds]

Both run through the whole WSGI handler of one process, in turns; what counts is their ratio. The
last line is what row-level security costs: the same call with it and without it, in turns.
"""

import gc
import io
import json
import statistics
import sys
import time
from collections.abc import Callable

from tests.bench.harness import bench_database, figure, print_table

CALLS = 150


def caller(path: str, key: str) -> Callable[[], int]:
    """One POST through the WSGI handler; its status."""
    from django.core.handlers.wsgi import WSGIHandler

    handler = WSGIHandler()
    body = json.dumps(
        {
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
    ).encode()

    def call() -> int:
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": path,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": f"Bearer {key}",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "8000",
            "HTTP_HOST": "localhost",
            "wsgi.input": io.BytesIO(body),
            "wsgi.url_scheme": "http",
            "wsgi.errors": sys.stderr,
            "REMOTE_ADDR": "127.0.0.1",
        }
        statuses: list[str] = []
        answer = handler(environ, lambda status, headers: statuses.append(status))  # type: ignore[arg-type]
        b"".join(answer)
        answer.close()
        return int(statuses[0].split()[0])

    return call


def measure(call: Callable[[], int]) -> list[float]:
    taken = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        status = call()
        taken.append((time.perf_counter() - begin) * 1000)
        if status != 201:
            raise SystemExit(f"answered {status}")
    return taken


def second_line(call: Callable[[], int], rounds: int) -> list[tuple[float, float]]:
    """Of each round the medians with row-level security and without it."""
    from tests.bench.policies import Sides

    def timed() -> float:
        begin = time.perf_counter()
        if call() != 201:
            raise SystemExit("refused")
        return (time.perf_counter() - begin) * 1000

    with Sides() as sides:
        sides.measure(timed, 30)
        return [tuple(map(statistics.median, sides.measure(timed, CALLS))) for _ in range(rounds)]  # type: ignore[misc]


def print_costs(costs: list[tuple[float, float]]) -> None:
    ours, without = (statistics.median(column) for column in zip(*costs, strict=True))
    more = statistics.median(cost / two - 1 for cost, two in costs) * 100
    print(
        f"row-level security: {ours:.2f} ms with it, {without:.2f} ms without, {more:+.1f} %"
        " (median of the rounds; goal: at most 5)"
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with bench_database():
        from django.conf import settings
        from django.urls import path

        import config.urls
        from config import memory
        from tests.bench.plain import Plain
        from tests.cast import person, shop_of

        settings.LIMITS["payment_create"] = {
            "live": (10_000_000, 1_000_000),
            "test": (10_000_000, 1_000_000),
        }
        config.urls.urlpatterns.insert(0, path("bench/payments", Plain.as_view()))
        key = shop_of(person("alice"), "Bench").secrets["live"]
        ours = caller("/api/v2/payments", key)
        plain = caller("/bench/payments", key)
        measure(ours), measure(plain)
        # As in the process that serves, where no collection looks at modules.
        memory.freeze_loaded()
        gc.set_threshold(*memory.SERVING_THRESHOLDS)
        figures = [(measure(ours), measure(plain)) for _ in range(rounds)]
        costs = second_line(ours, rounds)
    rows = []
    for name, column in (("POST /payments", 0), ("serializer and ORM", 1)):
        every = sorted(item for row in figures for item in row[column])
        p50 = every[len(every) // 2]
        p99 = every[int(len(every) * 0.99)]
        rows.append(
            [
                name,
                f"{1000 / statistics.mean(every):.0f}/s",
                f"{p50:.2f} ms",
                f"{p99:.2f} ms",
                f"{p99 / p50:.1f}",
            ]
        )
    ratio = statistics.median(
        statistics.mean(plain) / statistics.mean(ours) for ours, plain in figures
    )
    print_table(["what", "one process", "p50", "p99", "p99/p50"], rows)
    print(
        f"\nratio (plain time / ours), median of {rounds} rounds: {ratio:.2f}"
        "   (goal: at least 4.5)"
    )
    print_costs(costs)
    figure("POST /payments, of a serializer and the ORM", ratio)


if __name__ == "__main__":
    main()

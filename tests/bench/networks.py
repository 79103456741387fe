"""POST /payments with twelve ways to pay, on six networks, against one with two ways on one.

    .venv/bin/python -m tests.bench.networks [rounds]

Both run through the whole WSGI handler of one process, call by call in turns, so that whatever else
the machine does meets both; what counts is the ratio of their lower quartiles.
"""

import statistics
import sys
import time
from collections.abc import Callable

from tests.bench.harness import bench_database, figure, print_table
from tests.bench.payments import CALLS, caller

NETWORKS = ("ethereum", "base", "optimism", "arbitrum", "polygon", "avalanche")
COINS_OF_EACH = 2  # its own and USDC


def offer(count: int) -> list[str]:
    """Activates the own coin and USDC of the first `count` networks; their IDs."""
    from apps.assets.models import Asset, TokenStandard

    rows = Asset.objects.filter(chain__in=NETWORKS[:count])
    ids = [
        *rows.filter(token_standard=TokenStandard.NATIVE).values_list("pk", flat=True),
        *rows.filter(coin_symbol="USDC").values_list("pk", flat=True),
    ]
    if len(ids) != count * COINS_OF_EACH:
        raise SystemExit(f"{count} networks have {len(ids)} such coins")
    Asset.objects.filter(pk__in=ids).update(is_active=True)
    return ids


def shop_with(name: str, asset_ids: list[str]) -> Callable[[], int]:
    """Creates a store that accepts just these coins; its call."""
    from apps.assets.models import AcceptedAsset
    from tests.cast import person, shop_of

    shop = shop_of(person(name), name)
    AcceptedAsset.objects.filter(store=shop.store).exclude(asset__in=asset_ids).delete()
    return caller("/api/v2/payments", shop.secrets["live"])


def in_turns(calls: list[Callable[[], int]], count: int) -> list[list[float]]:
    """Milliseconds of each call, side by side."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(count):
        for call, times in zip(calls, taken, strict=True):
            begin = time.perf_counter()
            status = call()
            times.append((time.perf_counter() - begin) * 1000)
            if status != 201:
                raise SystemExit(f"answered {status}")
    return taken


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with bench_database():
        from django.conf import settings

        from apps.assets.rates import refresh

        settings.LIMITS["payment_create"] = {
            "live": (10_000_000, 1_000_000),
            "test": (10_000_000, 1_000_000),
        }
        twelve_ids = offer(len(NETWORKS))
        refresh()
        calls = [shop_with("alice", offer(1)), shop_with("bob", twelve_ids)]
        in_turns(calls, 50)
        measured = [
            [statistics.quantiles(times, n=4)[0] for times in in_turns(calls, CALLS)]
            for _ in range(rounds)
        ]
    two, twelve = (statistics.median(column) for column in zip(*measured, strict=True))
    ratio = statistics.median(more / few for few, more in measured)
    rows = [["two, on one network", f"{two:.2f} ms"], ["twelve, on six", f"{twelve:.2f} ms"]]
    print_table(["ways to pay", "p25"], rows)
    print(f"\nratio (twelve / two), median of {rounds} rounds: {ratio:.2f}   (goal: at most 1.3)")
    figure("POST /payments, twelve ways of two", ratio)


if __name__ == "__main__":
    main()

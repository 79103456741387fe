"""One process follows eight networks with blocks of 0.25 to 12 seconds, each with open addresses:
how much of a core that takes.

    .venv/bin/python -m tests.bench.watchers [seconds]

The nodes mine empty blocks on this machine; what counts is the time of the process that watches, so
whatever else the machine does counts for nothing. A network that has fallen behind ends the run.
"""

import sys
import threading
import time
from datetime import timedelta

from tests.bench.harness import bench_database, chain_program, figure, print_table

SECONDS = 60
OPEN_ADDRESSES = 50  # of each network
BEHIND_SECONDS_MAX = 15
# Seconds between two blocks, as these networks have them.
NETWORKS = {
    "arbitrum": 0.25,
    "avalanche": 1.0,
    "base": 2.0,
    "optimism": 2.0,
    "base_sepolia": 2.0,
    "polygon": 2.0,
    "ethereum": 12.0,
    "sepolia": 12.0,
}


def open_addresses(chain_id: str, index: int) -> None:
    from apps.assets.models import Chain
    from apps.chain import addresses
    from apps.chain.models import Address
    from apps.core import clock

    chain = Chain.objects.get(pk=chain_id)
    now = clock.real_now()
    Address.objects.bulk_create(
        Address(
            address=addresses.derive(chain.mode, index + place),
            mode=chain.mode,
            index=index + place,
            created_at=now,
            native_chain=chain,
            watch_balance_until=now + timedelta(days=1),
        )
        for place in range(OPEN_ADDRESSES)
    )


def blocks_read(since: dict[str, int]) -> dict[str, int]:
    from apps.chain.models import Head

    heads = Head.objects.filter(chain__in=NETWORKS).values_list("chain_id", "number")
    return {chain_id: number - since.get(chain_id, 0) for chain_id, number in heads}


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    program = chain_program()
    with bench_database():
        from django.conf import settings
        from django.db import connection

        from apps.assets.models import Chain
        from apps.chain.watching.watcher import watch
        from tests.chain.local import LocalChain

        ids = dict(Chain.objects.filter(pk__in=NETWORKS).values_list("pk", "chain_id"))
        nodes = {
            name: LocalChain(program, "--block-time", str(pace), chain_id=ids[name])
            for name, pace in NETWORKS.items()
        }
        settings.CHAIN_URLS = {name: [node.url] for name, node in nodes.items()}
        settings.CHAIN_START_BLOCKS = dict.fromkeys(NETWORKS, 0)
        for place, name in enumerate(NETWORKS):
            open_addresses(name, 2**24 + place * OPEN_ADDRESSES)
        connection.close()
        stop = threading.Event()
        threads = [threading.Thread(target=watch, args=(name, stop)) for name in NETWORKS]
        try:
            for thread in threads:
                thread.start()
            time.sleep(5)
            before, began, used = blocks_read({}), time.monotonic(), time.process_time()
            time.sleep(seconds)
            taken, used = time.monotonic() - began, time.process_time() - used
            read = blocks_read(before)
            behind = {
                name: (node.height - before[name] - read[name]) * NETWORKS[name]
                for name, node in nodes.items()
            }
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            for node in nodes.values():
                node.close()
    print_table(
        ["network", "s a block", "blocks read", "s behind"],
        [
            [name, f"{NETWORKS[name]:g}", str(read[name]), f"{behind[name]:.1f}"]
            for name in NETWORKS
        ],
    )
    late = [name for name, pace in NETWORKS.items() if behind[name] > BEHIND_SECONDS_MAX + pace]
    if late:
        sys.exit(f"behind: {', '.join(late)}")
    print(f"\n{used:.1f} s of a core in {taken:.0f} s: {used / taken:.2f}   (goal: at most 0.5)")
    figure("watching eight networks, cores", used / taken)


if __name__ == "__main__":
    main()

"""Cost of a block for the watcher at a thousand and at a hundred thousand addresses, and of
deriving an address.

    .venv/bin/python -m tests.bench.chain [blocks]

Blocks hold 100 payments of coins and 100 of tokens, one in ten to an address of ours. The same
blocks are read at both sizes.
"""

import statistics
import sys
import time
from typing import Any

from tests.bench.harness import bench_database, chain_program, figure, print_table

SIZES = (1_000, 100_000)
ROUNDS = 3
EACH = 100
FIRST_INDEX = 2**32
OURS = 100
USDC = "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238"


def have_addresses(count: int) -> None:
    """The table with so many addresses; those of the blocks are derived, since one that isn't takes
    no deposit, the others are made up."""
    from django.db import connection

    from apps.core import clock

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM chain_address WHERE index >= %s", [FIRST_INDEX + count])
        cursor.execute(
            "INSERT INTO chain_address (address, mode, index, purpose, created_at) SELECT '0x' ||"
            " lpad(to_hex(n), 40, '0'), 'test', n, 'deposit', %s FROM generate_series(%s, %s) n ON"
            " CONFLICT DO NOTHING",
            [clock.real_now(), FIRST_INDEX, FIRST_INDEX + count - 1],
        )
        ours = [(address, index) for index, address in enumerate(our_addresses())]
        cursor.executemany(
            "INSERT INTO chain_address (address, mode, index, purpose, created_at)"
            " VALUES (%s, 'test', %s, 'deposit', now()) ON CONFLICT DO NOTHING",
            ours,
        )
        cursor.execute("ANALYZE chain_address")


def our_addresses() -> list[str]:
    from apps.chain.addresses import derive

    return [derive("test", index) for index in range(OURS)]


def make_blocks(chain: Any, count: int) -> None:
    from eth_abi.abi import encode

    from tests.chain.local import ACCOUNTS, LOGGER

    chain.put(LOGGER, USDC)
    chain.call("evm_setAutomine", False)
    ours = our_addresses()
    for block in range(count):
        for place in range(EACH):
            number = block * EACH + place
            is_ours = place % 10 == 0
            to = ours[number // 10 % OURS] if is_ours else f"0x{2**80 + number % SIZES[0]:040x}"
            chain.send(to, 1 + place, sender=place % ACCOUNTS, gas=hex(60_000))
            data = "0x" + encode(["address", "uint256"], [to, 5 + place]).hex()
            chain.send(USDC, data=data, sender=place % ACCOUNTS, gas=hex(60_000))
        chain.mine(1)


def read_all(blocks: int) -> tuple[list[float], int, int]:
    """Milliseconds per block, calls made, deposits found, from the first block on."""
    from apps.chain.models import Block, Deposit, Head
    from apps.chain.watching.watcher import Watcher

    for model in (Deposit, Block, Head):
        model._default_manager.all().delete()
    watcher = Watcher("sepolia")
    times = []
    has_more = True
    while has_more:
        began = time.perf_counter()
        watcher._chunk = 1  # block by block, as at the tip
        has_more = watcher.step()
        times.append((time.perf_counter() - began) * 1000)
    calls = watcher.nodes.calls_made
    watcher.close()
    return times[-blocks:], calls, Deposit.objects.count()


def node_alone(chain: Any, blocks: int) -> float:
    """Milliseconds in which the node answers what is asked of a block, and nobody reads it."""
    import requests

    times = []
    with requests.Session() as session:
        for number in range(chain.height + 1 - blocks, chain.height + 1):
            block: dict[str, Any] = {
                "method": "eth_getBlockByNumber",
                "params": [hex(number), True],
            }
            place = {"fromBlock": hex(number), "toBlock": hex(number), "address": [USDC]}
            logs = {"method": "eth_getLogs", "params": [place]}
            receipts = {"method": "eth_getBlockReceipts", "params": [hex(number)]}
            began = time.perf_counter()
            for batch in ([block, logs], [receipts]):
                calls = [{"jsonrpc": "2.0", "id": n, **call} for n, call in enumerate(batch)]
                session.post(chain.url, json=calls, timeout=10).raise_for_status()
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def bench_blocks(count: int) -> None:
    from django.conf import settings

    from tests.chain.local import LocalChain

    chain = LocalChain(chain_program())
    settings.CHAIN_URLS = {"sepolia": [chain.url]}
    settings.CHAIN_START_BLOCKS = {"sepolia": 0}
    try:
        make_blocks(chain, count)
        steps = chain.height + 1
        times: dict[int, list[float]] = {size: [] for size in SIZES}
        calls = {}
        deposits = {}
        for _ in range(ROUNDS):
            for size in SIZES:
                have_addresses(size)
                found, calls[size], deposits[size] = read_all(count)
                times[size] += found
        medians = [statistics.median(times[size]) for size in SIZES]
        rows = [
            (
                f"{size:,}",
                f"{median:.1f}",
                f"{min(times[size]):.1f}..{max(times[size]):.1f}",
                # Asked once: who the node is and where to begin (3). At each step: the tip (2).
                f"{(calls[size] - 3 - 2 * steps) / steps:.2f}",
                str(deposits[size]),
            )
            for size, median in zip(SIZES, medians, strict=True)
        ]
        print_table(
            ("addresses", "ms per block", "min..max", "calls per block", "deposits found"), rows
        )
        figure("a block with 200 deposits, ms", max(medians))
        print(f"\nthe node alone answers within {node_alone(chain, count):.1f} ms a block")
        print(
            f"\n{SIZES[1]:,} addresses cost {medians[1] / medians[0]:.2f} times what {SIZES[0]:,}"
            " cost\n"
        )
    finally:
        chain.close()


def bench_derivation() -> None:
    from eth_account import Account

    from apps.chain.addresses import derive
    from apps.core.process.published_secrets import DEMO_MNEMONIC

    Account.enable_unaudited_hdwallet_features()
    derive("test", 0)
    ours = []
    theirs = []
    for round_ in range(5):
        began = time.perf_counter()
        for index in range(1000):
            derive("test", round_ * 1000 + index)
        ours.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        for index in range(100):
            Account.from_mnemonic(DEMO_MNEMONIC, account_path=f"m/44'/60'/1'/0/{index}")
        theirs.append((time.perf_counter() - began) * 10_000)
    rows = [
        (
            "from the account's public key",
            f"{statistics.median(ours):.0f}",
            f"{min(ours):.0f}..{max(ours):.0f}",
        ),
        (
            "eth-account, from the secret words",
            f"{statistics.median(theirs):.0f}",
            f"{min(theirs):.0f}..{max(theirs):.0f}",
        ),
    ]
    print_table(("deriving an address", "us each", "min..max"), rows)
    print(f"\n{statistics.median(theirs) / statistics.median(ours):.0f} times faster\n")


def main() -> None:
    with bench_database():
        bench_derivation()
        bench_blocks(int(sys.argv[1]) if len(sys.argv) > 1 else 10)


if __name__ == "__main__":
    main()

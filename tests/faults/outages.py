"""`python -m tests.faults.outages [names]`: databases and networks of the service go away while
callers ask, and come back.

No process may end, no answer but a 503 with its Retry-After may come, and afterward every
key has one record, every payout one transfer, and the audit of books and chain nothing to say. Exit
1 when it isn't so.
"""

import os
import signal
import sys
import time
from collections.abc import Callable

from apps.core import local_chain
from apps.core.process.published_secrets import DEMO_MNEMONIC
from tests.faults.caller import ETHER, Caller
from tests.faults.running import Stack
from tests.stack import Remote, mine, wait_for

COINS = 1000 * ETHER
AWAY_SECONDS = 5.0
OPEN = f"""
from apps.chain.sending import signing_rounds
from apps.stores.models import Store
from tests import make
make.store_coins(Store.objects.get(), "SETH", {COINS})
make.service_coins("SETH", {COINS})
signing_rounds.introduce()
"""


class Service:
    """The whole service with a store that has coins, and the ways to take its dependencies away."""

    def __init__(self, stack: Stack | None = None) -> None:
        from apps.chain.keys.seeds import Seed

        self.stack = stack or Stack()
        self.wrong = list[str]()
        try:
            self.chain = self.stack.environ["CHAIN_SEPOLIA_URL"]
            self.stack.manage("set_asset", "SETH", "--confirmations", "2")
            made = self.stack.manage(
                "create_store",
                "--name",
                "Outages",
                "--email",
                "o@example.com",
                "--password",
                "pw-0123456789",
                "--json",
            )
            self.secret = made["keys"]["test"]["secret"]
            local_chain.call(
                self.chain,
                "anvil_setBalance",
                Seed(DEMO_MNEMONIC).hot_key("test").address,
                hex(2 * COINS),
            )
            self.stack.manage("shell", "--command", OPEN)
            for name in self.stack.commands():
                self.stack.start(name)
            self.api = Remote(self.stack.base_url, self.secret)
            wait_for(self._answers, lambda is_up: is_up)
        except BaseException:
            self.stack.close()
            raise

    def _answers(self) -> bool:
        try:
            self.api("GET", "/payments")
        except (OSError, AssertionError):
            return False
        return True

    def database_restarts(self) -> None:
        self.stack.lose_database(AWAY_SECONDS)

    def connections_are_cut(self) -> None:
        for _ in range(3):
            self.stack.manage(
                "shell",
                "--command",
                "from django.db import connection; connection.cursor().execute('SELECT"
                " pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
                " current_database() AND pid <> pg_backend_pid()')",
            )

    def redis_is_killed(self) -> None:
        self.stack.lose_redis(AWAY_SECONDS)

    def redis_forgets_everything(self) -> None:
        self.stack.manage(
            "shell", "--command", "from apps.core.redis import buckets; buckets.client().flushall()"
        )

    def node_hangs(self) -> None:
        pid = self.stack.service("chain_sepolia")
        os.kill(pid, signal.SIGSTOP)
        time.sleep(AWAY_SECONDS)
        os.kill(pid, signal.SIGCONT)

    def two_beats(self) -> None:
        self.stack.start("beat", "another beat")
        time.sleep(AWAY_SECONDS)
        self.stack.kill("another beat")

    def deployment(self) -> None:
        """The migrations run, then every process is asked to end and started anew."""
        self.stack.manage("migrate", "--verbosity", "0")
        for name in self.stack.commands():
            code = self.stack.terminate(name)
            if code:
                self.wrong.append(f"deployment: {name} ended with {code}")
            self.stack.start(name)

    def close(self) -> None:
        self.stack.close()


OUTAGES: dict[str, Callable[[Service], None]] = {
    "database_restarts": Service.database_restarts,
    "connections_are_cut": Service.connections_are_cut,
    "redis_is_killed": Service.redis_is_killed,
    "redis_forgets_everything": Service.redis_forgets_everything,
    "node_hangs": Service.node_hangs,
    "two_beats": Service.two_beats,
    "deployment": Service.deployment,
}


def suffer(names: list[str], say: Callable[[str], None]) -> list[str]:
    """Errors during these outages and after them."""
    service = Service()
    try:
        caller = Caller(service.stack.base_url, service.secret)
        wait_for(lambda: len(caller.made), lambda number: number >= 4)
        for name in names:
            before = caller.told.copy()
            OUTAGES[name](service)
            wait_for(lambda: len(caller.made), (len(caller.made) + 4).__le__, 90)
            caller.wrong += service.wrong
            ended = {
                item: process.returncode
                for item, process in service.stack.processes.items()
                if process.poll() is not None
            }
            caller.wrong += [f"{name}: {item} ended with {code}" for item, code in ended.items()]
            say(f"{name}: {dict(caller.told - before)}")
        caller.stop()
        return caller.wrong + afterwards(service, caller, say)
    finally:
        service.close()


def afterwards(service: Service, caller: Caller, say: Callable[[str], None]) -> list[str]:
    """Every payout at its end, once; and the audit."""

    def missing() -> list[str]:
        mine(service.chain, 1)
        return [
            to
            for to in caller.wishes
            if int(local_chain.call(service.chain, "eth_getBalance", to, "latest"), 16) == 0
        ]

    began = time.monotonic()
    wait_for(missing, lambda left: not left, 120)
    found = []
    for to, amount in caller.wishes.items():
        got = int(local_chain.call(service.chain, "eth_getBalance", to, "latest"), 16)
        if got != amount:
            found.append(f"{got} arrived at {to} instead of {amount}")
    keys = {key: item for key, item in caller.made.items() if key.startswith("payout")}

    def unconfirmed() -> list[str]:
        mine(service.chain, 2)
        return [
            key
            for key in keys.values()
            if service.api("GET", f"/payouts/{key}")["status"] != "confirmed"
        ]

    wait_for(unconfirmed, lambda left: not left, 120)
    say(
        f"{len(caller.made)} records, {len(keys)} payouts confirmed {time.monotonic() - began:.0f}"
        " s after the last outage"
    )
    mine(service.chain, 4)
    service.stack.manage("verify_ledger", "--chain")
    return found


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left running
    wrong = suffer(sys.argv[1:] or list(OUTAGES), lambda line: print(line, flush=True))
    print("\n".join(wrong) or "nothing was lost, doubled or told wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

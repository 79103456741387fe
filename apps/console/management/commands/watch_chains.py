"""`watch_chains`: the deposit watcher as a process: of each chain that has nodes one thread reads
blocks and one looks at addresses, and one wakes workers while beat is away. SIGTERM ends it at
once, anywhere."""

import os
import signal
import threading
from collections.abc import Mapping
from types import FrameType
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from apps.chain.metrics import ChainCollector
from apps.chain.models import Deposit, UnexplainedBalance
from apps.chain.networks.families import stored
from apps.chain.providers.base import RpcError
from apps.chain.watching import address_looks, again, unexplained
from apps.chain.watching.watcher import watch
from apps.chain.watching.writers import may_write
from apps.console import exporter, fallback, local_chains
from apps.console.heartbeat_figures import HeartbeatCollector
from apps.console.pooler_figures import PoolerCollector
from apps.core import clock, money
from apps.core.process.liveness import Liveness

STOP_SECONDS = 1.5
log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Watch the configured chains and record deposits"
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--metrics-port",
            type=int,
            default=settings.METRICS_PORT,
            help="serve Prometheus metrics on this port",
        )
        parser.add_argument(
            "--metrics-address",
            default=settings.METRICS_ADDRESS,
            help="address that they are served on",
        )

        parser.add_argument(
            "--again",
            nargs=3,
            metavar=("CHAIN", "FROM", "TO"),
            help="read these blocks a second time, book what is missing, and end",
        )

        parser.add_argument(
            "--look",
            metavar="ADDRESS",
            help="compare what a deposit address holds with what is booked, book what is missing,"
            " and end",
        )
        parser.add_argument(
            "--accept",
            metavar="ID",
            help="accept coins that nothing explains, with --reason, and end",
        )
        parser.add_argument("--reason", default="", help="why they are accepted")

    # The watcher itself needs no words and no payments: its other acts import theirs.

    def handle(self, *args: Any, **options: Any) -> None:
        if options["again"]:
            self._read_again(*options["again"])
        elif options["look"]:
            self._look(options["look"])
        elif options["accept"]:
            self._accept(options["accept"], options["reason"])
        else:
            self._watch(options)

    def _read_again(self, chain: str, first: str, last: str) -> None:
        """A second run books nothing more. The watcher may go on meanwhile."""
        count = 0
        try:
            if not may_write():
                blocks = again.ask_range(chain, first, last)
                self.stdout.write(
                    f"The watcher reads {blocks} block{pluralize(blocks)} again,"
                    " and adds what is missing"
                )
                return
            for deposit in again.range_again(chain, first, last):
                count += 1
                coins = _coins_text(deposit)
                self.stdout.write(
                    f"block {deposit.block_number}: {coins} to {deposit.address_id}"
                    f" in {deposit.tx_hash}"
                )
        except again.NotReadable as refusal:
            raise CommandError(refusal.text) from None
        except RpcError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{count} deposit{pluralize(count)} recorded" if count else "No new deposits"
        )

    def _look(self, address: str) -> None:
        """Look at an address of a payment of any age: the watcher looks at open ones alone."""
        from apps.payments.services import looks

        try:
            outcome = looks.look_at_address(stored(address))
        except looks.NotLookable as refusal:
            raise CommandError(refusal.text) from None
        except RpcError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(outcome)

    def _accept(self, row_id: str, reason: str) -> None:
        try:
            row = unexplained.accept(row_id, reason, clock.real_now())
        except unexplained.NotAcceptable as refusal:
            raise CommandError(refusal.text) from None
        self.stdout.write(f"{_coins_text(row)} at {row.address_id} accepted")

    def _watch(self, options: Mapping[str, Any]) -> None:
        if not may_write():
            raise CommandError(
                "This database role may not write what chains bring: the watcher connects as"
                " tillgate_watcher, see the notes of upgrades in docs/operators.md"
            )
        stop = threading.Event()

        def end(_: int, __: FrameType | None) -> None:
            stop.set()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        figures = exporter.with_database_figures(
            ChainCollector(), HeartbeatCollector(), PoolerCollector()
        )
        exporter.serve(figures, options["metrics_port"], options["metrics_address"])
        local_chains.introduce()
        chains = [chain for chain, urls in settings.CHAIN_URLS.items() if urls]
        if not chains:
            log.warning(
                "no_chain_configured",
                hint=(
                    "set CHAIN_<NAME>_URL to the URL of a node; until then no deposits are detected"
                ),
            )
        threads = [
            threading.Thread(target=run, args=(chain, stop), name=f"{name}-{chain}", daemon=True)
            for name, run in (("watch", watch), ("look", address_looks.stand_by))
            for chain in chains
        ]
        threads.append(
            threading.Thread(target=fallback.wake, args=(stop,), name="fallback", daemon=True)
        )
        for thread in threads:
            thread.start()
        log.info("watching", chains=chains)
        liveness = Liveness(settings.ALIVE_FILE)
        while not stop.wait(1.0):
            if all(thread.is_alive() for thread in threads):
                liveness.touch()
        for thread in threads:
            thread.join(STOP_SECONDS / len(threads))
        log.info("watching_ended")
        if any(thread.is_alive() for thread in threads):
            # It hangs in a network call; an open transaction rolls back, and the next start goes on
            # from the head.
            os._exit(0)


def _coins_text(row: Deposit | UnexplainedBalance) -> str:
    coin = row.asset
    return f"{money.amount_text(row.amount_atomic, coin.atomic_decimals)} {coin.coin_symbol}"

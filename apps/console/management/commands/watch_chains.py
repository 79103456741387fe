"""`watch_chains`: the deposit watcher as a process, one thread per chain that has nodes, and one
that runs vital jobs while nobody else does. SIGTERM ends it at once, anywhere."""

import os
import signal
import threading
from types import FrameType
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.chain.metrics import ChainCollector
from apps.chain.watching.watcher import watch
from apps.console import exporter, fallback, local_chains
from apps.console.heartbeat_figures import HeartbeatCollector
from apps.console.pooler_figures import PoolerCollector
from apps.core.liveness import Liveness

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

    def handle(self, *args: Any, **options: Any) -> None:
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
            threading.Thread(target=watch, args=(chain, stop), name=f"watch-{chain}", daemon=True)
            for chain in chains
        ]
        threads.append(
            threading.Thread(target=fallback.stand_by, args=(stop,), name="fallback", daemon=True)
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

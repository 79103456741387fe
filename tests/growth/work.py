"""Everything that runs by itself: periodic jobs, figures, probes and claims, as something to run.
A new job is in the table of jobs, and so is here."""

from collections.abc import Callable

from django.utils import timezone

from apps.assets.models import Asset
from apps.chain.metrics import ChainCollector
from apps.chain.models import HotWallet
from apps.chain.sending import sweeper
from apps.chain.sending.sweep_left import LeftCoins
from apps.console import health
from apps.console.figures import Figures
from apps.webhooks.delivery import queue
from config.celery import PERIODIC, app
from config.followers import JOBS_BY_MODE

# It wakes threads that send; what they ask for first is the claim.
SENDING = {"webhooks.deliver_due"}


def _job(name: str, mode: str) -> Callable[[], object]:
    return lambda: app.tasks[name].run(**({"mode": mode} if mode else {}))


def _claim() -> None:
    queue.tidy(timezone.now())
    queue.claim(timezone.now(), 50)


def _sweep() -> None:
    """The job's statements before it asks a node."""
    for wallet in HotWallet.objects.select_related("chain"):
        chain = sweeper._ChainSweep(wallet.chain, [wallet], None, sweeper.SweepCounts())  # type: ignore[arg-type]  # nothing is asked
        chain._found(timezone.now())


def _sweep_what_lacks() -> None:
    """The job's statements when a wallet has promised more than it has."""
    for wallet in HotWallet.objects.select_related("chain"):
        for asset in Asset.objects.filter(chain=wallet.chain):
            LeftCoins(wallet.chain).fullest(asset, timezone.now())


def work() -> dict[str, Callable[[], object]]:
    """Everything that runs by itself, by its name: a new job is in the table."""
    app.loader.import_default_modules()
    jobs = {
        f"{name}:{mode}" if mode else name: _job(name, mode)
        for name in PERIODIC
        for mode in (("live", "test") if name in JOBS_BY_MODE else ("",))
    }
    others: dict[str, Callable[[], object]] = {
        "figures": lambda: list(Figures().collect()),
        "figures of chains": lambda: list(ChainCollector().collect()),
        "readiness": lambda: [check() for check in health._CHECKS.values()],
        "webhooks claim": _claim,
        "sweep": _sweep,
        "sweep to a short wallet": _sweep_what_lacks,
    }
    return jobs | others

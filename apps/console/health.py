"""/healthz: the process answers. /readyz: what the service needs is there; below it, what this
process needs and how the chains are. /metrics: Prometheus, for those who hold the token.

Only /readyz/web decides where requests go: what it asks for is what every request needs, so that
Redis or one chain that is away takes no process out.
"""

import hmac
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse
from msgspec import Struct, to_builtins
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from apps.chain.selectors import chains_without_node, lag_seconds
from apps.core.db import tenancy
from apps.core.db.replica import reads_may_lag

CHAIN_LAG_SECONDS_MAX = 300


class PartHealth(Struct, frozen=True, kw_only=True):
    ready: bool


class Failed(PartHealth, frozen=True, kw_only=True):
    """The kind of the error, and nothing of its text: everybody may ask."""

    error: str


class Migrations(PartHealth, frozen=True, kw_only=True):
    pending: int


class Chains(PartHealth, frozen=True, kw_only=True):
    """Delay of each chain's watcher (null: it has read nothing yet), and the chains without
    configured nodes."""

    lag_seconds: dict[str, int | None]
    without_node: list[str]


def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """The whole service: one entry per part; 503 when one isn't ready."""
    return _tell(_CHECKS)


def readyz_web(request: HttpRequest) -> HttpResponse:
    """Readiness of this process to answer requests: for load balancers and readiness probes."""
    return _tell(("database", "migrations"))


def readyz_chains(request: HttpRequest) -> HttpResponse:
    """Answers 200 while every chain is being read."""
    return _tell(("chain_watcher",))


def _tell(names: Iterable[str]) -> HttpResponse:
    parts = {name: _ask(_CHECKS[name]) for name in names}
    is_ready = all(part.ready for part in parts.values())
    headers = {} if is_ready else {"Retry-After": "5"}
    return JsonResponse(to_builtins(parts), status=200 if is_ready else 503, headers=headers)


def _ask(check: Callable[[], PartHealth]) -> PartHealth:
    try:
        return check()
    except Exception as error:  # whatever is wrong with it, it isn't ready
        return Failed(ready=False, error=type(error).__name__)


# Most processes never answer a probe.


def _database() -> PartHealth:
    from apps.core.process import versions

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    versions.require(versions.POSTGRESQL)
    return PartHealth(ready=True)


def _redis() -> PartHealth:
    from apps.core.process import versions

    versions.require(versions.REDIS)
    return PartHealth(ready=True)


def _migrations() -> PartHealth:
    pending = len(_shipped_migrations() - set(MigrationRecorder(connection).applied_migrations()))
    return Migrations(ready=pending == 0, pending=pending)


@cache
def _shipped_migrations() -> frozenset[tuple[str, str]]:
    """By the names of their files: to load them all costs a process 3 MB, which it never gives
    back."""
    folders = ((config.label, Path(config.path, "migrations")) for config in apps.get_app_configs())
    files = (
        (label, module.name) for label, path in folders for module in iter_modules([str(path)])
    )
    return frozenset((label, name) for label, name in files if name[0] not in "_~")


def _chains() -> PartHealth:
    lags = {chain: lag_seconds(chain) for chain, urls in settings.CHAIN_URLS.items() if urls}
    unread = chains_without_node()
    is_ready = not unread and all(
        lag is not None and lag <= CHAIN_LAG_SECONDS_MAX for lag in lags.values()
    )
    return Chains(ready=is_ready, lag_seconds=lags, without_node=unread)


_CHECKS: dict[str, Callable[[], PartHealth]] = {
    "database": _database,
    "redis": _redis,
    "migrations": _migrations,
    "chain_watcher": _chains,
}


def metrics(request: HttpRequest) -> HttpResponse:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(token.encode(), settings.METRICS_TOKEN.encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    # Loaded by who is scraped: most processes that answer probes never are.
    from apps.console.exporter import process_registry
    from apps.console.replica_figures import ReplicaCollector

    registry = process_registry()
    registry.register(ReplicaCollector())
    page = _database_figures() + generate_latest(registry)
    return HttpResponse(page, content_type=CONTENT_TYPE_LATEST)


@reads_may_lag("figures that are scraped every few seconds")
def _database_figures() -> bytes:
    from apps.chain.metrics import ChainCollector
    from apps.console.figures import Figures
    from apps.console.heartbeat_figures import HeartbeatCollector

    registry = CollectorRegistry()
    for collector in (Figures(), ChainCollector(), HeartbeatCollector()):
        registry.register(collector)
    with tenancy.everyone("figures of the whole service"):
        return generate_latest(registry)

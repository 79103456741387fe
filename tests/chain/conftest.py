import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, connections

from apps.assets.models import Chain
from apps.audit.grants import WATCHER
from apps.chain import addresses
from apps.chain.models import Address, BalanceCheck, Block, Deposit, Head, SightingRecord
from apps.chain.watching.watcher import Watcher
from apps.core import clock
from apps.core.redis import buckets
from tests.chain.local import LocalChain, end_spares, program
from tests.chain.proxy import Proxy
from tests.roles import acting_as


def pytest_sessionfinish() -> None:
    end_spares()  # a worker for which its run waits too long doesn't come to its exit


@pytest.fixture
def chain(settings: Any) -> Iterator[LocalChain]:
    """A fresh sepolia that the watcher reads."""
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    local = LocalChain(anvil)
    settings.CHAIN_URLS = {"sepolia": [local.url]}
    settings.CHAIN_START_BLOCKS = {"sepolia": 0}
    yield local
    local.close()


@pytest.fixture
def twin(chain: LocalChain) -> Iterator[LocalChain]:
    """A second node of the same kind; what it holds is the test's to load."""
    local = LocalChain(str(program()))
    yield local
    local.close()


@pytest.fixture
def proxy(chain: LocalChain, settings: Any) -> Iterator[Proxy]:
    """The only node that the watcher knows, which can be made to misbehave."""
    between = Proxy(chain.url)
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [between.url]}
    yield between
    between.close()


@pytest.fixture
def second(chain: LocalChain, proxy: Proxy, settings: Any) -> Iterator[Proxy]:
    """A second node behind the first, honest until it is made to misbehave."""
    other = Proxy(chain.url)
    settings.CHAIN_URLS = {"sepolia": [proxy.url, other.url]}
    yield other
    other.close()


@pytest.fixture
def watcher(chain: LocalChain, db: None) -> Iterator["Reader"]:
    reader = Reader()
    yield reader
    reader.close()


class Reader:
    """A watcher, with its own database role, that reads until there is nothing more; `restart` is
    what a killed process does."""

    def __init__(self) -> None:
        self.watcher: Watcher | None = None

    def read(self) -> None:
        self.watcher = self.watcher or Watcher("sepolia")
        with acting_as(WATCHER):
            while self.watcher.step():
                pass

    def restart(self) -> None:
        self.close()
        self.watcher = None

    def close(self) -> None:
        if self.watcher is not None:
            self.watcher.close()


@pytest.fixture
def address(db: None) -> str:
    return make_address()


def make_address(
    mode: str = "test", native_chain: str | None = None, watch_balance_until: Any = None
) -> str:
    """An address as a payment would get it."""
    [index] = addresses.next_indexes(1)
    return Address.objects.create(
        address=addresses.derive(mode, index),
        mode=mode,
        index=index,
        created_at=clock.real_now(),
        native_chain=Chain.objects.get(pk=native_chain) if native_chain else None,
        watch_balance_until=watch_balance_until,
    ).pk


@pytest.fixture
def woken(django_capture_on_commit_callbacks: Any) -> Callable[[Callable[[], None]], list[str]]:
    """Does something and tells which deposits the settling job was woken for, as the broker holds
    them."""

    def during(work: Callable[[], None]) -> list[str]:
        broker = buckets.client()
        broker.delete("celery")
        with django_capture_on_commit_callbacks(execute=True):
            work()
        messages = [json.loads(item) for item in broker.lrange("celery", 0, -1)]
        bodies = [
            json.loads(base64.b64decode(message["body"]))
            for message in messages
            if message["headers"]["task"] == "payments.settle_deposits"
        ]
        return sorted(deposit_id for [ids], *_ in bodies for deposit_id in ids)

    return during


@pytest.fixture
def committed(db: None) -> Iterator[None]:
    """A connection beside the test's own transaction, whose rows a process or another thread can
    see; they are deleted afterward."""
    inside = connections["default"]
    connections["default"] = connections.create_connection("default")
    others = list(Address.objects.values_list("pk", flat=True))  # of tests that keep what they made
    chains = list(Chain.objects.all())
    yield
    for chain in chains:  # the process names those that this machine stands in for
        chain.save()
    Deposit.objects.exclude(address_id__in=others).delete()
    for model in (BalanceCheck, Block, Head, SightingRecord):
        model._default_manager.all().delete()
    Address.objects.exclude(pk__in=others).delete()
    connection.close()
    connections["default"] = inside

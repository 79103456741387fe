"""A database of its own, filled to so many payments with everything that belongs to them:
addresses, deposits, entries, events, deliveries, requests, refunds, payouts, invoices; many stores.

`with town(16_000) as place, place.beside() as smaller: place.grow(16_000)`. Nothing is due: what
has come to rest, over a year, and what waits for its time grows, and nothing else.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.test import override_settings

from apps.access.pruning import REQUEST_LOG
from apps.chain import addresses
from apps.core import acting, clock
from apps.core.db import number_ranges, partitions, tenancy
from apps.core.db.number_ranges import RANGE_ROWS as RANGE
from apps.core.redis import buckets
from apps.ledger import posting
from dev import embedded, template_database
from tests.cast import Shop
from tests.growth import world
from tests.growth.catalog import OF_STORES, Table, ask, keys_of, tables
from tests.growth.copies import FIRST_ID, Copier
from tests.growth.filling import without_indexes
from tests.growth.kept_up import keep_up, rate_days
from tests.growth.work import SENDING, work
from tests.growth.world import World

DATABASE = "tillgate_growth"
BESIDE = "tillgate_growth_beside"
PAYMENTS_PER_STORE = 150
SETTLED_PER_WAITING = 5  # copies of what has come to rest for one of what waits
PAYMENTS_PER_COPY = 12
PAYMENTS_PER_SALE = 4
# Beyond these, all but one of twenty are sales and no more: no refunds, payouts, swaps, invoices.
WHOLE_MAX = 1_000_000
WHOLE_BEYOND = 20
DAYS = 363
# Copies that are made together, whatever their part: the oldest first.
POSITIONS = 40_000
# What a copy takes of the numbers of a history, at most.
HISTORY_NUMBERS = 150


@dataclass(frozen=True)
class Copies:
    """How many of each part."""

    stores: int
    settled: int
    sold: int

    @classmethod
    def of(cls, payments: int) -> "Copies":
        whole = min(payments, WHOLE_MAX) + max(0, payments - WHOLE_MAX) // WHOLE_BEYOND
        return cls(
            max(3, payments // PAYMENTS_PER_STORE),
            max(1, whole // PAYMENTS_PER_COPY),
            (payments - whole) // PAYMENTS_PER_SALE,
        )

    @property
    def aged(self) -> int:
        return self.settled + self.sold

    @property
    def waiting(self) -> int:
        return self.settled // SETTLED_PER_WAITING


class Town:
    """The stores. `shop` is the first and has two of five payments; `world` is who is in it."""

    def __init__(self, place: World) -> None:
        self.world = place
        self.shop: Shop = place.shop

    @property
    def payments(self) -> int:
        return int(ask("SELECT count(*) FROM payments_payment")[0][0])


class GrowingTown(Town):
    """One that was founded in this process."""

    def __init__(self, place: World, copier: Copier, most: Copies, lanes: int) -> None:
        super().__init__(place)
        self._copier = copier
        self._most = most
        self._lanes = lanes
        self._numbers = {part: set[int]() for part in copier.parts}

    def keep(self, days: Mapping[str, int]) -> None:
        """Of these tables rows as old as that, as an operator may have set."""
        self._copier.kept_days.update(days)

    def grow(self, payments: int, *, at_once: bool = False) -> None:
        """Until there are about so many payments, spread over the year; then what PostgreSQL knows
        of its tables is brought up to date. Many at once are written without indexes."""
        with without_indexes(self._lanes) if at_once else nullcontext():
            self._fill(Copies.of(payments))
        self._copier.advance_sequences()
        keep_up(self._lanes)

    def _fill(self, copies: Copies) -> None:
        self._add("store", range(1, copies.stores), copies.stores)
        # Evenly over the year: those that are missing come between those that are there.
        every = self._most.aged // self._most.settled
        settled = range(every, every * self._most.settled + 1, every)
        sold = [number for number in range(1, self._most.aged + 1) if number % every]
        past = {
            "settled": _spread(settled, copies.settled),
            "sold": _spread(sold, copies.sold),
        }
        newest = self._most.aged
        while newest > 0:
            oldest = newest
            newest -= POSITIONS
            for part, numbers in past.items():
                within = numbers[bisect_right(numbers, newest) : bisect_right(numbers, oldest)]
                self._add(part, within, copies.stores)
        self._add("waiting", range(1, copies.waiting + 1), copies.stores)

    @contextmanager
    def beside(self) -> Iterator["GrowingTown"]:
        """One that was founded with it and has a database of its own, which is dropped afterwards:
        `with within(BESIDE)` it grows by itself."""
        before = connection.settings_dict["NAME"]
        _connect_to("postgres")
        ask(f"DROP DATABASE IF EXISTS {BESIDE} WITH (FORCE)")
        ask(f"CREATE DATABASE {BESIDE} TEMPLATE {before} STRATEGY FILE_COPY")
        ask(f"REVOKE TEMPORARY ON DATABASE {BESIDE} FROM PUBLIC")
        _connect_to(before)
        other = GrowingTown(self.world, self._copier, self._most, self._lanes)
        other._numbers = {part: set(numbers) for part, numbers in self._numbers.items()}
        try:
            yield other
        finally:
            ask(f"DROP DATABASE {BESIDE} WITH (FORCE)")

    def _add(self, part: str, numbers: Sequence[int], stores: int) -> None:
        missing = [number for number in numbers if number not in self._numbers[part]]
        self._numbers[part].update(missing)
        self._copier.copy(part, missing, stores, self._lanes)


def _spread(numbers: Sequence[int], count: int) -> Sequence[int]:
    """So many of them, as far from each other as they can be."""
    step = max(1, len(numbers) // max(1, count))
    return numbers[step - 1 :: step][:count]


def _make_days() -> None:
    """The request log as it is a month after an installation: every call in the partition of its
    day."""
    now = clock.real_now()
    for partition in partitions.partitions(REQUEST_LOG):
        partitions.drop_before(REQUEST_LOG, partition.end)
    for days in range(0, settings.REQUEST_LOG_DAYS + 1 + REQUEST_LOG.ahead, 7):
        partitions.make_ahead(REQUEST_LOG, now - days * partitions.DAY)


def _make_ranges(copies: int) -> None:
    """Histories around the rows that are copied, and around their copies."""
    before = 1 + copies * HISTORY_NUMBERS // RANGE
    for table, ahead in number_ranges.rows_ahead().items():
        starts = [FIRST_ID + number * RANGE for number in range(-before, 2)]
        for start, end in pairwise([ahead + 1, *starts]):
            ask(
                f"CREATE TABLE {table}_{start} PARTITION OF {table} FOR VALUES FROM ({start})"
                f" TO ({end})"
            )


def forget() -> None:
    """Forget what this process keeps of one database, or of a rollback: accounts, indexes of
    addresses."""
    posting._known.clear()
    addresses._free.clear()


@contextmanager
def town(payments_max: int) -> Iterator[GrowingTown]:
    """A database of its own on the test server, dropped afterwards; the connection is back at the
    tests' own then."""
    create(DATABASE)
    try:
        with within(DATABASE):
            yield founded(payments_max)
    finally:
        ask(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def create(database: str) -> None:
    """From the migrated template when there is one; else from the tests' own database, which takes
    no connection meanwhile."""
    before = connection.settings_dict["NAME"]
    data = embedded.var_folder(embedded.TEST) / "postgres"
    template = template_database.DATABASE if template_database.for_tests(data) else before
    _connect_to("postgres")
    ask(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    ask(f"CREATE DATABASE {database} TEMPLATE {template}")
    ask(f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
    _connect_to(before)


@contextmanager
def within(database: str) -> Iterator[None]:
    """Connected to it, as a process that knows nothing yet. Nothing is rolled back."""
    before = connection.settings_dict["NAME"]
    _connect_to(database)
    forget()
    try:
        with acting.acting(acting.Actor()), tenancy.within(tenancy.NOBODY):
            yield
    finally:
        forget()
        _connect_to(before)
        buckets.client().flushdb()


def founded(payments_max: int, lanes: int = 1) -> GrowingTown:
    """A town in an empty database, with the parts that are copied: the store, what has come to
    rest, what was only sold, what waits."""
    most = Copies.of(payments_max)
    _make_days()
    _make_ranges(most.aged)
    known = [table for table in tables().values() if not table.is_shared]
    for table in known:
        for column in table.columns:
            if column.sequence:
                ask("SELECT setval(%s, %s)", column.sequence, FIRST_ID)
    with transaction.atomic():
        place = world.open_store()
    opened = keys_of(known)
    world.trade(place)
    settled = _at_rest(known)
    if most.sold:
        world.sell(place)
    sold = _at_rest(known)
    world.wait(place)
    waiting = _at_rest(known)
    rate_days()
    parts = {
        "store": _of_store(place, waiting),
        "settled": _added(opened, settled),
        "sold": _added(settled, sold),
        "waiting": _added(sold, waiting),
    }
    copier = Copier(str(place.shop.store.pk), parts, DAYS / most.aged)
    return GrowingTown(place, copier, most, lanes)


def _at_rest(known: list[Table]) -> dict[str, set[str]]:
    """The rows there are, when nothing is left to be done to them: copies are made of that."""
    world.rest()
    with (
        tenancy.everyone("what runs by itself sees all rows"),
        override_settings(CHAIN_URLS={}),
    ):
        for name, run in work().items():
            if name not in SENDING:
                run()
    world.rest()
    return keys_of(known)


def _added(before: dict[str, set[str]], after: dict[str, set[str]]) -> dict[str, set[str]]:
    return {name: keys - before[name] for name, keys in after.items() if name not in OF_STORES}


def _of_store(place: World, keys: dict[str, set[str]]) -> dict[str, set[str]]:
    """The first store's rows; not the platform's, nor the service's accounts."""
    store_id = str(place.shop.store.pk)
    found: dict[str, set[str]] = {}
    for name, table in tables().items():
        if name not in OF_STORES or not keys.get(name):
            continue
        if name == "stores_store":
            found[name] = {store_id}
        elif name == "stores_user":
            found[name] = {str(place.shop.owner.pk)}
        else:
            rows: list[tuple[Any, ...]] = ask(
                f"SELECT {table.key.name}::text FROM {name} WHERE store_id = %s",
                store_id,
            )
            found[name] = {key for (key,) in rows}
    return found


def _connect_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name

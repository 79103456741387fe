"""A database of its own, filled to so many payments with everything that belongs to them:
addresses, deposits, entries, events, deliveries, requests, refunds, payouts, invoices; many stores.

`with town(16_000) as place: place.grow(2_000); …; place.grow(16_000)`. Nothing is due: what
has come to rest, over a year, and what waits for its time grows, and nothing else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.indexes import BrinIndex
from django.db import connection, transaction

from apps.access.pruning import REQUEST_LOG
from apps.chain import addresses
from apps.core import acting, buckets, clock
from apps.core.db import number_ranges, partitions, tenancy
from apps.core.db.number_ranges import RANGE_ROWS as RANGE
from apps.ledger import posting
from apps.payments import daily_sums, hourly_sums
from dev import embedded, template_database
from tests.cast import Shop
from tests.growth import world
from tests.growth.copies import FIRST_ID, OF_STORES, Copier, ask, keys_of, tables
from tests.growth.world import World

DATABASE = "tillgate_growth"
PAYMENTS_PER_STORE = 150
SETTLED_PER_WAITING = 5  # copies of what has come to rest for one of what waits
PAYMENTS_PER_COPY = 12
DAYS = 363


# As the triggers write them, which don't look at copies.
_CHANGES = """
INSERT INTO payments_paymentchange (store_id, mode, platform_id, hour, sold_on, currency, status,
    payments, completed, completed_cents, nets, net_cents)
SELECT p.store_id, p.mode, p.platform_id, date_trunc('hour', p.created_at, 'UTC'),
    (p.completed_at AT TIME ZONE 'UTC')::date, p.settlement_currency, p.status, 1,
    (p.completed_at IS NOT NULL)::int,
    CASE WHEN p.completed_at IS NULL THEN 0 ELSE p.settlement_amount_cents END,
    (n.net_cents IS NOT NULL)::int, coalesce(n.net_cents, 0)
FROM payments_payment p LEFT JOIN payments_paymentnet n ON n.payment_id = p.id
"""


def copies_of(payments: int) -> int:
    return max(1, payments // PAYMENTS_PER_COPY)


class Town:
    """The stores. `shop` is the first and has two of five payments; `world` is who is in it."""

    def __init__(self, place: World, copier: Copier, copies_max: int) -> None:
        self.world = place
        self.shop: Shop = place.shop
        self._copier = copier
        self._copies_max = copies_max
        self._numbers = {part: set[int]() for part in copier.parts}

    @property
    def payments(self) -> int:
        return int(ask("SELECT count(*) FROM payments_payment")[0][0])

    def grow(self, payments: int) -> None:
        """Until there are about so many payments, spread over the year; then what PostgreSQL knows
        of its tables is brought up to date."""
        stores = max(3, payments // PAYMENTS_PER_STORE)
        copies = copies_of(payments)
        # Evenly over the year: those that are missing come between those that are there.
        step = max(1, self._copies_max // copies)
        self._add("store", range(1, stores), stores)
        self._add("settled", range(step, copies * step + 1, step), stores)
        self._add("waiting", range(1, copies // SETTLED_PER_WAITING + 1), stores)
        self._copier.advance_sequences()
        self._fold()
        ask("VACUUM ANALYZE")

    def put_in_order(self) -> None:
        """Tables of which the age of blocks is indexed, as they would have been written: the oldest
        rows first."""
        for table, column in by_age():
            ask(f"CREATE INDEX of_town ON {table} ({column})")
            ask(f"CLUSTER {table} USING of_town")
            ask("DROP INDEX of_town")
        ask("VACUUM ANALYZE")

    def _add(self, part: str, numbers: range, stores: int) -> None:
        missing = [number for number in numbers if number not in self._numbers[part]]
        self._numbers[part].update(missing)
        self._copier.copy(part, missing, stores)

    def _fold(self) -> None:
        """Balances are folded and days summed, as the jobs would have done all year; what was
        written is sealed."""
        ask("SET session_replication_role = replica")
        ask(
            "UPDATE ledger_account a SET checkpoint_id = (SELECT coalesce(max(id), 0) FROM"
            " ledger_entry), checkpoint_atomic = coalesce((SELECT sum(e.amount_atomic)"
            " FROM ledger_entry e WHERE e.account_id = a.id), 0)"
        )
        ask(
            "UPDATE billing_invoicecounter c SET last_number = coalesce((SELECT max(number)"
            " FROM billing_invoice i WHERE i.store_id = c.store_id AND i.mode = c.mode), 0)"
        )
        ask("SET session_replication_role = origin")
        ask("TRUNCATE payments_dailysum, payments_dailysumplace")  # older entries have come
        ask("TRUNCATE payments_paymentchange, payments_hourlysum, payments_soldsum")
        ask(_CHANGES)
        hourly_sums.sum_hours()
        with transaction.atomic():
            for (account_id,) in ask("SELECT id FROM ledger_account WHERE store_id IS NOT NULL"):
                daily_sums.sum_account(account_id)


def by_age() -> list[tuple[str, str]]:
    """The tables of which the age of blocks is indexed, each with its column."""
    return [
        (model._meta.db_table, index.fields[0])
        for model in apps.get_models()
        for index in model._meta.indexes
        if isinstance(index, BrinIndex)
    ]


def _make_days() -> None:
    """The request log as it is a month after an installation: every call in the partition of its
    day."""
    now = clock.real_now()
    for partition in partitions.partitions(REQUEST_LOG):
        partitions.drop_before(REQUEST_LOG, partition.end)
    for days in range(0, settings.REQUEST_LOG_DAYS + 1 + REQUEST_LOG.ahead, 7):
        partitions.make_ahead(REQUEST_LOG, now - days * partitions.DAY)


def _make_ranges() -> None:
    """Histories around the rows that are copied, and around their copies."""
    for table, ahead in number_ranges.rows_ahead().items():
        first_end = ahead + 1
        for start, end in pairwise([first_end, FIRST_ID - RANGE, FIRST_ID, FIRST_ID + RANGE]):
            ask(
                f"CREATE TABLE {table}_{start} PARTITION OF {table} FOR VALUES FROM ({start})"
                f" TO ({end})"
            )


def forget() -> None:
    """What this process has of one database, or of what was rolled back, is of no other: accounts,
    indexes of addresses."""
    posting._known.clear()
    addresses._free.clear()


@contextmanager
def town(payments_max: int) -> Iterator[Town]:
    """A database of its own on the test server, dropped afterwards; the connection is back at the
    tests' own then. Nothing is rolled back in it."""
    before = connection.settings_dict["NAME"]
    _create(before)
    _connect_to(DATABASE)
    forget()
    try:
        with acting.acting(acting.Actor()), tenancy.within(tenancy.NOBODY):
            _make_days()
            _make_ranges()
            yield _found(copies_of(payments_max))
    finally:
        forget()
        _connect_to(before)
        ask(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        buckets.client().flushdb()


def _found(copies_max: int) -> Town:
    """The parts that are copied: the store, what has come to rest, what waits."""
    known = [table for table in tables().values() if not table.is_shared]
    for table in known:
        for column in table.columns:
            if column.sequence:
                ask("SELECT setval(%s, %s)", column.sequence, FIRST_ID)
    with transaction.atomic():
        place = world.open_store()
    opened = keys_of(known)
    world.trade(place)
    world.rest()
    settled = keys_of(known)
    world.wait(place)
    world.rest()
    waiting = keys_of(known)
    parts = {
        "store": _of_store(place, waiting),
        "settled": _added(opened, settled),
        "waiting": _added(settled, waiting),
    }
    copier = Copier(str(place.shop.store.pk), parts, DAYS / copies_max)
    return Town(place, copier, copies_max)


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


def _create(template: str) -> None:
    """From the migrated template when there is one; else from the tests' own database, which takes
    no connection meanwhile."""
    data = embedded.var_folder(embedded.TEST) / "postgres"
    if template_database.for_tests(data):
        template = template_database.DATABASE
    _connect_to("postgres")
    ask(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    ask(f"CREATE DATABASE {DATABASE} TEMPLATE {template}")


def _connect_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name

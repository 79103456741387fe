"""A platform's merchants are counted where they change, for every writer and however many do at
once."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.db import Error, connection, transaction
from django.db.models import Sum

from apps.audit.grants import WEB, WORKER
from apps.core import clock
from apps.core.ids import new_id
from apps.stores.models import MerchantCount, Store, Verification
from tests.auditing import found_of
from tests.cast import Cast
from tests.roles import acting_as
from tests.taken_out import committed_cast


def counts(platform: Store) -> tuple[int, int, int, int]:
    rows = MerchantCount.objects.filter(store=platform)
    names = ("accounts", "activated", "verified", "pending")
    found = rows.aggregate(**{f"{name}_sum": Sum(name, default=0) for name in names})
    return tuple(found[f"{name}_sum"] for name in names)  # type: ignore[return-value]  # of four


def are_true() -> bool:
    return found_of("merchants_counted") == []


def open_store(platform: Store | None) -> Store:
    now = clock.real_now()
    return Store.objects.create(
        name="Stall", platform=platform, created_at=now, settlement_currency="EUR"
    )


def verify_store(store: Store, status: str) -> None:
    now = clock.real_now()
    Verification.objects.create(
        store=store,
        status=status,
        business_legal_name="Stall",
        business_country="DE",
        submitted_at=now,
        created_at=now,
        updated_at=now,
    )


@pytest.mark.parametrize("role", [WEB, WORKER])
@pytest.mark.parametrize(
    "call", ["stores_add_merchants(%s, 5, true, true, true)", "stores_count_merchant(%s)"]
)
def test_nobody_but_the_triggers_counts(cast: Cast, call: str, role: str) -> None:
    platform = cast.strangers.store
    with (
        pytest.raises(Error, match="permission denied for function"),
        acting_as(role),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"SELECT {call}", [platform.pk])
    assert counts(platform) == (0, 0, 0, 0)


def test_each_change_of_a_merchant_is_counted(cast: Cast) -> None:
    platform, other = cast.strangers.store, cast.bakery.store
    before = counts(platform)
    store = open_store(None)
    verify_store(store, "pending")
    seen = [before]
    for change in (
        {"platform": platform},
        {"kyc_confirmed_at": clock.real_now()},
        {"kyc_confirmed_at": None},
        {"platform": other},
        {"platform": platform, "deleted_at": clock.real_now()},
        {"deleted_at": None},
    ):
        Store.objects.filter(pk=store.pk).update(**change)
        seen.append(counts(platform))
        assert are_true(), change
    Verification.objects.filter(store=store).update(status="approved")
    seen.append(counts(platform))

    added = [tuple(now - first for now, first in zip(row, before, strict=True)) for row in seen]
    assert added == [
        (0, 0, 0, 0),
        (1, 0, 0, 1),
        (1, 1, 0, 0),
        (1, 0, 0, 1),
        (0, 0, 0, 0),
        (0, 0, 0, 0),
        (1, 0, 0, 1),
        (1, 0, 1, 0),
    ]
    assert MerchantCount.objects.filter(store=platform).count() == 1


def test_many_changes_at_random_are_counted(cast: Cast) -> None:
    random = Random(5)
    platforms = [cast.strangers.store, cast.bakery.store, None]
    stores = [open_store(random.choice(platforms)) for _ in range(8)]
    for _ in range(60):
        store = random.choice(stores)
        if random.random() < 0.3:
            rows = Verification.objects.filter(store=store, status="pending")
            if not rows.update(status=random.choice(["approved", "rejected"])):
                verify_store(store, "pending")
            continue
        column = random.choice(["platform", "kyc_confirmed_at", "deleted_at"])
        moment = random.choice([None, clock.real_now()])
        value = random.choice(platforms) if column == "platform" else moment
        Store.objects.filter(pk=store.pk).update(**{column: value})
    assert are_true()


@pytest.fixture
def committed(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    """A cast whose rows other connections see."""
    with django_db_blocker.unblock(), committed_cast() as cast:
        yield cast


def test_who_counts_at_the_same_time_waits_for_nobody(committed: Cast) -> None:
    platform = committed.strangers.store
    before = counts(platform)[0]
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            first = open_store(platform)
            cursor.execute("BEGIN")
            copied = ", ".join(
                {"id": "%s", "name": "'Other'"}.get(field.column, f'"{field.column}"')
                for field in Store._meta.concrete_fields
            )
            listed = ", ".join(f'"{field.column}"' for field in Store._meta.concrete_fields)
            cursor.execute(
                f"INSERT INTO stores_store ({listed}) SELECT {copied} FROM stores_store"
                " WHERE id = %s",
                [new_id(), first.pk],
            )
            open_store(platform)
            assert counts(platform)[0] == before + 2
            cursor.execute("COMMIT")
    finally:
        other.close()
    assert counts(platform)[0] == before + 3 and are_true()
    assert MerchantCount.objects.filter(store=platform).count() == 2
    open_store(platform)
    assert MerchantCount.objects.filter(store=platform).count() == 1

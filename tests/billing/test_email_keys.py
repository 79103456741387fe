"""A customer is found by email in any case of letters, by an index, beneath the policies, for every
role that writes the row."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from apps.audit.grants import WEB
from apps.billing.models import Customer
from apps.billing.selectors import customer_with_email
from apps.core.db import tenancy
from tests.billing import records
from tests.cast import Cast, Shop
from tests.dashboard.test_search import copies
from tests.growth.buffers import reading
from tests.roles import acting_as

READ_MAX = 20
MIGRATION = import_module("apps.billing.migrations.0005_email_keys_so_far")


def keys() -> list[str | None]:
    return list(Customer.objects.order_by("email").values_list("email_key", flat=True))


def test_a_customer_of_many_is_found_in_any_case_by_reading_few(cast: Cast) -> None:
    records.customer(cast.bakery.test, email="ann@rye.example")
    made = {
        "id": "gen_random_uuid()",
        "email": "'Ann' || n || '@Rye.example'",
        "email_key": "NULL",
        "form_key": "NULL",
    }
    copies(Customer, made, "billing_customer s, generate_series(1, 5000) n")
    access = cast.bakery.access()
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        for typed, found in (("aNN4711@rye.EXAMPLE", "Ann4711@Rye.example"), ("bob@rye", None)):
            with reading() as read:
                customer = customer_with_email(access, typed)
            assert (customer and customer.email) == found
            assert sum(read.buffers.values()) < READ_MAX, read.buffers


def test_the_key_follows_the_address_whoever_writes(bakery: Shop) -> None:
    made = records.customer(bakery.test, email="Ann@Rye.example")
    assert keys() == ["ann@rye.example"]
    answer = bakery.test.patch(
        f"/billing/customers/{made['id']}", {"customer": {"email": "BOB@rye.example"}}
    )
    assert answer.status_code == 200, answer.text
    assert keys() == ["bob@rye.example"]
    Customer.objects.update(email="Eve@rye.example", email_key="eve")
    assert keys() == ["eve@rye.example"]


def test_the_keys_of_before_are_written_part_by_part(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Ann", "Bob", "Eve"):
        records.customer(bakery.test, email=f"{name}@rye.example")
    every = keys()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE billing_customer SET email_key = NULL")
        cursor.execute("SET session_replication_role = origin")
    assert keys() == [None] * 3

    monkeypatch.setattr(MIGRATION, "PART", 2)
    MIGRATION.fill(None, SimpleNamespace(connection=connection))

    assert keys() == every == ["ann@rye.example", "bob@rye.example", "eve@rye.example"]

"""A payment read by one statement is what the ORM reads by eight."""

from typing import Any

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from apps.assets.models import Asset, Chain
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.db.prepared_reads import Columns
from apps.core.errors import NotFound
from apps.ledger.selectors import payment_split
from apps.payments.models import LateDeposit, Payment, PaymentAddress, PaymentEvent
from apps.payments.selectors import received_by
from apps.payments.snapshot import find_snapshot, snapshot_of
from apps.stores.models import Store, Verification
from tests import make
from tests.cast import Cast, Shop

EVERY: list[type[models.Model]] = [
    Payment,
    PaymentAddress,
    PaymentEvent,
    Deposit,
    Asset,
    Chain,
    Verification,
    Store,
]


def values(row: models.Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def paid(bakery: Shop) -> Payment:
    made = make.paid(bakery.test, metadata={"cart": "42"}, title="Rye")
    return Payment.objects.get(pk=made["id"])


def test_rows_that_come_as_json_are_those_of_the_orm(paid: Payment) -> None:
    for model in EVERY:
        columns = Columns(model, "t")
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT json_agg({columns.json}) FROM {model._meta.db_table} t")
            ((found,),) = cursor.fetchall()
        if model is not Verification:
            assert found, model
        for item in map(columns.row_from_json, found or []):
            assert values(item) == values(model._default_manager.get(pk=item.pk))


def test_it_is_all_that_its_parts_are_when_they_are_asked_for(paid: Payment) -> None:
    whole = snapshot_of(paid)
    for ours, theirs in zip(whole.received, received_by(paid), strict=True):
        assert values(ours.address) == values(theirs.address)
        assert (values(ours.address.asset), values(ours.address.asset.chain)) == (
            values(theirs.address.asset),
            values(theirs.address.asset.chain),
        )
        assert (ours.deposits, ours.late_ids) == (theirs.deposits, theirs.late_ids)
        assert ours.confirmed_atomic == theirs.confirmed_atomic
    assert any(item.deposits for item in whole.received)
    assert [values(item) for item in whole.history] == [
        values(event) for event in paid.events.order_by("sequence")
    ]
    assert whole.splits == payment_split([paid.pk])[paid.pk] != {}
    assert whole.business is None


def test_late_deposits_and_the_business_are_part_of_it(bakery: Shop) -> None:
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.simulated(bakery.test, made["id"], late=True)
    at = clock.real_now()
    known = Verification.objects.create(
        store=bakery.store,
        status="approved",
        business_legal_name="B",
        business_country="DE",
        created_at=at,
        submitted_at=at,
        updated_at=at,
    )
    whole = snapshot_of(Payment.objects.get(pk=made["id"]))
    assert (
        {id: mark.accepted_at for id, mark in whole.received[0].late.items()}
        == dict(
            LateDeposit.objects.filter(payment=made["id"]).values_list("deposit_id", "accepted_at")
        )
        != {}
    )
    assert whole.business is not None and values(whole.business) == values(
        Verification.objects.get(pk=known.pk)
    )


def test_nobody_finds_anothers(cast: Cast, paid: Payment) -> None:
    others = (
        Payment(store=cast.strangers.store, mode="test"),
        Payment(store=paid.store, mode="live"),
    )
    for viewer, id in ((paid, "nothing"), *((other, paid.pk) for other in others)):
        with pytest.raises(NotFound):
            find_snapshot(viewer, viewer.store, str(id))
    assert find_snapshot(paid, paid.store, str(paid.pk)).payment == paid


@pytest.mark.parametrize(
    "path",
    [
        "/payments/{id}",
        "/payments",
        "/payments?status=completed&order_id=A-1&from=2026-01-01&to=2026-12-31",
    ],
)
def test_reading_takes_one_statement_beside_the_look_up_of_the_key(
    bakery: Shop, paid: Payment, path: str
) -> None:
    bakery.test.get("/payments")
    with CaptureQueriesContext(connection) as asked:
        assert bakery.test.get(path.format(id=paid.pk)).status_code == 200
    assert len(asked.captured_queries) == 2


@pytest.mark.parametrize("text", ["%25", "_", "%5C", "%25%25"])
def test_a_part_of_a_reference_is_taken_literally(bakery: Shop, paid: Payment, text: str) -> None:
    assert bakery.test.get(f"/payments?reference={text}").json()["meta"]["total"] == 0
    assert (
        bakery.test.get(f"/payments?reference={paid.reference[3:9].lower()}").json()["meta"][
            "total"
        ]
        == 1
    )

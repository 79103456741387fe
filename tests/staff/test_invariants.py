"""Findings of verify_ledger about the acts of one: somebody with the database's keys, or code that
asked nobody."""

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from apps.access.factors import second_factor
from apps.assets.models import Chain
from apps.core import clock
from apps.core.acting import Actor, acting
from apps.core.acting import ActorKind as ActorKind
from apps.ledger import movements
from apps.payouts.models import Payout
from apps.payouts.services import review
from apps.stores.auditing import audit
from apps.stores.models import StaffRequest, User
from apps.stores.services import change_store
from apps.stores.staff import staffing
from apps.stores.staff_roles import StaffRole
from tests import make
from tests.auditing import found_of
from tests.cast import Cast
from tests.onramp.cards import credential
from tests.stores.wishes import SECRET, WISHES, approve, asked_for


@pytest.fixture(autouse=True)
def threshold(settings: Any) -> None:
    settings.STAFF_FOUR_EYES_ABOVE_CENTS = 0


@pytest.fixture
def people(db: None) -> tuple[User, User]:
    """Two who may do everything."""
    return make.clerk(*StaffRole.values), make.clerk(*StaffRole.values)


@pytest.fixture(autouse=True)
def keys(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")


def test_a_correction_of_one(cast: Cast) -> None:
    movements.correction(
        key="alone",
        mode="test",
        asset_id="SETH",
        kind="service_fees",
        store_id=None,
        amount_atomic=5,
        reason="x",
        staff_id=cast.alice.pk,
        at=clock.real_now(),
    )
    assert found_of("corrections_by_two")


def test_a_correction_of_another_amount_than_two_approved(
    cast: Cast, people: tuple[User, User]
) -> None:
    kind, row, _ = asked_for("correction", cast, people[0])
    approve(kind, row, people[1])
    assert not found_of("corrections_by_two")
    movements.correction(
        key="more",
        mode="test",
        asset_id="SETH",
        kind="available",
        store_id=cast.bakery.store.pk,
        amount_atomic=7,
        reason="x",
        staff_id=people[0].pk,
        at=clock.real_now(),
        request_id=row.pk,
    )
    assert found_of("corrections_by_two")


def test_a_payout_above_the_threshold_that_one_let_go(cast: Cast, settings: Any) -> None:
    WISHES["payout"](cast)
    review._approve(review.locked_in_review(Payout.objects.get()), "", None)
    assert found_of("payouts_let_go")


def test_a_payout_that_left_review_by_itself(cast: Cast) -> None:
    WISHES["payout"](cast)
    row = Payout.objects.get()
    review.moves.move(row, "pending", clock.now(row.store, row.mode))
    assert found_of("payouts_let_go")


def test_a_second_factor_that_one_took_off(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, SECRET)
    with _as_staff():
        second_factor.take_off(cast.alice)
    assert found_of("staff_acts_by_two")


def test_dispatch_that_one_switched_on_and_not_one_that_was_switched_off(cast: Cast) -> None:
    with _as_staff():
        change_store(cast.bakery.store, x402_dispatch=True)
        assert found_of("staff_acts_by_two")


def test_a_role_that_one_gave(cast: Cast) -> None:
    with _as_staff():
        staffing.set_roles(cast.bob, ["support"])
        assert not found_of("staff_acts_by_two")
        staffing.set_roles(cast.bob, ["support", "finance"])
    assert found_of("staff_acts_by_two")


def test_a_card_network_that_one_changed(cast: Cast) -> None:
    with _as_staff():
        credential(api_key="pk_test_0123456789abcdef")
    assert found_of("staff_acts_by_two")


def test_a_request_approved_by_its_asker(cast: Cast, people: tuple[User, User]) -> None:
    kind, row, _ = asked_for("correction", cast, people[0])
    approve(kind, row, people[1])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE stores_staffrequest DROP CONSTRAINT staff_request_takes_two")
    StaffRequest.objects.update(decided_by=people[0])
    for name in ("corrections_by_two", "staff_requests_by_two", "guards_stand"):
        assert found_of(name), name


@pytest.mark.parametrize(
    ("before", "change", "is_found"),
    [
        ({}, {"platform_may_pay_out": True}, True),
        ({}, {"underpayment_tolerance_bps": 9_900}, True),
        ({}, {"underpayment_tolerance_bps": 10}, False),
        ({}, {"payout_review_threshold_cents": 500}, False),
        ({"payout_review_threshold_cents": 500}, {"payout_review_threshold_cents": None}, True),
        ({"payout_review_threshold_cents": 500}, {"payout_review_threshold_cents": 900}, True),
        ({"review_new_destinations": True}, {"review_new_destinations": False}, True),
        ({}, {"review_new_destinations": True}, False),
    ],
)
def test_terms_that_one_changed(
    before: dict[str, Any], change: dict[str, Any], is_found: bool, cast: Cast
) -> None:
    if before:
        change_store(cast.bakery.store, **before)
    with _as_staff():
        change_store(cast.bakery.store, **change)
    assert bool(found_of("staff_acts_by_two")) == is_found


def test_a_fee_a_role_and_confirmations_that_one_changed(cast: Cast) -> None:
    with _as_staff():
        change_store(cast.bakery.store, fee_fraction=Decimal("0.02"))
    (fee,) = found_of("staff_acts_by_two")
    assert fee.detail == "one changed its fees or reviews"
    with _as_staff():
        audit.record("member.role_changed", store=cast.bakery.store, target=cast.bob)
        audit.record(
            "chain.changed",
            target=Chain.objects.get(pk="polygon"),
            details={"required_confirmations": [128, 64]},
        )
    assert len(found_of("staff_acts_by_two")) == 3


def _as_staff() -> Any:
    return acting(Actor(ActorKind.STAFF, str(uuid.uuid4()), "mallory@example.com"))

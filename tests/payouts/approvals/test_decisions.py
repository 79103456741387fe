"""How what waits is decided: approved, rejected, expired or looked at by staff."""

from datetime import timedelta

import pytest
import time_machine
from django.core import mail as django_mail

from apps.assets.models import AcceptedAsset
from apps.core import clock
from apps.ledger.selectors import balances
from apps.payouts.models import Payout, PayoutApproval
from apps.payouts.services import approval_decisions
from apps.payouts.services.approval_decisions import reject
from apps.payouts.services.review import AwaitsApprover, approve_payout
from apps.stores.services import change_store
from tests import auditing, make
from tests.cast import Cast
from tests.dashboard.browse import text
from tests.payouts.approvals.acts import agree, emails, release, state
from tests.payouts.two_people import MUCH, Two, held_of, two_people
from tests.staff import test_roles


def test_a_rejection_returns_the_coins_and_tells_the_maker_why(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    with pytest.raises(approval_decisions.RejectionReasonMissing):
        reject(two.as_alice(), held_of(made["id"]), " ")
    reject(two.as_alice(), held_of(made["id"]), "I don't know this address")
    told = make.detail_of_payout(two.key, made["id"])
    assert (told["status"], told["failure_code"], told["funds_returned"]) == (
        "failed",
        "unknown",
        True,
    )
    assert told["failure_reason"] == "Rejected by an approver: I don't know this address"
    assert [change["to"] for change in told["state_transitions"]] == ["pending", "failed"]
    assert balances(two.cast.bakery.store.pk, "test")["SETH"].available_atomic == 10**19
    assert two.key.post(f"/payouts/{made['id']}/retry").json()["error"]["code"] == "not_retryable"
    assert (two.adam.email, "[TEST] Your payout was rejected: Alice's Bakery") in emails()
    assert auditing.breaches() == []


def test_what_nobody_answers_comes_back_after_a_week(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    batch = release(two)
    make.advance(two.key, 7 * 86400 - 60)
    assert state(made["id"]) == ("requires_review", "reserved", "waiting")
    make.advance(two.key, 120)
    assert state(made["id"]) == ("failed", "returned", "expired")
    assert set(batch.lines.values_list("status", "problem")) == {
        ("failed", "Nobody approved it within 7 days")
    }
    with pytest.raises(approval_decisions.NotWaiting):
        agree(two.as_alice(), held_of(made["id"]))


def test_live_ones_expire_by_the_sweep(cast: Cast) -> None:
    two = two_people(cast, "live", "ETH")
    made = make.payout(two.key, MUCH, asset_id="ETH")
    assert approval_decisions.expire_approvals() == 0
    with time_machine.travel(clock.real_now() + timedelta(days=7, minutes=1)):
        assert approval_decisions.expire_approvals() == 1
        assert state(made["id"]) == ("failed", "returned", "expired")


def test_both_hear_of_it_and_the_email_only_leads_to_the_page(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    assert emails() == [
        (two.cast.alice.email, "[TEST] A payout needs your approval: Alice's Bakery")
    ]
    body = django_mail.outbox[0].body
    assert "0.1 ETH to 0x" in body
    assert "€180.00" in body
    assert f"/dashboard/approvals/{held_of(made['id']).pk}" in body
    agree(two.as_alice(), held_of(made["id"]))
    assert (two.adam.email, "[TEST] Your payout was approved: Alice's Bakery") in emails()


def test_a_flood_of_payouts_is_not_a_flood_of_emails(two: Two) -> None:
    for _ in range(13):
        make.payout(two.key, MUCH)
    assert PayoutApproval.objects.count() == 13 and len(emails()) == 10


def test_staff_look_at_it_after_the_stores_own_approver(two: Two) -> None:
    change_store(two.cast.bakery.store, payout_review_threshold_cents=0)
    made = make.payout(two.key, MUCH)
    row = Payout.objects.select_related("store").get(pk=made["id"])
    with pytest.raises(AwaitsApprover):
        approve_payout(row)
    page = f"/admin/payouts/payout/{row.pk}/decide/"
    staff = test_roles.signed_in(make.clerk("finance"))
    shown = text(staff.get(page))
    assert "Waiting for the store’s approval." in shown and 'value="approve"' not in shown
    assert "Waiting, requested by" in shown and "Approvals needed" not in shown
    agree(two.as_alice(), held_of(made["id"]))
    assert 'value="approve"' in text(staff.get(page))
    row.refresh_from_db()
    assert (row.status, row.review_reason) == (
        "requires_review",
        "Above the amount that is paid out without review",
    )
    approve_payout(row)
    assert state(made["id"])[0] == "pending"


def test_an_asset_that_was_stopped_meanwhile_goes_to_staff(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    AcceptedAsset.objects.filter(store=two.cast.bakery.store, mode="test", asset="SETH").update(
        suspended_at=clock.real_now()
    )
    agree(two.as_alice(), held_of(made["id"]))
    assert state(made["id"])[0] == "requires_review"

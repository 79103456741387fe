"""Payouts above an amount need a second person, for every requester and however it is split, and
nothing leaves before."""

from typing import Any

from apps.access.authorization.apps import create_app
from apps.access.requests import AppRequest
from apps.access.services import create_agent_credential, create_api_key
from apps.agents.models import AgentPayoutCap
from apps.assets.models import Rate
from apps.chain.models import OutgoingTransaction
from apps.ledger.selectors import balances
from apps.payouts.models import Payout, PayoutApproval, PayoutBatchLine, Schedule
from apps.payouts.requests import ScheduleRequest
from apps.payouts.services import batches, runs, schedules
from apps.payouts.services.approval_decisions import reject
from apps.payouts.services.progress import advance_payouts
from apps.stores.models import AuditEntry, Store
from apps.stores.settings import write_settings
from tests import auditing, make
from tests.access.matrix.world import token_of
from tests.cast import Api, Cast, person, shop_of, signed_in
from tests.payouts.approvals.acts import ADDRESS, OTHER, agree, pay, release, state
from tests.payouts.two_people import LITTLE, MUCH, Two, held_of


def test_without_the_rule_nothing_waits(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**19)
    made = make.payout(cast.bakery.test, 10**18)
    assert (made["status"], made["pending_reason"]) == ("pending", None)
    assert not PayoutApproval.objects.exists()


def test_a_large_payout_of_a_key_waits_and_goes_out_when_another_has_approved_it(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    assert (made["status"], made["pending_reason"]) == ("requires_review", "awaiting_approval")
    assert [change["to"] for change in made["state_transitions"]] == ["pending"]
    assert balances(two.cast.bakery.store.pk, "test")["SETH"].reserved_atomic == MUCH
    make.advance(two.key, 3600)
    advance_payouts()
    assert (
        state(made["id"]) == ("requires_review", "reserved", "waiting")
        and not OutgoingTransaction.objects.exists()
    )
    held = held_of(made["id"])
    assert (held.maker_id, held.worth_cents, held.above_cents, held.currency) == (
        two.adam.pk,
        180_00,
        100_00,
        "EUR",
    )
    agree(two.as_alice(), held)
    advance_payouts()
    make.advance(two.key, 120)
    told = make.detail_of_payout(two.key, made["id"])
    assert (told["status"], told["pending_reason"]) == ("confirmed", None)
    assert AuditEntry.objects.filter(
        action="payout_approval.approved", target_id=str(held.pk)
    ).exists()
    assert auditing.breaches() == []


def test_a_small_payout_goes_out_by_itself_and_splitting_a_large_one_does_not_help(
    two: Two,
) -> None:
    first, second, third = (make.payout(two.key, LITTLE) for _ in range(3))
    assert [payout["status"] for payout in (first, second, third)] == [
        "pending",
        "requires_review",
        "requires_review",
    ]
    assert pay(two.as_adam(), LITTLE).status == "requires_review", (
        "the key is Adam's, and so is this"
    )
    other = create_api_key(two.cast.bakery.store, "test", by=two.as_adam())[1]
    assert make.payout(Api(other), LITTLE)["status"] == "requires_review", (
        "another key of his is he"
    )
    assert pay(two.as_alice(), LITTLE).status == "pending", "Alice has moved nothing alone today"
    agree(two.as_alice(), held_of(second["id"]))
    make.advance(two.key, 25 * 3600)
    assert make.payout(two.key, LITTLE)["status"] == "pending", (
        "what was approved doesn't count, and the day is over"
    )


def test_what_came_back_does_not_count(two: Two) -> None:
    made = make.payout(two.key, LITTLE)
    Payout.objects.filter(pk=made["id"]).update(status="failed", funds="returned")
    assert make.payout(two.key, LITTLE)["status"] == "pending"


def test_a_person_an_agent_and_an_app_wait_too(two: Two) -> None:
    agent, secret = create_agent_credential(two.cast.bakery.store, "test", by=two.as_adam())
    AgentPayoutCap.objects.create(credential=agent, asset_id="SETH", per_tx_atomic=10**18)
    body = {"asset_id": "SETH", "amount_atomic": str(MUCH), "destination_address": ADDRESS}
    sent = Api(secret).post("/agentic/payouts", body, key="one")
    assert sent.status_code == 201 and state(Payout.objects.get().pk)[0] == "requires_review"
    assert held_of(Payout.objects.get().pk).maker_id == two.adam.pk
    assert held_of(pay(two.as_alice(), MUCH).pk).maker_id == two.cast.alice.pk
    fields = {
        "name": "Books",
        "confidential": True,
        "redirect_uris": ["https://books.example/back"],
        "scopes": ["payouts:write"],
    }
    app: Any = create_app(two.cast.bakery.store, two.cast.alice, AppRequest(**fields))[0]
    token, _ = token_of(two.adam, two.cast.bakery.store, "test", app, "payouts:write")
    assert held_of(make.payout(Api(token), MUCH)["id"]).maker_id == two.adam.pk


def test_a_platform_that_acts_waits_for_the_sub_merchants_people(two: Two) -> None:
    platform = shop_of(person("paula"), "Paula's")
    write_settings(platform.store, {"is_platform": True, "platform_may_pay_out": True})
    Store.objects.filter(pk=two.cast.bakery.store.pk).update(platform=platform.store)
    platform.store.refresh_from_db()
    by = signed_in(platform.owner, platform.store)
    secret = create_api_key(
        platform.store, "test", scope_names=["accounts:act", "payouts:write"], by=by
    )[1]
    acting = Api(secret, **{"X-Service-Account": str(two.cast.bakery.store.pk)})
    made = make.payout(acting, MUCH)
    held = held_of(made["id"])
    assert (
        made["status"] == "requires_review"
        and held.maker_id == platform.owner.pk
        and "Paula" in held.made_by
    )
    agree(two.as_adam(), held)
    assert state(made["id"])[0] == "pending"


def test_what_cannot_be_valued_waits(two: Two) -> None:
    Rate.objects.all().delete()
    made = make.payout(two.key, LITTLE)
    assert made["status"] == "requires_review" and held_of(made["id"]).worth_cents is None


def test_a_replay_finds_the_payout_that_waits(two: Two) -> None:
    first = pay(two.key_access(), MUCH, "same")
    again = pay(two.key_access(), MUCH, "same")
    assert first.pk == again.pk and PayoutApproval.objects.count() == 1


# --- lists and schedules --------------------------------------------------------------------------


def test_a_list_waits_as_a_whole_and_is_approved_once(two: Two) -> None:
    batch = release(two)
    assert batches.release_lines() == 0 and not Payout.objects.exists()
    assert (batch.approval.worth_cents, batch.approval.maker_id) == (270_00, two.adam.pk)
    agree(two.as_alice(), batch.approval)
    assert batches.release_lines() == 3
    assert set(Payout.objects.values_list("status", "approval")) == {("pending", batch.approval_id)}
    assert PayoutApproval.objects.count() == 1
    advance_payouts()
    assert auditing.breaches() == []


def test_a_short_list_needs_nobody(two: Two) -> None:
    batch = release(two, lines=1)
    assert batch.approval is None and batches.release_lines() == 1


def test_a_list_that_is_rejected_sends_nothing(two: Two) -> None:
    batch = release(two)
    reject(two.as_alice(), batch.approval, "Wrong month")
    assert batches.release_lines() == 0
    problem = "Rejected by an approver: Wrong month"
    assert set(PayoutBatchLine.objects.values_list("status", "problem")) == {("failed", problem)}


def scheduled(two: Two) -> Schedule:
    asked = ScheduleRequest(asset_id="SETH", frequency="daily", destination_address=ADDRESS)
    return schedules.create_schedule(two.key_access(), asked)


def test_a_schedule_waits_once_for_each_destination(two: Two) -> None:
    schedule = scheduled(two)
    first = runs.run_by_hand(two.as_alice(), schedule).payout
    assert (
        first is not None
        and first.status == "requires_review"
        and held_of(first.pk).maker_id == two.adam.pk
    )
    agree(two.as_alice(), held_of(first.pk))
    make.store_coins(two.cast.bakery.store, "SETH", 10**18)
    second = runs.run_by_hand(two.as_alice(), schedule).payout
    assert second is not None and (second.status, second.approval_id) == (
        "pending",
        first.approval_id,
    )
    schedules.update_schedule(
        two.key_access(), schedule, ScheduleRequest(destination_address=OTHER)
    )
    make.store_coins(two.cast.bakery.store, "SETH", 10**18)
    third = runs.run_by_hand(two.as_alice(), schedule).payout
    assert third is not None and third.status == "requires_review"


def test_the_first_payout_of_a_schedule_is_that_which_was_asked_about(two: Two) -> None:
    first = runs.run_by_hand(two.as_alice(), scheduled(two)).payout
    assert first is not None
    make.store_coins(two.cast.bakery.store, "SETH", 10**18)
    second = runs.run_by_hand(two.as_alice(), Schedule.objects.get()).payout
    assert second is not None and second.approval_id != first.approval_id, (
        "each asks until one was approved"
    )

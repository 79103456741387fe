"""Payouts above an amount need a second person: whoever asks and however it is split, and nothing
leaves before."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail
from django.db import DatabaseError, connection, transaction

from apps.access.access import Access
from apps.access.oauth_apps import create_app
from apps.access.operations import RoleForbids, WrongCredential
from apps.access.requests import AppRequest
from apps.access.services import create_agent_credential, create_api_key
from apps.agents.models import AgentPayoutCap
from apps.assets.models import AcceptedAsset, Rate
from apps.audit import verify
from apps.chain.models import OutgoingTransaction
from apps.core import clock, mail
from apps.ledger.selectors import balances
from apps.payouts.models import ApprovalRule, Payout, PayoutApproval, PayoutBatchLine, Schedule
from apps.payouts.requests import PayoutRequest, RawAddress, ScheduleRequest
from apps.payouts.services import approval_decisions, approval_rules, batches, runs, schedules
from apps.payouts.services.approval_decisions import approve, digest_of, reject
from apps.payouts.services.approval_rules import TooFewPeople, change_rule
from apps.payouts.services.create import create_payout
from apps.payouts.services.progress import advance_payouts
from apps.payouts.services.review import AwaitsApprover, approve_payout
from apps.stores.models import AuditEntry, Member, Role, Store
from apps.stores.services import change_store
from tests import make
from tests.access.test_matrix import token_of
from tests.cast import Api, Cast, person, shop_of, signed_in
from tests.console import test_staff_roles
from tests.dashboard.browse import text
from tests.payouts.two_people import LITTLE, MUCH, Two, held_of, two_people

ADDRESS = "0x52908400098527886e0f7030069857d2e4169ee7"
OTHER = "0x8617e340b3d01fa5f11f306f4090fd50e238070d"


@pytest.fixture
def two(cast: Cast) -> Two:
    return two_people(cast)


def pay(access: Access, amount: int, key: str = "one") -> Payout:
    asset = "SETH" if access.mode == "test" else "ETH"
    asked = PayoutRequest(asset, amount, RawAddress(ADDRESS))
    return create_payout(access, asked, key, caller=access.caller)[0]


def agree(access: Access, held: PayoutApproval) -> None:
    approve(access, held, digest_of(held))


def state(id: object) -> tuple[str, str, str | None]:
    row = Payout.objects.get(pk=id)
    return row.status, row.funds, row.approval.status if row.approval is not None else None


def letters() -> list[tuple[str, str]]:
    mail.send_due()
    return [(one.to[0], one.subject) for one in django_mail.outbox]


# --- who asks -------------------------------------------------------------------------------------


def test_without_the_rule_nothing_waits(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**19)
    made = make.payout(cast.bakery.test, 10**18)
    assert (made["status"], made["pending_reason"]) == ("pending", None)
    assert not PayoutApproval.objects.exists()


def test_a_large_payout_of_a_key_waits_and_goes_out_when_another_has_approved_it(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    assert (made["status"], made["pending_reason"]) == ("requires_review", "awaiting_approval")
    assert [one["to"] for one in made["state_transitions"]] == ["pending"]
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
    assert verify.findings() == []


def test_a_small_payout_goes_out_by_itself_and_splitting_a_large_one_does_not_help(
    two: Two,
) -> None:
    first, second, third = (make.payout(two.key, LITTLE) for _ in range(3))
    assert [one["status"] for one in (first, second, third)] == [
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
    Store.objects.filter(pk=platform.store.pk).update(is_platform=True, platform_may_pay_out=True)
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


def release(two: Two, lines: int = 3) -> Any:
    raw = "asset_id,amount,destination\n" + "".join(
        f"SETH,0.05,{make.fresh_address()}\n" for _ in range(lines)
    )
    by = two.as_adam()
    batch = batches.open_batch(
        by, two.cast.bakery.store, two.adam, filename="pay.csv", raw=raw.encode(), form_key="a" * 32
    )
    batches.release_batch(by, batch, two.adam, batch.digest)
    batch.refresh_from_db()
    return batch


def test_a_list_waits_as_a_whole_and_is_approved_once(two: Two) -> None:
    batch = release(two)
    assert batches.release_lines() == 0 and not Payout.objects.exists()
    assert (batch.approval.worth_cents, batch.approval.maker_id) == (270_00, two.adam.pk)
    agree(two.as_alice(), batch.approval)
    assert batches.release_lines() == 3
    assert set(Payout.objects.values_list("status", "approval")) == {("pending", batch.approval_id)}
    assert PayoutApproval.objects.count() == 1
    advance_payouts()
    assert verify.findings() == []


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


# --- deciding -------------------------------------------------------------------------------------


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
    assert [one["to"] for one in told["state_transitions"]] == ["pending", "failed"]
    assert balances(two.cast.bakery.store.pk, "test")["SETH"].available_atomic == 10**19
    assert two.key.post(f"/payouts/{made['id']}/retry").json()["error"]["code"] == "not_retryable"
    assert (two.adam.email, "[TEST] Your payout was rejected: Alice's Bakery") in letters()
    assert verify.findings() == []


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


def test_both_hear_of_it_and_the_letter_only_leads_to_the_page(two: Two) -> None:
    made = make.payout(two.key, MUCH)
    assert letters() == [
        (two.cast.alice.email, "[TEST] A payout needs your approval: Alice's Bakery")
    ]
    body = django_mail.outbox[0].body
    assert "0.1 ETH to 0x" in body
    assert "180.00 EUR" in body
    assert f"/dashboard/approvals/{held_of(made['id']).pk}" in body
    agree(two.as_alice(), held_of(made["id"]))
    assert (two.adam.email, "[TEST] Your payout was approved: Alice's Bakery") in letters()


def test_a_flood_of_payouts_is_not_a_flood_of_letters(two: Two) -> None:
    for _ in range(13):
        make.payout(two.key, MUCH)
    assert PayoutApproval.objects.count() == 13 and len(letters()) == 10


def test_staff_look_at_it_after_the_stores_own_approver(two: Two) -> None:
    change_store(two.cast.bakery.store, payout_review_threshold_cents=0)
    made = make.payout(two.key, MUCH)
    row = Payout.objects.select_related("store").get(pk=made["id"])
    with pytest.raises(AwaitsApprover):
        approve_payout(row)
    page = f"/admin/payouts/payout/{row.pk}/decide/"
    staff = test_staff_roles.signed_in(make.clerk("finance"))
    shown = text(staff.get(page))
    assert "It waits for a second person of the store." in shown and 'value="approve"' not in shown
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


# --- attacks --------------------------------------------------------------------------------------


def test_nobody_approves_what_they_or_their_keys_asked_for(two: Two) -> None:
    for payout_id in (pay(two.as_adam(), MUCH).pk, make.payout(two.key, MUCH)["id"]):
        with pytest.raises(approval_decisions.YourOwn):
            agree(two.as_adam(), held_of(payout_id))
        assert state(payout_id)[0] == "requires_review"
        reject(two.as_adam(), held_of(payout_id), "A mistake of mine")
        assert state(payout_id)[0] == "failed"


def test_a_key_made_by_nobody_known_is_approved_by_anybody_who_may_move_money(two: Two) -> None:
    made = make.payout(two.cast.bakery.test, MUCH)
    agree(two.as_adam(), held_of(made["id"]))
    assert state(made["id"])[0] == "pending"


def test_who_was_demoted_removed_or_is_a_stranger_approves_nothing(two: Two) -> None:
    held = held_of(pay(two.as_alice(), MUCH).pk)
    stale = two.as_adam()  # as it was when the request began
    Member.objects.filter(user=two.adam).update(role=Role.DEVELOPER)
    with pytest.raises(approval_decisions.NotAnApprover):
        agree(stale, held)
    with pytest.raises(RoleForbids):
        agree(two.as_adam(Role.DEVELOPER), held)
    Member.objects.filter(user=two.adam).delete()
    with pytest.raises(approval_decisions.NotAnApprover):
        agree(stale, held)
    assert held_of(Payout.objects.get().pk).status == "waiting"


def test_no_credential_approves(two: Two) -> None:
    held = held_of(pay(two.as_alice(), MUCH).pk)
    for act in (
        lambda: agree(two.key_access(), held),
        lambda: reject(two.key_access(), held, "No"),
    ):
        with pytest.raises(WrongCredential):
            act()


def test_what_is_approved_is_what_the_page_showed(two: Two) -> None:
    held = held_of(pay(two.as_alice(), MUCH, "one").pk)
    other = held_of(pay(two.as_alice(), 2 * MUCH, "two").pk)
    with pytest.raises(approval_decisions.ApprovalChanged):
        approve(two.as_adam(), other, digest_of(held))
    agree(two.as_adam(), held)
    with pytest.raises(approval_decisions.NotWaiting):
        agree(two.as_adam(), held)


FORGERIES = {
    "sent on without an approval": (
        "UPDATE payouts_payout SET status = 'pending' WHERE id = '{payout}'"
    ),
    "confirmed without one": (
        "UPDATE payouts_payout SET status = 'confirmed', funds = 'paid' WHERE id = '{payout}'"
    ),
    "taken off its approval": "UPDATE payouts_payout SET approval_id = NULL WHERE id = '{payout}'",
    "made larger while it waits": (
        "UPDATE payouts_payout SET amount_atomic = amount_atomic * 2 WHERE id = '{payout}'"
    ),
    "readdressed while it waits": (
        "UPDATE payouts_payout SET destination_address = '{other}' WHERE id = '{payout}'"
    ),
    "approved by its maker": (
        "UPDATE payouts_payoutapproval SET status = 'approved', decided_at = now(), decided_by_id ="
        " maker_id WHERE id = '{held}'"
    ),
    "approved by nobody": (
        "UPDATE payouts_payoutapproval SET status = 'approved', decided_at = now() WHERE id ="
        " '{held}'"
    ),
    "given another maker": "UPDATE payouts_payoutapproval SET maker_id = NULL WHERE id = '{held}'",
    "decided again": "UPDATE payouts_payoutapproval SET reason = 'x' WHERE id = '{done}'",
    "deleted": "DELETE FROM payouts_payoutapproval WHERE id = '{held}'",
    "made above the amount without one": (
        "INSERT INTO payouts_payout SELECT (jsonb_populate_record(p, jsonb_build_object('id',"
        " gen_random_uuid(), 'idempotency_key', 'x', 'approval_id', NULL, 'status', 'pending'))).*"
        " FROM payouts_payout p WHERE id = '{payout}'"
    ),
    "made with another's approval": (
        "INSERT INTO payouts_payout SELECT (jsonb_populate_record(p, jsonb_build_object('id',"
        " gen_random_uuid(), 'idempotency_key', 'x', 'approval_id', '{done}', 'status',"
        " 'pending'))).* FROM payouts_payout p WHERE id = '{payout}'"
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_the_database_refuses_it_by_hand_too(two: Two, name: str) -> None:
    payout = pay(two.as_adam(), MUCH, "one")
    approved = pay(two.as_adam(), MUCH, "two")
    held = held_of(payout.pk)
    done = held_of(approved.pk)
    agree(two.as_alice(), done)
    statement = FORGERIES[name].format(payout=payout.pk, held=held.pk, done=done.pk, other=OTHER)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_database_lets_the_same_pass_where_it_is_right(two: Two) -> None:
    payout = pay(two.as_adam(), MUCH)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE payouts_payoutapproval SET status = 'approved', decided_at = now(),"
            " decided_by_id = %s",
            [two.cast.alice.pk],
        )
        cursor.execute("UPDATE payouts_payout SET status = 'pending' WHERE id = %s", [payout.pk])
    assert state(payout.pk) == ("pending", "reserved", "approved")


# --- the rule -------------------------------------------------------------------------------------


def test_one_person_alone_cannot_turn_it_on(cast: Cast) -> None:
    with pytest.raises(TooFewPeople, match="Invite an owner or admin first"):
        change_rule(cast.bakery.owner_access(), 100_00)
    Member.objects.create(
        store=cast.bakery.store, user=cast.charlie, role=Role.ADMIN, created_at=clock.real_now()
    )
    type(cast.charlie).objects.filter(pk=cast.charlie.pk).update(is_active=False)
    with pytest.raises(TooFewPeople):
        change_rule(cast.bakery.owner_access(), 100_00)
    assert not ApprovalRule.objects.exists()


def test_only_owners_change_it_and_each_mode_has_its_own(two: Two) -> None:
    with pytest.raises(RoleForbids):
        change_rule(two.as_adam(), None)
    with pytest.raises(WrongCredential):
        change_rule(two.key_access(), None)
    assert ApprovalRule.objects.get().mode == "test"
    make.store_coins(two.cast.bakery.store, "ETH", 10**18)
    assert make.payout(two.cast.bakery.live, MUCH, asset_id="ETH")["status"] == "pending"


def test_a_stricter_rule_counts_at_once_and_a_looser_one_when_it_has_cooled(cast: Cast) -> None:
    two = two_people(cast, "live", "ETH")
    change_rule(two.as_alice(), 50_00)
    assert make.payout(two.key, LITTLE, asset_id="ETH")["status"] == "requires_review"
    change_rule(two.as_alice(), None)
    assert make.payout(two.key, LITTLE, asset_id="ETH")["status"] == "requires_review"
    told = [whom for whom, subject in letters() if "need a second person" in subject]
    assert told == [cast.alice.email] * 3, "of each change"
    with time_machine.travel(clock.real_now() + timedelta(hours=25)):
        made = make.payout(two.key, MUCH, asset_id="ETH")
        assert made["status"] == "pending"
    assert [one.invariant for one in verify.findings() if one.invariant == "payouts_approved"] == []


def test_an_owner_stops_a_looser_rule_by_the_letters_link(cast: Cast) -> None:
    two = two_people(cast, "live", "ETH")
    rule = change_rule(two.as_alice(), 10_000_00)
    assert rule.next_from is not None and approval_rules.stop_change(rule.pk, rule.next_from)
    rule.refresh_from_db()
    assert (rule.above_cents, rule.next_above_cents, rule.next_from) == (100_00, None, None)


def test_another_currency_of_the_store_does_not_loosen_the_rule(two: Two) -> None:
    Store.objects.filter(pk=two.cast.bakery.store.pk).update(settlement_currency="GBP")
    change_rule(two.as_alice(), 60_00)
    assert (ApprovalRule.objects.get().currency, ApprovalRule.objects.get().above_cents) == (
        "EUR",
        60_00,
    )
    assert make.payout(two.key, LITTLE)["status"] == "requires_review"


def test_the_last_approvers_going_is_foreseen(two: Two) -> None:
    assert approval_rules.leaves_too_few(Member.objects.get(user=two.adam))
    third = person("olga")
    Member.objects.create(
        store=two.cast.bakery.store, user=third, role=Role.ADMIN, created_at=clock.real_now()
    )
    assert not approval_rules.leaves_too_few(Member.objects.get(user=two.adam))
    assert not approval_rules.leaves_too_few(
        Member(store=two.cast.bakery.store, user=two.cast.bob, role=Role.DEVELOPER)
    )

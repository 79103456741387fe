"""Nobody gets round the second person: not by who they are, nor with the database's keys."""

import pytest
from django.db import DatabaseError, connection, transaction

from apps.access.operations import RoleForbids, WrongCredential
from apps.payouts.models import Payout
from apps.payouts.services import approval_decisions
from apps.payouts.services.approval_decisions import approve, digest_of, reject
from apps.stores.models import Member, Role
from tests import make
from tests.payouts.approvals.acts import OTHER, agree, pay, state
from tests.payouts.two_people import MUCH, Two, held_of


def test_nobody_approves_what_they_or_their_keys_asked_for(two: Two) -> None:
    for payout_id in (pay(two.as_adam(), MUCH).pk, make.payout(two.key, MUCH)["id"]):
        with pytest.raises(approval_decisions.OwnRequestRefused):
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


def test_the_database_refuses_it_by_hand_too(two: Two) -> None:
    payout = pay(two.as_adam(), MUCH, "one")
    approved = pay(two.as_adam(), MUCH, "two")
    held = held_of(payout.pk)
    done = held_of(approved.pk)
    agree(two.as_alice(), done)
    rows = {"payout": payout.pk, "held": held.pk, "done": done.pk, "other": OTHER}
    for name, statement in FORGERIES.items():
        assert is_refused(statement.format(**rows)), name


def is_refused(statement: str) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError:
        return True
    return False


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

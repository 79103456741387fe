"""What staff decide: payouts in review, rows set aside and transfers that match nothing."""

from typing import Any

from apps.access.models import SecondFactor
from apps.console.staff import home as staff_home
from apps.console.staff import trial_balance
from apps.core import clock, rows
from apps.core.models import RowFailure
from apps.payouts.models import Payout
from apps.stores.models import AuditEntry, StaffRequest
from tests import make
from tests.cast import Cast
from tests.console.staff.pages import dead, person_of, reviewed, statements, stray
from tests.console.test_staff_roles import signed_in
from tests.dashboard.browse import Browser, next_code, text


def test_a_payout_is_approved_with_a_code_beside_what_is_known_of_the_store(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 1)
    row = Payout.objects.get()
    page = f"/admin/payouts/payout/{row.pk}/decide/"
    shown = text(finance.get(page))
    assert (
        "None, this is the first" in shown
        and "Alice&#x27;s Bakery" in shown
        and "Payouts of the store" in shown
    )
    assert shown.index('value="reject"') < shown.index('value="approve"')
    assert finance.post(page, decision="approve", reason="Known").status_code == 422
    assert Payout.objects.get().status == "requires_review"
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    said = {"decision": "approve", "reason": "Known", "code": next_code(person_of(finance))}
    assert finance.post(page, **said).status_code == 302
    assert Payout.objects.get().status == "pending"


def test_above_the_limit_an_approval_needs_a_reason(
    cast: Cast, finance: Browser, settings: Any
) -> None:
    settings.STAFF_FOUR_EYES_ABOVE_CENTS = 0
    reviewed(cast, 1)
    page = f"/admin/payouts/payout/{Payout.objects.get().pk}/decide/"
    refused = finance.post(page, decision="approve", code=next_code(person_of(finance)))
    assert refused.status_code == 422 and "This approval needs a reason" in text(refused)
    assert not StaffRequest.objects.filter(kind="payout").exists()


def test_a_decision_asks_no_more_for_a_store_with_many_payouts(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 2)
    page = f"/admin/payouts/payout/{Payout.objects.order_by('created_at').first().pk}/decide/"  # type: ignore[union-attr]  # made above
    finance.get(page)
    few = statements(lambda: finance.get(page))
    reviewed(cast, 4)
    assert statements(lambda: finance.get(page)) == few


def test_a_button_without_a_reason_does_nothing(finance: Browser) -> None:
    dead(1)
    admins = signed_in(make.clerk("admin"))
    failure = RowFailure.objects.get()
    admins.post("/admin/core/rowfailure/", action="retry", _selected_action=str(failure.pk))
    assert "give a reason" in text(admins.get("/admin/core/rowfailure/"))
    failure.refresh_from_db()
    assert failure.dead_at is not None


def test_a_row_that_is_set_aside_leaves_the_queue_and_no_job_looks_at_it(cast: Cast) -> None:
    dead(1)
    admins = signed_in(make.clerk("admin"))
    failure = RowFailure.objects.get()
    admins.post(
        "/admin/core/rowfailure/",
        action="set_aside",
        reason="The store has closed",
        _selected_action=str(failure.pk),
    )
    failure.refresh_from_db()
    assert (failure.set_aside_reason, failure.dead_at is None) == ("The store has closed", False)
    assert rows.failing() == []
    assert [
        queue.count
        for queue in staff_home.queues(clock.real_now())
        if queue.name == "Jobs that gave up"
    ] == [0]
    assert "The store has closed" in text(admins.get("/admin/core/rowfailure/"))
    assert (
        AuditEntry.objects.filter(action="staff.changed", reason="The store has closed").count()
        == 1
    )


# --- unmatched transfers --------------------------------------------------------------------------


def test_an_unmatched_transfer_is_resolved_once_with_a_reason_and_moves_nothing(
    cast: Cast, finance: Browser
) -> None:
    row = stray(cast)
    page = f"/admin/chain/unmatchedtransfer/{row.pk}/resolve/"
    shown = text(finance.get(page))
    assert "Take the coins into custody" in shown and "account=custody_deposits" in shown
    assert finance.post(page, outcome="kept").status_code == 422
    assert finance.post(page, outcome="stolen", reason="x").status_code == 422
    assert (
        finance.post(page, outcome="kept", reason="Nobody has asked for a year").status_code == 302
    )
    row.refresh_from_db()
    assert (row.outcome, row.outcome_reason) == (
        "kept",
        "Nobody has asked for a year",
    ) and row.resolved_at is not None
    assert finance.post(page, outcome="ignored", reason="Again").status_code == 422
    assert (
        AuditEntry.objects.filter(
            action="unmatched_transfer.resolved", reason="Nobody has asked for a year"
        ).count()
        == 1
    )
    assert trial_balance.now().sheets == []


def test_only_finance_resolves_it(cast: Cast) -> None:
    row = stray(cast)
    for role in ("support", "admin"):
        browser = signed_in(make.clerk(role))
        page = f"/admin/chain/unmatchedtransfer/{row.pk}/resolve/"
        assert browser.get(page).status_code == 200
        assert browser.post(page, outcome="kept", reason="x").status_code == 403

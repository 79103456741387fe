"""The room of approvals: what waits is shown whole, approved with a code for just that, or rejected
with a reason."""

from typing import Any

import pytest
from django.core import mail as django_mail

from apps.access.factors import second_factor
from apps.core import mail
from apps.payouts.models import ApprovalRule, Payout, PayoutApproval
from apps.stores.models import Member, Role
from tests import make
from tests.cast import Cast, person
from tests.dashboard.browse import Browser, hidden_fields, next_code, text
from tests.payouts.two_people import MUCH, Two, held_of, two_people

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def two(cast: Cast) -> Two:
    return two_people(cast)


def opened(browser: Browser, held: PayoutApproval) -> tuple[str, dict[str, str]]:
    """The page's form for approving it."""
    return f"approvals/{held.pk}/approve", hidden_fields(browser.get(f"approvals/{held.pk}"))


def answered(browser: Browser, path: str, fields: dict[str, str]) -> Any:
    """The form, and then the page that asks for the code, as it was sent."""
    asked = browser.post(path, **fields)
    assert asked.status_code == 200 and asked.context["asks_code"]
    return browser.confirm(asked, path, **fields)


def test_the_room_is_shown_only_to_a_store_that_has_to_do_with_it(cast: Cast) -> None:
    alice = Browser(cast.alice)
    assert "/dashboard/approvals" not in text(alice.get("payouts"))
    two = two_people(cast)
    assert "/dashboard/approvals" in text(
        alice.get("payouts")
    ) and "Payouts above 100.00 EUR need a second approval" in text(alice.get("approvals"))
    make.payout(two.key, MUCH)
    ApprovalRule.objects.update(above_cents=None)
    assert "/dashboard/approvals" in text(alice.get("payouts")), "one waits still"
    PayoutApproval.objects.update(status="rejected", decided_at="2026-01-01T00:00:00Z")
    assert 'href="/dashboard/approvals"' not in text(alice.get("payouts"))


def test_what_waits_is_shown_whole_and_approved_with_a_code_for_it(two: Two) -> None:
    made = make.payout(
        two.key, MUCH, destination_address="0x52908400098527886E0F7030069857D2E4169EE7"
    )
    held = held_of(made["id"])
    alice = Browser(two.cast.alice)
    listed = text(alice.get("approvals"))
    assert (
        "0.1 <span" in listed
        and "€180.00" in listed
        and "0x5290…9EE7" in listed
        and "API key" in listed
    )
    page = text(alice.get(f"approvals/{held.pk}"))
    assert "0x52908400098527886E0F7030069857D2E4169EE7" in page and two.adam.email in page
    waiting = text(alice.get(f"payouts/{made['id']}"))
    assert "Waiting for a second approval" in waiting and "Under review" not in waiting
    assert 'badge wait">Waiting for approval' in text(alice.get("payouts"))
    assert page.index(">Reject</a>") < page.index(">Approve</button>"), "as on the staff site"
    path, fields = opened(alice, held)
    shown = text(alice.post(path, **fields))
    assert (
        "Approve a payout" in shown
        and "0.1 ETH" in shown
        and "0x52908400098527886E0F7030069857D2E4169EE7" in shown
    )
    assert Payout.objects.get().status == "requires_review"
    assert answered(alice, path, fields).headers["Location"] == f"/dashboard/approvals/{held.pk}"
    assert Payout.objects.get().status == "pending"
    assert two.cast.alice.email in text(alice.get(f"approvals/{held.pk}"))
    decided = text(alice.get("approvals?show=decided"))
    assert " by <bdi>" in decided and "0.1 <span" in decided
    assert "Payout approved </h1>" in text(
        alice.get(f"approvals/{held.pk}")
    ) and "Nothing to approve" in text(alice.get("approvals"))


def test_a_code_for_one_payout_approves_no_other(two: Two) -> None:
    one, other = (held_of(make.payout(two.key, amount)["id"]) for amount in (MUCH, 5 * MUCH))
    alice = Browser(two.cast.alice)
    path, fields = opened(alice, one)
    asked = alice.post(path, **fields)
    there, theirs = opened(alice, other)
    code = next_code(two.cast.alice)
    refused = alice.post(there, **theirs, act=asked.context["act"], code=code)
    assert refused.status_code == 422 and "has changed since you reviewed it" in text(refused)
    mixed = alice.post(there, agreed=fields["agreed"])
    assert "This has changed since you reviewed it" in text(alice.get(mixed.headers["Location"]))
    assert set(Payout.objects.values_list("status", flat=True)) == {"requires_review"}


def test_opening_the_emails_link_approves_nothing(two: Two) -> None:
    make.payout(two.key, MUCH)
    mail.send_due()
    (email,) = [item for item in django_mail.outbox if item.to == [two.cast.alice.email]]
    path = next(
        line.strip().partition("8000")[2]
        for line in email.body.splitlines()
        if "/dashboard/approvals/" in line
    )
    assert Browser().get(path).headers["Location"].startswith("/dashboard/sign-in")
    assert Browser(two.cast.alice).get(path).status_code == 200
    assert Browser(two.cast.alice).get(f"{path}/approve").status_code == 303
    assert Payout.objects.get().status == "requires_review"


def test_the_maker_is_told_that_somebody_else_has_to_and_may_reject(two: Two) -> None:
    held = held_of(make.payout(two.key, MUCH)["id"])
    adam = Browser(two.adam)
    page = text(adam.get(f"approvals/{held.pk}"))
    assert "Someone else has to approve this" in page and ">Approve</button>" not in page
    assert "Payout waiting for approval </h1>" in page and "which counts as your request" in page
    path, fields = opened(adam, held)
    refused = adam.post(path, **fields)
    assert "somebody else has to approve it" in text(adam.get(refused.headers["Location"]))
    assert adam.post(f"approvals/{held.pk}/reject", reason="").status_code == 422
    assert adam.post(f"approvals/{held.pk}/reject", reason="A mistake").status_code == 303
    assert (Payout.objects.get().status, Payout.objects.get().funds) == ("failed", "returned")
    assert "Rejected by an approver: A mistake" in text(
        adam.get(f"payouts/{Payout.objects.get().pk}")
    )


def test_who_may_only_look_sees_what_waits_and_decides_nothing(two: Two) -> None:
    held = held_of(make.payout(two.key, MUCH)["id"])
    accountant = person("ada")
    Member.objects.create(
        store=two.cast.bakery.store,
        user=accountant,
        role=Role.ACCOUNTANT,
        created_at=held.created_at,
    )
    for user in (accountant, two.cast.bob):
        browser = Browser(user)
        page = text(browser.get(f"approvals/{held.pk}"))
        assert (
            "Only owners and admins can approve or reject this." in page and ">Reject<" not in page
        )
        assert (
            browser.post(f"approvals/{held.pk}/approve").status_code
            == browser.post(f"approvals/{held.pk}/reject").status_code
            == 403
        )


def test_an_approver_without_a_second_factor_is_sent_to_set_it_up(two: Two) -> None:
    olga = person("olga")
    held = held_of(make.payout(two.key, MUCH)["id"])
    Member.objects.create(
        store=two.cast.bakery.store, user=olga, role=Role.ADMIN, created_at=held.created_at
    )
    browser = Browser(olga)
    assert "Approving requires two-factor authentication" in text(
        browser.get(f"approvals/{held.pk}")
    )
    path, fields = opened(browser, held)
    assert "Set up two-factor authentication first" in text(
        browser.get(browser.post(path, **fields).headers["Location"])
    )
    assert Payout.objects.get().status == "requires_review"


# --- the rule -------------------------------------------------------------------------------------


def test_an_owner_turns_it_on_with_a_code_when_there_are_two(cast: Cast) -> None:
    second_factor.switch_on(cast.alice, SECRET)
    alice = Browser(cast.alice, answers=True)
    assert "Only one person here may move money" in text(
        alice.post("settings/approvals", above="1000")
    )
    Member.objects.create(
        store=cast.bakery.store,
        user=person("adam"),
        role=Role.ADMIN,
        created_at=cast.bakery.access().now(),
    )
    for wrong in ("x", "-1", "1.2345", "1e3", "1,2,3"):
        assert "Enter the amount as a number" in text(
            alice.post("settings/approvals", above=wrong)
        ), wrong
    assert alice.post("settings/approvals", above="1000.5").status_code == 303
    assert ApprovalRule.objects.get().above_cents == 1000_50
    assert 'value="1000.50"' in text(alice.get("settings/approvals"))
    assert alice.post("settings/approvals", above="").status_code == 303
    assert ApprovalRule.objects.get().above_cents is None
    bob = Browser(cast.bob)
    seen = text(bob.get("settings/approvals"))
    assert "No approval required" in seen and 'id="above"' not in seen
    assert (
        "Only owners can change this." in seen
        and bob.post("settings/approvals", above="1").status_code == 403
    )


def test_a_looser_rule_of_live_mode_waits_and_a_link_stops_it(cast: Cast) -> None:
    two_people(cast, "live", "ETH")
    mail.send_due()
    django_mail.outbox.clear()  # of Adam's key
    alice = Browser(cast.alice, answers=True)
    alice.switch("live")
    assert alice.post("settings/approvals", above="").status_code == 303
    assert "No payout needs a second approval" in text(alice.get("settings/approvals"))
    mail.send_due()
    (email,) = [item for item in django_mail.outbox if "/dashboard/stop/" in item.body]
    path = next(
        line.strip().partition("8000")[2]
        for line in email.body.splitlines()
        if "/dashboard/stop/" in line
    )
    assert "Change canceled. The rule stays the same." in text(Browser().post(path))
    assert (
        ApprovalRule.objects.get().next_from is None
        and ApprovalRule.objects.get().above_cents == 100_00
    )


def test_taking_the_last_approvers_away_warns(two: Two) -> None:
    alice = Browser(two.cast.alice).prove()
    adam = Browser(two.adam)
    warning = "Nobody may be left to approve payouts."
    assert warning in text(alice.get(f"team/{two.adam.pk}/remove")) and warning in text(
        alice.get(f"team/{two.adam.pk}/role")
    )
    assert warning in text(adam.get("team/leave"))
    assert warning not in text(alice.get(f"team/{two.cast.bob.pk}/remove"))

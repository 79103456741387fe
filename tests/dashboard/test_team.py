"""The team: people are invited by email, join, change roles, hand the store over, leave and are
removed."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail

from apps.access.authorization.apps import create_app
from apps.access.models import AgentCredential
from apps.access.requests import AppRequest
from apps.access.services import create_agent_credential
from apps.core import clock, mail
from apps.stores.models import AuditEntry, Invitation, Member, Role, User
from tests.cast import PASSWORD, Cast, join, person
from tests.dashboard.browse import Browser, text

NEW = "dora@example.com"


@pytest.fixture
def alice(cast: Cast) -> Browser:
    return Browser(cast.alice, answers=True).prove()


def link(to: str) -> str:
    """The path of the newest email's link to the person."""
    mail.send_due()
    message = [item for item in django_mail.outbox if item.to == [to]][-1]
    found = re.search(r"/dashboard/join/\S+", message.body)
    assert found is not None
    return found.group()


def invite(browser: Browser, email: str = NEW, role: str = "developer") -> Any:
    return browser.post("team/invite", email=email, role=role)


def role_of(cast: Cast, user: User) -> str | None:
    return (
        Member.objects.filter(store=cast.bakery.store, user=user)
        .values_list("role", flat=True)
        .first()
    )


@pytest.mark.parametrize(
    ("role", "words"), [("admin", "as an admin."), ("developer", "as a developer.")]
)
def test_an_invitation_says_the_role_in_a_sentence(alice: Browser, role: str, words: str) -> None:
    invite(alice, role=role)
    shown = text(Browser().get(link(NEW)))
    (message,) = [item for item in django_mail.outbox if item.to == [NEW]]
    assert words in shown and words in " ".join(message.body.split())
    assert words in " ".join(str(message.alternatives[0][0]).split())


def test_an_accountant_is_invited_keeps_the_books_and_changes_nothing(
    cast: Cast, alice: Browser
) -> None:
    assert "Accountant" in text(alice.get("team/invite"))
    assert invite(alice, role="accountant").status_code == 303
    accountant = Browser()
    accountant.post(link(NEW), name="Dora", password="a long enough sentence")
    home = text(accountant.get())
    books = text(accountant.get("balances"))
    assert (
        "/dashboard/reports" in books
        and "/dashboard/api-keys" not in home
        and "Developers" not in home
    )
    # Which pages are an accountant's is told in test_pages.
    assert accountant.get("webhooks").status_code == 403
    assert accountant.post("settings").status_code == 403
    assert [accountant.get(f"/api/v2/{path}").status_code for path in ("payouts", "balances")] == [
        200,
        200,
    ]
    for path in ("api_keys", "merchants/oauth_apps", "webhook_endpoints"):
        assert accountant.get(f"/api/v2/{path}").status_code == 403, path


def admin(cast: Cast) -> User:
    user = person("adam")
    join(cast.bakery.store, user, Role.ADMIN)
    return user


def test_somebody_new_is_invited_makes_an_account_and_is_in_the_store(
    cast: Cast, alice: Browser
) -> None:
    assert invite(alice, f" {NEW} ").status_code == 303
    visitor = Browser()
    path = link(NEW)
    assert "Create account and join" in text(visitor.get(path))
    answer = visitor.post(path, name="Dora", password="a long enough sentence")
    assert answer.headers["Location"] == "/dashboard/"
    shown = text(visitor.get(""))
    assert "Alice&#x27;s Bakery" in shown and NEW in shown
    dora = User.objects.get(email=NEW)
    assert role_of(cast, dora) == "developer"
    assert (
        Browser().post("sign-in", email=NEW, password="a long enough sentence").status_code == 302
    )
    assert visitor.get(path).status_code == 404
    assert [
        audit_entry.action
        for audit_entry in AuditEntry.objects.filter(store_id=cast.bakery.store.pk).order_by("id")
    ][-2:] == [
        "member.invited",
        "member.joined",
    ]


def test_somebody_with_an_account_signs_in_first_and_then_joins(cast: Cast, alice: Browser) -> None:
    invite(alice, cast.charlie.email.upper())
    path = link(cast.charlie.email.upper())
    visitor = Browser()
    shown = text(visitor.get(path))
    assert "Sign in to accept" in shown and "Make an account" not in shown
    assert visitor.post(path, name="Mallory", password="a long enough sentence").status_code == 422
    assert User.objects.get(pk=cast.charlie.pk).check_password(PASSWORD)
    back = visitor.post("sign-in", email=cast.charlie.email, password=PASSWORD, next=path).headers[
        "Location"
    ]
    assert back == path
    assert visitor.post(path).status_code == 303
    assert role_of(cast, cast.charlie) == "developer"
    assert "Alice&#x27;s Bakery" in text(visitor.get(""))


def test_an_email_is_for_its_address_alone(cast: Cast, alice: Browser) -> None:
    invite(alice)
    path = link(NEW)
    charlie = Browser(cast.charlie)
    assert "Sign out, then open the link again" in text(charlie.get(path))
    assert charlie.post(path).status_code == 422
    assert role_of(cast, cast.charlie) is None


def test_opening_the_link_changes_nothing_and_its_token_is_not_stored(
    cast: Cast, alice: Browser
) -> None:
    invite(alice)
    path = link(NEW)
    Browser().get(path)
    row = Invitation.objects.get()
    assert row.accepted_at is None
    assert path.rpartition("/")[2] not in str(Invitation.objects.values().get())


def test_a_weak_password_makes_no_account(cast: Cast, alice: Browser) -> None:
    invite(alice)
    path = link(NEW)
    assert "too short" in text(Browser().post(path, name="D", password="short"))
    assert not User.objects.filter(email=NEW).exists()
    for name in ("D" * 101, "D\x00"):
        assert "A name has at most 100 characters" in text(
            Browser().post(path, name=name, password="a long enough sentence")
        )


def test_an_email_works_for_seven_days(cast: Cast, alice: Browser) -> None:
    invite(alice)
    path = link(NEW)
    with time_machine.travel(clock.real_now() + timedelta(days=7, minutes=1), tick=True):
        assert Browser().get(path).status_code == 404
        assert Browser().post(path, name="D", password="a long enough sentence").status_code == 404


def test_an_email_sent_again_ends_the_first_and_waits_a_minute(cast: Cast, alice: Browser) -> None:
    invite(alice)
    first = link(NEW)
    row = Invitation.objects.get()
    alice.post(f"team/invitations/{row.pk}/resend")
    assert "sent a moment ago" in text(alice.get("team"))
    with time_machine.travel(clock.real_now() + timedelta(minutes=2), tick=True):
        alice.post(f"team/invitations/{row.pk}/resend")
        second = link(NEW)
        assert second != first
        assert [Browser().get(path).status_code for path in (first, second)] == [404, 200]


def test_a_revoked_email_is_worth_nothing_and_the_address_can_be_invited_anew(
    cast: Cast, alice: Browser
) -> None:
    invite(alice)
    path = link(NEW)
    alice.post(f"team/invitations/{Invitation.objects.get().pk}/revoke")
    assert Browser().get(path).status_code == 404
    assert invite(alice).status_code == 303


def test_what_cannot_be_invited(alice: Browser) -> None:
    for email, role, sentence in (
        ("a\x00@example.com", "viewer", "That is not an email address."),
        (NEW, "", "Choose one of the roles."),
    ):
        answer = invite(alice, email, role)
        assert answer.status_code == 422 and sentence in text(answer), (email, role)


def test_nobody_is_invited_twice(cast: Cast, alice: Browser) -> None:
    invite(alice)
    assert "has been invited already" in text(invite(alice, NEW.upper()))
    assert "is in the store already" in text(invite(alice, cast.bob.email))


def test_an_email_ends_with_the_one_who_sent_it(cast: Cast) -> None:
    adam = admin(cast)
    invite(Browser(adam, answers=True).prove())
    path = link(NEW)
    Browser(cast.alice, answers=True).prove().post(f"team/{adam.pk}/remove")
    assert Browser().get(path).status_code == 404


def test_an_admin_makes_no_owner_and_touches_none(cast: Cast) -> None:
    browser = Browser(admin(cast), answers=True).prove()
    assert "Only an owner can make somebody an owner." in text(invite(browser, NEW, "owner"))
    assert "Only an owner can make somebody an owner." in text(
        browser.post(f"team/{cast.bob.pk}/role", role="owner")
    )
    for act in ("role", "remove"):
        assert "Only an owner can change or remove an owner." in text(
            browser.post(f"team/{cast.alice.pk}/{act}", role="viewer")
        )
    assert browser.post(f"team/{cast.bob.pk}/owner").status_code == 403
    assert role_of(cast, cast.alice) == "owner"


def test_a_role_counts_from_the_next_page(cast: Cast, alice: Browser) -> None:
    bob = Browser(cast.bob)
    assert bob.get("api-keys/new").status_code == 200
    alice.post(f"team/{cast.bob.pk}/role", role="viewer")
    assert bob.get("api-keys/new").status_code == 403
    assert "You can’t change your own role." in text(
        alice.post(f"team/{cast.alice.pk}/role", role="viewer")
    )


def test_who_is_removed_loses_the_store_and_its_apps_at_once_and_is_told(
    cast: Cast, alice: Browser
) -> None:
    bob = Browser(cast.bob)
    credential, _ = create_agent_credential(cast.bakery.store, "test")
    fields = {
        "name": "Books",
        "confidential": False,
        "redirect_uris": ["https://books.example/back"],
        "scopes": ["agents:write"],
    }
    app, _ = create_app(cast.bakery.store, cast.alice, AppRequest(**fields))
    AgentCredential.objects.filter(pk=credential.pk).update(user=cast.bob, application=app)
    assert bob.get("payments").status_code == 200
    alice.post(f"team/{cast.bob.pk}/remove")
    assert bob.get("payments").status_code == 403
    assert bob.client.get("/api/v2/payments").status_code == 401
    credential.refresh_from_db()
    assert credential.revoked_at is not None
    mail.send_due()
    assert sorted(message.to for message in django_mail.outbox) == sorted(
        [[cast.alice.email], [cast.bob.email]]
    )


def test_the_last_owner_can_neither_leave_nor_be_removed(cast: Cast, alice: Browser) -> None:
    page = text(alice.get("team/leave"))
    assert "You can’t leave" in page and "Leave store</button>" not in page
    assert "team/leave" not in alice.get("team").content.decode()
    refused = alice.post("team/leave")
    assert refused.status_code == 422 and "A store needs an owner." in text(refused)
    assert "A store needs an owner." in text(alice.post(f"team/{cast.alice.pk}/remove"))
    assert role_of(cast, cast.alice) == "owner"


def test_who_leaves_is_out_and_may_have_nothing_left(cast: Cast) -> None:
    bob = Browser(cast.bob)
    assert bob.get("team/leave").status_code == 200
    assert bob.post("team/leave").status_code == 303
    assert role_of(cast, cast.bob) is None
    assert bob.get("payments").status_code == 403
    assert bob.get("team/leave").status_code == 404


def test_ownership_is_handed_over_and_then_the_old_owner_may_leave(
    cast: Cast, alice: Browser
) -> None:
    assert alice.get(f"team/{cast.bob.pk}/owner").status_code == 200
    assert alice.post(f"team/{cast.bob.pk}/owner").status_code == 303
    assert (role_of(cast, cast.alice), role_of(cast, cast.bob)) == ("admin", "owner")
    assert alice.post(f"team/{cast.bob.pk}/owner").status_code == 403
    assert alice.post("team/leave").status_code == 303


def test_two_owners_may_not_both_be_the_last_to_leave(cast: Cast, alice: Browser) -> None:
    alice.post(f"team/{cast.bob.pk}/role", role="owner")
    assert alice.post("team/leave").status_code == 303
    assert "A store needs an owner." in text(Browser(cast.bob).post("team/leave"))


def test_the_team_page_offers_what_the_role_may(cast: Cast, alice: Browser) -> None:
    invite(alice)
    developer = text(Browser(cast.bob).get("team"))
    owner = text(alice.get("team"))
    assert "Make owner" in owner and "Resend" in owner and NEW in owner
    assert "Make owner" not in developer and "Resend" not in developer and "Leave" in developer

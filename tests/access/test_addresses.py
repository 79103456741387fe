"""Email addresses of accounts: no two that a person takes for one, and nobody is shut out by a
look-alike."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import RequestFactory

from apps.access.members import invitations
from apps.access.person import recovery
from apps.core import clock
from apps.core.errors import Failure
from apps.core.models import OutgoingMail
from apps.core.redis import buckets
from apps.core.web.middleware import client_address
from apps.stores.models import User
from apps.stores.services import EmailTaken, create_user
from tests.cast import PASSWORD, Cast, person
from tests.dashboard.browse import Browser

DOTLESS = "vıctim@gmaıl.com"


def signed_in(email: str, password: str = PASSWORD) -> Any:
    return Browser().post("sign-in", email=email, password=password)


@pytest.fixture
def victim(db: None) -> User:
    user = person("victim")
    user.email = "victim@gmail.com"
    user.save(update_fields=["email"])
    return user


def test_a_look_alike_shuts_nobody_out(victim: User) -> None:
    twin = person("twin")
    twin.email = DOTLESS  # as an account made before look-alikes were refused has it
    twin.save()
    for spelling in ("victim@gmail.com", "VICTIM@gmail.com", " Victim@GMAIL.com "):
        assert signed_in(spelling).status_code == 302, spelling
    assert User.objects.with_email(DOTLESS) == twin
    assert signed_in(DOTLESS).status_code == 302


@pytest.mark.parametrize(
    "look_alike",
    [
        "vıctim@gmail.com",
        "ｖictim@gmail.com",
        "victiⓜ@gmail.com",
        "victim@gmail.com\u202e",
        "vic\u200btim@gmail.com",
    ],
)
def test_no_account_and_no_invitation_has_an_address_of_other_letters(
    cast: Cast, look_alike: str
) -> None:
    with pytest.raises(Failure, match="email is not valid"):
        create_user(look_alike, PASSWORD)
    alice = cast.bakery.owner_access()
    with pytest.raises(invitations.BadAddress):
        invitations.invite(alice, email=look_alike, role="viewer", at=clock.real_now())


def test_a_domain_of_other_letters_is_kept_as_dns_has_it(db: None) -> None:
    user = create_user("Vera@Bücher.example", PASSWORD)
    assert user.email == "Vera@xn--bcher-kva.example"
    assert User.objects.with_email("vera@BÜCHER.example") == user
    with pytest.raises(EmailTaken):
        create_user("VERA@xn--bcher-kva.example", PASSWORD)
    assert create_user("vera@bucher.example", PASSWORD).email_key != user.email_key


def test_the_database_keeps_the_key_of_an_address(victim: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=victim.pk).update(email="other@gmail.com")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create(email="VICTIM@gmail.com")


def test_who_is_invited_is_known_however_the_address_is_spelled(cast: Cast, victim: User) -> None:
    alice = cast.bakery.owner_access()
    at = clock.real_now()
    invitation = invitations.invite(alice, email="VICTIM@Gmail.com", role="viewer", at=at)
    assert invitations.invited_user(invitation) == victim
    assert invitations.accept(invitation, victim, at).user == victim
    with pytest.raises(invitations.AlreadyMember):
        invitations.invite(alice, email="victim@GMAIL.com", role="viewer", at=at)


def test_what_can_not_be_an_address_finds_nobody(victim: User) -> None:
    for text in ("victim@gmail.com\x00", "\ud800@gmail.com", "@", "", "x" * 9000):
        assert User.objects.with_email(text) is None


# --- emails and addresses of clients ---


def test_nobody_is_sent_more_than_ten_emails_a_day_by_strangers(victim: User) -> None:
    for n in range(14):
        recovery.ask("VICTIM@gmail.com" if n % 2 else "victim@gmail.com", f"10.0.{n}.1")
        drain_sign_in()
    assert OutgoingMail.objects.filter(to="victim@gmail.com", status="queued").count() == 10


def drain_sign_in() -> None:
    """As if the minute had passed in which an account is asked for so often."""
    for key in buckets.client().scan_iter("*sign_in*"):
        buckets.client().delete(key)


def test_an_invitation_beyond_ten_emails_is_refused(cast: Cast) -> None:
    alice = cast.bakery.owner_access()
    at = clock.real_now()
    for _ in range(10):
        one = invitations.invite(alice, email="guest@example.com", role="viewer", at=at)
        invitations.revoke(one, at)
    with pytest.raises(invitations.TooManyEmails):
        invitations.invite(alice, email="Guest@Example.com", role="viewer", at=at)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ],
)
def test_an_ipv4_client_is_counted_by_its_address_behind_any_socket(
    address: str, counted: str
) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=address)
    assert client_address(request) == counted

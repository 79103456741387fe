"""Emails about a person's operations: every row of the table is done in live mode by an owner, and
its emails are compared with the table."""

from typing import Any

import pytest
from django.core import mail as django_mail
from django.db import transaction

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.access.factors import second_factor
from apps.access.members.invitations import accept
from apps.access.models import SecondFactor
from apps.access.operations import OWNERS, PERSON, TEAM
from apps.core import clock, mail
from apps.core.models import OutgoingMail
from apps.core.redis import buckets
from apps.payouts.models import Schedule
from apps.payouts.requests import ScheduleRequest
from apps.payouts.services import batches, schedules
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Invitation, Member, Role, User
from apps.stores.settings import write_settings
from tests import make
from tests.access.matrix.asking import outcome, signed_in, told
from tests.access.matrix.conftest import made, world
from tests.access.matrix.lines import ADDRESS, APART, LINES, OTHER, Line
from tests.access.matrix.world import World
from tests.access.test_waiting_period import links, weekly
from tests.cast import PASSWORD, Cast, person
from tests.dashboard.browse import Browser, code_of, hidden_fields, next_code
from tests.whole import IS_WHOLE

__all__ = ["made", "world"]
HANDS_ON = {operations.ROLE_CHANGE, operations.MEMBER_REMOVE, operations.HAND_OVER}
BY_A_PERSON = [
    line
    for line in LINES
    if line.door in ("page", "api") and line.row.permission and "live" in line.modes
]
DOOR = {line.row: line.door for line in reversed(BY_A_PERSON)}
# Services write the emails: only the whole suite does a row through its second door as well.
DONE = [line for line in BY_A_PERSON if IS_WHOLE or line.door == DOOR[line.row]]


def test_every_row_that_a_person_does_in_live_mode_is_done_here() -> None:
    people = {row for row in operations.TABLE if row.permission and row not in APART}
    assert people - {line.row for line in DONE} == {operations.LATE_DEPOSIT}, (
        "its coins are in test mode alone; it has no email"
    )
    assert not operations.LATE_DEPOSIT.emails
    assert {row for row in APART if row.emails} == {
        operations.FACTOR_ENROLL,
        operations.FACTOR_REMOVE,
        operations.CODES_RENEW,
        operations.PASSKEY_ADD,
        operations.PASSKEY_REMOVE,
        operations.EMAIL_CHANGE,
        operations.STORE_CLOSE,
        operations.WALLET_CHANGE,
    }
    assert {row.emails for row in operations.TABLE} == {"", OWNERS, PERSON, TEAM}
    assert {row for row in operations.TABLE if row.emails == TEAM} == HANDS_ON


def send(world: World, line: Line, mode: str) -> Any:
    """As an owner's browser does it, or a script with their session: with the code that is asked
    for."""
    user = world.people[Role.OWNER, True]
    buckets.client().flushdb()
    client = signed_in(world, Role.OWNER, mode, has_factor=True, is_recent=True)
    path = world.fill(line.path, mode)
    body = world.fill(line.body, mode)
    if line.door == "page":
        browser = Browser(answers=True)
        browser.client = client
        browser.user = user
        answer = browser.post(path, **(body or {}))
        shows_figures = answer.context is not None and answer.context.get("asks_code")
        return (
            browser.confirm(answer, path, **{**(body or {}), **hidden_fields(answer)})
            if shows_figures
            else answer
        )
    sent = {"Idempotency-Key": "one"} if line.method == "POST" else {}
    if line.row.code == operations.ACT:
        sent["X-OTP-Code"] = next_code(user)
    options = {} if body is None else {"data": body, "content_type": "application/json"}
    return getattr(client, line.method.lower())(f"/api/v2/{path}", headers=sent, **options)


def written(world: World, line: Line, mode: str) -> set[tuple[str, str]]:
    """To whom and which, when the row is done; nothing of it stays."""
    with transaction.atomic():
        answer = send(world, line, mode)
        assert outcome(answer) == "passed", told(line, outcome(answer))
        if line.row.emails:
            assert answer.status_code < 400, told(line, answer.status_code, answer.content[:2000])
        found = set(OutgoingMail.objects.values_list("to", "template"))
        transaction.set_rollback(True)
    return found


def owners_of(world: World) -> set[str]:
    found = Member.objects.filter(store=world.store, role=Role.OWNER).values_list(
        "user__email", flat=True
    )
    return set(found)


@pytest.mark.parametrize("lines", [DONE[number::6] for number in range(6)], ids=range(6))
def test_those_whom_the_table_names_are_told_and_nobody_else(
    world: World, lines: list[Line]
) -> None:
    owners = owners_of(world)
    colleague = User.objects.get(email__startswith="colleague").email
    assert len(owners) == 3
    wrong = []
    for line in lines:
        found = written(world, line, "live")
        if {item for item, template in found if template == "operation"} - {colleague} != (
            owners if line.row.emails else set()
        ):
            wrong.append(told(line, found))
        if (colleague in {item for item, _ in found}) != (line.row.emails == TEAM):
            wrong.append(told(line, "the member", found))
        if not line.row.emails and owners & {item for item, _ in found}:
            wrong.append(told(line, "an owner", found))
        if (
            line.row.emails
            and line.row.has_mode
            and "test" in line.modes
            and any(template == "operation" for _, template in written(world, line, "test"))
        ):
            wrong.append(told(line, "test mode"))
    assert not wrong, "\n".join(wrong)


def test_a_person_is_told_of_their_authenticator_app(cast: Cast) -> None:
    browser = Browser(cast.alice, answers=True)
    browser.get("security/authenticator")
    code = code_of(second_factor.pending(cast.alice))
    assert browser.post("security/authenticator", code=code, password=PASSWORD).status_code == 200
    assert [row.to for row in OutgoingMail.objects.filter(template="account_changed")] == [
        cast.alice.email
    ]
    assert browser.post("security/authenticator/remove").status_code == 303
    assert not SecondFactor.objects.filter(user=cast.alice).exists()
    assert [row.to for row in OutgoingMail.objects.filter(template="account_changed")] == [
        cast.alice.email
    ] * 2


# --- what isn't a row, and what a row says by way of a key ----------------------------------------


def test_the_owners_hear_who_has_joined_and_the_one_who_joined_does_not(cast: Cast) -> None:
    store = cast.bakery.store
    at = clock.real_now()
    olga = person("olga")
    row = Invitation.objects.create(
        store=store,
        email=olga.email,
        role=Role.OWNER,
        invited_by=cast.alice,
        token_hash=b"y" * 32,
        created_at=at,
        sent_at=at,
        expires_at=at,
    )
    accept(row, olga, at)
    ((to, subject, body),) = [(item.to, item.subject, item.body) for item in sent()]
    assert to == [cast.alice.email] and subject == f"A member joined the team: {store.name}"
    assert f"{olga.email}, as owner, invited by {cast.alice.email}" in body


def sent() -> list[Any]:
    mail.send_due()
    return list(django_mail.outbox)


def test_keys_and_operators_write_to_nobody(cast: Cast) -> None:
    key = cast.bakery.access("live")
    schedules.create_schedule(key, weekly(OTHER))
    add_wallet(cast.bakery.store, "live", "ethereum", ADDRESS)
    assert not OutgoingMail.objects.exists()


def test_without_a_waiting_time_the_owners_are_told_all_the_same(cast: Cast) -> None:
    write_settings(cast.bakery.store, {"cooling_hours": 0})
    saved = add_wallet(
        cast.bakery.store, "live", "ethereum", ADDRESS, by=cast.bakery.owner_access("live")
    )
    assert saved.usable_from is None
    (message,) = sent()
    assert (
        message.to == [cast.alice.email]
        and message.subject.startswith("A payout wallet was added")
        and "It’s already in effect" in message.body
        and "/dashboard/stop/" not in message.body
    )


def test_a_change_that_names_nothing_new_is_told_without_a_link(cast: Cast) -> None:
    owner = cast.bakery.owner_access("live")
    made = schedules.create_schedule(cast.bakery.access("live"), weekly(OTHER))
    schedules.update_schedule(owner, made, ScheduleRequest(frequency="daily"))
    assert len(sent()) == 1 and not links()
    schedules.update_schedule(owner, made, ScheduleRequest(destination_address=ADDRESS))
    assert len(links()) == 1 and Schedule.objects.get(pk=made.pk).usable_from is not None


def test_a_list_to_known_addresses_is_told_when_it_is_sent(cast: Cast) -> None:
    owner: Access = cast.bakery.owner_access("live")
    make.store_coins(cast.bakery.store, "ETH", 10**18)
    add_wallet(cast.bakery.store, "live", "ethereum", ADDRESS)
    raw = f"asset_id,amount,destination\nETH,0.1,{ADDRESS}\n".encode()
    batch = batches.open_batch(
        owner, cast.bakery.store, cast.alice, filename="a.csv", raw=raw, form_key="a" * 32
    )
    batches.release_batch(owner, batch, cast.alice, batch.digest)
    (message,) = sent()
    assert (
        "a.csv: 1 payout" in message.body
        and "payouts" not in message.body
        and "It’s already in effect" in message.body
    )


def test_a_longer_waiting_time_is_told_too(cast: Cast) -> None:
    waiting_period.change_hours(cast.bakery.owner_access("live"), 48)
    (message,) = sent()
    assert (
        "From then on it is 48 hours, instead of 24" in message.body
        and "It’s already in effect" in message.body
    )

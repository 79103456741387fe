"""Decisions that take two members of staff: one asks, another approves exactly that, and it is done
once. One alone does none of it."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import IntegrityError, connection, transaction
from django.test import override_settings

from apps.access.factors import lost_factor, second_factor
from apps.audit.grants import WEB, WORKER
from apps.core import clock, mail
from apps.core.db import tenancy
from apps.core.errors import Failure
from apps.core.models import OutgoingMail
from apps.payments.services import corrections
from apps.payouts.models import Payout
from apps.payouts.services import rejection, review
from apps.payouts.services.progress import advance_payouts
from apps.staff.decisions.kinds import KINDS
from apps.stores.models import AuditEntry, StaffRequest, User
from apps.stores.services import change_store
from apps.stores.settings import values_of
from apps.stores.staff import dispatch, four_eyes, staffing
from apps.stores.staff.four_eyes import AlreadyAsked, RequestKind, StaffRequestRefused
from apps.stores.staff_roles import StaffForbidden, StaffRole, roles_of
from tests import auditing, make
from tests.cast import Cast, assemble, person
from tests.roles import acting_as
from tests.stage import standing
from tests.stores.wishes import SECRET, WISHES, Wish, approve, asked_for
from tests.taken_out import committed_cast
from tests.whole import usually


@pytest.fixture(autouse=True)
def threshold(settings: Any) -> None:
    settings.STAFF_FOUR_EYES_ABOVE_CENTS = 0


@pytest.fixture
def people(db: None) -> tuple[User, User]:
    """Two who may do everything."""
    return make.clerk(*StaffRole.values), make.clerk(*StaffRole.values)


@dataclass(frozen=True)
class Asked:
    """A request of one of two people that nobody has decided."""

    kind: RequestKind
    row: StaffRequest
    wish: Wish
    people: tuple[User, User]


def asked_by_one_of_two(name: str) -> Asked:
    cast = assemble()
    people = (make.clerk(*StaffRole.values), make.clerk(*StaffRole.values))
    with override_settings(STAFF_FOUR_EYES_ABOVE_CENTS=0):
        return Asked(*asked_for(name, cast, people[0]), people)


@pytest.fixture(scope="class", params=WISHES)
def one_of_each_kind(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Asked]:
    yield from standing(django_db_blocker, lambda: asked_by_one_of_two(request.param))


@pytest.fixture
def asked(one_of_each_kind: Asked, db: None) -> Asked:
    row = StaffRequest.objects.get(pk=one_of_each_kind.row.pk)
    people = deepcopy(one_of_each_kind.people)
    return replace(one_of_each_kind, row=row, people=people)


def test_every_kind_is_tried_here() -> None:
    assert set(WISHES) == set(KINDS)


@pytest.mark.parametrize("name", WISHES)
def test_two_do_it_once_as_the_web_process_and_the_log_has_both(
    name: str, cast: Cast, people: tuple[User, User]
) -> None:
    wish = WISHES[name](cast)
    with acting_as(WEB), tenancy.everyone("staff"):
        kind, row, _ = asked_for(name, cast, people[0], wish)
        assert wish.done() == 0
        assert approve(kind, row, people[1], reason="Looked at it").state == "approved"
    with acting_as(WORKER):
        corrections.book_corrections()  # which web leaves to a worker
    assert wish.done() == 1
    for staff in people:
        with pytest.raises(StaffRequestRefused, match="approved already"):
            approve(kind, row, staff)
    assert wish.done() == 1
    told = list(
        AuditEntry.objects.filter(target_id=str(row.pk))
        .order_by("id")
        .values_list("action", "details")
    )
    assert [action for action, _ in told] == ["staff_request.asked", "staff_request.approved"]
    assert (told[1][1]["asked_by"], told[1][1]["decided_by"]) == tuple(
        str(item.pk) for item in people
    )
    assert auditing.breaches() == []


class TestWhatNobodyHasDecided:
    def test_one_person_does_not_both_ask_and_approve_and_the_database_sees_to_it(
        self, asked: Asked
    ) -> None:
        kind, row, wish, people = asked.kind, asked.row, asked.wish, asked.people
        User.objects.filter(pk=people[0].pk).update(is_superuser=True)
        people[0].refresh_from_db()
        with pytest.raises(StaffRequestRefused, match="not the one who asked"):
            approve(kind, row, people[0])
        for decided_by in (people[0], None):
            with (
                pytest.raises(IntegrityError, match="staff_request_takes_two"),
                transaction.atomic(),
            ):
                StaffRequest.objects.filter(pk=row.pk).update(
                    state="approved", decided_by=decided_by, decided_at=clock.real_now()
                )
        assert wish.done() == 0

    def test_what_has_changed_meanwhile_is_not_done(self, asked: Asked) -> None:
        kind, row, wish, people = asked.kind, asked.row, asked.wish, asked.people
        wish.change()
        with pytest.raises(Failure, match=r"changed since|booked already|There is an? "):
            approve(kind, row, people[1])
        row.refresh_from_db()
        assert (row.state, wish.done()) == ("pending", 0)

    def test_a_week_later_it_is_not_done(self, asked: Asked) -> None:
        kind, row, wish, people = asked.kind, asked.row, asked.wish, asked.people
        late = clock.real_now() + timedelta(days=7)
        with pytest.raises(StaffRequestRefused, match="expired"):
            approve(kind, row, people[1], at=late)
        with pytest.raises(IntegrityError, match="staff_request_takes_two"), transaction.atomic():
            StaffRequest.objects.filter(pk=row.pk).update(
                state="approved", decided_by=people[1], decided_at=late
            )
        assert four_eyes.expire_due(late) == 1
        with pytest.raises(StaffRequestRefused, match="expired already"):
            approve(kind, row, people[1])
        row.refresh_from_db()
        assert (row.sealed, wish.done()) == ("", 0)
        assert wish.ask(people[0]).state == "pending", "and it can be asked for again"

    def test_a_role_that_may_not_neither_asks_nor_approves(self, asked: Asked) -> None:
        kind, row, wish = asked.kind, asked.row, asked.wish
        others = [make.clerk(role) for role in StaffRole.values if role not in kind.operation.roles]
        for staff in (*others, person("charlie")):
            with pytest.raises(StaffForbidden):
                approve(kind, row, staff)
            with pytest.raises(StaffForbidden):
                four_eyes.reject(kind, row.pk, staff, clock.real_now())
            with pytest.raises(StaffForbidden):
                wish.ask(staff)
        assert wish.done() == 0

    def test_one_is_enough_to_reject_and_whoever_asked_takes_it_back(self, asked: Asked) -> None:
        kind, row, wish, people = asked.kind, asked.row, asked.wish, asked.people
        four_eyes.reject(kind, row.pk, people[0], clock.real_now(), reason="A mistake")
        again = wish.ask(people[0])
        four_eyes.reject(kind, again.pk, people[1], clock.real_now())
        for item in (row, again):
            with pytest.raises(StaffRequestRefused, match="rejected already"):
                approve(kind, item, people[1])
            with pytest.raises(IntegrityError, match="decided once"), transaction.atomic():
                StaffRequest.objects.filter(pk=item.pk).update(
                    state="approved", decided_by=people[1], decided_at=clock.real_now()
                )
        assert wish.done() == 0
        assert not StaffRequest.objects.exclude(sealed="").exists()


def test_what_was_asked_for_is_what_is_approved(cast: Cast, people: tuple[User, User]) -> None:
    kind, row, wish = asked_for("correction", cast, people[0])
    with pytest.raises(StaffRequestRefused, match="has changed since you reviewed it"):
        approve(kind, row, people[1], digest="0" * 64)
    more = json.loads(row.content)
    more["wanted"]["amount_atomic"] = "7000"
    content = json.dumps(more, sort_keys=True, separators=(",", ":"))
    for changes in (
        {"content": content},
        {"content": content, "digest": four_eyes._digest(content)},
        {"asked_by": people[1]},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            StaffRequest.objects.filter(pk=row.pk).update(**changes)
    with pytest.raises(IntegrityError), transaction.atomic():
        StaffRequest.objects.filter(pk=row.pk).delete()
    with connection.cursor() as cursor:  # somebody who may even silence the trigger
        cursor.execute("SET LOCAL session_replication_role = replica")
        StaffRequest.objects.filter(pk=row.pk).update(content=content)
        cursor.execute("SET LOCAL session_replication_role = origin")
    with pytest.raises(StaffRequestRefused, match="its digest is another"):
        approve(kind, row, people[1])
    assert wish.done() == 0
    assert auditing.found_of("staff_requests_by_two")


def test_a_request_that_begins_approved_is_none(people: tuple[User, User]) -> None:
    at = clock.real_now()
    fields = {
        "asked_by": people[0],
        "asked_at": at,
        "expires_at": at + timedelta(days=7),
        "decided_by": people[1],
        "decided_at": at,
    }
    with pytest.raises(IntegrityError, match="begins undecided"), transaction.atomic():
        StaffRequest.objects.create(
            kind="correction",
            target_id="x",
            name="x",
            content="{}",
            digest=four_eyes._digest("{}"),
            reason="x",
            state="approved",
            **fields,
        )


def test_the_same_is_asked_for_once_at_a_time_and_with_a_reason(
    cast: Cast, people: tuple[User, User]
) -> None:
    _, _, wish = asked_for("payout", cast, people[0])
    for staff in people:
        with pytest.raises(AlreadyAsked):
            wish.ask(staff)
    with pytest.raises(StaffRequestRefused, match="give a reason"):
        lost_factor.request_removal(_with_factor(cast), " ", people[0], clock.real_now())


def _with_factor(cast: Cast) -> User:
    second_factor.switch_on(cast.alice, SECRET)
    return cast.alice


def test_who_lost_the_role_meanwhile_has_asked_for_nothing(
    cast: Cast, people: tuple[User, User]
) -> None:
    kind, row, wish = asked_for("payout", cast, people[0])
    staffing.set_roles(people[0], ["support"])
    with pytest.raises(StaffRequestRefused, match="may not ask for it any more"):
        approve(kind, row, people[1])
    assert wish.done() == 0


def test_those_who_may_approve_it_are_told_and_then_whoever_asked(
    cast: Cast, people: tuple[User, User]
) -> None:
    OutgoingMail.objects.all().delete()
    finance = make.clerk("finance")
    support = make.clerk("support")
    admin = make.clerk("admin")
    kind, row, _ = asked_for("correction", cast, people[0])
    mail.send_due()
    assert {item.to[0] for item in outbox.outbox} == {people[1].email, finance.email}
    assert not {support.email, admin.email, people[0].email} & {
        item.to[0] for item in outbox.outbox
    }
    email = str(outbox.outbox[0].body)
    assert outbox.outbox[0].subject == "A ledger correction needs a second approval"
    assert (
        f"/admin/stores/staffrequest/{row.pk}/decide/" in email
        and "Goodwill" in email
        and people[0].email in email
    )
    outbox.outbox.clear()
    approve(kind, row, finance)
    mail.send_due()
    assert [(item.to[0], item.subject) for item in outbox.outbox] == [
        (people[0].email, "A ledger correction was approved")
    ]


class TestPayouts:
    def test_up_to_the_threshold_one_is_enough(
        self, cast: Cast, people: tuple[User, User], settings: Any
    ) -> None:
        settings.STAFF_FOUR_EYES_ABOVE_CENTS = 10**9
        assert isinstance(WISHES["payout"](cast).ask(make.clerk("finance")), Payout)
        assert auditing.breaches() == []

    def test_above_it_the_operator_says_who(self, cast: Cast, people: tuple[User, User]) -> None:
        WISHES["payout"](cast)
        row = Payout.objects.get()
        with pytest.raises(review.TwoNeeded):
            review.approve_payout(row)
        with pytest.raises(StaffRequestRefused, match="not the one who asked"):
            review.approve_payout(row, "Known", people[0], people[0])
        assert not StaffRequest.objects.filter(kind="payout").exists(), "both steps or none"
        assert review.approve_payout(row, "Known", *people).status == "pending"
        assert auditing.breaches() == []

    def test_what_nobody_can_value_takes_two(self, cast: Cast, settings: Any) -> None:
        settings.STAFF_FOUR_EYES_ABOVE_CENTS = 10**9
        WISHES["payout"](cast)
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM assets_rate")
        assert review.needs_two(Payout.objects.get())

    def test_one_that_was_rejected_meanwhile_stays_rejected(
        self, cast: Cast, people: tuple[User, User]
    ) -> None:
        kind, row, _ = asked_for("payout", cast, people[0])
        rejection.reject_payout(Payout.objects.get(), "Not theirs", people[1])
        with pytest.raises(review.NotInReview):
            approve(kind, row, people[1])
        assert Payout.objects.get().status == "failed"


class TestWhatOneMayDoAlone:
    def test_switching_off(self, cast: Cast) -> None:
        store = change_store(cast.bakery.store, x402_dispatch=True, card_funding_live=True)
        admin = make.clerk("admin")
        off = {"x402_dispatch": False, "card_funding_live": False}
        assert dispatch.request_dispatch(store, off, "Stop", admin, clock.real_now()) is None
        store.refresh_from_db()
        assert values_of(store, list(off)) == off

    def test_giving_support_and_taking_roles(self, cast: Cast, people: tuple[User, User]) -> None:
        at = clock.real_now()
        assert staffing.request_roles(cast.bob, ["support"], "Joined us", people[0], at) is None
        assert staffing.request_roles(people[1], ["finance"], "Moved", people[0], at) is None
        for user, roles in ((cast.bob, {"support"}), (people[1], {"finance"})):
            user.refresh_from_db()
            assert roles_of(user) == roles
        with pytest.raises(staffing.StaffingRefused, match="the only admin"):
            staffing.request_roles(people[0], [], "Left", people[0], at)

    def test_not_giving_themselves_a_role(self, cast: Cast, people: tuple[User, User]) -> None:
        admin = make.clerk("admin")
        asked = staffing.request_roles(
            admin, ["admin", "finance"], "For me", admin, clock.real_now()
        )
        assert asked is not None
        with pytest.raises(StaffRequestRefused, match="not the one who asked"):
            approve(staffing.ROLES, asked, admin)


@pytest.mark.commits
@pytest.mark.parametrize("name", usually(short=("payout", "staff_roles"), whole=tuple(WISHES)))
def test_two_who_approve_at_once_do_it_once(
    name: str, django_db_setup: None, django_db_blocker: Any, settings: Any
) -> None:
    """On rows that are really committed, and two connections. What lets one of them wait is the
    same for every kind."""
    with django_db_blocker.unblock(), committed_cast() as cast:
        staff = [make.clerk(*StaffRole.values) for _ in range(3)]
        kind, row, wish = asked_for(name, cast, staff[0])

        def run(second: User) -> str:
            try:
                return approve(kind, row, second).state
            except StaffRequestRefused as refusal:
                return refusal.text
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            answers = sorted(pool.map(run, staff[1:]))
        assert answers == ["The request is approved already", "approved"]
        assert wish.done() == 1
        # What is approved comes to its end, and isn't left for the sweeps of other tests.
        advance_payouts()
        make.advance(cast.bakery.test, 61)
        advance_payouts()
        assert not Payout.objects.filter(store=cast.bakery.store).exclude(funds="paid").exists()
        assert auditing.breaches() == []

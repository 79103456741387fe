"""Many at once: a balance is never paid out twice, a cap never passed, a retry and a run happen
once. Real threads, real locks."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.access.access import Access
from apps.core import clock
from apps.ledger.selectors import balances
from apps.payouts.models import Payout
from apps.payouts.requests import ScheduleRequest
from apps.payouts.services import moves
from apps.payouts.services.approval_decisions import NotWaiting, approve, digest_of, reject
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.progress import advance_payouts
from apps.payouts.services.runs import run_by_hand
from apps.payouts.services.schedules import create_schedule
from apps.stores.models import Role
from tests import make
from tests.cast import Cast, join, person, signed_in
from tests.payouts.two_people import LITTLE, MUCH, held_of, two_people
from tests.whole import usually

# Each caller is a thread with a connection of its own; what they ask for is enough for fewer.
CALLERS = usually(short=6, whole=50)
PAID = usually(short=4, whole=10)


@pytest.fixture
def world(committed: Cast, sound_books: None) -> Cast:
    make.store_coins(committed.bakery.store, "SETH", 10**18)
    return committed


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Every call in a thread of its own, let go at the same moment."""
    answers: list[Any] = [None] * len(calls)
    gate = threading.Barrier(len(calls))

    def run(number: int) -> None:
        try:
            gate.wait(60)
            answers[number] = calls[number]()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return answers


def test_many_payouts_of_a_part_of_the_balance_are_as_many_as_it_is_enough_for(world: Cast) -> None:
    part = str(10**18 // PAID)
    answers = together([lambda: make.ask_payout(world.bakery.test, part) for _ in range(CALLERS)])
    assert Counter(answer.status_code for answer in answers) == {201: PAID, 422: CALLERS - PAID}
    assert {answer.json()["error"] for answer in answers if answer.status_code == 422} == {
        "Insufficient available balance"
    }
    held = balances(world.bakery.store.pk, "test")["SETH"]
    assert (held.available_atomic, held.reserved_atomic) == (0, 10**18)


WORKERS = usually(short=3, whole=6)


def own(world: Cast) -> Any:
    """Other modules leave payouts behind."""
    return Payout.objects.filter(store=world.bakery.store)


def test_a_daily_cap_holds_against_many_at_once(world: Cast) -> None:
    set_store_cap(world.bakery.store, "SETH", daily_atomic=3 * 10**16)
    answers = together(
        [lambda: make.ask_payout(world.bakery.test, str(10**16)) for _ in range(CALLERS)]
    )
    assert Counter(answer.status_code for answer in answers) == {201: 3, 422: CALLERS - 3}


def test_one_key_makes_one_payout_however_often_it_is_sent_at_once(world: Cast) -> None:
    answers = together(
        [lambda: make.ask_payout(world.bakery.test, str(10**17), key="one") for _ in range(CALLERS)]
    )
    assert {answer.status_code for answer in answers} == {201} and len(
        {answer.json()["id"] for answer in answers}
    ) == 1
    assert own(world).count() == 1


def test_retries_at_once_are_one(world: Cast) -> None:
    made = make.payout(world.bakery.test, 10**17)
    moves.fail(Payout.objects.get(pk=made["id"]), "unknown", "Declined", clock.real_now())
    answers = together(
        [lambda: world.bakery.test.post(f"/payouts/{made['id']}/retry") for _ in range(CALLERS)]
    )
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: CALLERS - 1}
    assert own(world).get().retries == 1


def test_two_runs_at_once_pay_once(world: Cast) -> None:
    body = {"asset_id": "SETH", "frequency": "daily", "destination_address": make.fresh_address()}
    made = world.bakery.test.post("/payout_schedules", {"payout_schedule": body}).json()
    answers = together(
        [
            lambda: world.bakery.test.post(f"/payout_schedules/{made['id']}/run").json()
            for _ in range(WORKERS)
        ]
    )
    assert Counter(answer["triggered"] for answer in answers) == {True: 1, False: WORKERS - 1}
    assert {answer["skip_reason"] for answer in answers if not answer["triggered"]} == {
        "no_balance"
    } and own(world).count() == 1


def test_several_workers_bring_a_payout_to_its_end_once(world: Cast) -> None:
    for _ in range(3):
        make.payout(world.bakery.test, 10**16)
    together([advance_payouts] * WORKERS)
    make.advance(world.bakery.test, 61)
    together([advance_payouts] * WORKERS)
    assert set(own(world).values_list("status", "is_simulated")) == {("confirmed", True)}
    assert balances(world.bakery.store.pk, "test")["SETH"].available_atomic == 10**18 - 3 * 10**16


def test_two_approvers_at_once_let_it_go_once(world: Cast) -> None:
    two = two_people(world)
    olga = person("olga")
    join(world.bakery.store, olga, Role.ADMIN)
    held = held_of(make.payout(two.key, MUCH)["id"])
    people = [two.as_alice(), signed_in(olga, world.bakery.store, role=Role.ADMIN)]
    people *= CALLERS // 2

    def decide(access: Access, number: int) -> str:
        try:
            if number % 3 == 2:
                reject(access, held, "No")
                return "rejected"
            approve(access, held, digest_of(held))
        except NotWaiting:
            return "late"
        return "approved"

    answers = Counter(
        together(
            [
                lambda number=number, person=person: decide(person, number)
                for number, person in enumerate(people)
            ]
        )
    )
    assert answers["late"] == CALLERS - 1 and answers["approved"] + answers["rejected"] == 1
    payout = own(world).select_related("approval").get()
    assert (payout.status, payout.approval.status) in {
        ("pending", "approved"),
        ("failed", "rejected"),
    }
    assert [transition.to_status for transition in payout.transitions.all()] == [
        "pending",
        "requires_review",
        payout.status,
    ]


def test_small_payouts_at_once_do_not_add_up_to_more_than_one_person_moves_alone(
    world: Cast,
) -> None:
    two = two_people(world)
    answers = together([lambda: make.ask_payout(two.key, str(LITTLE)) for _ in range(CALLERS)])
    assert Counter(answer.json()["status"] for answer in answers) == {
        "pending": 1,
        "requires_review": CALLERS - 1,
    }


def test_a_schedule_and_payouts_of_the_same_person_do_not_lock_each_other_out(world: Cast) -> None:
    two = two_people(world)
    asked = ScheduleRequest(
        asset_id="SETH", frequency="daily", destination_address=make.fresh_address()
    )
    schedule = create_schedule(two.key_access(), asked)
    calls: list[Callable[[], Any]] = [
        lambda: make.ask_payout(two.key, str(LITTLE)).status_code for _ in range(CALLERS - 1)
    ]
    calls.insert(3, lambda: run_by_hand(two.key_access(), schedule) and 200)
    assert set(together(calls)) <= {200, 201, 422}
    assert not Payout.objects.filter(schedule=schedule, status="pending").exists()

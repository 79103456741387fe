"""Corrections that staff decide in the web wait for a worker, who tells all and can be stopped.

Rows that the web alone has written move nothing before that, and little after.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.assets.models import Asset
from apps.audit.grants import WEB, WORKER
from apps.core import clock
from apps.core.db import tenancy
from apps.core.models import OutgoingMail
from apps.ledger.chart import AVAILABLE
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.payments.services import corrections
from apps.payments.services.corrections import CORRECTION, Correction, request_correction
from apps.stores.models import StaffRequest, Store, User, WorkerOrder
from apps.stores.staff import four_eyes, worker_orders
from tests import auditing, make
from tests.cast import Cast
from tests.dashboard.browse import next_code, text
from tests.roles import acting_as
from tests.staff.pages import person_of
from tests.staff.test_roles import signed_in


@pytest.fixture
def people(cast: Cast) -> list[User]:
    return [make.clerk(), make.clerk()]


def decided(store: Store, people: list[User], amount_atomic: int = 7, asset: str = "ETH") -> Any:
    """A correction that two have decided on the staff site; the request."""
    wish = Correction(
        f"found-{amount_atomic}", Asset.objects.get(pk=asset), AVAILABLE, store, amount_atomic
    )
    with acting_as(WEB), tenancy.everyone("staff"), transaction.atomic():
        row = request_correction(wish, "found by hand", people[0], clock.real_now())
        four_eyes.approve(
            CORRECTION, row.pk, people[1], clock.real_now(), digest=row.digest, reason="seen"
        )
    return row


def work() -> None:
    with acting_as(WORKER):
        corrections.book_corrections()


def balance(store: Store, asset: str = "ETH", mode: str = "live") -> int:
    return account_balance(store.pk, mode, asset, AVAILABLE)


def over(order: WorkerOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is over."""
    order.refresh_from_db()
    later = order.due_at + timedelta(seconds=1) if order.due_at else clock.real_now()
    monkeypatch.setattr(clock, "real_now", lambda: later)


def test_a_live_correction_is_booked_after_its_wait(
    cast: Cast, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = cast.bakery.store
    decided(store, people)
    order = WorkerOrder.objects.get()
    assert balance(store) == 0 and order.status == "waiting"
    OutgoingMail.objects.all().delete()
    work()
    assert balance(store) == 0
    written = set(OutgoingMail.objects.values_list("to", flat=True))
    assert {person.email for person in people} | {cast.alice.email} <= written
    order.refresh_from_db()
    assert order.due_at is not None and order.due_at - order.noticed_at == timedelta(minutes=60)
    work()
    assert balance(store) == 0
    over(order, monkeypatch)
    work()
    work()
    order.refresh_from_db()
    assert (balance(store), order.status, order.outcome) == (7, "done", "Booked")
    monkeypatch.undo()
    assert auditing.found_of("corrections_by_two") == []


def test_a_correction_of_test_mode_does_not_wait(cast: Cast, people: list[User]) -> None:
    decided(cast.bakery.store, people, asset="SETH")
    work()
    assert balance(cast.bakery.store, "SETH", "test") == 7


def test_one_member_of_staff_stops_it_on_its_page(
    cast: Cast, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = cast.bakery.store
    decided(store, people)
    work()
    order = WorkerOrder.objects.get()
    browser = signed_in(make.clerk("finance"))
    page = f"/admin/stores/workerorder/{order.pk}/decide/"
    shown = text(browser.get(page))
    assert "What a worker will carry out" in shown and ">Approve<" not in shown
    assert browser.post(page, decision="approve", reason="x").status_code == 422
    assert browser.post(page, decision="reject", reason="Not ours").status_code == 302
    over(order, monkeypatch)
    work()
    order.refresh_from_db()
    assert (balance(store), order.status) == (0, "stopped")


def test_support_stops_nothing(cast: Cast, people: list[User]) -> None:
    decided(cast.bakery.store, people)
    order = WorkerOrder.objects.get()
    page = f"/admin/stores/workerorder/{order.pk}/decide/"
    assert signed_in(make.clerk("support")).post(
        page, decision="reject", reason="x"
    ).status_code in (
        403,
        404,
    )


def test_an_approval_on_the_page_asks_a_worker(cast: Cast, people: list[User]) -> None:
    wish = Correction("page", Asset.objects.get(pk="ETH"), AVAILABLE, cast.bakery.store, 7)
    row = request_correction(wish, "found by hand", people[0], clock.real_now())
    second = signed_in(make.clerk("finance"))
    code = next_code(person_of(second))
    said = {"decision": "approve", "digest": row.digest, "reason": "seen", "code": code}
    assert second.post(f"/admin/stores/staffrequest/{row.pk}/decide/", **said).status_code == 302
    assert WorkerOrder.objects.get().target_id == str(row.pk)
    assert not Movement.objects.filter(key="correction:page").exists()


# --- rows that nobody has decided -----------------------------------------------------------------


def attack(statement: str, values: Any = None) -> None:
    with (
        acting_as(WEB),
        tenancy.everyone("an attack"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)


ORDER = """
INSERT INTO stores_workerorder (id, kind, target_id, store_id, mode, name, reason, asked_at,
    noticed_at, due_at)
VALUES (gen_random_uuid(), 'correction', %s, %s, %s, 'x', 'x', now(), %s, %s)
"""


def test_no_wait_is_shortened_by_who_writes_the_order(cast: Cast, people: list[User]) -> None:
    """Not by moments of its own, nor by the mode that doesn't wait."""
    store = cast.bakery.store
    row = decided(store, people)
    WorkerOrder.objects.update(stopped_at=clock.real_now())
    past = clock.real_now() - timedelta(days=1)
    with pytest.raises(IntegrityError, match="begins with nothing done"):
        attack(ORDER, [str(row.pk), store.pk, "live", past, past])
    attack(ORDER, [str(row.pk), store.pk, "test", None, None])
    work()
    work()
    order = WorkerOrder.objects.get(mode="test")
    assert (order.status, order.is_done, balance(store)) == ("refused", False, 0)
    for column in ("due_at", "noticed_at", "is_done", "ended_at", "target_id", "mode"):
        with pytest.raises(DatabaseError, match="permission denied"):
            attack(f"UPDATE stores_workerorder SET {column} = {column}")
    with pytest.raises(IntegrityError, match="waits, and ends once"):
        attack("UPDATE stores_workerorder SET stopped_at = NULL")


def test_an_order_without_two_who_may_books_nothing(
    cast: Cast, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = cast.bakery.store
    decided(store, people)
    work()
    order = WorkerOrder.objects.get()
    User.objects.filter(pk=people[1].pk).update(staff_roles=["support"])
    over(order, monkeypatch)
    work()
    order.refresh_from_db()
    assert (order.status, balance(store)) == ("refused", 0)
    attack(ORDER, ["nothing", store.pk, "live", None, None])
    work()
    assert WorkerOrder.objects.get(target_id="nothing").status == "refused"


def test_a_day_of_corrections_has_a_limit(cast: Cast, people: list[User], settings: Any) -> None:
    """All stores together; beyond it an operator's command books it."""
    settings.CORRECTIONS_DAY_CENTS = 100_000_00
    settings.WORKER_ORDER_MINUTES = 0
    ether = 10**18
    decided(cast.bakery.store, people, ether)
    decided(cast.strangers.store, people, 400 * ether)
    work()
    assert balance(cast.bakery.store) == ether
    order = WorkerOrder.objects.get(store=cast.strangers.store)
    assert order.status == "refused" and "treasury correct" in order.outcome
    assert balance(cast.strangers.store) == 0
    assert StaffRequest.objects.filter(state="approved").count() == 2
    with pytest.raises(worker_orders.NotStopped):
        worker_orders.stop(corrections.ORDER, order, people[0])

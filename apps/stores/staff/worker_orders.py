"""Orders of a process that serves people to a worker, because nothing that the web can't write
proves them: corrections, coins that an off-ramp has to give back, new networks and assets.

The worker notes the order, tells everybody who may stop it, and waits (`WORKER_ORDER_MINUTES`) in
live mode before it looks again and posts. The moments are the worker's alone to write, so nobody
who writes rows as the web shortens the wait.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from apps.core import clock, jobs
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.ids import new_id
from apps.core.rows import Job
from apps.core.text.wording import Worded
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import Store, User, WorkerOrder
from apps.stores.staff import emails as staff_emails
from apps.stores.staff.emails import StaffEmail
from apps.stores.staff_roles import StaffOperation

TEXT_MAX = 200
LIVE = "live"


class AlreadyOrdered(Failure):
    message = "A worker has been asked for this already"


class NotStopped(Failure):
    message = "It was carried out, or stopped, before"


@dataclass(frozen=True)
class OrderKind:
    """Kinds of orders. `task` is run for new ones; anyone who may do `operation` may stop it.

    `describe` says what would be posted, from the records that the order names, and refuses an
    order that names others: nothing in it is believed. `check` may ask somebody outside, before the
    transaction; `carry_out` posts. Each may raise a Failure, which ends the order.
    """

    name: str
    title: str
    task: str
    job: Job
    operation: StaffOperation
    describe: Callable[[WorkerOrder], str]
    carry_out: Callable[[WorkerOrder, datetime], str]
    check: Callable[[WorkerOrder], None] = lambda order: None
    happens: str = "booked"  # in "It is booked after …"


def place(
    kind: OrderKind,
    *,
    target_id: str,
    store: Store | None,
    mode: str,
    name: str,
    reason: str,
    staff: User | None,
) -> WorkerOrder:
    """Ask for it; nothing is posted yet. Raises AlreadyOrdered."""
    order = WorkerOrder(
        id=new_id(),
        kind=kind.name,
        target_id=target_id,
        store=store,
        mode=mode,
        name=name[:TEXT_MAX],
        reason=reason[:500],
        asked_by=staff,
        asked_at=clock.real_now(),
    )
    with refused_by("worker_order_one_waits", AlreadyOrdered):
        order.save(force_insert=True)
    jobs.enqueue(kind.task)
    return order


def stop(kind: OrderKind, order: WorkerOrder, staff: User) -> None:
    """One member of staff is enough. Raises StaffForbidden or NotStopped."""
    staff_roles.check(staff, kind.operation)
    stopped = WorkerOrder.objects.filter(pk=order.pk, ended_at=None, stopped_at=None)
    with transaction.atomic():
        if not stopped.update(stopped_at=clock.real_now(), stopped_by=staff):
            raise NotStopped
        _note("stopped", order)


def work(kind: OrderKind) -> int:
    """Note new orders, and carry out those whose wait is over; how many were looked at."""
    rows = WorkerOrder.objects.filter(kind=kind.name, ended_at=None, stopped_at=None)
    return kind.job.walk(
        rows.order_by("asked_at").values_list("pk", flat=True), lambda pk: work_one(kind, pk)
    )


def work_one(kind: OrderKind, order_id: uuid.UUID) -> WorkerOrder:
    """Note it, or carry it out once its wait is over."""
    real = clock.real_now()
    try:
        order = _noted(kind, order_id, real)
        if order.due_at is None or order.due_at > real:
            return order
        kind.check(order)
        with transaction.atomic():
            return _carried_out(kind, order_id, real)
    except Failure as refusal:
        return _refused(order_id, refusal)


def _locked(order_id: uuid.UUID) -> WorkerOrder:
    rows = WorkerOrder.objects.select_for_update(of=("self",))
    order: WorkerOrder = rows.select_related("store", "asked_by").get(pk=order_id)
    return order


def _is_open(order: WorkerOrder) -> bool:
    return order.ended_at is None and order.stopped_at is None


@transaction.atomic
def _noted(kind: OrderKind, order_id: uuid.UUID, real: datetime) -> WorkerOrder:
    order = _locked(order_id)
    if order.noticed_at is None and _is_open(order):
        about = kind.describe(order)
        waits = settings.WORKER_ORDER_MINUTES if order.mode == LIVE else 0
        order.noticed_at = real
        order.due_at = real + timedelta(minutes=waits)
        order.save(update_fields=["noticed_at", "due_at"])
        if waits:
            _tell(kind, order, about)
    return order


def _carried_out(kind: OrderKind, order_id: uuid.UUID, real: datetime) -> WorkerOrder:
    order = _locked(order_id)
    if _is_open(order):
        kind.describe(order)
        order.outcome = kind.carry_out(order, real)[:TEXT_MAX]
        order.is_done = True
        order.ended_at = real
        order.save(update_fields=["outcome", "is_done", "ended_at"])
        _note("carried_out", order)
    return order


@transaction.atomic
def _refused(order_id: uuid.UUID, refusal: Failure) -> WorkerOrder:
    """Nothing is posted, ever."""
    order = _locked(order_id)
    if _is_open(order):
        order.outcome = refusal.text[:TEXT_MAX]
        order.ended_at = clock.real_now()
        order.save(update_fields=["outcome", "ended_at"])
        _note("refused", order)
    return order


def _tell(kind: OrderKind, order: WorkerOrder, about: str) -> None:
    """Everybody who can stop it, the person who asked too, and the owners of the store."""
    moment = clock.iso(order.due_at)
    text = f"It is {kind.happens} after {moment}, unless a member of staff stops it before."
    email = StaffEmail(
        f"worker_order:{order.pk}",
        f"{kind.title} waits",
        text,
        about,
        order.reason,
        f"/admin/stores/workerorder/{order.pk}/decide/",
    )
    for person in User.objects.filter(is_staff=True, is_active=True):
        if staff_roles.may(person, kind.operation):
            staff_emails.tell(person, email)
    if order.store is not None:
        decision = account_emails.StaffDecision(
            Worded("{order} of {store} waits", order=Worded(kind.title), store=order.store.name),
            Worded(
                "{about}. It is booked after {moment}, unless a member of staff stops it before."
                " Write to support if you don’t know of it.",
                about=about,
                moment=moment,
            ),
            "/dashboard/balances",
            gettext_noop("Open the balances"),
            order.reason,
        )
        account_emails.tell_owners(order.store, f"worker_order:{order.pk}", decision)


def _note(outcome: str, order: WorkerOrder) -> None:
    audit.record(
        f"worker_order.{outcome}",
        store=order.store_id,
        mode=order.mode,
        target=order,
        name=order.name,
        reason=order.reason,
        details={"kind": order.kind, "outcome": order.outcome},
    )

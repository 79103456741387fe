"""E-invoices that go to their buyers through a network: each once, whatever happens on the way.

The document is written and kept before anybody is asked. A row says that the network was asked
before it is, and whatever isn't clear is looked up there first; what the network doesn't know is
sent again, the same bytes under the same ID.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from apps.access.access import Access
from apps.billing.e_invoices.bills import Identifier
from apps.billing.e_invoices.formats import PEPPOL
from apps.billing.invoices import e_invoice
from apps.billing.models import CreditNote, EInvoiceDelivery, Invoice
from apps.billing.providers.base import EInvoiceNetwork, Parcel, ParcelAnswer, ParcelState
from apps.billing.services import audit_lines
from apps.billing.states import DELIVERY_MACHINE
from apps.core import jobs
from apps.core.clock import real_now
from apps.core.errors import Failure, ProviderError
from apps.core.idempotency import make_once
from apps.core.machine import Step
from apps.core.models import Mode
from apps.core.rows import Job

log = structlog.get_logger(__name__)
JOB = Job("billing.deliver_e_invoices", limit=200, in_transaction=False)
_Status = EInvoiceDelivery.Status
_UNDER_WAY = (_Status.QUEUED, _Status.SENDING)
# Longer than any attempt: what a worker that died has begun is looked up after it.
_LEASE = timedelta(minutes=5)
_WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60))
# Of what the network has and still tries; after that long it is shown, and a person asks again.
_FOLLOWED = timedelta(days=14)
_SHOWN_MAX = 100
_ERROR_MAX = 500


class NoNetwork(Failure):
    field = "network"
    message = gettext_noop("Nothing is sent through this network here")


class NotDeliverable(Failure):
    """Says what the document lacks."""

    field = "network"


def networks(mode: str) -> list[str]:
    """The networks that documents of a mode go through."""
    return [
        network.value
        for network in EInvoiceDelivery.Network
        if settings.PROVIDERS["e_invoices"][Mode(mode).value]
    ]


def deliveries_of(invoice: Invoice) -> list[EInvoiceDelivery]:
    """Of an invoice and its credit notes, newest first."""
    rows = EInvoiceDelivery.objects.filter(invoice=invoice).defer("content")
    return list(rows.select_related("credit_note").order_by("-created_at", "-id")[:_SHOWN_MAX])


def is_sendable(invoice: Invoice, network: str, note: CreditNote | None) -> bool:
    """It isn't on its way and hasn't arrived; one that was followed for long may be asked for."""
    row = _current(invoice, network, note)
    return row is None or (row.status in _UNDER_WAY and row.next_attempt_at is None)


def deliver(
    access: Access, invoice: Invoice, network: str, note: CreditNote | None = None
) -> EInvoiceDelivery:
    """Send an invoice, or a credit note of it, to its buyer. One that is on its way or has arrived
    isn't sent again; after days without an answer it is asked for again. Raises NoNetwork or
    NotDeliverable."""
    if network not in networks(access.mode):
        raise NoNetwork
    row, is_new = make_once(
        lambda: _current(invoice, network, note), lambda: _queue(access, invoice, network, note)
    )
    if is_new:
        noun = "invoice" if note is None else "credit_note"
        audit_lines.note(f"{noun}.sent", note or invoice, {"network": network})
    elif row.status in _UNDER_WAY and row.next_attempt_at is None:
        EInvoiceDelivery.objects.filter(pk=row.pk, status=row.status).update(
            next_attempt_at=real_now()
        )
    jobs.enqueue(JOB.name, row.pk)
    return row


def _current(invoice: Invoice, network: str, note: CreditNote | None) -> EInvoiceDelivery | None:
    rows = EInvoiceDelivery.objects.filter(invoice=invoice, network=network, credit_note=note)
    return rows.exclude(status=_Status.REFUSED).first()


def _queue(
    access: Access, invoice: Invoice, network: str, note: CreditNote | None
) -> EInvoiceDelivery:
    try:
        if note is None:
            bill, content = e_invoice.required_bill(invoice, PEPPOL.key)
        else:
            bill, content = e_invoice.required_credit_note_bill(note, PEPPOL.key)
    except e_invoice.LacksSomething as lacking:
        raise NotDeliverable(str(lacking)) from None
    at = real_now()
    return EInvoiceDelivery.objects.create(
        store=invoice.store,
        mode=invoice.mode,
        created_at=at,
        updated_at=at,
        invoice=invoice,
        credit_note=note,
        network=network,
        sender=_named(bill.seller.endpoint),
        receiver=_named(bill.buyer.endpoint),
        country=bill.seller.address.country,
        content=content.decode(),
        next_attempt_at=at,
    )


def _named(endpoint: Identifier | None) -> str:
    if endpoint is None:
        raise RuntimeError("a bill that lacks nothing for Peppol has both addresses")
    return f"{endpoint.scheme}:{endpoint.value}"


def deliver_due(ids: Sequence[str] = ()) -> int:
    """Send, or ask after, every document that is due; how many were tried."""
    due = EInvoiceDelivery.objects.filter(next_attempt_at__lte=real_now())
    if ids:
        due = due.filter(pk__in=ids)
    return JOB.walk(due.order_by("next_attempt_at").values_list("pk", flat=True), _advance)


def _advance(delivery_id: uuid.UUID) -> None:
    row, was_asked = _claim(delivery_id)
    if row is None:
        return
    network = _network(row.mode)
    parcel = _parcel(row)
    try:
        answer = network.look(parcel) if was_asked else ParcelAnswer(ParcelState.UNKNOWN)
        if answer.state is ParcelState.UNKNOWN:
            answer = network.send(parcel)
    except ProviderError as error:
        log.warning("e_invoice_not_delivered", delivery=str(row.pk), error=str(error))
        answer = ParcelAnswer(ParcelState.ON_ITS_WAY, str(error))
    _note(row, answer)


@transaction.atomic
def _claim(delivery_id: uuid.UUID) -> tuple[EInvoiceDelivery | None, bool]:
    """The row, which from now on says that the network was asked; None when another worker has
    it."""
    rows: QuerySet[EInvoiceDelivery] = EInvoiceDelivery.objects.select_for_update(skip_locked=True)
    at = real_now()
    row = rows.filter(pk=delivery_id, next_attempt_at__lte=at).first()
    if row is None:
        return None, False
    was_asked = row.status == _Status.SENDING
    columns = {"attempts": row.attempts + 1, "next_attempt_at": at + _LEASE, "updated_at": at}
    DELIVERY_MACHINE.change_locked(row, Step(_Status.SENDING), at=at, **columns)
    return row, was_asked


def _note(row: EInvoiceDelivery, answer: ParcelAnswer) -> None:
    at = real_now()
    error = answer.message[:_ERROR_MAX]
    if answer.state is ParcelState.DELIVERED:
        _end(row, _Status.DELIVERED, at, "")
    elif answer.state is ParcelState.REFUSED:
        _end(row, _Status.REFUSED, at, error)
    else:
        mine = EInvoiceDelivery.objects.filter(pk=row.pk, attempts=row.attempts)
        following = None if at - row.created_at > _FOLLOWED else at + _wait(row.attempts)
        mine.filter(status=_Status.SENDING).update(
            error=error, next_attempt_at=following, updated_at=at
        )


def _end(row: EInvoiceDelivery, status: str, at: datetime, error: str) -> None:
    DELIVERY_MACHINE.change_status(
        row,
        Step(status),
        at=at,
        error=error,
        next_attempt_at=None,
        ended_at=at,
        updated_at=at,
    )


def _wait(attempts: int) -> timedelta:
    return _WAITS[min(attempts, len(_WAITS)) - 1]


def _parcel(row: EInvoiceDelivery) -> Parcel:
    return Parcel(
        id=str(row.pk),
        is_credit_note=row.credit_note_id is not None,
        sender=row.sender,
        receiver=row.receiver,
        country=row.country,
        content=row.content.encode(),
    )


def _network(mode: str) -> EInvoiceNetwork:
    entry = settings.PROVIDERS["e_invoices"][Mode(mode).value][0]
    return cast(EInvoiceNetwork, import_string(entry["BACKEND"])(**entry["OPTIONS"]))

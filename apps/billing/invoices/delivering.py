"""E-invoices that go to their buyers through a network: each once, whatever happens on the way.

The document is written and kept before anybody is asked. A row says that the network was asked
before it is, and whatever isn't clear is looked up there first; what the network doesn't know is
sent again, the same bytes under the same ID.
"""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from apps.access.access import Access
from apps.billing.e_invoices.bills import Bill, Identifier
from apps.billing.e_invoices.fa3 import nip_of, wants_zloty_rate
from apps.billing.e_invoices.formats import FA3, PEPPOL, EInvoiceFormat
from apps.billing.invoices import e_invoice
from apps.billing.invoices.seller_buyer import seller_of
from apps.billing.models import CreditNote, EInvoiceDelivery, Invoice
from apps.billing.providers.base import (
    EInvoiceNetwork,
    Parcel,
    ParcelAnswer,
    ParcelState,
    ZlotyRates,
)
from apps.billing.services import audit_lines
from apps.billing.states import DELIVERY_MACHINE
from apps.billing.taxes.choosing import settings_of
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
_Network = EInvoiceDelivery.Network
_FORMATS: dict[str, EInvoiceFormat] = {_Network.PEPPOL: PEPPOL, _Network.KSEF: FA3}
# Of settings.PROVIDERS.
_PROVIDERS: dict[str, str] = {_Network.PEPPOL: "e_invoices", _Network.KSEF: "ksef"}
_NO_RATE = gettext_noop("The National Bank of Poland gave no rate of PLN. Try again later.")
_NOT_THERE_YET = gettext_noop("The invoice is still on its way to KSeF. Send this one after it.")
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


def networks(invoice: Invoice) -> list[_Network]:
    """The networks that an invoice and its credit notes may go through: those that there are, and
    KSeF for sellers in Poland; in live mode these have its token."""
    return [
        network
        for network in _Network
        if settings.PROVIDERS[_PROVIDERS[network]][Mode(invoice.mode).value]
        and (network != _Network.KSEF or _is_in_ksef(invoice))
    ]


def _is_in_ksef(invoice: Invoice) -> bool:
    if not FA3.is_for(seller_of(invoice).country):
        return False
    return not invoice.is_live or bool(settings_of(invoice.store, invoice.mode).sealed_ksef_token)


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
    if network not in networks(invoice):
        raise NoNetwork
    known = _current(invoice, network, note)
    row, is_new = (known, False) if known else _begun(invoice, network, note)
    if is_new:
        noun = "invoice" if note is None else "credit_note"
        audit_lines.note(f"{noun}.sent", note or invoice, {"network": network})
    elif row.status in _UNDER_WAY and row.next_attempt_at is None:
        EInvoiceDelivery.objects.filter(pk=row.pk, status=row.status).update(
            next_attempt_at=real_now()
        )
    jobs.enqueue(JOB.name, row.pk)
    return row


def _begun(
    invoice: Invoice, network: str, note: CreditNote | None
) -> tuple[EInvoiceDelivery, bool]:
    """The row, and True if nobody else made it meanwhile."""
    document = _document(invoice, network, note)
    return make_once(
        lambda: _current(invoice, network, note),
        lambda: _queue(invoice, network, note, document),
    )


def _current(invoice: Invoice, network: str, note: CreditNote | None) -> EInvoiceDelivery | None:
    rows = EInvoiceDelivery.objects.filter(invoice=invoice, network=network, credit_note=note)
    return rows.exclude(status=_Status.REFUSED).first()


def _document(invoice: Invoice, network: str, note: CreditNote | None) -> tuple[Bill, bytes]:
    """The document to be sent. Raises NotDeliverable. Not inside a transaction: a bank may be
    asked."""
    key = _FORMATS[network].key

    def completed(bill: Bill) -> Bill:
        is_told = network == _Network.KSEF and wants_zloty_rate(bill)
        return replace(bill, zloty_rate=_zloty_rate(bill, invoice.mode)) if is_told else bill

    if note is not None and network == _Network.KSEF and _is_under_way(invoice, network):
        raise NotDeliverable(_NOT_THERE_YET)
    try:
        if note is None:
            return e_invoice.required_bill(invoice, key, completed)
        return e_invoice.required_credit_note_bill(note, key, completed)
    except e_invoice.LacksSomething as lacking:
        raise NotDeliverable(str(lacking)) from None
    except ProviderError as error:
        log.warning("e_invoice_not_delivered", invoice=str(invoice.pk), error=str(error))
        raise NotDeliverable(_NO_RATE) from None


def _zloty_rate(bill: Bill, mode: str) -> Decimal:
    """That of the last working day before the tax arose, or before the invoice where that is
    earlier; a credit note has its invoice's."""
    issued = bill.issued if bill.preceding is None else bill.preceding.issued
    entry = settings.PROVIDERS["zloty_rates"][Mode(mode).value][0]
    source = cast(ZlotyRates, import_string(entry["BACKEND"])(**entry["OPTIONS"]))
    return source.before(bill.currency, min(issued, bill.supplied_until))


def _queue(
    invoice: Invoice, network: str, note: CreditNote | None, document: tuple[Bill, bytes]
) -> EInvoiceDelivery:
    bill, content = document
    at = real_now()
    sender, receiver = _addresses(bill, network)
    return EInvoiceDelivery.objects.create(
        store=invoice.store,
        mode=invoice.mode,
        created_at=at,
        updated_at=at,
        invoice=invoice,
        credit_note=note,
        network=network,
        sender=sender,
        receiver=receiver,
        country=bill.seller.address.country,
        content=content.decode(),
        next_attempt_at=at,
    )


def _is_under_way(invoice: Invoice, network: str) -> bool:
    row = _current(invoice, network, None)
    return row is not None and row.status in _UNDER_WAY


def _addresses(bill: Bill, network: str) -> tuple[str, str]:
    """Seller and buyer, as a network knows them; KSeF does by their tax numbers, and may have none
    of the buyer."""
    if network == _Network.KSEF:
        return nip_of(bill.seller), bill.buyer.vat_number
    return _named(bill.seller.endpoint), _named(bill.buyer.endpoint)


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
    network = _network(row)
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
    told = {"trace": answer.trace or row.trace}
    if answer.state is ParcelState.DELIVERED:
        told |= {"number": answer.number, "receipt": answer.receipt}
        _end(row, _Status.DELIVERED, at, "", told)
    elif answer.state is ParcelState.REFUSED:
        _end(row, _Status.REFUSED, at, error, told)
    else:
        mine = EInvoiceDelivery.objects.filter(pk=row.pk, attempts=row.attempts)
        following = None if at - row.created_at > _FOLLOWED else at + _wait(row.attempts)
        mine.filter(status=_Status.SENDING).update(
            error=error, next_attempt_at=following, updated_at=at, **told
        )


def _end(
    row: EInvoiceDelivery, status: str, at: datetime, error: str, told: dict[str, str]
) -> None:
    DELIVERY_MACHINE.change_status(
        row,
        Step(status),
        at=at,
        error=error,
        next_attempt_at=None,
        ended_at=at,
        updated_at=at,
        **told,
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
        trace=row.trace,
        token=settings_of(row.store, row.mode).ksef_token if row.network == _Network.KSEF else "",
    )


def _network(row: EInvoiceDelivery) -> EInvoiceNetwork:
    entry = settings.PROVIDERS[_PROVIDERS[row.network]][Mode(row.mode).value][0]
    return cast(EInvoiceNetwork, import_string(entry["BACKEND"])(**entry["OPTIONS"]))

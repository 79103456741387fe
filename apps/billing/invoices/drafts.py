"""Drafts: made, changed and deleted until they are finalized. Totals are counted again with every
change."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.invoices.charged import (
    BilledLine,
    Charged,
    change_lines,
    charge,
    put_lines,
)
from apps.billing.invoices.locking import locked_invoice
from apps.billing.invoices.totals import check_discount, check_unit_amount
from apps.billing.models import Customer, Invoice
from apps.billing.requests import InvoiceChanges, InvoiceRequest, LineRequest
from apps.billing.services import audit_lines
from apps.billing.services.document_settings import check_custom_number
from apps.billing.services.references import named_customer, named_rate
from apps.billing.states import DRAFT
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.idempotency import once_per_form
from apps.core.messages.fields import Invalid


class OnlyDraftsEdited(Failure):
    message = "Only draft invoices can be edited"


class OnlyDraftsDeleted(Failure):
    message = "Only draft invoices can be deleted"


def create_invoice(
    access: Access, request: InvoiceRequest, *, form_key: str | None = None
) -> Invoice:
    """A draft. Raises Invalid, NamedCustomerNotFound or CustomerNotActive."""
    at = access.now()
    fields = asdict(request)
    customer = named_customer(access, fields.pop("customer_id"))
    fields.pop("line_items")
    fields["tax_rate"] = named_rate(access, fields.pop("tax_rate_id"))
    lines = _named_lines(access, request.line_items)

    @transaction.atomic
    def make() -> Invoice:
        identity = {
            "store": access.store,
            "mode": access.mode,
            "customer": customer,
            "form_key": form_key,
            "time_zone": access.store.time_zone,
        }
        invoice = Invoice(**identity, created_at=at, updated_at=at, **fields)
        charged = _charge(invoice, lines, at)
        _save(invoice, is_new=True)
        put_lines(invoice, lines, charged)
        audit_lines.note("invoice.drafted", invoice)
        return invoice

    return once_per_form(Invoice.objects.visible_to(access), form_key, make)


def check_draft(invoice: Invoice) -> None:
    """Raises OnlyDraftsEdited. A view asks before it reads what to change: the contract tells it
    first."""
    if invoice.status != DRAFT:
        raise OnlyDraftsEdited


def update_invoice(access: Access, invoice: Invoice, request: InvoiceChanges) -> Invoice:
    """Replaces the fields that were sent, lines as a whole. Raises OnlyDraftsEdited or Invalid."""
    at = access.now()
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        check_draft(row)
        fields = request.sent()
        requested: list[LineRequest] | None = fields.pop("line_items", None)
        _set(access, row, fields)
        kept = [] if requested is not None else list(row.lines.select_related("tax_rate"))
        lines = (
            [BilledLine.of(line) for line in kept]
            if requested is None
            else _named_lines(access, requested, row)
        )
        charged = _charge(row, lines, at)
        row.updated_at = at
        if requested is not None:
            row.lines.all().delete()
            row.taxes.all().delete()
        _save(row, is_new=False)
        if requested is not None:
            put_lines(row, lines, charged)
        else:
            change_lines(row, kept, charged)
        names = [*fields, *([] if requested is None else ["line_items"])]
        audit_lines.note("invoice.changed", row, {"fields": sorted(names)})
    return row


def _set(access: Access, row: Invoice, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        if name == "tax_rate_id":
            row.tax_rate = named_rate(access, value, is_in_use=row.tax_rate)
        else:
            setattr(row, name, value)
    # The later of two that don't go together replaces the other.
    if fields.get("tax_rate_id") and "tax_rate_bps" not in fields:
        row.tax_rate_bps = None
    if fields.get("tax_rate_bps") is not None and "tax_rate_id" not in fields:
        row.tax_rate = None


def _named_lines(
    access: Access, lines: Sequence[LineRequest], row: Invoice | None = None
) -> list[BilledLine]:
    """With the rates that they name; those that the draft's lines have may be inactive."""
    used = (
        {str(line.tax_rate_id): line.tax_rate for line in row.lines.select_related("tax_rate")}
        if row is not None and any(line.tax_rate_id for line in lines)
        else {}
    )
    return [
        BilledLine(
            line.description,
            line.quantity,
            line.unit_amount_cents,
            named_rate(
                access,
                line.tax_rate_id,
                name=f"line_items[{position}].tax_rate_id",
                is_in_use=used.get(str(line.tax_rate_id).lower()),
            ),
        )
        for position, line in enumerate(lines)
    ]


def delete_invoice(invoice: Invoice) -> None:
    """Row and lines are gone for good. Raises OnlyDraftsDeleted."""
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status != DRAFT:
            raise OnlyDraftsDeleted
        audit_lines.note("invoice.deleted", row, {"customer": row.customer.email})
        row.delete()


def preview(access: Access, request: InvoiceChanges, customer: Customer | None = None) -> Charged:
    """A draft with these changes, which name a currency, as it would be charged; nothing is saved.
    Raises Invalid."""
    fields = request.sent()
    lines = _named_lines(access, fields.pop("line_items", []))
    fields["tax_rate"] = named_rate(access, fields.pop("tax_rate_id", None))
    draft = Invoice(
        store=access.store,
        mode=access.mode,
        time_zone=access.store.time_zone,
        **({} if customer is None else {"customer": customer}),
        **fields,
    )
    return _charge(draft, lines, access.now())


def _charge(invoice: Invoice, lines: Sequence[BilledLine], at: datetime) -> Charged:
    """Raises Invalid."""
    check_discount(invoice.discount_type, invoice.discount_value)
    if invoice.tax_rate_bps is not None and invoice.tax_rate is not None:
        raise Invalid("tax_rate_id", "one_of", other="tax_rate_bps")
    _check_supply(invoice)
    for position, line in enumerate(lines):
        name = f"line_items[{position}].unit_amount_cents"
        check_unit_amount(line.unit_amount_cents, invoice.currency, name)
    return charge(invoice, lines, at)


def _check_supply(invoice: Invoice) -> None:
    """A first day alone is the last, too."""
    if invoice.supplied_from is None and invoice.supplied_until is not None:
        invoice.supplied_from = invoice.supplied_until
    if invoice.supplied_from is not None and invoice.supplied_until is None:
        invoice.supplied_until = invoice.supplied_from
    first, last = invoice.supplied_from, invoice.supplied_until
    if first is not None and last is not None and last < first:
        raise Invalid("supplied_until", "supply_order")


def _save(invoice: Invoice, *, is_new: bool) -> None:
    if invoice.custom_number:
        check_custom_number(invoice)
    with refused_by("invoice_custom_number_once", Invalid("custom_number", "taken")):
        invoice.save(force_insert=is_new)

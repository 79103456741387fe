"""Drafts: made, changed and deleted until they are finalized. Totals are counted again with every change."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from apps.access.access import Access
from apps.billing.models import Invoice, InvoiceLine
from apps.billing.services import acts
from apps.billing.services.fields import INVOICE, INVOICE_CHANGES, created, patched
from apps.billing.services.invoice_rows import locked_invoice
from apps.billing.services.named import named_customer
from apps.billing.services.totals import Totals, check_discount, check_unit_amount, totals_of
from apps.billing.states import DRAFT
from apps.core.constraints import refused_by
from apps.core.errors import Flat, Listed
from apps.core.idempotency import once_per_form

_COUNTED = ("currency", "discount_type", "discount_value", "tax_rate_bps")


class OnlyDraftsEdited(Flat):
    message = "Only draft invoices can be edited"


class OnlyDraftsDeleted(Flat):
    message = "Only draft invoices can be deleted"


def create_invoice(access: Access, body: dict[str, Any], form_key: str | None = None) -> Invoice:
    """A draft. Raises Listed, NamedCustomerNotFound or CustomerNotActive."""
    fields, at = created(INVOICE, body, "invoice"), access.now()
    customer, lines = named_customer(access, fields.pop("customer_id")), fields.pop("line_items")

    @transaction.atomic
    def make() -> Invoice:
        mine = {"store": access.store, "mode": access.mode, "customer": customer, "form_key": form_key}
        made = Invoice(**mine, created_at=at, updated_at=at, **fields)
        _count(made, lines)
        _save(made, is_new=True)
        put_lines(made, lines)
        acts.note("invoice.drafted", made)
        return made

    return once_per_form(Invoice.objects.seen_by(access), form_key, make)


def update_invoice(access: Access, invoice: Invoice, body: dict[str, Any]) -> Invoice:
    """What was sent replaces what was there, lines as a whole. Raises OnlyDraftsEdited or Listed."""
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status != DRAFT:
            raise OnlyDraftsEdited
        fields = patched(INVOICE_CHANGES, body, "invoice")
        lines = fields.pop("line_items", None)
        for name, value in fields.items():
            setattr(row, name, value)
        kept = [{"quantity": one.quantity, "unit_amount_cents": one.unit_amount_cents} for one in row.lines.all()]
        _count(row, kept if lines is None else lines)
        row.updated_at = access.now()
        if lines is not None:
            row.lines.all().delete()
        _save(row, is_new=False)
        if lines is not None:
            put_lines(row, lines)
        acts.note("invoice.changed", row, {"fields": sorted([*fields, *([] if lines is None else ["line_items"])])})
    return row


def delete_invoice(invoice: Invoice) -> None:
    """Row and lines are gone for good. Raises OnlyDraftsDeleted."""
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status != DRAFT:
            raise OnlyDraftsDeleted
        acts.note("invoice.deleted", row, {"customer": row.customer.email})
        row.delete()


def preview_totals(body: dict[str, Any]) -> Totals:
    """What a draft of this body would come to. Raises Listed."""
    fields = created(INVOICE_CHANGES, body, "invoice")
    return _totals({name: fields[name] for name in _COUNTED}, fields["line_items"])


def _count(invoice: Invoice, lines: Sequence[Mapping[str, Any]]) -> None:
    for name, value in _totals({name: getattr(invoice, name) for name in _COUNTED}, lines).columns().items():
        setattr(invoice, name, value)


def _totals(counted: dict[str, Any], lines: Sequence[Mapping[str, Any]]) -> Totals:
    check_discount(counted)
    for position, line in enumerate(lines):
        check_unit_amount(line["unit_amount_cents"], counted["currency"], f"line_items[{position}].unit_amount_cents")
    return totals_of([(one["quantity"], one["unit_amount_cents"]) for one in lines], **counted)


def _save(invoice: Invoice, *, is_new: bool) -> None:
    with refused_by("invoice_custom_number_once", Listed("custom_number has already been taken")):
        invoice.save(force_insert=is_new)


def put_lines(invoice: Invoice, lines: Sequence[Mapping[str, Any]]) -> list[InvoiceLine]:
    """The lines of an invoice that has none, in their order."""
    rows = [
        InvoiceLine(
            invoice=invoice,
            description=one["description"],
            quantity=one["quantity"],
            unit_amount_cents=one["unit_amount_cents"],
            amount_cents=one["quantity"] * one["unit_amount_cents"],
            position=position,
        )
        for position, one in enumerate(lines)
    ]
    return InvoiceLine.objects.bulk_create(rows)

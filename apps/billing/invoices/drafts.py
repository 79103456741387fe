"""Drafts: made, changed and deleted until they are finalized. Totals are counted again with every
change."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from msgspec.structs import asdict

from apps.access.access import Access
from apps.billing.invoices.locking import locked_invoice
from apps.billing.invoices.totals import Totals, check_discount, check_unit_amount, totals_of
from apps.billing.models import Invoice, InvoiceLine
from apps.billing.requests import InvoiceChanges, InvoiceRequest, LineRequest
from apps.billing.services import audit_lines
from apps.billing.services.references import named_customer
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
    lines = fields.pop("line_items")

    @transaction.atomic
    def make() -> Invoice:
        identity = {
            "store": access.store,
            "mode": access.mode,
            "customer": customer,
            "form_key": form_key,
        }
        invoice = Invoice(**identity, created_at=at, updated_at=at, **fields)
        _count(invoice, _amounts(lines))
        _save(invoice, is_new=True)
        put_lines(invoice, lines)
        audit_lines.note("invoice.drafted", invoice)
        return invoice

    return once_per_form(Invoice.objects.visible_to(access), form_key, make)


def check_draft(invoice: Invoice) -> None:
    """Raises OnlyDraftsEdited. A view asks before it reads what to change: the contract tells it
    first."""
    if invoice.status != DRAFT:
        raise OnlyDraftsEdited


def update_invoice(access: Access, invoice: Invoice, request: InvoiceChanges) -> Invoice:
    """What was sent replaces what was there, lines as a whole. Raises OnlyDraftsEdited or
    Invalid."""
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        check_draft(row)
        fields = request.sent()
        lines: list[LineRequest] | None = fields.pop("line_items", None)
        for name, value in fields.items():
            setattr(row, name, value)
        _count(row, _amounts(row.lines.all() if lines is None else lines))
        row.updated_at = access.now()
        if lines is not None:
            row.lines.all().delete()
        _save(row, is_new=False)
        if lines is not None:
            put_lines(row, lines)
        audit_lines.note(
            "invoice.changed",
            row,
            {"fields": sorted([*fields, *([] if lines is None else ["line_items"])])},
        )
    return row


def delete_invoice(invoice: Invoice) -> None:
    """Row and lines are gone for good. Raises OnlyDraftsDeleted."""
    with transaction.atomic():
        row = locked_invoice(invoice.pk)
        if row.status != DRAFT:
            raise OnlyDraftsDeleted
        audit_lines.note("invoice.deleted", row, {"customer": row.customer.email})
        row.delete()


def preview_totals(request: InvoiceChanges) -> Totals:
    """What an empty draft would come to with these changes, which name a currency. Raises
    Invalid."""
    fields = request.sent()
    lines: list[LineRequest] = fields.pop("line_items", [])
    draft = Invoice(**fields)
    return _totals(draft, _amounts(lines))


def _amounts(lines: Iterable[LineRequest | InvoiceLine]) -> list[tuple[int, int]]:
    """(quantity, unit amount in cents)"""
    return [(line.quantity, line.unit_amount_cents) for line in lines]


def _count(invoice: Invoice, amounts: list[tuple[int, int]]) -> None:
    for name, value in _totals(invoice, amounts).columns().items():
        setattr(invoice, name, value)


def _totals(invoice: Invoice, amounts: list[tuple[int, int]]) -> Totals:
    check_discount(invoice.discount_type, invoice.discount_value)
    for position, (_, cents) in enumerate(amounts):
        check_unit_amount(cents, invoice.currency, f"line_items[{position}].unit_amount_cents")
    return totals_of(
        amounts,
        invoice.currency,
        invoice.discount_type,
        invoice.discount_value,
        invoice.tax_rate_bps,
    )


def _save(invoice: Invoice, *, is_new: bool) -> None:
    with refused_by("invoice_custom_number_once", Invalid("custom_number", "taken")):
        invoice.save(force_insert=is_new)


def put_lines(invoice: Invoice, lines: Sequence[LineRequest]) -> list[InvoiceLine]:
    """The lines of an invoice that has none, in their order."""
    rows = [
        InvoiceLine(
            invoice=invoice,
            description=line.description,
            quantity=line.quantity,
            unit_amount_cents=line.unit_amount_cents,
            amount_cents=line.quantity * line.unit_amount_cents,
            position=position,
        )
        for position, line in enumerate(lines)
    ]
    return InvoiceLine.objects.bulk_create(rows)

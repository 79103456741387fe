"""The lines of an invoice with what they are charged by: counted, written, and compared before it
is finalized."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from apps.billing.models import (
    Invoice,
    InvoiceLine,
    InvoiceParts,
    InvoiceTax,
    Price,
    TaxCategory,
    TaxRate,
)
from apps.billing.taxes.choosing import Choice, LineSource, SaleParties, SellerRecords, choose
from apps.billing.taxes.counting import Figures, PricedLine, TaxGroup, count
from apps.core.text.days import zone_named


@dataclass(frozen=True)
class BilledLine:
    """`tax_rate` is named for this line; `price` is where it comes from in a cycle."""

    description: str
    quantity: int
    unit_amount_cents: int
    tax_rate: TaxRate | None = None
    price: Price | None = None

    @classmethod
    def of(cls, line: InvoiceLine) -> "BilledLine":
        return cls(line.description, line.quantity, line.unit_amount_cents, line.tax_rate)


@dataclass(frozen=True)
class Charged:
    figures: Figures
    choice: Choice

    @property
    def relies_on_number(self) -> bool:
        """Nothing is charged because the buyer has a VAT number."""
        return any(group.charge.category in ON_NUMBER for group in self.figures.groups)


# Categories that want the buyer's VAT number.
ON_NUMBER = (TaxCategory.REVERSE_CHARGE.value, TaxCategory.INTRA_COMMUNITY.value)


def tax_day(invoice: Invoice, at: datetime) -> date:
    """The day whose rates count: the last of the supply, or else the day in the store's zone."""
    return invoice.supplied_until or at.astimezone(zone_named(invoice.time_zone)).date()


def charge(
    invoice: Invoice,
    lines: Sequence[BilledLine],
    at: datetime,
    *,
    is_cycle: bool = False,
    seller: SellerRecords | None = None,
) -> Charged:
    """Count the lines of an invoice into its columns; `seller` when it is at hand. Raises
    Invalid."""
    parties = SaleParties(
        invoice.store,
        invoice.mode,
        invoice.customer if invoice.customer_id else None,
        tax_day(invoice, at),
        seller,
    )
    choice = choose(
        parties,
        [LineSource(line.tax_rate, line.price) for line in lines],
        invoice.tax_rate,
        invoice.tax_rate_bps,
        is_cycle=is_cycle,
    )
    priced = [
        PricedLine(line.quantity, line.unit_amount_cents, line_charge)
        for line, line_charge in zip(lines, choice.charges, strict=True)
    ]
    figures = count(priced, invoice.currency, invoice.discount_type, invoice.discount_value)
    for name, value in figures.totals.columns().items():
        setattr(invoice, name, value)
    invoice.tax_case = choice.case
    return Charged(figures, choice)


def put_lines(invoice: Invoice, lines: Sequence[BilledLine], charged: Charged) -> InvoiceParts:
    """The lines of an invoice that has none, in their order, and its taxes."""
    return put_lines_of_many([(invoice, lines, charged)])[invoice.pk]


def put_lines_of_many(
    parts: Sequence[tuple[Invoice, Sequence[BilledLine], Charged]],
) -> dict[UUID, InvoiceParts]:
    """Save lines and taxes of several invoices, in one statement each; they are by ID."""
    rows = {
        invoice.pk: InvoiceParts(
            _lines_of(invoice, lines, charged), taxes_of(invoice, charged.figures.groups)
        )
        for invoice, lines, charged in parts
    }
    InvoiceLine.objects.bulk_create(line for put in rows.values() for line in put.lines)
    InvoiceTax.objects.bulk_create(tax for put in rows.values() for tax in put.taxes)
    return rows


def _lines_of(invoice: Invoice, lines: Sequence[BilledLine], charged: Charged) -> list[InvoiceLine]:
    """Rows that aren't saved."""
    rows = [
        InvoiceLine(
            invoice=invoice,
            description=line.description,
            quantity=line.quantity,
            unit_amount_cents=line.unit_amount_cents,
            amount_cents=line.quantity * line.unit_amount_cents,
            tax_rate=line.tax_rate,
            position=position,
        )
        for position, line in enumerate(lines)
    ]
    _set_charges(rows, charged)
    return rows


def change_lines(invoice: Invoice, rows: Sequence[InvoiceLine], charged: Charged) -> None:
    """Lines that stay, charged anew."""
    _set_charges(rows, charged)
    InvoiceLine.objects.bulk_update(
        rows, ["tax_included_cents", "tax_category", "tax_rate_bps"], batch_size=100
    )
    invoice.taxes.all().delete()
    _put_taxes(invoice, charged)


def _set_charges(rows: Sequence[InvoiceLine], charged: Charged) -> None:
    each = zip(rows, charged.choice.charges, charged.figures.included_cents, strict=True)
    for row, line_charge, included_cents in each:
        row.tax_included_cents = included_cents
        row.tax_category = line_charge.category if line_charge is not None else None
        row.tax_rate_bps = line_charge.rate_bps if line_charge is not None else None


def _put_taxes(invoice: Invoice, charged: Charged) -> None:
    if charged.figures.groups:
        InvoiceTax.objects.bulk_create(taxes_of(invoice, charged.figures.groups))


def taxes_of(invoice: Invoice, groups: Sequence[TaxGroup]) -> list[InvoiceTax]:
    """Rows that aren't saved."""
    return [
        InvoiceTax(
            invoice=invoice,
            position=position,
            category=group.charge.category,
            rate_bps=group.charge.rate_bps,
            name=group.charge.name,
            inclusive=group.charge.is_inclusive,
            discount_cents=group.discount_cents,
            base_cents=group.base_cents,
            tax_cents=group.tax_cents,
            reason=group.charge.reason,
            reason_code=group.charge.reason_code,
        )
        for position, group in enumerate(groups)
    ]


def is_as_shown(invoice: Invoice, charged: Charged, total_cents: int) -> bool:
    """False when a draft would be charged otherwise than it was saved: its customer, a rate or the
    day changed since."""
    if charged.figures.totals.total_cents != total_cents:
        return False
    shown = {(tax.category, tax.rate_bps, tax.base_cents) for tax in invoice.taxes.all()}
    now = {
        (group.charge.category, group.charge.rate_bps, group.base_cents)
        for group in charged.figures.groups
    }
    # A draft from before taxes were written had one rate of its own at most.
    return shown == now or (not shown and invoice.tax_rate_bps is not None)

"""The invoices that payments were for, as lines of reports name them: with the tax of each category
and rate, to the cent as the invoice has it."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from apps.billing.models import InvoicePayment
from apps.billing.models.tax import percent_of
from apps.billing.numbers import formatted_number
from apps.core.money import text_from_cents

_BATCH = 500
Line = TypeVar("Line")


class InvoiceNote(NamedTuple):
    number: str = ""
    tax: str = ""


NO_INVOICE = InvoiceNote()


def notes_of(references: Iterable[str]) -> dict[str, InvoiceNote]:
    """By the reference of the payment; a few queries, however many there are."""
    links = InvoicePayment.objects.filter(payment__reference__in=set(references) - {""})
    rows = links.select_related("invoice", "payment").prefetch_related("invoice__taxes")
    return {
        link.payment.reference: InvoiceNote(
            formatted_number(link.invoice) or "",
            "; ".join(
                f"{tax.category} {percent_of(tax.rate_bps)}%: {text_from_cents(tax.tax_cents)}"
                f" of {text_from_cents(tax.base_cents)} {link.invoice.currency}"
                for tax in link.invoice.charged_taxes
            ),
        )
        for link in rows
    }


def batches(every: "Iterator[Line]") -> "Iterator[list[Line]]":
    """Lines in parts of a few hundred."""
    while part := list(islice(every, _BATCH)):
        yield part

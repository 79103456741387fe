"""/billing/invoices: drafts, and what becomes of them."""

from typing import Annotated

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingView
from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, choice
from apps.billing import selectors
from apps.billing.documents.invoices import (
    EInvoiceFormatDocument,
    InvoiceDocument,
    e_invoice_format,
    invoice_document,
)
from apps.billing.invoices import drafts as drafts
from apps.billing.invoices import e_invoice, files, lifecycle
from apps.billing.invoices.payment_intents import InvoiceNotFound
from apps.billing.models import Invoice
from apps.billing.requests import InvoiceChanges, InvoiceRequest
from apps.core.messages.documents import Id, ListPage, Pdf, XmlFile


class InvoiceFilters(PagedQuery, frozen=True, kw_only=True):
    status: Annotated[str, choice(Invoice.Status.values)] | None = None
    customer_id: Id | None = None
    subscription_id: Id | None = None


class InvoiceView(BillingView):
    wrapper = "invoice"
    missing = InvoiceNotFound()

    def invoice(self, id: str) -> Invoice:
        return self.find(selectors.invoices_visible_to(self.access), id)


class Invoices(InvoiceView):
    """Make a draft, or list invoices newest first, by `status`, `customer_id` and
    `subscription_id`."""

    query = InvoiceFilters
    bodies = {"POST": InvoiceRequest}
    answers = {"GET": ListPage[InvoiceDocument], "POST": InvoiceDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        filters = InvoiceFilters.read(request.query_params)
        rows = selectors.filtered_invoices(
            selectors.invoices_visible_to(self.access),
            status=filters.status,
            customer_id=filters.customer_id,
            subscription_id=filters.subscription_id,
        )
        return Response(lists.page(filters, rows, invoice_document))

    def post(self, request: Request) -> Response:
        invoice = drafts.create_invoice(self.access, self.read(request, InvoiceRequest))
        return Response(invoice_document(invoice), status=201)


class InvoiceById(InvoiceView):
    """One invoice; a draft can be changed and deleted."""

    bodies = {"PATCH": InvoiceChanges}
    answers = {"GET": InvoiceDocument, "PATCH": InvoiceDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(invoice_document(self.invoice(id)))

    def patch(self, request: Request, id: str) -> Response:
        invoice = self.invoice(id)
        drafts.check_draft(invoice)
        changes = self.read(request, InvoiceChanges)
        return Response(invoice_document(drafts.update_invoice(self.access, invoice, changes)))

    def delete(self, request: Request, id: str) -> Response:
        drafts.delete_invoice(self.invoice(id))
        return Response(status=204)


class InvoicePdf(InvoiceView):
    """The invoice as a PDF to keep, with its data inside where it can be an e-invoice (Factur-X).
    404 for a draft."""

    answers = {"GET": Pdf}

    def get(self, request: Request, id: str) -> HttpResponse:
        invoice = self.invoice(id)
        if invoice.number is None:
            raise self.missing
        with self.charged_for_drawing(request):
            content = files.invoice_pdf(invoice)
        return file_answer(content, Pdf.content_type, files.file_name("invoice", invoice))


class EInvoices(InvoiceView):
    """The formats of e-invoices, and what the invoice is missing for each."""

    answers = {"GET": list[EInvoiceFormatDocument]}

    def get(self, request: Request, id: str) -> Response:
        invoice = self.invoice(id)
        rows = e_invoice.formats_of(invoice, self.access.now())
        return Response([e_invoice_format(*row) for row in rows])


class EInvoiceXml(InvoiceView):
    """The invoice as XML in one of these formats. 422 when something is missing for it."""

    answers = {"GET": XmlFile}

    def get(self, request: Request, id: str, format: str) -> HttpResponse:
        invoice = self.invoice(id)
        content = e_invoice.required_xml(invoice, format)
        return file_answer(
            content, XmlFile.content_type, files.file_name("invoice", invoice, "xml")
        )


def file_answer(content: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    return HttpResponse(content, content_type=content_type, headers=headers)


class InvoiceAction(InvoiceView):
    bodies = {"POST": None}
    answers = {"POST": InvoiceDocument}


class Finalize(InvoiceAction):
    """Number a draft and open it to payment."""

    def post(self, request: Request, id: str) -> Response:
        return Response(invoice_document(lifecycle.finalize_invoice(self.access, self.invoice(id))))


class Send(InvoiceAction):
    """E-mail the link to the customer."""

    def post(self, request: Request, id: str) -> Response:
        return Response(invoice_document(lifecycle.send_invoice(self.access, self.invoice(id))))


class Void(InvoiceAction):
    """Take it back."""

    def post(self, request: Request, id: str) -> Response:
        return Response(invoice_document(lifecycle.void_invoice(self.access, self.invoice(id))))


class MarkUncollectible(InvoiceAction):
    """Write it off; anything but an open invoice stays as it is."""

    def post(self, request: Request, id: str) -> Response:
        return Response(
            invoice_document(lifecycle.mark_uncollectible(self.access, self.invoice(id)))
        )

"""/billing/credit_notes: what was taken back of invoices."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.customers import CustomerView
from apps.api.billing.invoices import InvoiceView, file_answer
from apps.api.billing.plumbing import BillingView, NounNotFound
from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery
from apps.billing.documents.credit_notes import (
    CreditNoteDocument,
    CustomerCreditDocument,
    credit_note_document,
)
from apps.billing.invoices import credit_notes, customer_credit, e_invoice, files
from apps.billing.models import CreditNote
from apps.billing.requests import CreditNoteRequest
from apps.core.messages.documents import Id, ListPage, Pdf, XmlFile
from apps.core.messages.fields import is_uuid


class CreditNoteNotFound(NounNotFound):
    message = "Credit note not found"


class CreditNoteFilters(PagedQuery, frozen=True, kw_only=True):
    invoice_id: Id | None = None
    customer_id: Id | None = None


class CreditNoteView(BillingView):
    missing = CreditNoteNotFound()

    def credit_note(self, id: str) -> CreditNote:
        return self.find(credit_notes.credit_notes_visible_to(self.access), id)


class InvoiceCreditNotes(InvoiceView):
    """Take back an amount of an invoice that is paid, void or uncollectible, or all that is
    left."""

    wrapper = "credit_note"
    bodies = {"POST": CreditNoteRequest}
    answers = {"POST": CreditNoteDocument}
    statuses = {"POST": 201}

    def post(self, request: Request, id: str) -> Response:
        invoice = self.invoice(id)
        asked = self.read(request, CreditNoteRequest)
        note = credit_notes.create_credit_note(self.access, invoice, asked)
        return Response(credit_note_document(note), status=201)


class CreditNotes(CreditNoteView):
    """List credit notes, newest first, by `invoice_id` and `customer_id`."""

    query = CreditNoteFilters
    answers = {"GET": ListPage[CreditNoteDocument]}

    def get(self, request: Request) -> Response:
        filters = CreditNoteFilters.read(request.query_params)
        rows = credit_notes.credit_notes_visible_to(self.access)
        for column, id in (
            ("invoice_id", filters.invoice_id),
            ("invoice__customer_id", filters.customer_id),
        ):
            if id:
                rows = rows.filter(**{column: id}) if is_uuid(id) else rows.none()
        return Response(lists.page(filters, rows, credit_note_document))


class CreditNoteById(CreditNoteView):
    """One credit note; it is final."""

    answers = {"GET": CreditNoteDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(credit_note_document(self.credit_note(id)))


class CreditNotePdf(CreditNoteView):
    """The credit note as a PDF to keep, with its data inside where it can be an e-invoice
    (Factur-X)."""

    answers = {"GET": Pdf}

    def get(self, request: Request, id: str) -> HttpResponse:
        note = self.credit_note(id)
        with self.charged_for_drawing(request):
            content = files.credit_note_pdf(note)
        return file_answer(content, Pdf.content_type, files.credit_note_file_name(note, "pdf"))


class SendCreditNote(CreditNoteView):
    """E-mail the document to the customer."""

    bodies = {"POST": None}
    answers = {"POST": CreditNoteDocument}

    def post(self, request: Request, id: str) -> Response:
        note = credit_notes.send_credit_note(self.access, self.credit_note(id))
        return Response(credit_note_document(note))


class CustomerCredit(CustomerView):
    """Amounts that a customer paid beyond what was owed, by currency: the next invoice uses
    them."""

    answers = {"GET": list[CustomerCreditDocument]}

    def get(self, request: Request, id: str) -> Response:
        return Response(customer_credit.credit_of(self.customer(id)))


class CreditNoteXml(CreditNoteView):
    """The credit note as XML in one of the formats of e-invoices. 422 when something is missing
    for it."""

    answers = {"GET": XmlFile}

    def get(self, request: Request, id: str, format: str) -> HttpResponse:
        note = self.credit_note(id)
        content = e_invoice.required_credit_note_xml(note, format)
        return file_answer(content, XmlFile.content_type, files.credit_note_file_name(note))

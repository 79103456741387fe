"""The files beside emails about invoices and credit notes: the PDF, which is an e-invoice where it
can be one, and the XML that the customer wants (settings.MAIL_FILES). Raises NotDrawn for a PDF
that is to be drawn first: other emails don't wait for it."""

from apps.billing.invoices import e_invoice, files
from apps.billing.models import CreditNote, Invoice
from apps.core.documents import drawings
from apps.core.mail import MailFile

_PDF = "application/pdf"
_XML = "application/xml"


def invoice_files(id: str) -> list[MailFile]:
    invoice = Invoice.objects.select_related("store", "customer").get(pk=id)
    with drawings.without_waiting():
        content = files.invoice_pdf(invoice)
    found = [MailFile(files.file_name("invoice", invoice), content, _PDF)]
    key = invoice.customer.e_invoice_format
    xml = e_invoice.e_invoice_xml(invoice, key) if key else None
    if xml is not None:
        found.append(MailFile(files.file_name("invoice", invoice, "xml"), xml, _XML))
    return found


def credit_note_files(id: str) -> list[MailFile]:
    rows = CreditNote.objects.select_related("invoice__store", "invoice__customer")
    note: CreditNote = rows.get(pk=id)
    with drawings.without_waiting():
        content = files.credit_note_pdf(note)
    found = [MailFile(files.credit_note_file_name(note, "pdf"), content, _PDF)]
    key = note.invoice.customer.e_invoice_format
    xml = e_invoice.credit_note_xml(note, key) if key else None
    if xml is not None:
        found.append(MailFile(files.credit_note_file_name(note), xml, _XML))
    return found

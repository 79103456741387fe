"""/payments/{id}/invoice: an intent's invoice as PDF, whatever its status."""

from django.http import HttpResponse
from rest_framework.request import Request

from apps.api.payments import PaymentView
from apps.core.messages.documents import Pdf
from apps.payments.documents.invoice import invoice_name, invoice_pdf


class PaymentInvoice(PaymentView):
    """The intent's invoice, as a PDF to keep."""

    answers = {"GET": Pdf}

    def get(self, request: Request, id: str) -> HttpResponse:
        payment = self.payment(id)
        headers = {
            "Content-Disposition": f'attachment; filename="{invoice_name(payment)}"',
            "Cache-Control": "no-store",
        }
        with self.charged_for_drawing(request):
            content = invoice_pdf(payment)
        return HttpResponse(content, content_type="application/pdf", headers=headers)

"""The invoice of a payment, as the API gives it."""

from django.http import HttpResponse

from apps.core.db.outage import unavailable
from apps.core.documents.drawings import NotDrawn
from apps.dashboard.site.views import PageRequest, find
from apps.payments.documents.invoice import invoice_name, invoice_pdf
from apps.payments.models import Payment
from apps.payments.selectors import payments_visible_to


def download(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(payments_visible_to(request.access), id)
    headers = {"Content-Disposition": f'attachment; filename="{invoice_name(payment)}"'}
    try:
        return HttpResponse(invoice_pdf(payment), content_type="application/pdf", headers=headers)
    except NotDrawn as refusal:
        return unavailable(request, str(refusal.retry_after))

"""/billing/document_settings: numbers of invoices and credit notes."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingView
from apps.billing.documents.settings import DocumentSettingsDocument, document_settings_document
from apps.billing.requests import DocumentSettingsChanges
from apps.billing.services import document_settings


class StoreDocumentSettings(BillingView):
    """The prefixes of the store's numbers, whether they begin again each year, and whether a void
    and a refund make a credit note."""

    wrapper = "document_settings"
    bodies = {"PATCH": DocumentSettingsChanges}
    answers = {"GET": DocumentSettingsDocument, "PATCH": DocumentSettingsDocument}

    def get(self, request: Request) -> Response:
        return Response(document_settings_document(document_settings.settings_of(self.access)))

    def patch(self, request: Request) -> Response:
        changes = self.read(request, DocumentSettingsChanges)
        row = document_settings.change_settings(self.access, changes)
        return Response(document_settings_document(row))

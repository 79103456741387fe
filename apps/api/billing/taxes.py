"""/billing/tax_rates, /billing/tax_settings, and what registries say of customers' VAT numbers."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.customers import CustomerView
from apps.api.billing.plumbing import BillingView, TaxRateNotFound
from apps.billing import selectors
from apps.billing.documents.taxes import (
    TaxRateDocument,
    TaxSettingsDocument,
    VatCheckDocument,
    tax_rate_document,
    tax_settings_document,
    vat_check_document,
)
from apps.billing.models import TaxRate
from apps.billing.requests import TaxRateChanges, TaxRateRequest, TaxSettingsChanges
from apps.billing.services import tax_rates, vat_checks
from apps.billing.taxes.choosing import settings_of


class TaxRateView(BillingView):
    wrapper = "tax_rate"
    missing = TaxRateNotFound()

    def rate(self, id: str) -> TaxRate:
        return self.find(selectors.tax_rates_visible_to(self.access), id)


class TaxRates(TaxRateView):
    """Make a rate of tax, or list them all, newest first."""

    bodies = {"POST": TaxRateRequest}
    answers = {"GET": list[TaxRateDocument], "POST": TaxRateDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.tax_rates_visible_to(self.access)
        return Response([tax_rate_document(rate) for rate in rows])

    def post(self, request: Request) -> Response:
        rate = tax_rates.create_rate(self.access, self.read(request, TaxRateRequest))
        return Response(tax_rate_document(rate), status=201)


class TaxRateById(TaxRateView):
    """One rate; its name and whether it is active can be changed."""

    bodies = {"PATCH": TaxRateChanges}
    answers = {"GET": TaxRateDocument, "PATCH": TaxRateDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(tax_rate_document(self.rate(id)))

    def patch(self, request: Request, id: str) -> Response:
        rate = self.rate(id)
        changes = self.read(request, TaxRateChanges)
        return Response(tax_rate_document(tax_rates.update_rate(self.access, rate, changes)))


class StoreTaxSettings(BillingView):
    """The store's own rate, and whether the usual case is chosen for it."""

    wrapper = "tax_settings"
    bodies = {"PATCH": TaxSettingsChanges}
    answers = {"GET": TaxSettingsDocument, "PATCH": TaxSettingsDocument}

    def get(self, request: Request) -> Response:
        access = self.access
        return Response(tax_settings_document(settings_of(access.store, access.mode)))

    def patch(self, request: Request) -> Response:
        changes = self.read(request, TaxSettingsChanges)
        return Response(tax_settings_document(tax_rates.change_settings(self.access, changes)))


class VatChecks(CustomerView):
    """Ask VIES about a customer's VAT number, or list what was asked and answered, newest first."""

    bodies = {"POST": None}
    answers = {"GET": list[VatCheckDocument], "POST": VatCheckDocument}
    statuses = {"POST": 201}

    def get(self, request: Request, id: str) -> Response:
        rows = selectors.vat_checks_of(self.access, self.customer(id))
        return Response([vat_check_document(check) for check in rows])

    def post(self, request: Request, id: str) -> Response:
        check = vat_checks.check_number(self.access, self.customer(id))
        return Response(vat_check_document(check), status=201)

"""/billing/customers: who is billed."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingView, CustomerNotFound
from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, described
from apps.billing import selectors
from apps.billing.documents.customers import CustomerDocument, customer_document
from apps.billing.models import Customer
from apps.billing.requests import CustomerChanges, CustomerRequest
from apps.billing.services import customers
from apps.core.messages.documents import ListPage


class CustomerFilters(PagedQuery, frozen=True, kw_only=True):
    q: Annotated[str, described("A part of the name or email address")] | None = None


class CustomerView(BillingView):
    wrapper = "customer"
    missing = CustomerNotFound()

    def customer(self, id: str) -> Customer:
        return self.find(selectors.customers_visible_to(self.access), id)


class Customers(CustomerView):
    """Add a customer, or list them newest first; `q` is a part of the email address or name."""

    query = CustomerFilters
    bodies = {"POST": CustomerRequest}
    answers = {"GET": ListPage[CustomerDocument], "POST": CustomerDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        filters = CustomerFilters.read(request.query_params)
        rows = selectors.active_customers(self.access, filters.q or "")
        return Response(lists.page(filters, rows, customer_document))

    def post(self, request: Request) -> Response:
        customer = customers.create_customer(self.access, self.read(request, CustomerRequest))
        return Response(customer_document(customer), status=201)


class CustomerById(CustomerView):
    """One customer, deleted or not; change it, or delete it and keep what it was billed."""

    bodies = {"PATCH": CustomerChanges}
    answers = {"GET": CustomerDocument, "PATCH": CustomerDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(customer_document(self.customer(id)))

    def patch(self, request: Request, id: str) -> Response:
        customer = self.customer(id)
        customers.update_customer(self.access, customer, self.read(request, CustomerChanges))
        return Response(customer_document(customer))

    def delete(self, request: Request, id: str) -> Response:
        customers.delete_customer(self.access, self.customer(id))
        return Response(status=204)

"""/billing/customers: who is billed."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingDoor, CustomerNotFound
from apps.api.plumbing import lists
from apps.billing import selectors
from apps.billing.documents.customers import customer_document
from apps.billing.models import Customer
from apps.billing.requests import CustomerChanges, CustomerRequest
from apps.billing.services import customers

PER_PAGE = 25


class CustomerDoor(BillingDoor):
    wrapper = "customer"
    missing = CustomerNotFound()

    def customer(self, id: str) -> Customer:
        return self.find(selectors.customers_seen_by(self.access), id)


class Customers(CustomerDoor):
    """Add a customer, or list them newest first; `q` is a part of the e-mail address or name."""

    bodies = {"POST": CustomerRequest}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.active_customers(self.access, request.query_params.get("q", ""))
        return Response(lists.data_and_meta(*lists.page_of(request, rows, customer_document, per_page=PER_PAGE)))

    def post(self, request: Request) -> Response:
        customer = customers.create_customer(self.access, self.read(request, CustomerRequest))
        return Response(customer_document(customer), status=201)


class CustomerById(CustomerDoor):
    """One customer, deleted or not; change it, or delete it and keep what it was billed."""

    bodies = {"PATCH": CustomerChanges}

    def get(self, request: Request, id: str) -> Response:
        return Response(customer_document(self.customer(id)))

    def patch(self, request: Request, id: str) -> Response:
        customer = self.customer(id)
        customers.update_customer(self.access, customer, self.read(request, CustomerChanges))
        return Response(customer_document(customer))

    def delete(self, request: Request, id: str) -> Response:
        customers.delete_customer(self.access, self.customer(id))
        return Response(status=204)

"""/platform/accounts/{id}/seller: whom a sub-merchant's invoices name as the seller."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.platforms.accounts import AccountView
from apps.core.errors import Failure
from apps.platforms import selectors
from apps.platforms.documents import AccountSellerDocument, seller_document
from apps.platforms.requests import SellerChanges
from apps.platforms.services import sellers


class InvalidSeller(Failure):
    code = "invalid_seller"


class Seller(AccountView):
    """Read or change the seller that the invoices of a sub-merchant name: legal name, address,
    VAT and register number, and the time zone of their days."""

    broken_rule = InvalidSeller
    wrapper = "seller"
    bodies = {"PATCH": SellerChanges}
    answers = {"GET": AccountSellerDocument, "PATCH": AccountSellerDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(seller_document(selectors.find_account(self.access, id)))

    def patch(self, request: Request, id: str) -> Response:
        self.body(request)  # what can't be read is reported before an account that isn't there
        selectors.find_account(self.access, id)
        changes = self.read(request, SellerChanges)
        return Response(seller_document(sellers.change_seller(self.access, id, changes)))

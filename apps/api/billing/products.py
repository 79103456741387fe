"""/billing/products and their prices."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingView, PriceNotFound, ProductNotFound
from apps.api.plumbing.queries import Query, choice
from apps.billing import selectors
from apps.billing.documents.catalog import (
    PriceDocument,
    ProductDocument,
    ProductWithPrices,
    price_document,
    product_document,
    product_with_prices,
)
from apps.billing.models import Price, Product
from apps.billing.requests import PriceRequest, ProductChanges, ProductRequest
from apps.billing.services import catalog
from apps.core.messages.fields import is_uuid


class ProductView(BillingView):
    wrapper = "product"
    missing = ProductNotFound()

    def product(self, id: str) -> Product:
        return self.find(selectors.products_visible_to(self.access), id)


class ProductFilters(Query, frozen=True, kw_only=True):
    active: Annotated[str, choice(["true"])] | None = None


class Products(ProductView):
    """Make a product, or list them all, newest first."""

    query = ProductFilters
    bodies = {"POST": ProductRequest}
    answers = {"GET": list[ProductDocument], "POST": ProductDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.products_visible_to(self.access)
        if ProductFilters.read(request.query_params).active == "true":
            rows = rows.filter(active=True)
        return Response([product_document(product) for product in rows])

    def post(self, request: Request) -> Response:
        product = catalog.create_product(self.access, self.read(request, ProductRequest))
        return Response(product_document(product), status=201)


class ProductById(ProductView):
    """A product with its prices; change it."""

    bodies = {"PATCH": ProductChanges}
    answers = {"GET": ProductWithPrices, "PATCH": ProductWithPrices}

    def get(self, request: Request, id: str) -> Response:
        product = self.product(id)
        return Response(product_with_prices(product, selectors.prices_of(product)))

    def patch(self, request: Request, id: str) -> Response:
        product = self.product(id)
        product = catalog.update_product(self.access, product, self.read(request, ProductChanges))
        return Response(product_with_prices(product, selectors.prices_of(product)))


class Prices(ProductView):
    """Give a product a price, or list its prices, newest first, archived ones too."""

    wrapper = "price"
    bodies = {"POST": PriceRequest}
    answers = {"GET": list[PriceDocument], "POST": PriceDocument}
    statuses = {"POST": 201}

    def get(self, request: Request, product_id: str) -> Response:
        return Response(
            [price_document(price) for price in selectors.prices_of(self.product(product_id))]
        )

    def post(self, request: Request, product_id: str) -> Response:
        product = self.product(product_id)
        price = catalog.create_price(self.access, product, self.read(request, PriceRequest))
        return Response(price_document(price), status=201)


class PriceView(ProductView):
    def price(self, product_id: str, id: str) -> Price:
        rows = selectors.prices_of(self.product(product_id))
        price = rows.filter(pk=id).first() if is_uuid(id) else None
        if price is None:
            raise PriceNotFound
        return price


class PriceById(PriceView):
    """One price. Its amount never changes."""

    answers = {"GET": PriceDocument}

    def get(self, request: Request, product_id: str, id: str) -> Response:
        return Response(price_document(self.price(product_id, id)))


class ArchivePrice(PriceView):
    """No new subscriptions to it."""

    bodies = {"POST": None}
    answers = {"POST": PriceDocument}

    def post(self, request: Request, product_id: str, id: str) -> Response:
        return Response(
            price_document(catalog.set_price_active(self.access, self.price(product_id, id), False))
        )


class ActivatePrice(PriceView):
    """It takes new subscriptions again."""

    bodies = {"POST": None}
    answers = {"POST": PriceDocument}

    def post(self, request: Request, product_id: str, id: str) -> Response:
        return Response(
            price_document(catalog.set_price_active(self.access, self.price(product_id, id), True))
        )

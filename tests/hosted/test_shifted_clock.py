"""A customer's page in test mode shows the time of a shifted test clock; one in live mode, and one
by real time, says nothing."""

import pytest
from django.test import Client

from apps.billing.models import Customer
from apps.billing.services.portal import portal_url
from tests import make
from tests.billing import records
from tests.cast import Api, Shop
from tests.dashboard.browse import text
from tests.links.makers import made_link

pytestmark = pytest.mark.django_db


def pages(shop: Shop, api: Api, mode: str) -> dict[str, str]:
    """Notes on each page, by its kind."""
    invoice = records.opened(api)
    customer = Customer.objects.select_related("store").get(pk=invoice["customer_id"])
    paths = {
        "checkout": f"/pay/{make.payment(api)['reference']}",
        "invoice": f"/invoice/{invoice['public_token']}",
        "portal": "/portal/" + portal_url(customer).rpartition("/")[2],
        "link": f"/pay/{made_link(shop, mode).token}",
    }
    return {kind: text(Client().get(path)) for kind, path in paths.items()}


def test_a_shifted_clock_is_told_on_test_pages_in_the_customers_language(bakery: Shop) -> None:
    assert not any("Test clock" in said for said in pages(bakery, bakery.test, "test").values())
    make.advance(bakery.test, 3 * 86_400)
    for kind, said in pages(bakery, bakery.test, "test").items():
        assert "Test clock: <time" in said, kind
    assert not any("Test clock" in said for said in pages(bakery, bakery.live, "live").values())

    path = f"/pay/{make.payment(bakery.test)['reference']}"
    assert "Testuhr: <time" in text(Client().get(path, headers={"Accept-Language": "de"}))

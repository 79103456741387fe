"""Products, prices and subscriptions have their rate and discount in the dashboard, too."""

from apps.billing.models import Price, Product, Subscription
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.billing.forms import PRICE_FORM, new
from tests.dashboard.browse import Browser, text


def test_a_product_and_a_price_take_a_rate_and_what_is_sold(cast: Cast, browser: Browser) -> None:
    rate = billing.tax_rate(cast.bakery.test)
    assert "VAT" in text(browser.get("products/new"))
    terms = {"name": "Bread", "tax_rate_id": rate["id"], "supply_type": "goods"}
    new(browser, "products/new", **terms)
    product = Product.objects.get(name="Bread")
    assert (str(product.tax_rate_id), product.supply_type) == (rate["id"], "goods")
    new(browser, f"products/{product.pk}/prices/new", **PRICE_FORM, tax_rate_id=rate["id"])
    assert str(Price.objects.get(product=product).tax_rate_id) == rate["id"]
    cast.bakery.test.patch(f"/billing/tax_rates/{rate['id']}", {"tax_rate": {"active": False}})
    page = text(browser.get(f"products/{product.pk}/edit"))
    assert f'value="{rate["id"]}" selected' in page, "the rate in use is kept"
    browser.post(f"products/{product.pk}/edit", name="Bread")
    product.refresh_from_db()
    assert (product.tax_rate_id, product.supply_type) == (None, None)


def test_a_subscription_takes_a_rate_and_a_discount(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    rate, price = billing.tax_rate(api), billing.price(api)
    terms = {
        "email": billing.customer(api)["email"],
        "price": [price["id"]],
        "quantity": ["1"],
        "tax_rate_id": rate["id"],
        "discount_type": "percent",
        "discount": "15",
    }
    new(browser, "subscriptions/new", **terms)
    made = Subscription.objects.get()
    assert (made.discount_type, made.discount_value) == ("percent", 15)
    (invoice,) = billing.invoices_of(api, str(made.pk))
    assert (invoice["discount_cents"], invoice["tax_cents"]) == (150, 162)
    page = text(browser.get(f"subscriptions/{made.pk}/change"))
    assert 'value="15"' in page and f'value="{rate["id"]}" selected' in page
    change = {"price": [price["id"]], "quantity": ["1"], "discount_type": "amount"}
    browser.post(f"subscriptions/{made.pk}/change", **change, discount="2.50")
    made.refresh_from_db()
    assert (made.discount_type, made.discount_value, made.tax_rate_id) == ("amount", 250, None)
    refused = browser.post(f"subscriptions/{made.pk}/change", **change, discount="much")
    assert refused.status_code == 422


def test_the_list_of_rates_says_their_category_and_whether_they_are_in_use(cast: Cast) -> None:
    browser = Browser(cast.alice)
    rate = billing.tax_rate(cast.bakery.test)["id"]
    rows = text(browser.get("settings/taxes")).split("<tbody>")[1]
    assert "Taxed" in rows and "Active" in rows and "Archive" in rows
    browser.post("settings/taxes", switch=rate)
    assert "Archived" in text(browser.get("settings/taxes")).split("<tbody>")[1]

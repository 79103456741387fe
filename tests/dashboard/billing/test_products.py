"""Products and their prices: how they are searched, changed and archived."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.grants import WEB
from apps.billing.models import Price, Product
from apps.billing.search import products_beginning
from apps.core.db import tenancy
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.billing.forms import acts_of, new, rows_of
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_search import copies
from tests.roles import acting_as


def test_products_are_searched_by_how_their_name_begins_and_by_id(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    club = billing.product(api, name="Bread club")
    cakes = billing.product(api, name="Cake club")
    billing.product(cast.strangers.test, name="Bread of somebody else")

    def found(query: str) -> list[str]:
        table = browser.get(f"products?{query}").context["table"]
        return [text_of(row[0][1]) for row in table.rows]

    def text_of(cell: str) -> str:
        return next(name for name in ("Bread club", "Cake club") if name in cell)

    assert found("q=bread") == found("q=BREAD+c") == found(f"q={club['id']}") == ["Bread club"]
    assert found("q=club") == found("q=%00") == found("q=b") == []
    assert "No matching products" in text(browser.get("products?q=club"))
    assert found("") == ["Cake club", "Bread club"]
    browser.post(f"products/{cakes['id']}", to="inactive")
    assert found("q=cake&status=inactive") == ["Cake club"]
    assert found("q=cake&status=active") == []
    assert rows_of(browser.get("products.csv?q=bread"))[1][0] == "Bread club"
    assert len(rows_of(browser.get("products.csv?q=bread"))) == 2
    part = browser.get("products?q=bread", headers={"HX-Request": "true"}).content.decode()
    assert "Bread club" in part and "Cake club" not in part and "<html" not in part


def test_a_search_for_products_asks_an_index_and_no_more_of_many(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    billing.product(api, name="Tea 0")

    def asked() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert browser.get("products?q=tea").context["table"].rows
        return len(seen)

    asked()
    few = asked()
    for number in range(6):
        billing.product(api, name=f"Tea {number + 1}")
    assert asked() == few
    made = {"id": "gen_random_uuid()", "name": "'Tin ' || n", "form_key": "NULL"}
    copies(Product, made, "(SELECT * FROM billing_product LIMIT 1) s, generate_series(1, 5000) n")
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        rows = products_beginning(Product.objects.visible_to(cast.bakery.access()), "tin 17")
        plan = rows[:51].explain()
        assert rows.count() == 111
    assert "product_by_name" in plan and "Seq Scan" not in plan, plan


def test_a_product_gets_prices_that_are_archived_and_never_changed(
    cast: Cast, browser: Browser
) -> None:
    new(browser, "products/new", name="Bread club", description="Weekly")
    product = Product.objects.get()
    given = new(
        browser,
        f"products/{product.pk}/prices/new",
        unit_amount="12,50",
        currency="EUR",
        interval="monthly",
        interval_count="3",
    )
    assert given.headers["Location"] == f"/dashboard/products/{product.pk}"
    price = Price.objects.get()
    assert (price.unit_amount_cents, price.interval, price.interval_count) == (1250, "monthly", 3)
    assert '€12.50 <span class="muted">every 3 months' in text(
        browser.get(f"products/{product.pk}")
    )
    browser.post(f"products/{product.pk}/prices/{price.pk}", to="archived")
    assert "Archived" in text(browser.get(f"products/{product.pk}"))
    assert str(price.pk) not in text(browser.get("subscriptions/new"))
    browser.post(f"products/{product.pk}/prices/{price.pk}", to="active")
    browser.post(f"products/{product.pk}/edit", name="Cake club", description="")
    browser.post(f"products/{product.pk}", to="inactive")
    product.refresh_from_db()
    assert (product.name, product.description, product.active) == ("Cake club", None, False)
    assert "Cake club" in text(browser.get("products?status=inactive")) and "Cake club" not in text(
        browser.get("products?status=active")
    )
    assert rows_of(browser.get("products/prices.csv"))[1][:6] == [
        "Cake club",
        "False",
        "12.50",
        "EUR",
        "monthly",
        "3",
    ]
    acts = [
        "product.created",
        "price.created",
        "price.archived",
        "price.activated",
        "product.changed",
        "product.changed",
    ]
    assert acts_of(cast) == acts

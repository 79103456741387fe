"""The rooms of billing as a merchant uses them: customers, products, subscriptions and invoices,
without a script."""

import csv
import io
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.grants import WEB
from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from apps.billing.search import products_beginning
from apps.core import clock
from apps.core.db import tenancy
from apps.core.models import Mode
from apps.stores.models import AuditEntry, Member, Role
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, person
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_search import copies
from tests.roles import acting_as

EMAIL = "ann@example.com"
LINE = {
    "line_description": ["Bread", "", "Cake"],
    "line_quantity": ["2", "1", "1"],
    "line_amount": ["10", "", "5,50"],
}

PRICE_FORM = {"unit_amount": "10", "currency": "EUR", "interval": "monthly", "interval_count": "1"}


@pytest.fixture
def browser(cast: Cast) -> Browser:
    return Browser(cast.bob)


def new(browser: Browser, path: str, **fields: Any) -> Any:
    """Send a form that was just opened."""
    return browser.post(path, **{"form_key": uuid.uuid4().hex, **fields})


def rows_of(answer: Any) -> list[list[str]]:
    return list(
        csv.reader(io.StringIO(b"".join(answer.streaming_content).decode().removeprefix("\ufeff")))
    )


def acts_of(cast: Cast) -> list[str]:
    return list(
        AuditEntry.objects.filter(store_id=cast.bakery.store.pk, actor_kind="person")
        .order_by("id")
        .values_list("action", flat=True)
    )


def draft_form(**changed: Any) -> dict[str, Any]:
    return {
        "email": EMAIL,
        "currency": "EUR",
        "discount_type": "percent",
        "discount": "10",
        "tax": "7.7",
        "due": "2027-01-31",
        **LINE,
        **changed,
    }


def test_a_customer_is_added_found_edited_and_deleted(cast: Cast, browser: Browser) -> None:
    made = new(
        browser, "customers/new", email=EMAIL, name="=Ann", line1="Ringstr. 1", city="Berlin"
    )
    customer = Customer.objects.get(email=EMAIL)
    assert made.headers["Location"] == f"/dashboard/customers/{customer.pk}"
    assert customer.address == {"line1": "Ringstr. 1", "city": "Berlin"} and customer.phone is None
    assert "Ringstr. 1" in text(browser.get(f"customers/{customer.pk}"))
    assert "A customer with this email already exists." in text(
        new(browser, "customers/new", email=EMAIL.upper())
    )
    assert EMAIL in text(browser.get("customers?q=ANN@")) and EMAIL not in text(
        browser.get("customers?q=nobody")
    )
    assert rows_of(browser.get("customers.csv"))[1][:2] == [EMAIL, "'=Ann"]

    Customer.objects.filter(pk=customer.pk).update(address={"line1": "Ringstr. 1", "vat": "DE1"})
    browser.post(f"customers/{customer.pk}/edit", email=EMAIL, name="Ann", line1="", country="DE")
    customer.refresh_from_db()
    assert (customer.name, customer.address) == ("Ann", {"country": "DE", "vat": "DE1"})

    running = billing.subscribe(cast.bakery.test, customer_id=str(customer.pk))
    assert "1 subscription ends now" in text(browser.get(f"customers/{customer.pk}/delete"))
    browser.post(f"customers/{customer.pk}/delete")
    assert Subscription.objects.get(pk=running["id"]).status == "canceled"
    assert browser.get("customers").context["table"].rows == []
    gone = text(browser.get(f"customers/{customer.pk}"))
    assert "can’t be billed anymore" in gone
    assert browser.get(f"customers/{customer.pk}/edit").status_code == 404
    assert acts_of(cast) == ["customer.created", "customer.changed", "customer.deleted"]


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


def test_only_who_may_bill_sees_the_link_to_a_customers_own_page(
    cast: Cast, browser: Browser
) -> None:
    made = billing.customer(cast.bakery.test)
    viewer = person("viewer")
    Member.objects.create(
        store=cast.bakery.store, user=viewer, role=Role.VIEWER, created_at=clock.real_now()
    )
    path = f"customers/{made['id']}"
    assert "/portal/" in text(browser.get(path))
    shown = text(Browser(viewer).get(path))
    assert "/portal/" not in shown and "New invoice" not in shown and made["email"] in shown


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


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"unit_amount": "much"}, "Amount must be a number such as 12.50."),
        ({"unit_amount": "1.999"}, "Amount must be a number such as 12.50."),
        ({"interval": "hourly"}, "Interval must be one of daily, weekly, monthly, yearly."),
        ({"interval_count": "0"}, "The number of intervals must be at least 1."),
        ({"currency": "JPY", "unit_amount": "1.50"}, "The price must be a whole number of JPY."),
    ],
)
def test_a_price_that_cannot_be_is_told_on_its_form(
    cast: Cast, browser: Browser, fields: dict[str, str], sentence: str
) -> None:
    made = billing.product(cast.bakery.test)
    sent = {**PRICE_FORM, **fields}
    answer = new(browser, f"products/{made['id']}/prices/new", **sent)
    assert answer.status_code == 422 and sentence in text(answer), text(answer)
    assert not Price.objects.exists()


def wrong(answer: Any) -> tuple[str, str]:
    """The one input that a form says something at, which has the focus, and what it says."""
    page = text(answer).replace("&#x27;", "'")
    ((name, sentence),) = re.findall(
        r'<span class="error" id="([\w-]+)-error" role="alert">([^<]+)</span>', page
    )
    (shown,) = re.findall(
        r'<(?:input|select|textarea) id="([\w-]+)"[^>]*aria-invalid="true"[^>]*>', page
    )
    assert (
        page.count(f'aria-invalid="true" aria-describedby="{name}-error" autofocus')
        == page.count("autofocus")
        == 1
    ), page
    assert shown == name and 'id="errors"' not in page and answer.status_code in (409, 422)
    return name, sentence


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("products/new", {"name": " "}, ("name", "Name is required.")),
        (
            "products/new",
            {"name": "n" * 256},
            ("name", "Name is too long (maximum is 255 characters)."),
        ),
        (
            "products/new",
            {"description": "d" * 5001},
            ("description", "Description is too long (maximum is 5000 characters)."),
        ),
        (
            "products/{}/prices/new",
            {"unit_amount": "much"},
            ("unit_amount", "Amount must be a number such as 12.50."),
        ),
        (
            "products/{}/prices/new",
            {"unit_amount": "1.50", "currency": "JPY"},
            ("unit_amount", "The price must be a whole number of JPY."),
        ),
        ("products/{}/prices/new", {"currency": ""}, ("currency", "Currency is required.")),
        (
            "products/{}/prices/new",
            {"interval_count": "366"},
            ("interval_count", "The number of intervals must be at most 365."),
        ),
        (
            "products/{}/prices/new",
            {"interval": "hourly"},
            ("interval", "Interval must be one of daily, weekly, monthly, yearly."),
        ),
        ("customers/new", {"email": "nobody"}, ("email", "Email is not a valid address.")),
        (
            "customers/new",
            {"email": "taken@example.com"},
            ("email", "A customer with this email already exists."),
        ),
        (
            "customers/new",
            {"phone": "1" * 51},
            ("phone", "Phone is too long (maximum is 50 characters)."),
        ),
        (
            "customers/new",
            {"city": "c" * 4097},
            ("line1", "Address is too large (maximum is 4096 bytes)."),
        ),
    ],
)
def test_each_error_stands_at_its_input_which_has_the_focus(
    cast: Cast, browser: Browser, path: str, fields: dict[str, str], said: tuple[str, str]
) -> None:
    billing.customer(cast.bakery.test, email="taken@example.com")
    right = {"name": "Bread club", "email": EMAIL, **PRICE_FORM}
    assert (
        wrong(
            new(
                browser, path.format(billing.product(cast.bakery.test)["id"]), **{**right, **fields}
            )
        )
        == said
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"email": "nobody@example.com"},
            ("email", "No customer has this email address; add the customer, or correct it."),
        ),
        ({"price": [""]}, ("price-1", "Choose a price.")),
        ({"price": ["x"]}, ("price-1", "Price not found.")),
        (
            {"price": ["{0}", "{0}"], "quantity": ["1", "2"]},
            ("price-1", "Choose each price once and raise its quantity instead."),
        ),
        (
            {"price": ["{0}", "{1}"], "quantity": ["1", "much"]},
            ("quantity-2", "Quantity must be a whole number."),
        ),
        (
            {"price": ["{0}", "", "{1}"], "quantity": ["1", "1", "0"]},
            ("quantity-2", "Quantity must be at least 1."),
        ),
        ({"trial_days": "3651"}, ("trial_days", "The trial must be at most 3650.")),
        (
            {"grace_cycles": "x"},
            ("grace_cycles", "The number of failed payments must be a whole number."),
        ),
    ],
)
def test_each_error_of_a_subscription_stands_at_its_input(
    cast: Cast, browser: Browser, fields: dict[str, Any], said: tuple[str, str]
) -> None:
    api = cast.bakery.test
    ids = [billing.price(api)["id"], billing.price(api)["id"]]
    billing.customer(api, email=EMAIL)
    right = {
        "email": EMAIL,
        "price": [ids[0]],
        "quantity": ["1"],
        "trial_days": "0",
        "grace_cycles": "1",
    }
    sent = {**right, **fields}
    sent["price"] = [one.format(*ids) for one in sent["price"]]
    assert wrong(new(browser, "subscriptions/new", **sent)) == said
    assert not Subscription.objects.exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"currency": "XXX"}, ("currency", "Currency must be one of")),
        ({"due": "tomorrow"}, ("due", "Due day is not a date.")),
        (
            {"line_description": ["Bread", "", " "], "line_amount": ["10", "", "5"]},
            ("what-2", "Line 2: description can't be blank."),
        ),
        (
            {"line_quantity": ["2", "1", "x"]},
            ("many-2", "Line 2: quantity must be a whole number."),
        ),
        (
            {"line_amount": ["-1", "", "5"]},
            ("each-1", "Line 1: price must be a number such as 12.50."),
        ),
        (
            {"line_amount": ["1", "", "5.50"], "currency": "JPY"},
            ("each-2", "Line 2: price must be a whole number of JPY."),
        ),
        ({"notes": "n" * 5001}, ("notes", "Notes is too long (maximum is 5000 characters).")),
        ({"custom_number": "A-1"}, ("custom_number", "The number has already been taken.")),
        ({"discount": "101"}, ("discount", "The discount must be at most 100 percent.")),
        (
            {"discount_type": ""},
            ("discount_type", "The kind of discount is required with the discount."),
        ),
        ({"tax": "101"}, ("tax", "Tax must be at most 100 percent.")),
    ],
)
def test_each_error_of_an_invoice_stands_at_its_input(
    cast: Cast, browser: Browser, fields: dict[str, Any], said: tuple[str, str]
) -> None:
    billing.draft(
        cast.bakery.test,
        custom_number="A-1",
        customer_id=billing.customer(cast.bakery.test, email=EMAIL)["id"],
    )
    name, sentence = wrong(new(browser, "invoices/new", **draft_form(save="1", **fields)))
    assert name == said[0] and sentence.startswith(said[1])
    assert Invoice.objects.count() == 1


def test_what_belongs_to_no_input_stands_above_them_all(cast: Cast, browser: Browser) -> None:
    billing.customer(cast.bakery.test, email=EMAIL)
    lines = {
        "line_description": ["Bread"],
        "line_quantity": ["1000000000"],
        "line_amount": ["1000"],
    }
    page = text(new(browser, "invoices/new", **draft_form(save="1", **lines)))
    assert (
        'id="errors"' in page
        and "Total must be at most 100000000.00." in page
        and "aria-invalid" not in page
    )
    counted = new(browser, "invoices/new", **draft_form(**lines), headers={"HX-Request": "true"})
    assert counted.status_code == 200 and "Total must be at most 100000000.00." in text(counted)


def test_a_subscription_begins_changes_pauses_resumes_and_ends(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    first = billing.price(api)
    second = billing.price(api, unit_amount_cents=500)
    owner = billing.customer(api)
    more = new(
        browser,
        "subscriptions/new",
        email=owner["email"],
        price=[first["id"]],
        quantity=["2"],
        more="1",
    )
    assert more.status_code == 200 and text(more).count('name="quantity"') == 4
    new(
        browser,
        "subscriptions/new",
        email=owner["email"].upper(),
        price=[first["id"], ""],
        quantity=["2", "1"],
        trial_days="0",
        grace_cycles="2",
    )
    row = Subscription.objects.get()
    assert (row.quantity, row.grace_cycles, row.status) == (2, 2, "active")
    page = text(browser.get(f"subscriptions/{row.pk}"))
    assert (
        "The next period is billed: <strong>€20.00</strong>" in page
        and "INV-0001" in page
        and "An invoice is due." in page
    )

    browser.post(
        f"subscriptions/{row.pk}/change",
        price=[first["id"], second["id"]],
        quantity=["1", "3"],
        grace_cycles="2",
    )
    assert "The next period is billed: <strong>€25.00</strong>" in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    browser.post(f"subscriptions/{row.pk}/pause")
    assert "Nothing is billed until you resume this subscription." in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    assert "an invoice of €25.00 is created and emailed immediately" in text(
        browser.get(f"subscriptions/{row.pk}/resume")
    )
    browser.post(f"subscriptions/{row.pk}/resume")
    assert Invoice.objects.filter(subscription=row).count() == 2
    assert "At the end of the period" in text(browser.get(f"subscriptions/{row.pk}/cancel"))
    browser.post(f"subscriptions/{row.pk}/cancel", when="period_end")
    assert "The subscription ends. Nothing more is billed." in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    browser.post(f"subscriptions/{row.pk}/uncancel")
    browser.post(f"subscriptions/{row.pk}/cancel", when="now")
    row.refresh_from_db()
    assert row.status == "canceled" and "Cancel subscription" not in text(
        browser.get(f"subscriptions/{row.pk}")
    )
    refused = browser.post(f"subscriptions/{row.pk}/pause")
    assert refused.status_code == 422 and "Cannot change a canceled subscription." in text(refused)
    told = [
        "created",
        "changed",
        "paused",
        "resumed",
        "cancellation_scheduled",
        "cancellation_cleared",
        "canceled",
    ]
    assert acts_of(cast) == [f"subscription.{one}" for one in told]
    line = rows_of(browser.get("subscriptions.csv?status=canceled"))[1]
    assert (line[0], line[3], line[7]) == (owner["email"], "25.00", "canceled")
    assert len(rows_of(browser.get("subscriptions.csv?status=active"))) == 1
    assert browser.get(f"subscriptions/{row.pk}/explode").status_code == 404


def test_a_subscription_that_cannot_be_is_told_on_its_form(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    monthly = billing.price(api)
    yearly = billing.price(api, interval="yearly")
    owner = billing.customer(api)
    for fields, sentence in (
        (
            {"email": "nobody@example.com"},
            "No customer has this email address; add the customer, or correct it.",
        ),
        ({"price": [""]}, "Choose a price."),
        (
            {"price": [monthly["id"], yearly["id"]], "quantity": ["1", "1"]},
            "All prices must be billed equally often and in one currency.",
        ),
        ({"quantity": ["0"]}, "must be at least 1"),
        ({"trial_days": "-1"}, "The trial must be a whole number."),
        ({"grace_cycles": "9999"}, "The number of failed payments must be at most 1000."),
    ):
        sent = {
            "email": owner["email"],
            "price": [monthly["id"]],
            "quantity": ["1"],
            "trial_days": "0",
            "grace_cycles": "1",
            **fields,
        }
        answer = new(browser, "subscriptions/new", **sent)
        shown = text(answer).replace("&#x27;", "'")
        assert answer.status_code == 422 and sentence in shown, (fields, answer.context["errors"])
    assert not Subscription.objects.exists()


def test_somebody_new_is_added_where_they_are_billed(cast: Cast, browser: Browser) -> None:
    refused = new(browser, "invoices/new", **draft_form(save="1"))
    assert (
        refused.status_code == 422
        and f"<span>Add <bdi>{EMAIL}</bdi> and save the draft</span>" in text(refused)
        and "Bread" in text(refused)
    )
    made = new(browser, "invoices/new", **draft_form(add_customer="1", customer_name="Ann"))
    row = Invoice.objects.select_related("customer").get()
    assert made.headers["Location"] == f"/dashboard/invoices/{row.pk}" and (
        row.customer.email,
        row.customer.name,
    ) == (EMAIL, "Ann")
    sent = {
        "email": "ben@example.com",
        "price": [billing.price(cast.bakery.test)["id"]],
        "quantity": ["1"],
        "trial_days": "7",
    }
    assert "and start the subscription" in text(new(browser, "subscriptions/new", **sent))
    new(browser, "subscriptions/new", **sent, add_customer="1")
    assert Subscription.objects.get().customer.email == "ben@example.com"
    browser.post(f"customers/{row.customer_id}/delete")
    again = new(browser, "invoices/new", **draft_form(save="1"))
    assert again.status_code == 422 and "add_customer" not in text(again)
    bad = new(browser, "invoices/new", **draft_form(email="nobody", add_customer="1"))
    assert bad.status_code == 422 and "Email is not a valid address." in text(bad)
    chosen = f"subscriptions/new?price={Subscription.objects.get().price_id}"
    assert f'value="{Subscription.objects.get().price_id}" selected' in text(browser.get(chosen))


def test_a_form_that_is_sent_twice_makes_one_record(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    billed = billing.price(api)
    owner = billing.customer(api)
    subscribed = {
        "email": owner["email"],
        "price": [billed["id"]],
        "quantity": ["1"],
        "trial_days": "0",
        "grace_cycles": "1",
    }
    forms: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("products/new", Product, {"name": "Bread club"}),
        (
            f"products/{billed['product_id']}/prices/new",
            Price,
            {"unit_amount": "5", "currency": "EUR", "interval": "monthly", "interval_count": "1"},
        ),
        ("customers/new", Customer, {"email": EMAIL}),
        ("subscriptions/new", Subscription, subscribed),
        ("invoices/new", Invoice, draft_form(save="1", custom_number="B-1")),
    )
    for path, kind, fields in forms:
        before = kind.objects.count()
        opened = browser.get(path)
        key = opened.context["form"].values["form_key"]
        assert f'name="form_key" value="{key}"' in text(opened)
        answers = [browser.post(path, **fields, form_key=key) for _ in range(2)]
        assert [one.status_code for one in answers] == [303, 303] and len(
            {one.headers["Location"] for one in answers}
        ) == 1, path
        assert kind.objects.count() == before + 1, path
        old = browser.post(path, **fields, form_key="old")
        assert old.status_code == 422 and "The form is too old; open it again." in text(old), path
    assert Invoice.objects.filter(subscription__isnull=False).count() == 1


def test_a_draft_is_written_recalculated_saved_finalized_sent_and_paid(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    billing.customer(api, email=EMAIL)
    counted = new(browser, "invoices/new", **draft_form(recalculate="1"))
    assert counted.status_code == 200 and "€24.72" in text(counted) and not Invoice.objects.exists()
    part = new(browser, "invoices/new", **draft_form(), headers={"HX-Request": "true"})
    assert text(part).startswith('<div id="totals"') and "€24.72" in text(part)
    assert (
        text(new(browser, "invoices/new", **draft_form(more="1"))).count('name="line_amount"') == 5
    )
    assert "Cake" not in text(new(browser, "invoices/new", **draft_form(less="1")))

    new(browser, "invoices/new", **draft_form(save="1", notes="Thanks", po_number="PO 1"))
    row = Invoice.objects.get()
    assert (row.total_cents, row.discount_value, row.tax_rate_bps, row.notes, row.po_number) == (
        2472,
        10,
        770,
        "Thanks",
        "PO 1",
    )
    assert row.due_at is not None and row.due_at.isoformat() == "2027-01-31T23:59:59+00:00"
    page = browser.get(f"invoices/{row.pk}/edit")
    assert (
        'value="7.7"' in text(page)
        and 'value="5.50"' in text(page)
        and 'value="2027-01-31"' in text(page)
    )
    browser.post(
        f"invoices/{row.pk}/edit",
        **draft_form(save="1", discount_type="amount", discount="1", tax="", due=""),
    )
    row.refresh_from_db()
    assert [row.total_cents, row.discount_value, row.tax_rate_bps, row.due_at, row.notes] == [
        2450,
        100,
        None,
        None,
        None,
    ]
    assert browser.get(f"invoices/{row.pk}/file").status_code == 404

    browser.post(f"invoices/{row.pk}/finalize", send="on")
    row.refresh_from_db()
    page = text(browser.get(f"invoices/{row.pk}"))
    assert (
        row.status == "open" and f"/invoice/{row.public_token}" in page and "Sent by email" in page
    )
    assert "can now be paid. The email is on its way." in page and "Resend" in page
    assert browser.get(f"invoices/{row.pk}/edit").status_code == 303
    assert browser.get(f"invoices/{row.pk}/file").content.startswith(b"%PDF")
    billing.pay(api, {"public_token": row.public_token, "id": str(row.pk)})
    (link,) = row.payments.all()
    assert f"/dashboard/invoices/{row.pk}" in text(browser.get(f"payments/{link.payment_id}"))
    page = text(browser.get(f"invoices/{row.pk}"))
    assert 'badge good">Paid' in page and "Void</a>" not in page and "of=receipt" in page
    refused = browser.post(f"invoices/{row.pk}/void")
    assert refused.status_code == 422 and "Cannot void a paid invoice." in text(refused)
    assert acts_of(cast) == [
        "invoice.drafted",
        "invoice.changed",
        "invoice.finalized",
        "invoice.sent",
    ]


def test_an_invoice_that_cannot_be_is_told_in_words(cast: Cast, browser: Browser) -> None:
    billing.customer(cast.bakery.test, email=EMAIL)
    billing.draft(cast.bakery.test, custom_number="A-1")
    for fields, sentence in (
        ({"email": "x@example.com"}, "No customer has this email address"),
        ({"discount": "101"}, "The discount must be at most 100 percent."),
        ({"discount": "1.5"}, "Discount must be a whole number."),
        ({"tax": "101"}, "Tax must be at most 100 percent."),
        ({"due": "tomorrow"}, "Due day is not a date."),
        ({"line_amount": ["-1", "", "5"]}, "Line 1: price must be a number such as 12.50."),
        ({"line_quantity": ["0", "1", "1"]}, "Line 1: quantity must be at least 1."),
        ({"line_description": ["", "", "Cake"]}, "Line 1: description can't be blank."),
        ({"custom_number": "A-1"}, "The number has already been taken."),
        ({"notes": "n" * 5001}, "Notes is too long"),
    ):
        answer = new(browser, "invoices/new", **draft_form(save="1", **fields))
        shown = text(answer).replace("&#x27;", "'")
        assert answer.status_code == 422 and sentence in shown, (fields, answer.context["errors"])
    assert Invoice.objects.count() == 1


def test_invoices_are_voided_written_off_and_drafts_deleted(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    void = billing.opened(api)
    lost = billing.opened(api)
    draft = billing.draft(api)
    for id, act, sentence in (
        (void["id"], "void", "its number isn’t reused"),
        (lost["id"], "write-off", "expect this payment"),
    ):
        assert sentence in text(browser.get(f"invoices/{id}/{act}"))
        browser.post(f"invoices/{id}/{act}")
    assert "permanently deleted" in text(browser.get(f"invoices/{draft['id']}/delete"))
    assert (
        browser.post(f"invoices/{draft['id']}/delete").headers["Location"] == "/dashboard/invoices"
    )
    assert sorted(Invoice.objects.values_list("status", flat=True)) == ["uncollectible", "void"]
    assert acts_of(cast) == ["invoice.voided", "invoice.written_off", "invoice.deleted"]


def test_the_list_of_invoices_is_searched_filtered_exported_and_the_first_page_says_what_is_owed(
    cast: Cast, browser: Browser
) -> None:
    api = cast.bakery.test
    ann = billing.customer(api, email=EMAIL, name="@Ann")
    ben = billing.customer(api)
    late = billing.opened(
        api, customer_id=ann["id"], due_at="2020-01-01T00:00:00Z", custom_number="=A1"
    )
    later = billing.opened(api, customer_id=ben["id"])
    draft = billing.draft(api, customer_id=ann["id"])
    for query, expected in (
        ("", [late, later, draft]),
        ("status=open", [late, later]),
        ("status=past_due", [late]),
        ("status=nonsense", [late, later, draft]),
        ("q=%3Da1", [late]),
        ("q=2", [later]),
        ("q=INV-0002", [later]),
        ("q=ann@", [late, draft]),
        ("q=%00", []),
        (f"customer={ben['id']}", [later]),
        ("customer=nobody", []),
        ("subscription=a%2Fb", []),
        (f"customer={ann['id']}&status=draft", [draft]),
    ):
        told = {row[-1] for row in rows_of(browser.get(f"invoices.csv?{query}&columns=all"))[1:]}
        assert told == {one["id"] for one in expected}, query
        assert {
            str(one.pk) for one in browser.get(f"invoices?{query}").context["window"].rows
        } == told
    names, *lines = rows_of(browser.get("invoices.csv?columns=all"))
    line = dict(zip(names, next(row for row in lines if row[-1] == late["id"]), strict=True))
    assert (line["number"], line["customer_name"], line["total"]) == ("'=A1", "'@Ann", "10.00")
    home = browser.get()
    (owed,) = home.context["owed"]
    assert (owed.currency, owed.count, owed.left_cents, owed.late_count, owed.late_cents) == (
        "EUR",
        2,
        2000,
        1,
        1000,
    )
    assert "€10.00 past due (1)" in text(home)
    browser.switch(Mode.LIVE)
    assert browser.get().context["owed"] == [] and browser.get("invoices").context["is_empty"]


def test_what_time_did_to_a_subscription_is_told_on_its_page(cast: Cast, browser: Browser) -> None:
    made = billing.subscribe(cast.bakery.test, grace_cycles=1)
    make.advance(cast.bakery.test, 8 * billing.DAY)
    page = text(browser.get(f"subscriptions/{made['id']}"))
    assert "1 failed payment in a row" in page and "Payment failed" in page
    assert (
        "Past due" in text(browser.get("subscriptions?status=past_due"))
        and made["customer"]["name"] in page
    )
    make.advance(cast.bakery.test, 31 * billing.DAY)
    assert "This subscription ended on" in text(browser.get(f"subscriptions/{made['id']}"))

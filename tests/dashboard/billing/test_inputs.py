"""Errors of a form of billing are at their inputs, and a form that is sent twice makes one
record."""

import re
from typing import Any

from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.billing.forms import EMAIL, PRICE_FORM, draft_form, new
from tests.dashboard.browse import Browser, text


def wrong(answer: Any) -> tuple[str, str]:
    """The one input that a form says something at, which has the focus, and what it says."""
    page = text(answer).replace("&#x27;", "'")
    ((name, sentence),) = re.findall(
        r'<span class="error" id="([\w-]+)-error" role="alert">([^<]+)</span>', page
    )
    (shown,) = re.findall(
        r'<(?:input|select|textarea) id="([\w-]+)"[^>]*aria-invalid="true"[^>]*>', page
    )
    focused = rf'aria-invalid="true" aria-describedby="(?:{name}-hint )?{name}-error" autofocus'
    assert len(re.findall(focused, page)) == page.count("autofocus") == 1, page
    assert shown == name and 'id="errors"' not in page and answer.status_code in (409, 422)
    return name, sentence


ERRORS: tuple[tuple[str, dict[str, str], tuple[str, str]], ...] = (
    ("products/new", {"name": " "}, ("name", "Name is required.")),
    (
        "products/new",
        {"name": "n" * 256},
        ("name", "Name is too long (maximum is 255 characters)."),
    ),
    (
        "products/new",
        {"description": "d" * 5001},
        ("description", "Description is too long (maximum is 5,000 characters)."),
    ),
    (
        "products/{}/prices/new",
        {"unit_amount": "much"},
        ("unit_amount", "Amount must be a number such as 12.50."),
    ),
    (
        "products/{}/prices/new",
        {"unit_amount": "1.9999"},
        ("unit_amount", "Amount must be a number such as 12.50."),
    ),
    (
        "products/{}/prices/new",
        {"interval_count": "0"},
        ("interval_count", "The number of intervals must be at least 1."),
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
        ("line1", "Address is too large (maximum is 4,096 bytes)."),
    ),
)


def test_each_error_stands_at_its_input_which_has_the_focus(cast: Cast, browser: Browser) -> None:
    billing.customer(cast.bakery.test, email="taken@example.com")
    product = billing.product(cast.bakery.test)["id"]
    right = {"name": "Bread club", "email": EMAIL, **PRICE_FORM}
    for path, fields, said in ERRORS:
        answer = new(browser, path.format(product), **{**right, **fields})
        assert wrong(answer) == said, (path, fields)
    assert not Price.objects.exists()


SUBSCRIPTION_ERRORS: tuple[tuple[dict[str, Any], tuple[str, str]], ...] = (
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
    ({"trial_days": "3651"}, ("trial_days", "The trial must be at most 3,650.")),
    (
        {"grace_cycles": "x"},
        ("grace_cycles", "The number of failed payments must be a whole number."),
    ),
    (
        {"grace_cycles": "9999"},
        ("grace_cycles", "The number of failed payments must be at most 1,000."),
    ),
    ({"trial_days": "-1"}, ("trial_days", "The trial must be a whole number.")),
    (
        {"price": ["{0}", "{2}"], "quantity": ["1", "1"]},
        ("price-1", "All prices must be billed equally often and in one currency."),
    ),
)


def test_each_error_of_a_subscription_stands_at_its_input(cast: Cast, browser: Browser) -> None:
    api = cast.bakery.test
    made = [billing.price(api), billing.price(api), billing.price(api, interval="yearly")]
    ids = [price["id"] for price in made]
    billing.customer(api, email=EMAIL)
    right = {
        "email": EMAIL,
        "price": [ids[0]],
        "quantity": ["1"],
        "trial_days": "0",
        "grace_cycles": "1",
    }
    for fields, said in SUBSCRIPTION_ERRORS:
        sent = {**right, **fields}
        sent["price"] = [price.format(*ids) for price in sent["price"]]
        assert wrong(new(browser, "subscriptions/new", **sent)) == said, fields
    assert not Subscription.objects.exists()


INVOICE_ERRORS: tuple[tuple[dict[str, Any], tuple[str, str]], ...] = (
    ({"currency": "XXX"}, ("currency", "Currency must be one of")),
    ({"due": "tomorrow"}, ("due", "Due day is not a date.")),
    (
        {"line_description": ["Bread", "", " "], "line_amount": ["10", "", "5"]},
        ("what-2", "Line 2: description can’t be blank."),
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
    ({"notes": "n" * 5001}, ("notes", "Notes is too long (maximum is 5,000 characters).")),
    ({"custom_number": "A-1"}, ("custom_number", "The number has already been taken.")),
    ({"discount": "101"}, ("discount", "The discount must be at most 100 percent.")),
    (
        {"discount_type": ""},
        ("discount_type", "The kind of discount is required with the discount."),
    ),
    ({"tax": "101"}, ("tax", "Tax must be at most 100 percent.")),
    ({"email": "x@example.com"}, ("email", "No customer has this email address")),
    ({"discount": "1.5"}, ("discount", "Discount must be a whole number.")),
    (
        {"line_quantity": ["0", "1", "1"]},
        ("many-1", "Line 1: quantity must be at least 1."),
    ),
)


def test_each_error_of_an_invoice_stands_at_its_input(cast: Cast, browser: Browser) -> None:
    billing.draft(
        cast.bakery.test,
        custom_number="A-1",
        customer_id=billing.customer(cast.bakery.test, email=EMAIL)["id"],
    )
    for fields, said in INVOICE_ERRORS:
        name, sentence = wrong(new(browser, "invoices/new", **draft_form(save="1", **fields)))
        assert name == said[0] and sentence.startswith(said[1]), fields
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
        and "Total must be at most 100,000,000.00." in page
        and "aria-invalid" not in page
    )
    counted = new(browser, "invoices/new", **draft_form(**lines), headers={"HX-Request": "true"})
    assert counted.status_code == 200 and "Total must be at most 100,000,000.00." in text(counted)


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
        assert [answer.status_code for answer in answers] == [303, 303] and len(
            {answer.headers["Location"] for answer in answers}
        ) == 1, path
        assert kind.objects.count() == before + 1, path
        old = browser.post(path, **fields, form_key="old")
        assert old.status_code == 422 and "The form is too old; open it again." in text(old), path
    assert Invoice.objects.filter(subscription__isnull=False).count() == 1

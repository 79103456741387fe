"""Customers as a merchant adds, finds, bills and deletes them, without a script."""

from apps.billing.models import Customer, Invoice, Subscription
from apps.stores.models import Role
from tests.billing import records as billing
from tests.cast import Cast, join, person
from tests.dashboard.billing.forms import EMAIL, acts_of, draft_form, new, rows_of
from tests.dashboard.browse import Browser, text


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
    assert "<bdi>Germany</bdi>" in browser.get(f"customers/{customer.pk}").content.decode()

    running = billing.subscribe(cast.bakery.test, customer_id=str(customer.pk))
    assert "1 subscription ends now" in text(browser.get(f"customers/{customer.pk}/delete"))
    browser.post(f"customers/{customer.pk}/delete")
    assert Subscription.objects.get(pk=running["id"]).status == "canceled"
    assert browser.get("customers").context["table"].rows == []
    gone = text(browser.get(f"customers/{customer.pk}"))
    assert "can’t be billed anymore" in gone
    assert browser.get(f"customers/{customer.pk}/edit").status_code == 404
    assert acts_of(cast) == ["customer.created", "customer.changed", "customer.deleted"]


def test_a_customer_is_deleted_by_name_and_open_invoices_are_counted(
    cast: Cast, browser: Browser
) -> None:
    made = billing.customer(cast.bakery.test, name="Ann")
    path = f"customers/{made['id']}/delete"
    for words in (
        "1 open invoice can still be paid. Void it first if it shouldn’t be.",
        "2 open invoices can still be paid. Void any that shouldn’t be.",
    ):
        billing.opened(cast.bakery.test, customer_id=made["id"])
        shown = text(browser.get(path))
        assert words in shown and "Delete <bdi>Ann</bdi>?" in shown
        assert f"<p><bdi>{made['email']}</bdi></p>" in shown


def test_a_country_is_chosen_and_what_an_api_wrote_stays(cast: Cast, browser: Browser) -> None:
    made = billing.customer(cast.bakery.test)
    for written, chosen in (("DE", "DE"), ("germany", "DE"), ("Atlantis", "Atlantis")):
        Customer.objects.filter(pk=made["id"]).update(address={"country": written})
        page = browser.get(f"customers/{made['id']}/edit").content.decode()
        assert f'<option value="{chosen}" selected>' in page
        assert '<option value="FR" >France</option>' in page
        browser.post(f"customers/{made['id']}/edit", email=made["email"], country=chosen)
        assert Customer.objects.get(pk=made["id"]).address == {"country": chosen}


def test_only_who_may_bill_sees_the_link_to_a_customers_own_page(
    cast: Cast, browser: Browser
) -> None:
    made = billing.customer(cast.bakery.test)
    viewer = person("viewer")
    join(cast.bakery.store, viewer, Role.VIEWER)
    path = f"customers/{made['id']}"
    assert "/portal/" in text(browser.get(path))
    shown = text(Browser(viewer).get(path))
    assert "/portal/" not in shown and "New invoice" not in shown and made["email"] in shown


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
    assert row.customer.address is None
    address = {"line1": "Marktplatz 2", "postal_code": "53111", "city": "Bonn", "country": "DE"}
    eva = draft_form(email="eva@example.com", add_customer="1", customer_name="Eva", **address)
    wrong = text(new(browser, "invoices/new", **{**eva, "email": "eva"}))
    assert 'value="Marktplatz 2"' in wrong and 'value="Eva"' in wrong
    assert '<option value="DE" selected>' in wrong
    new(browser, "invoices/new", **eva)
    assert Customer.objects.get(name="Eva").address == address
    sent = {
        "email": "ben@example.com",
        "price": [billing.price(cast.bakery.test)["id"]],
        "quantity": ["1"],
        "trial_days": "7",
    }
    assert "and start the subscription" in text(new(browser, "subscriptions/new", **sent))
    new(browser, "subscriptions/new", **sent, add_customer="1", **address)
    (ben,) = [row.customer for row in Subscription.objects.all()]
    assert (ben.email, ben.address) == ("ben@example.com", address)
    browser.post(f"customers/{row.customer_id}/delete")
    again = new(browser, "invoices/new", **draft_form(save="1"))
    assert again.status_code == 422 and "add_customer" not in text(again)
    bad = new(browser, "invoices/new", **draft_form(email="nobody", add_customer="1"))
    assert bad.status_code == 422 and "Email is not a valid address." in text(bad)
    chosen = f"subscriptions/new?price={Subscription.objects.get().price_id}"
    assert f'value="{Subscription.objects.get().price_id}" selected' in text(browser.get(chosen))

"""Forms of billing."""

from tests.billing import records as billing
from tests.dashboard.forms.broken import Broken, at

INVOICE = {
    "save": "1",
    "currency": "EUR",
    "due": "2027-01-31",
    "line_description": "Bread",
    "line_quantity": "1",
    "line_amount": "10",
}


PRICE = {"unit_amount": "10", "currency": "EUR", "interval": "monthly", "interval_count": "1"}

BILLING = (
    Broken(
        "customer_create",
        at("customers/new"),
        {"email": "x"},
        "email",
        "Email is not a valid address.",
    ),
    Broken(
        "customer_edit",
        lambda world: f"customers/{billing.customer(world.api)['id']}/edit",
        {"email": "x"},
        "email",
        "Email is not a valid address.",
    ),
    Broken("product_create", at("products/new"), {"name": ""}, "name", "Name is required."),
    Broken(
        "product_edit",
        lambda world: f"products/{billing.product(world.api)['id']}/edit",
        {"name": ""},
        "name",
        "Name is required.",
    ),
    Broken(
        "price_create",
        lambda world: f"products/{billing.product(world.api)['id']}/prices/new",
        {**PRICE, "unit_amount": "much"},
        "unit_amount",
        "Amount must be a number such as 12.50.",
    ),
    Broken(
        "invoice_create",
        at("invoices/new"),
        {**INVOICE, "email": "nobody@example.com"},
        "email",
        "No customer has this email address; add the customer, or correct it.",
    ),
    Broken(
        "invoice_edit",
        lambda world: f"invoices/{billing.draft(world.api)['id']}/edit",
        {**INVOICE, "tax": "much"},
        "tax",
        "Tax must be a number such as 12.50.",
    ),
    Broken(
        "subscription_create",
        lambda world: billing.price(world.api) and "subscriptions/new",
        {"email": "nobody@example.com"},
        "email",
        "No customer has this email address; add the customer, or correct it.",
    ),
    Broken(
        "subscription_change",
        lambda world: f"subscriptions/{billing.subscribe(world.api)['id']}/change",
        {"grace_cycles": "x"},
        "grace_cycles",
        "The number of failed payments must be a whole number.",
    ),
)

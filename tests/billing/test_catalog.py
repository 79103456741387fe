"""Products, prices and customers, over the API."""

from typing import Any

import pytest

from tests.billing import records as r
from tests.cast import Cast, Shop

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def refused(answer: Any, text: str, status: int = 422) -> None:
    assert (answer.status_code, answer.json()) == (status, {"errors": [text]})


def flat(answer: Any, text: str, status: int = 422) -> None:
    assert (answer.status_code, answer.json()) == (status, {"error": text})


def test_a_new_product_is_active_whatever_was_sent(bakery: Shop) -> None:
    made = r.product(bakery.test, description="Weekly", metadata={"k": 1}, active=False)
    assert (made["name"], made["description"], made["metadata"], made["active"]) == (
        "Bread club",
        "Weekly",
        {"k": 1},
        True,
    )
    shown = r.ok(bakery.test.get(f"/billing/products/{made['id']}"))
    assert shown == {**made, "prices": []}


def test_products_can_be_listed_without_the_inactive(bakery: Shop) -> None:
    first = r.product(bakery.test)["id"]
    second = r.product(bakery.test)["id"]
    r.ok(bakery.test.patch(f"/billing/products/{first}", {"product": {"active": False}}))
    for query, expected in (
        ("", [second, first]),
        ("?active=true", [second]),
        ("?active=false", [second, first]),
        ("?active=1", [second, first]),
    ):
        assert [
            item["id"] for item in r.ok(bakery.test.get(f"/billing/products{query}"))
        ] == expected


PRODUCT_REFUSALS = [
    ({}, "product is required"),
    ({"product": None}, "product is required"),
    ({"product": "text"}, "product must be an object"),
    ({"product": {}}, "name is required"),
    ({"product": {"name": " "}}, "name can't be blank"),
    ({"product": {"name": "n" * 256}}, "name is too long (maximum is 255 characters)"),
    ({"product": {"name": 5}}, "name must be a string"),
    ({"product": {"name": "x", "metadata": []}}, "metadata must be an object"),
    (
        {"product": {"name": "x", "metadata": {"k": "v" * 17_000}}},
        "metadata is too large (maximum is 16384 bytes)",
    ),
    (
        {"product": {"name": "x", "metadata": {"k": 10**30}}},
        "metadata contains a number that is too large",
    ),
]


@pytest.mark.parametrize(("body", "text"), PRODUCT_REFUSALS)
def test_a_product_is_refused_in_the_lists_shape(bakery: Shop, body: Any, text: str) -> None:
    refused(bakery.test.post("/billing/products", body), text)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"active": None}, "active is required"),
        ({"active": "yes"}, "active must be true or false"),
        ({"name": None}, "name is required"),
    ],
)
def test_a_change_of_a_product_is_refused(bakery: Shop, fields: Any, text: str) -> None:
    refused(
        bakery.test.patch(f"/billing/products/{r.product(bakery.test)['id']}", {"product": fields}),
        text,
    )


CURRENCIES = "currency must be one of USD, EUR, GBP, HKD, SGD, JPY, DKK, CHF, SEK, NOK"
PRICE_REFUSALS = [
    ({"unit_amount_cents": None}, "unit_amount_cents is required"),
    ({"unit_amount_cents": -1}, "unit_amount_cents must be at least 0"),
    ({"unit_amount_cents": "1000"}, "unit_amount_cents must be an integer"),
    ({"unit_amount_cents": 1.5}, "unit_amount_cents must be an integer"),
    ({"unit_amount_cents": True}, "unit_amount_cents must be an integer"),
    ({"unit_amount_cents": 10**30}, "unit_amount_cents must be at most 10000000000"),
    (
        {"unit_amount_cents": 150, "currency": "JPY"},
        "unit_amount_cents must be a multiple of 100 in JPY",
    ),
    ({"currency": None}, "currency is required"),
    ({"currency": "eur"}, CURRENCIES),
    ({"currency": "ETH"}, CURRENCIES),
    ({"interval": None}, "interval is required"),
    ({"interval": "hourly"}, "interval must be one of daily, weekly, monthly, yearly"),
    ({"interval_count": 0}, "interval_count must be at least 1"),
    ({"interval_count": 366}, "interval_count must be at most 365"),
    ({"interval_count": -1}, "interval_count must be at least 1"),
]


@pytest.mark.parametrize(("fields", "text"), PRICE_REFUSALS)
def test_a_price_is_refused_by_name(bakery: Shop, fields: Any, text: str) -> None:
    refused(r.ask_price(bakery.test, r.product(bakery.test)["id"], **fields), text)


def test_prices_are_listed_newest_first_and_never_change_but_for_active(bakery: Shop) -> None:
    owner = r.product(bakery.test)["id"]
    made = [r.price(bakery.test, owner, unit_amount_cents=n)["id"] for n in (0, 100, 200)]
    path = f"/billing/products/{owner}/prices"
    assert [item["id"] for item in r.ok(bakery.test.get(path))] == made[::-1]
    assert [
        price["id"] for price in r.ok(bakery.test.get(f"/billing/products/{owner}"))["prices"]
    ] == made[::-1]
    for method in ("PATCH", "DELETE", "PUT"):
        answer = bakery.test(method, f"{path}/{made[0]}", {"price": {"unit_amount_cents": 1}})
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET")
    archived = r.ok(bakery.test.post(f"{path}/{made[0]}/archive"))
    assert archived["active"] is False
    assert r.ok(bakery.test.post(f"{path}/{made[0]}/archive")) == archived
    assert r.ok(bakery.test.post(f"{path}/{made[0]}/activate"))["active"] is True


def test_a_price_is_found_under_its_own_product_only(bakery: Shop) -> None:
    one = r.price(bakery.test)
    other = r.price(bakery.test)
    flat(
        bakery.test.get(f"/billing/products/{one['product_id']}/prices/{other['id']}"),
        "Price not found",
        404,
    )
    flat(
        bakery.test.get(f"/billing/products/{UNKNOWN}/prices/{one['id']}"), "Product not found", 404
    )
    flat(bakery.test.post(f"/billing/products/{UNKNOWN}/prices", {}), "Product not found", 404)


def test_an_email_is_taken_in_any_case_per_store_and_mode_and_stays_so(cast: Cast) -> None:
    api = cast.bakery.test
    email = "Ann@Example.com"
    made = r.customer(api, email=email)
    assert made["email"] == email
    for other in (email, "ann@example.COM"):
        flat(
            api.post("/billing/customers", {"customer": {"email": other}}),
            "A customer with this email already exists",
            409,
        )
    second = r.customer(api)
    flat(
        api.patch(f"/billing/customers/{second['id']}", {"customer": {"email": email}}),
        "A customer with this email already exists",
        409,
    )
    r.customer(cast.bakery.live, email=email)
    r.customer(cast.strangers.test, email=email)
    assert api.delete(f"/billing/customers/{made['id']}").status_code == 204
    flat(
        api.post("/billing/customers", {"customer": {"email": email}}),
        "A customer with this email already exists",
        409,
    )


CUSTOMER_REFUSALS = [
    ({"email": None}, "email is required"),
    ({"email": ""}, "email can't be blank"),
    ({"email": "nobody"}, "email is not a valid address"),
    ({"email": " a@example.com"}, "email is not a valid address"),
    ({"email": "a@example.com\nBcc: b@example.com"}, "email is not a valid address"),
    ({"email": "a@example.com", "name": 1}, "name must be a string"),
    ({"email": "a@example.com", "phone": "1" * 51}, "phone is too long (maximum is 50 characters)"),
    ({"email": "a@example.com", "address": []}, "address must be an object"),
    (
        {"email": "a@example.com", "address": {"street": "s" * 4096}},
        "address is too large (maximum is 4096 bytes)",
    ),
]


@pytest.mark.parametrize(("fields", "text"), CUSTOMER_REFUSALS)
def test_a_customer_is_refused_by_name(bakery: Shop, fields: Any, text: str) -> None:
    refused(bakery.test.post("/billing/customers", {"customer": fields}), text)


def test_a_null_clears_what_may_be_empty(bakery: Shop) -> None:
    made = r.customer(bakery.test, phone="1", address={"city": "Berlin"}, metadata={"a": "b"})
    cleared = r.ok(
        bakery.test.patch(
            f"/billing/customers/{made['id']}",
            {"customer": {"phone": None, "address": None, "metadata": None}},
        )
    )
    assert (cleared["phone"], cleared["address"], cleared["metadata"], cleared["name"]) == (
        None,
        None,
        {},
        "Ann",
    )


def test_search_finds_parts_of_email_and_name_literally_and_in_any_case(bakery: Shop) -> None:
    ann = r.customer(bakery.test, email="ann@shop.example", name="Ann 100%")
    bob = r.customer(bakery.test, email="bob@x.example", name=None)
    for text, expected in (
        ("SHOP", [ann]),
        ("bob", [bob]),
        ("%25", [ann]),
        ("_", []),
        ("100", [ann]),
        ("%00", []),
        ("", [bob, ann]),
    ):
        assert r.ok(bakery.test.get(f"/billing/customers?q={text}"))["data"] == expected


def test_a_deleted_customer_leaves_the_list_and_new_records_but_not_the_old_ones(
    bakery: Shop,
) -> None:
    api = bakery.test
    made = r.customer(api)
    sent = r.opened(api, customer_id=made["id"])
    running = r.subscribe(api, customer_id=made["id"])
    assert api.delete(f"/billing/customers/{made['id']}").status_code == 204
    assert r.ok(api.get("/billing/customers"))["meta"]["total"] == 0
    flat(r.ask_invoice(api, customer_id=made["id"]), "Customer is not active")
    flat(
        r.ask_subscription(api, customer_id=made["id"], price_id=running["price_id"]),
        "Customer is not active",
    )
    flat(
        api.patch(f"/billing/customers/{made['id']}", {"customer": {"name": "x"}}),
        "Customer is not active",
    )
    kept = r.invoice(api, sent["id"])
    assert (kept["customer_id"], kept["customer"]["email"]) == (made["id"], made["email"])
    assert r.ok(api.get(f"/billing/customers/{made['id']}"))["deleted_at"] is not None
    assert r.subscription(api, running["id"])["status"] == "canceled"
    assert api.delete(f"/billing/customers/{made['id']}").status_code == 204


@pytest.mark.parametrize("page", ["-1", "0", "1.5", "1e2", "x", "99999999999999999999"])
def test_a_strange_page_is_the_first_or_empty(bakery: Shop, page: str) -> None:
    r.customer(bakery.test)
    told = r.ok(bakery.test.get(f"/billing/customers?page={page}&per_page=0"))
    assert told["meta"]["per_page"] == 1
    assert len(told["data"]) == (0 if page.startswith("9") else 1)


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        ("products", "Product"),
        ("customers", "Customer"),
        ("subscriptions", "Subscription"),
        ("invoices", "Invoice"),
    ],
)
def test_an_unknown_id_is_told_flat_in_the_nouns_sentence(cast: Cast, path: str, noun: str) -> None:
    makers = {
        "products": r.product,
        "customers": r.customer,
        "subscriptions": r.subscribe,
        "invoices": r.draft,
    }
    others = [makers[path](cast.strangers.test)["id"], makers[path](cast.bakery.live)["id"]]
    for id in (UNKNOWN, "x", "ABCDEFGH12345678", *others):
        flat(cast.bakery.test.get(f"/billing/{path}/{id}"), f"{noun} not found", 404)
        flat(cast.bakery.test.patch(f"/billing/{path}/{id}", {}), f"{noun} not found", 404)

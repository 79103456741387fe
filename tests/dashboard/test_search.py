"""One search over everything of a store: what is found by what, who finds it, and what the database
does for it."""

import uuid

from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from apps.access.access import Access
from apps.access.models import ApiKey
from apps.audit.grants import WEB
from apps.billing.models import Invoice
from apps.chain.models import Address, Deposit
from apps.core.db import tenancy
from apps.core.searching import SearchTerm
from apps.dashboard.searching.search import GROUPS, PER_GROUP
from apps.dashboard.urls import PAGES
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payouts.models import Payout
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Role
from apps.swaps.models import Swap
from apps.webhooks.models import Delivery
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.billing import records as billing
from tests.cast import Cast, Shop, join, person
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link, send
from tests.make import (
    fresh_address,
    paid,
    payment,
    payout,
    store_coins,
    swapped,
)
from tests.roles import acting_as

HASH = "0x" + "ab" * 32
PAYER = "0x" + "cd" * 20


def groups(browser: Browser, typed: str) -> dict[str, list[str]]:
    """Title of a group: titles of its hits. What HTMX asks for never leaves the page."""
    answer = browser.get("search", data={"q": typed}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return {group.title: [hit.title for hit in group.hits] for group in answer.context["groups"]}


def hits(shop: Shop, group: str, typed: str) -> list[str]:
    """Results of one group of the page, as shown to the owner, without the page and the other
    groups."""
    asked = next(item for item in GROUPS if item.title == group)
    viewer = Access.for_session(shop.owner, shop.store, "test")
    term = SearchTerm.of(typed)
    with acting_as(WEB), tenancy.within(tenancy.of([shop.store], ["test"])):
        return [asked.hit_of(row, term).title for row in asked.find(viewer, term, PER_GROUP)]


def joined(cast: Cast, role: str) -> Browser:
    user = person(role)
    store = cast.bakery.store
    join(store, user, role)
    return Browser(user)


def test_a_payment_is_found_by_whatever_people_have_of_it(cast: Cast) -> None:
    api = cast.bakery.test
    made = payment(api, amount="1250.40", title="Flat white", order_id="Order-4471")
    payment(api, amount="7.00", title="Espresso", order_id="Other-1")
    row = Payment.objects.get(pk=made["id"])
    address = PaymentAddress.objects.filter(payment=row).values_list("address_id", flat=True)[0]
    for typed in (
        made["id"],
        made["id"].upper(),
        row.reference,
        row.reference.lower(),
        "flat WH",
        "FLAT",
        "order-44",
        "ORDER-4471",
        "1250.40",
        "€1,250.40",
        "1250.4",
        "1,250.40 EUR",
        "1250,40",
        "1.250,40 €",
        "1’250.40",
        address,
        address.upper().replace("0X", "0x"),
        " flat  white ",
    ):
        assert hits(cast.bakery, "Payments", typed) == ["Flat white"], typed
    for typed in ("latte", "white", "12.50", HASH, str(uuid.uuid4()), "%", "_", "'"):
        assert hits(cast.bakery, "Payments", typed) == [], typed
    assert groups(Browser(cast.alice), "flat WH") == {"Payments": ["Flat white"]}


def test_an_amount_that_two_countries_read_differently_is_found_in_both_readings(
    cast: Cast,
) -> None:
    api = cast.bakery.test
    payment(api, amount="1250.00", title="Oven")
    payment(api, amount="1.25", title="Roll")
    payment(api, amount="780.00", title="Table")
    payment(api, amount="7.80", title="Rye")
    payments = Browser(cast.alice)
    for typed, titles in {
        "7,80": ["Rye"],
        "780": ["Table"],
        "1.250": ["Oven", "Roll"],
        "1.250 €": ["Oven", "Roll"],
    }.items():
        assert sorted(hits(cast.bakery, "Payments", typed)) == titles, typed
        page = payments.get("payments", data={"q": typed.removesuffix(" €")})
        assert {title for title in ("Oven", "Roll", "Table", "Rye") if title in text(page)} == set(
            titles
        ), typed


def test_a_payment_is_found_by_the_transaction_that_paid_it(cast: Cast) -> None:
    made = paid(cast.bakery.test, title="Rye")
    address = PaymentAddress.objects.filter(payment=made["id"]).values("address_id")
    Deposit.objects.filter(address__in=address).update(tx_hash=HASH)
    assert groups(Browser(cast.alice), HASH.upper().replace("0X", "0x"))["Payments"] == ["Rye"]


def test_billing_records_are_found_by_customer_number_and_name(cast: Cast) -> None:
    api = cast.bakery.test
    subscribed = billing.subscribe(api)
    opened = billing.opened(api)
    row = Invoice.objects.select_related("customer").get(pk=opened["id"])
    for typed in (str(row.customer.pk), row.customer.email[:6], row.customer.email.upper()):
        assert hits(cast.bakery, "Customers", typed), typed
    number = f"INV-{row.number:04d}"
    for typed in (number, number.lower(), str(row.number), opened["id"]):
        assert number in hits(cast.bakery, "Invoices", typed), typed
    found = groups(Browser(cast.alice), row.customer.email)
    assert found["Customers"] and number in found["Invoices"]
    assert hits(cast.bakery, "Subscriptions", subscribed["id"])
    assert hits(cast.bakery, "Products", billing.product(api, name="Sourdough club")["id"])
    assert hits(cast.bakery, "Products", "sourdough") == ["Sourdough club"]


def test_payment_links_are_found_by_title_and_address_and_payments_by_who_paid_there(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    link = made_link(cast.bakery, title="Stoneware mug", email="required")
    made_link(cast.strangers, title="Stoneware jug")
    send(link, email="Guest@example.com")
    for typed in (
        "stone",
        "Stoneware mug",
        str(link.pk),
        link.token,
        f"https://pay.example/pay/{link.token}",
    ):
        assert hits(cast.bakery, "Payment links", typed) == ["Stoneware mug"], typed
    assert hits(cast.bakery, "Payment links", "mug") == []
    assert groups(browser, "Guest@example.com")["Payments"] == ["Stoneware mug"]
    assert "Stoneware mug" in text(browser.get("payments", data={"q": "guest@example.com"}))
    assert "Stoneware" not in text(browser.get("payments", data={"q": "nobody@example.com"}))
    page = text(browser.get(f"payments/{Payment.objects.get(store=cast.bakery.store).pk}"))
    assert "Guest@example.com" in page and f"/dashboard/payment-links/{link.pk}" in page


def test_money_on_its_way_out_is_found_by_hash_address_and_label(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    to = fresh_address()
    store_coins(cast.bakery.store, "SETH", 10**18)
    raw = payout(api, 10**16, destination_address=to)
    saved = add_wallet(cast.bakery.store, "test", "sepolia", fresh_address(), label="Cold wallet")
    labelled = payout(api, 10**16, crypto_payout_detail_id=str(saved.pk))
    Payout.objects.filter(pk=raw["id"]).update(tx_hash=HASH)
    for typed in (HASH, to, raw["id"]):
        assert len(hits(cast.bakery, "Payouts", typed)) == 1, typed
    for typed in ("cold w", saved.address):
        assert hits(cast.bakery, "Payouts", typed) == ["Payout to Cold wallet"], typed
    assert (
        browser.get("search", data={"q": labelled["id"]}).headers["Location"]
        == f"/dashboard/payouts/{labelled['id']}"
    )
    swap = swapped(cast.bakery)
    Swap.objects.filter(pk=swap).update(tx_hash="0x" + "cd" * 32)
    for typed in (swap, "0x" + "cd" * 32):
        assert hits(cast.bakery, "Swaps", typed) == ["ETH to USDC"], typed


def test_a_refund_is_found_by_id_and_transaction_and_leads_to_its_payment(cast: Cast) -> None:
    made = paid(cast.bakery.test, title="Rye")
    store_coins(cast.bakery.store, "SETH", 10**18)
    refund = cast.bakery.test.post(
        f"/payments/{made['id']}/refunds", {"destination_address": fresh_address()}, key="rye"
    )
    assert refund.status_code in (200, 201), refund.content
    row = Refund.objects.get()
    assert hits(cast.bakery, "Refunds", str(row.pk)) == ["Refund of Rye"]
    assert (
        Browser(cast.alice).get("search", data={"q": str(row.pk)}).headers["Location"]
        == f"/dashboard/payments/{made['id']}"
    )


def test_developers_things_are_found_by_those_who_may_see_them(cast: Cast) -> None:
    url = "https://1.1.1.1/hooks/tillgate"
    endpoint = register_endpoint(
        cast.bakery.access(),
        EndpointRequest(url=url, subscribed_events=["payment_intent.completed"]),
    ).endpoint
    paid(cast.bakery.test)
    delivery = Delivery.objects.get(endpoint=endpoint)
    key = ApiKey.objects.visible_to(cast.bakery.access()).filter(revoked_at=None)[0]
    owner = Browser(cast.alice)
    accountant = joined(cast, Role.ACCOUNTANT)
    for typed, group in (
        (str(endpoint.pk), "Webhook endpoints"),
        ("hooks/till", "Webhook endpoints"),
        (str(delivery.pk), "Webhook deliveries"),
        (str(delivery.event_id), "Webhook deliveries"),
        (key.prefix, "API keys"),
        (cast.bakery.secrets["test"], "API keys"),
        (str(key.pk), "API keys"),
    ):
        assert hits(cast.bakery, group, typed), typed
    found = groups(owner, str(delivery.event_id))
    assert found["Webhook deliveries"] and found["Events"]
    for named in (str(endpoint.pk), str(delivery.event_id), key.prefix):
        assert groups(accountant, named) == {}, named
    assert "Webhooks" in groups(owner, "webh")["Pages"]
    assert "Pages" not in groups(accountant, "webh")


def test_people_of_the_team_are_found_by_name_and_email(cast: Cast) -> None:
    assert hits(cast.bakery, "Team", cast.bob.email) == [cast.bob.name or cast.bob.email]
    assert hits(cast.bakery, "Team", cast.charlie.email) == []


def test_a_group_needs_what_the_list_of_its_pages_needs() -> None:
    names = {
        "Refunds": "payment",
        "Unmatched transfers": "transfer",
        "Mass payouts": "payout_batch",
        "Sub-merchants": "platform_account",
        "API requests": "request_entry",
        "API keys": "keys",
        "Prices": "product",
        "Payout destinations": "payout_destinations",
        "Agents": "agents",
        "Reports": "reports",
        "Payment links": "link",
        "Team": "members",
        "Webhook endpoints": "webhook_endpoint",
        "Webhook deliveries": "webhook_endpoint",
    }
    permissions = {page.name: page.permission for page in PAGES}
    for group in GROUPS:
        usual = group.title.lower().replace(" ", "_").removesuffix("s")
        name = names.get(group.title, usual)
        assert group.permission == permissions[name], group.title


def test_nothing_of_another_store_is_found(cast: Cast) -> None:
    made = paid(cast.strangers.test, title="Secret cake", order_id="Secret-1", amount="99.99")
    browser = Browser(cast.alice)
    row = Payment.objects.get(pk=made["id"])
    for typed in (
        made["id"],
        row.reference,
        "secret",
        "99.99",
        str(PaymentAddress.objects.filter(payment=row)[0].address_id),
    ):
        answer = browser.get("search", data={"q": typed})
        assert (
            answer.status_code == 200
            and not answer.context["groups"]
            and answer.context["other"] is None
        ), typed


def test_an_exact_hit_opens_its_page_and_a_list_stays_a_list(cast: Cast) -> None:
    made = payment(cast.bakery.test, title="Rye", amount="24.90")
    browser = Browser(cast.alice)
    reference = Payment.objects.get(pk=made["id"]).reference
    for typed in (made["id"], reference.lower()):
        answer = browser.get("search", data={"q": typed})
        assert (answer.status_code, answer.headers["Location"]) == (
            302,
            f"/dashboard/payments/{made['id']}",
        )
    assert browser.get("search", data={"q": "24.90"}).status_code == 200
    assert "Rye" in text(browser.get("search", data={"q": "24.90"}))


def test_the_other_mode_is_named_for_an_exact_id_alone(cast: Cast) -> None:
    made = payment(cast.bakery.live, title="Live rye")
    browser = Browser(cast.alice)
    reference = Payment.objects.get(pk=made["id"]).reference
    for typed in (made["id"], reference):
        shown = text(browser.get("search", data={"q": typed}))
        assert "Found in live mode" in shown and "Live rye" in shown
        assert f'name="next" value="/dashboard/payments/{made["id"]}"' in shown
    for typed in ("Live rye", "10.00"):
        assert "Found in live mode" not in text(browser.get("search", data={"q": typed}))
    answer = browser.post("mode", mode="live", next=f"/dashboard/payments/{made['id']}")
    assert browser.get(answer.headers["Location"]).status_code == 200


def test_five_are_shown_and_the_rest_is_in_the_list(cast: Cast) -> None:
    for number in range(7):
        payment(cast.bakery.test, title=f"Coffee {number}")
    browser = Browser(cast.alice)
    answer = browser.get("search", data={"q": "coffee"})
    (group,) = answer.context["groups"]
    assert [hit.title for hit in group.hits] == [f"Coffee {number}" for number in (6, 5, 4, 3, 2)]
    assert group.all_url == "/dashboard/payments?q=coffee"
    assert "Coffee 0" in text(browser.get(group.all_url))


def test_odd_texts_break_nothing(cast: Cast) -> None:
    payment(cast.bakery.test, title="مرحبا بالعالم <script>")
    browser = Browser(cast.alice)
    for typed in (
        "",
        " ",
        "\x00",
        "a\x00b",
        "🙂",
        "x" * 5000,
        "\U0010ffff",
        "\ud7ff",
        "9" * 40,
        "INV-99999999999",
        "1e5",
        "<script>",
        "0x",
    ):
        groups(browser, typed)
    assert browser.get("search", data={"q": "\x00<script>"}).status_code == 200
    assert groups(browser, "مرحبا")["Payments"] == ["مرحبا بالعالم <script>"]
    assert (
        "<script>"
        not in browser.get("search", data={"q": "مرحبا"}).content.decode().split("<main")[1]
    )


def test_a_search_asks_no_more_of_many_than_of_few(cast: Cast) -> None:
    browser = Browser(cast.alice)

    def asked() -> int:
        browser.get("search", data={"q": "coffee"})
        with CaptureQueriesContext(connection) as seen:
            browser.get("search", data={"q": "coffee"})
        return len(seen)

    payment(cast.bakery.test, title="Coffee")
    few = asked()
    for _ in range(6):
        payment(cast.bakery.test, title="Coffee")
    assert asked() == few


# --- a month's payments ---------------------------------------------------------------------------

MANY = 12_000


def copies(model: type[models.Model], made: dict[str, str], source: str) -> None:
    """A row for each of the source, which has a column `n` beside those of a row of the model."""
    columns = [field.column for field in model._meta.concrete_fields]
    chosen = ", ".join(made.get(column, f"s.{column}") for column in columns)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} FROM {source}")
        cursor.execute(f"ANALYZE {table}")


def month_of_payments(cast: Cast, many: int = MANY, **otherwise: str) -> Payment:
    """So many payments, each with an address and a deposit of its own; columns may be otherwise
    than those of a payment just made."""
    first = Payment.objects.get(pk=paid(cast.bakery.test, title="Coffee", order_id="A-0")["id"])
    made = {
        "id": "gen_random_uuid()",
        "reference": "upper(substr(md5(n::text), 1, 16))",
        "order_id": "'A-' || n",
        "title": "'Coffee ' || n",
        "created_at": "created_at - n * interval '2 minutes'",
        "settlement_amount_cents": "n",
        "idempotency_key": "NULL",
        "metadata": """jsonb_build_object('customer_email', 'buyer' || n || '@example.com')""",
        **otherwise,
    }
    copies(Payment, made, f"payments_payment s, generate_series(1, {many}) n")
    with connection.cursor() as cursor:  # what the next refer to isn't looked up for each row
        cursor.execute("SET LOCAL session_replication_role = replica")
    address = "'0x' || lpad(to_hex(n), 40, '0')"
    copies(
        Address,
        {"address": address, "index": "s.index + 1000000 + n"},
        f"(SELECT * FROM chain_address LIMIT 1) s, generate_series(1, {many}) n",
    )
    rows = (
        "(SELECT id AS payment, row_number() OVER (ORDER BY created_at) AS n FROM payments_payment"
        " WHERE order_id <> 'A-0') p"
    )
    made = {"id": "gen_random_uuid()", "payment_id": "p.payment", "address_id": address}
    copies(PaymentAddress, made, f"(SELECT * FROM payments_paymentaddress LIMIT 1) s, {rows}")
    made = {
        "id": "gen_random_uuid()",
        "address_id": address,
        "tx_hash": "'0x' || md5(n::text) || md5((-n)::text)",
        "from_address": f"CASE n WHEN 7 THEN '{PAYER}' ELSE '0x' || md5(n::text) || '00000000' END",
    }
    copies(Deposit, made, f"(SELECT * FROM chain_deposit LIMIT 1) s, generate_series(1, {many}) n")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = origin")
    return first


def explained(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS OFF) {statement}")
        return "\n".join(line for (line,) in cursor.fetchall())

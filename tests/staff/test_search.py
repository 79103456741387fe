"""The one search of the staff site."""

import pytest

from apps.access.models import ApiKey
from apps.billing.models import Invoice
from apps.chain.models import UnknownTransaction
from apps.core import clock, searching
from apps.payments.models import Payment, Refund
from apps.staff.decisions.asking import FOUND_MAX
from apps.stores.models import AuditEntry, Store
from tests import make
from tests.billing import records as billing
from tests.cast import Cast, shop_of
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import RECORDS
from tests.dashboard.test_search import copies
from tests.growth.buffers import reading
from tests.links.makers import made_link
from tests.make import paid, payment
from tests.staff.pages import SEARCH, statements

# The ten that are shown, each with its store, and those that begin alike.
READ_MORE_MAX = 300


def test_one_search_finds_whatever_is_quoted(cast: Cast, finance: Browser) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    other = make.payout(cast.bakery.test, 10**16)
    address = made["transaction"].get("to_address")
    quoted = [
        made["reference"],
        made["transaction"]["tx_hash"],
        "24.90",
        "Alice's B",
        "alice",
        cast.alice.email,
    ]
    for query in [*quoted, *([address] if address else [])]:
        shown = text(finance.get(SEARCH, data={"q": query}, follow=True))
        assert "Nothing found" not in shown, query
    for id in (made["id"], other["id"]):
        assert f"/{id}/change/" in text(finance.get(SEARCH, data={"q": id}))
    alone = finance.get(SEARCH, data={"q": str(cast.bakery.store.pk)})
    assert alone.headers["Location"] == f"/admin/stores/store/{cast.bakery.store.pk}/change/"
    assert (
        AuditEntry.objects.filter(
            action="staff.searched", actor_kind="staff", target_name=made["reference"]
        ).count()
        == 1
    )


def test_a_payment_is_found_by_its_order_and_title_and_a_customer_by_name(
    cast: Cast, finance: Browser
) -> None:
    made = paid(cast.bakery.test, order_id="Order-4471", title="Flat white")
    customer = billing.customer(cast.bakery.test, email="ann@rye.example", name="Ann Rye")
    opened = billing.opened(cast.bakery.test, customer_id=customer["id"])
    number = Invoice.objects.get(pk=opened["id"]).number
    series = {"document_settings": {"invoice_prefix": "RE-"}}
    assert cast.bakery.test.patch("/billing/document_settings", series).status_code == 200
    own = billing.opened(cast.bakery.test, customer_id=customer["id"])
    for typed, found in (
        ("Order-4471", made["id"]),
        ("order-44", made["id"]),
        ("Flat white", made["id"]),
        ("flat", made["id"]),
        ("Ann R", customer["id"]),
        ("ann rye", customer["id"]),
        ("ann@rye.example", customer["id"]),
        (f"INV-{number:04d}", opened["id"]),
        (own["formatted_number"], own["id"]),
    ):
        assert found in found_by(finance, typed), typed
    assert made["id"] not in found_by(finance, "Order-448")


def test_what_is_exactly_the_text_comes_before_what_begins_with_it(
    cast: Cast, finance: Browser
) -> None:
    exact = payment(cast.bakery.test, order_id="7", title="Rye")["id"]
    longer = [payment(cast.strangers.test, order_id=f"7{n}", title=f"Rye {n}")["id"] for n in "abc"]
    shown = text(finance.get(SEARCH, data={"q": "Rye"}))
    places = [shown.index(f"/payment/{id}/change/") for id in (exact, *reversed(longer))]
    assert places == sorted(places)
    assert exact in found_by(finance, "7")


def test_an_amount_is_looked_for_in_the_newest_payments(
    cast: Cast, finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NEWEST_MAX", 2)
    first, second = (payment(cast.bakery.test, amount="24.90")["id"] for _ in range(2))
    assert first in found_by(finance, "24.90")
    payment(cast.strangers.live)
    shown = found_by(finance, "€24,90")
    assert second in shown and first not in shown
    assert "in the newest 2 payments" in found_by(finance, "24.91")


def test_a_search_reads_as_little_of_many_stores_and_payments_as_of_few(
    cast: Cast, finance: Browser
) -> None:
    """Of a popular title or order as well, and of what nobody has."""

    def read() -> dict[str, int]:
        found = {}
        for typed in ("Coffee", "A-7", "cof", "Rye", "zz-nothing", "INV-0001"):
            with reading() as asked:
                finance.get(SEARCH, data={"q": typed})
            found[typed] = sum(asked.buffers.values())
        return found

    first = Payment.objects.get(pk=payment(cast.bakery.test, title="Coffee", order_id="A-7")["id"])
    few = read()
    source = f"(SELECT * FROM stores_store WHERE id = '{first.store_id}') s"
    named = {"id": "gen_random_uuid()", "name": "'Shop ' || n"}
    copies(Store, named, f"{source}, generate_series(1, 500) n")
    made = {
        "id": "uuidv7()",
        "store_id": "(SELECT id FROM stores_store WHERE name = 'Shop ' || (1 + mod(n, 500)))",
        "reference": "upper(substr(md5(n::text), 1, 16))",
        "created_at": "created_at - n * interval '2 minutes'",
        "settlement_amount_cents": "100 + mod(n, 7)",
        "idempotency_key": "NULL",
    }
    copies(Payment, made, "payments_payment s, generate_series(1, 6000) n")
    many = read()
    assert {typed: many[typed] for typed in many if many[typed] > few[typed] + READ_MORE_MAX} == {}


def test_keys_links_and_what_is_sold_are_found(cast: Cast, finance: Browser) -> None:
    last_four = cast.bakery.secrets["test"][-4:]
    link = made_link(cast.bakery, title="Mug")
    price = billing.price(cast.bakery.test)
    mandate = RECORDS["agents/mandates"](cast)["id"]
    agent = str(cast.bakery.agent().pk)
    for typed, found in (
        (last_four, str(ApiKey.objects.get(last_four=last_four).pk)),
        (link.token, str(link.pk)),
        (f"https://pay.example/pay/{link.token}", str(link.pk)),
        (str(link.pk), str(link.pk)),
        (price["product_id"], price["product_id"]),
        (price["id"], price["product_id"]),
        (mandate, mandate),
        (agent, agent),
    ):
        assert found in found_by(finance, typed), typed


def test_money_that_went_out_is_found_by_where_it_went(cast: Cast, finance: Browser) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    to = make.fresh_address()
    refund = cast.bakery.test.post(
        f"/payments/{made['id']}/refunds", {"destination_address": to}, key="rye"
    )
    assert refund.status_code in (200, 201), refund.content
    assert str(Refund.objects.get().pk) in found_by(finance, to)
    unknown = UnknownTransaction.objects.create(
        chain_id="sepolia",
        from_address=to,
        nonce=1,
        tx_hash="0x" + "b2" * 32,
        value_atomic=0,
        found_at=clock.real_now(),
    )
    answer = finance.get(SEARCH, data={"q": unknown.tx_hash})
    assert answer.headers["Location"].endswith(f"/unknowntransaction/{unknown.pk}/change/")


def found_by(browser: Browser, typed: str) -> str:
    """The page, or the address of the only hit."""
    answer = browser.get(SEARCH, data={"q": typed})
    return str(answer.headers.get("Location", "")) or text(answer)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "\x00",
        "%",
        "0x" + "0" * 64,
        "0x" + "0" * 40,
        "nobody@nowhere.example",
        "00000000-0000-4000-8000-000000000000",
        "9" * 90,
    ],
)
def test_what_is_not_there_is_said_to(finance: Browser, typed: str) -> None:
    answer = finance.get(SEARCH, data={"q": typed})
    assert answer.status_code == 200 and "Search finds IDs" in text(answer)


def test_a_search_asks_no_more_for_more(cast: Cast, finance: Browser) -> None:
    def look() -> None:
        finance.get(SEARCH, data={"q": "24.90"})

    paid(cast.bakery.test, amount="24.90")
    look()
    few = statements(look)
    for _ in range(3):
        paid(cast.bakery.test, amount="24.90")
    assert statements(look) == few


def test_of_more_stores_of_one_name_than_are_shown_each_is_picked_by_its_id(
    cast: Cast, finance: Browser
) -> None:
    stores = [shop_of(cast.charlie, "Rye and Sons").store for _ in range(FOUND_MAX + 1)]
    page = "/admin/stores/staffrequest/ask/correction/"
    shown = text(finance.get(page, data={"pick": "1", "q": "Rye and S"}))
    assert shown.count("<bdi>Rye and Sons</bdi>") == FOUND_MAX
    assert "There are more. Type more of the name, or the store’s ID." in shown
    for store in stores:
        shown = text(finance.get(page, data={"pick": "1", "q": str(store.pk)}))
        assert shown.count("<bdi>Rye and Sons</bdi>") == 1 and f"store={store.pk}" in shown
        assert "There are more." not in shown

"""Lists that people set up: columns, filters in the address, filters saved under a name, and the
CSV of exactly that list."""

import csv
import io
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core import money, searching
from apps.core.badges import coin_badge
from apps.core.templatetags.tillgate import crypto_short
from apps.dashboard.tables.lists import LISTINGS
from apps.payments.models import Payment
from apps.payments.services.refund_progress import advance_refunds
from apps.stores.lists import setup_of
from apps.stores.models import Member
from tests.billing import records
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_list_files import CASES
from tests.links.makers import bought, made_link
from tests.make import advance, payment, simulated


def setup(cast: Cast, noun: str = "payments") -> Any:
    return setup_of(Member.objects.get(user=cast.alice, store=cast.bakery.store), noun)


# What HTMX asks for is the rows alone, with the page's own figures.
PART = {"HX-Request": "true"}


def references(answer: Any) -> list[str]:
    return [item.reference for item in answer.context["payments"]]


def file_of(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def paid_invoice(cast: Cast) -> str:
    """The reference of a completed payment that a customer was asked for."""
    api = cast.bakery.test
    customer = records.customer(api, email="ann@rye.example", name="Ann Rye")
    bill = records.opened(api, customer_id=customer["id"])
    started = records.start_payment(bill["public_token"]).json()["payment"]
    return str(simulated(api, started["payment_intent_id"])["reference"])


def test_a_payment_in_the_list_says_coin_network_customer_fee_and_net(cast: Cast) -> None:
    """The customer of its invoice comes before what metadata names."""
    reference = paid_invoice(cast)
    Payment.objects.filter(reference=reference).update(metadata={"customer_name": "Mallory"})
    browser = Browser(cast.alice)
    answer = browser.get("payments")
    shown = text(answer)
    for part in (
        "Ann Rye",
        "ann@rye.example",
        '<span class="on">on </span>Ethereum Sepolia',
        "ETH",
        "Fee",
        "Net",
    ):
        assert part in shown, part
    keys = [column.key for column in answer.context["table"].columns]
    assert keys.index("net") == keys.index("fee") + 1
    assert "Mallory" not in shown
    home = text(browser.get(""))
    assert "Ann Rye" in home and "Mallory" not in home


def test_who_pays_without_an_invoice_is_told_in_plain_words(cast: Cast) -> None:
    """At a payment link, and where metadata names them; in the list, its file, home and the
    payment."""
    api = cast.bakery.test
    link = made_link(cast.bakery, email="required", name="optional")
    at_link = bought(cast.bakery, link, email="dora@mug.example", name="Dora Mug")
    contact = {"customer_email": "carl@shop.example", "customer_name": ""}
    by_api = payment(api, metadata=contact)
    browser = Browser(cast.alice)
    for page in ("payments", ""):
        shown = text(browser.get(page))
        for part in ("<bdi>Dora Mug</bdi>", "dora@mug.example", "<bdi>carl@shop.example</bdi>"):
            assert part in shown, (page, part)
    named = {row["id"]: row for row in file_of(browser.get("payments.csv?columns=all"))}
    assert named[str(at_link.pk)]["customer_name"] == "Dora Mug"
    assert named[by_api["id"]]["customer_email"] == "carl@shop.example"
    detail = text(browser.get(f"payments/{at_link.pk}"))
    assert "<strong><bdi>Dora Mug</bdi></strong>" in detail and "View profile" not in detail
    assert 'href="/dashboard/payments?q=dora%40mug.example"' in detail
    assert references(browser.get("payments?q=dora@mug.example")) == [at_link.reference]


def test_a_page_of_payers_asks_no_more_for_more_of_them(cast: Cast) -> None:
    browser = Browser(cast.alice)
    counts = []
    for number in (1, 3):
        for index in range(number):
            contact = {"customer_email": f"{number}-{index}@shop.example"}
            payment(cast.bakery.test, metadata=contact)
        browser.get("payments")
        counts.append(statements(browser, "payments"))
    assert counts[0] == counts[1]


def test_the_figures_of_a_line_are_those_of_the_payment(cast: Cast) -> None:
    made = payment(cast.bakery.test, amount="80.00")
    whole = simulated(cast.bakery.test, made["id"])
    (row,) = file_of(Browser(cast.alice).get("payments.csv?columns=all"))
    figures = whole["financials"]
    assert row["received"] == money.decimal_from_atomic(
        int(figures["assets"][0]["gross_atomic"]), 18
    )
    assert (row["gross"], row["fee"], row["net"]) == (
        figures["gross_amount"],
        figures["fee_amount"],
        figures["net_amount"],
    )
    assert row["id"] == made["id"] and row["refunded"] == "0.00"


def test_what_is_not_booked_has_no_net_and_a_refund_is_taken_off_it(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    half = simulated(api, payment(api)["id"], "underpaid")
    (row,) = file_of(browser.get("payments.csv?columns=all"))
    assert (
        row["reference"] == half["reference"]
        and row["received"]
        and (row["fee"], row["net"]) == ("", "")
    )
    whole = simulated(api, payment(api, amount="80.00")["id"])
    assert (
        api.post(f"/payments/{whole['id']}/refunds", {"amount": "0.01"}, key="part").status_code
        == 201
    )
    advance_refunds()
    advance(api, 60)
    advance_refunds()
    row = file_of(browser.get("payments.csv?columns=all"))[0]
    left = money.cents_from_text(whole["financials"]["net_amount"]) - money.cents_from_text(
        row["refunded"]
    )
    assert row["refunded"] != "0.00" and row["net"] == money.text_from_cents(left)


def test_people_choose_columns_for_the_page_and_the_file(cast: Cast) -> None:
    browser = Browser(cast.alice)
    payment(cast.bakery.test)
    answer = browser.post(
        "lists",
        list="payments",
        act="columns",
        column=["fee", "amount", "nonsense"],
        query="status=pending&page=2",
    )
    assert answer.headers["Location"] == "/dashboard/payments?status=pending"
    assert setup(cast).columns == ("amount", "fee")
    table = browser.get("payments").context["table"]
    assert [column.key for column in table.columns] == ["payment", "amount", "fee"]
    (row,) = file_of(browser.get("payments.csv"))
    assert list(row) == ["reference", "order_id", "title", "amount", "currency", "fee"]
    assert [
        column.key for column in Browser(cast.bob).get("payments").context["table"].columns
    ] != [
        "payment",
        "amount",
        "fee",
    ]
    browser.post("lists", list="payments", act="reset")
    assert setup(cast).columns == ()


def test_a_filter_is_saved_shown_as_a_tab_and_deleted(cast: Cast) -> None:
    browser = Browser(cast.alice)
    payment(cast.bakery.test, amount="5.00")
    payment(cast.bakery.test, amount="500.00")
    address = browser.post(
        "lists", list="payments", act="save", name="Large <b>", query="min=100&page=3"
    ).headers["Location"]
    answer = browser.get(address)
    assert [item.settlement_amount_cents for item in answer.context["payments"]] == [50_000]
    assert answer.context["table"].current == "Large <b>"
    assert "Large &lt;b&gt;" in text(answer) and "Delete filter" in text(answer)
    browser.post("lists", list="payments", act="delete", name="Large <b>")
    assert setup(cast).filters == () and "Large" not in text(browser.get("payments"))


def test_a_filter_that_cannot_be_saved_says_why(cast: Cast) -> None:
    browser = Browser(cast.alice)
    answer = browser.post("lists", list="payments", act="save", name="", query="min=1")
    assert "Enter a name for the filter" in text(browser.get(answer.headers["Location"]))


def test_an_unknown_list_is_not_found_and_an_unknown_act_changes_nothing(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert browser.post("lists", list="nonsense", act="columns").status_code == 404
    assert browser.post("lists", list="payments", act="nonsense").status_code == 303
    assert setup(cast) == setup_of(Member(lists={}), "payments")


def test_a_viewer_sets_up_lists_too(cast: Cast) -> None:
    Member.objects.filter(user=cast.bob, store=cast.bakery.store).update(role="viewer")
    browser = Browser(cast.bob)
    browser.post("lists", list="payments", act="columns", column=["net"])
    assert [column.key for column in browser.get("payments").context["table"].columns] == [
        "payment",
        "net",
    ]


def test_payments_are_filtered_by_coin_network_amount_and_customer(cast: Cast) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    bought = paid_invoice(cast)
    small = payment(api, amount="5.00")["reference"]
    large = payment(api, amount="500.00")["reference"]
    customer = records.customer(api, email="new@rye.example")["id"]
    for query, found in (
        ("", {bought, small, large}),
        ("coin=ETH", {bought}),
        ("network=sepolia&coin=ETH", {bought}),
        ("min=100", {large}),
        ("max=5", {small}),
        ("min=1,000", set()),
        (f"customer={customer}", set()),
    ):
        answer = browser.get(f"payments?{query}", headers=PART)
        assert set(references(answer)) == found, query
    ann = Browser(cast.alice).get("customers?q=ann@rye.example").context["window"].rows[0].pk
    answer = browser.get(f"payments?customer={ann}&status=completed")
    assert references(answer) == [bought] and "Customer: ann@rye.example" in text(answer)
    assert references(Browser(cast.charlie).get(f"payments?customer={ann}")) == []


def test_a_time_in_a_list_has_its_year_when_it_is_another_one(cast: Cast) -> None:
    """A test clock may be ahead."""
    now = datetime.fromisoformat(payment(cast.bakery.test)["created_at"])
    shown = text(Browser(cast.alice).get("payments")).partition("<tbody>")[2]
    assert f">{now.day} {now:%b}, " in shown and f"{now:%b %Y}, " not in shown
    advance(cast.bakery.test, 366 * 86_400)
    payment(cast.bakery.test)
    shown = text(Browser(cast.alice).get("payments")).partition("<tbody>")[2]
    assert f"{now.year + 1}, " in shown


def test_a_coin_is_looked_for_in_the_newest_payments_and_the_page_says_so(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(cast.alice)
    bought = paid_invoice(cast)
    payment(cast.bakery.test)
    monkeypatch.setattr(searching, "NEWEST_MAX", 2)
    answer = browser.get("payments?coin=ETH")
    assert references(answer) == [bought] and "cover the newest 2 payments" not in text(answer)
    payment(cast.bakery.test)
    answer = browser.get("payments?coin=ETH")
    assert references(answer) == [] and "cover the newest 2 payments" in text(answer)
    answer = browser.get("payments?coin=ETH&status=completed")
    assert references(answer) == [bought] and "cover the newest 2 payments" not in text(answer)
    assert "cover the newest 2 payments" not in text(browser.get("payments"))


def test_what_a_filter_cannot_mean_is_left_out(cast: Cast) -> None:
    payment(cast.bakery.test)
    browser = Browser(cast.alice)
    for query in (
        "coin=XYZ",
        "network=mars",
        "min=-1",
        "max=1e9",
        "min=%00",
        "customer=nobody",
        "from=1&to=x",
        "min=1.234",
    ):
        answer = browser.get(f"payments?{query}", headers=PART)
        assert len(references(answer)) == 1, query
        assert not answer.context["filters"].is_any, query


def test_each_filter_has_a_chip_that_leads_to_the_list_without_it(cast: Cast) -> None:
    payment(cast.bakery.test, amount="20.00")
    answer = Browser(cast.alice).get("payments?status=pending&min=10&max=30")
    assert [(chip.name, chip.query) for chip in answer.context["chips"]] == [
        ("At least 10", "status=pending&max=30"),
        ("At most 30", "status=pending&min=10"),
    ]


def test_presets_are_ranges_of_days_that_keep_the_other_filters(cast: Cast) -> None:
    payment(cast.bakery.test)
    browser = Browser(cast.alice)
    presets = browser.get("payments?min=1").context["presets"]
    assert [preset.name for preset in presets] == [
        "Today",
        "Last 7 days",
        "Last 30 days",
        "This month",
        "Last month",
    ]
    for item in presets[:4]:
        answer = browser.get(f"payments?{item.query}")
        assert len(references(answer)) == 1 and answer.context["filters"].least == "1"
        assert next(
            preset for preset in answer.context["presets"] if preset.name == item.name
        ).is_current


def statements(browser: Browser, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        browser.get(path)
    return len(captured)


def test_a_page_of_payments_asks_as_much_for_many_as_for_one(cast: Cast) -> None:
    browser = Browser(cast.alice)
    paid_invoice(cast)
    browser.get("payments")
    few = (
        statements(browser, "payments"),
        statements(browser, "payments?coin=ETH&network=sepolia&min=1"),
    )
    for _ in range(3):
        simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    assert (
        statements(browser, "payments"),
        statements(browser, "payments?coin=ETH&network=sepolia&min=1"),
    ) == few


def test_the_lists_of_billing_have_columns_that_people_choose_and_the_file_has_the_same(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    customer = records.customer(api, email="ann@rye.example", name="=Ann")
    records.opened(api, customer_id=customer["id"])
    records.subscribe(api, customer_id=customer["id"])
    for noun, column, names in (
        ("customers", "city", ["email", "name", "city"]),
        ("invoices", "tax", ["number", "period", "tax"]),
        ("products", "subscriptions", ["name", "description", "subscriptions"]),
        ("subscriptions", "failed", ["customer_email", "customer_name", "products", "failed"]),
    ):
        answer = browser.post(
            "lists", list=noun, act="columns", column=[column], query="q=a&page=9"
        )
        assert answer.headers["Location"] == f"/dashboard/{noun}?q=a"
        assert list(file_of(browser.get(f"{noun}.csv"))[0]) == names
        assert [column.key for column in browser.get(noun).context["table"].columns][1:] == [column]
        rows = file_of(browser.get(f"{noun}.csv?columns=all"))
        assert rows and all(row["id"] and row["mode"] == "test" for row in rows)
        assert statements(browser, f"{noun}.csv?columns=all") <= 25


def test_a_list_of_billing_asks_as_much_for_many_as_for_one(cast: Cast) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    nouns = ("customers", "invoices", "products", "subscriptions")
    records.subscribe(api)
    browser.get("customers")
    few = {noun: statements(browser, noun) for noun in nouns}
    for _ in range(3):
        records.subscribe(api)
    assert {noun: statements(browser, noun) for noun in nouns} == few


def test_every_listing_names_its_columns_once_and_has_its_pages() -> None:
    """Pages of the listings are tested in test_list_files."""
    shown = {(case.page, case.file) for case in CASES}
    for noun, item in LISTINGS.items():
        keys = [column.key for column in item.columns]
        names = [name for column in item.columns for name in column.csv]
        assert len(set(keys)) == len(keys) and len(set(names)) == len(names), noun
        assert (noun, f"{noun}_export") in shown, noun


def test_coins_in_lists_have_six_significant_digits_and_all_of_them_in_the_title() -> None:
    for atomic, decimals, short in (
        (13833340000000001, 18, "0.0138333"),
        (1, 18, "0.000000000000000001"),
        (1234567890123, 6, "1234568"),
        (1_500_000, 6, "1.5"),
        (0, 18, "0"),
        (10**20, 18, "100"),
        (99999999, 8, "1"),
    ):
        assert money.short_from_atomic(atomic, decimals) == short
    assert 'title="0.013833340000000001 ETH"' in crypto_short(13833340000000001, 18, "ETH")


def test_a_coin_is_told_by_sign_and_word_and_nothing_of_it_is_markup() -> None:
    assert "ETH" in coin_badge("ETH", "Ethereum") and "on </span>Ethereum<" in coin_badge(
        "ETH", "Ethereum"
    )
    assert "<b>" not in coin_badge("<b>", "<i>")

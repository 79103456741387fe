"""Lists of the staff site: six columns, one order, and no more questions for more rows."""

import re
from datetime import timedelta
from html import escape
from typing import Any

import pytest
from django.contrib import admin
from django.utils.html import strip_tags

from apps.assets.models import Asset
from apps.chain.models import Deposit
from apps.core.ids import IdField, time_of
from apps.core.money import amount_text
from apps.core.templatetags.tillgate import moment
from apps.ledger.models import Movement
from apps.payments.models import Payment
from apps.staff.front.navigation import GROUPS
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.paging import BY_KEY
from apps.stores.auditing import audit
from apps.stores.models import Store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_search import copies
from tests.make import paid
from tests.staff.pages import dead, reviewed, statements, words

ADDRESS = "0x" + "5a" * 20


LISTS = {
    f"{model._meta.app_label}/{model._meta.model_name}": page_admin
    for model, page_admin in admin.site._registry.items()
}


def test_every_page_of_the_table_is_a_list_and_no_library_adds_one() -> None:
    listed = [page for pages in GROUPS.values() for page in pages]
    assert len(set(listed)) == len(listed)
    assert set(listed) == {type(page) for page in admin.site._registry.values()}


@pytest.mark.parametrize("page", LISTS)
def test_a_list_has_six_columns_one_order_and_no_filter_that_asks_for_values(page: str) -> None:
    page_admin = LISTS[page]
    assert len(page_admin.list_display) <= 6 and tuple(page_admin.sortable_by) == ()
    for column in page_admin.list_filter:
        if isinstance(column, str):
            field = page_admin.model._meta.get_field(column)
            blank = [value for value, _ in field.choices or () if value == ""]
            assert (
                field.is_relation
                or (field.choices and not blank)
                or field.get_internal_type() == "BooleanField"
            ), column


def columns_of(page: str) -> list[Any]:
    page_admin = LISTS[page]
    return [getattr(page_admin, str(name), name) for name in page_admin.list_display]


@pytest.mark.parametrize("page", LISTS)
def test_a_list_of_both_modes_tells_them_apart(page: str) -> None:
    """By a column of the mode, or behind the name of the store or network."""
    of_one_mode = {field.name for field in LISTS[page].model._meta.fields}
    if not of_one_mode & {"mode", "chain"} or page == "assets/asset":
        return
    columns = columns_of(page)
    assert "mode" in columns or any(getattr(column, "tells_mode", False) for column in columns)


@pytest.mark.parametrize("page", LISTS)
def test_a_list_in_the_order_of_ids_shows_the_times_that_they_tell(page: str) -> None:
    columns = columns_of(page)
    pk = LISTS[page].model._meta.pk
    is_by_id = isinstance(pk, IdField) and list(LISTS[page].ordering or ()) == [BY_KEY]
    assert is_by_id == any(getattr(column, "is_order", False) for column in columns)


@pytest.mark.parametrize("page", LISTS)
def test_no_column_that_is_made_up_has_the_name_of_a_field(page: str) -> None:
    """Django would show the field."""
    page_admin = LISTS[page]
    fields = {field.name for field in page_admin.model._meta.get_fields()}
    assert [
        column
        for column in page_admin.list_display
        if isinstance(column, str) and hasattr(type(page_admin), column) and column in fields
    ] == []


def test_a_list_counts_no_further_than_its_cap_and_asks_no_more_for_more(
    finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "/admin/core/rowfailure/"
    dead(2)
    finance.get(page)
    few = statements(lambda: finance.get(page))
    dead(40)
    assert statements(lambda: finance.get(page)) == few
    monkeypatch.setattr("apps.staff.plumbing.paging.COUNTED_MAX", 20)
    monkeypatch.setattr("apps.staff.plumbing.paging.CappedPaginator.capped_at", 20)
    assert "First 20 failing jobs: search or filter to see others" in " ".join(
        text(finance.get(page)).split()
    )


def test_a_list_by_ids_begins_with_the_newest_and_ends_with_those_of_before(
    cast: Cast, finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random IDs of before are greater than any of today, and their rows are older."""
    made = [make.payment(cast.bakery.test)["id"] for _ in range(3)]
    before = {
        "id": "('f0000000-0000-4000-8000-00000000000' || mod(n * 7, 5))::uuid",
        "reference": "'OLD' || n",
        "idempotency_key": "NULL",
        "created_at": "created_at - n * interval '8 days'",
    }
    copies(
        Payment,
        before,
        f"(SELECT * FROM payments_payment WHERE id = '{made[0]}') s, generate_series(1, 3) n",
    )
    old = list(Payment.objects.filter(reference__in=["OLD1", "OLD2", "OLD3"]).order_by("reference"))
    every = [*reversed(made), *(str(row.pk) for row in old)]
    monkeypatch.setattr(ReadOnly, "list_per_page", 2)

    def listed(**query: str) -> list[str]:
        shown = finance.get("/admin/payments/payment/", data=query).context["cl"]
        return [str(row.pk) for row in shown.result_list]

    assert [listed(days="all", p=str(page)) for page in (1, 2, 3)] == [
        every[:2],
        every[2:4],
        every[4:],
    ]
    assert [listed(p=str(page)) for page in (1, 2)] == [every[:2], every[2:3]]
    assert listed(days="30", p="3") == every[4:6]
    assert finance.get("/admin/payments/payment/").context["cl"].result_count == 3


def test_lists_of_payments_and_payouts_ask_no_more_for_more(cast: Cast, finance: Browser) -> None:
    def look() -> None:
        for page in (
            "payments/payment",
            "payouts/payout",
            "chain/deposit",
            "ledger/account",
            "ledger/movement",
        ):
            assert finance.get(f"/admin/{page}/").status_code == 200

    paid(cast.bakery.test)
    reviewed(cast, 1)
    look()
    few = statements(look)
    paid(cast.bakery.test)
    reviewed(cast, 3)
    assert statements(look) == few


def test_an_amount_is_told_in_coins_and_money_and_a_time_with_its_zone(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 1)
    shown = text(finance.get("/admin/payouts/payout/"))
    assert (
        "0.01 ETH" in shown
        and "≈ €" in shown
        and "UTC" in shown
        and "10000000000000000" not in shown
    )


def test_a_record_and_the_way_to_it_are_named_as_people_name_them(
    cast: Cast, finance: Browser
) -> None:
    made = make.payment(cast.bakery.test)
    page = f"/admin/payments/payment/{made['id']}"
    for path, last in ((f"{page}/change/", ""), (f"{page}/history/", " › History")):
        shown = words(finance.get(path))
        assert f"Home › Payments › Payment {made['reference']}{last}" in shown
        assert "Payment object" not in shown
    assert "Home › Business verifications" in words(finance.get("/admin/stores/verification/"))


@pytest.mark.parametrize(
    "page", ["assets/rate", "assets/acceptedasset", "payouts/schedule", "ledger/account"]
)
def test_a_coin_of_a_list_is_told_in_words_and_asks_no_more_for_more(
    cast: Cast, finance: Browser, page: str
) -> None:
    def add_schedule(asset_id: str) -> None:
        fields = {"asset_id": asset_id, "frequency": "weekly", "destination_address": ADDRESS}
        answer = cast.bakery.test.post("/payout_schedules", {"payout_schedule": fields})
        assert answer.status_code == 201, answer.text

    paid(cast.bakery.test)
    add_schedule("SETH")
    assert "ETH on Ethereum Sepolia" in text(finance.get(f"/admin/{page}/"))
    few = statements(lambda: finance.get(f"/admin/{page}/"))
    add_schedule("SETH_USDC")
    assert statements(lambda: finance.get(f"/admin/{page}/")) == few


def test_amounts_have_separators() -> None:
    assert amount_text(1_000_000_500_000, 6) == "1,000,000.5"
    assert amount_text(-5 * 10**17, 18) == "−0.5"


@pytest.mark.parametrize("page", ["ledger/account", "assets/acceptedasset", "agents/paymentoffer"])
def test_a_filter_names_coins_with_their_networks(finance: Browser, page: str) -> None:
    offered = re.findall(
        r'\?asset__id__exact=(\w+)">([^<]+)<', text(finance.get(f"/admin/{page}/"))
    )
    assets = Asset.objects.select_related("chain")
    assert offered == sorted(((row.pk, row.full_name) for row in assets), key=lambda item: item[1])


def test_a_deposit_names_its_store_its_network_and_its_payment(
    cast: Cast, finance: Browser
) -> None:
    made = paid(cast.bakery.test)
    store = escape(cast.bakery.store.name)
    assert re.search(
        rf"UTC {store} Test [\d.,]+ ETH .* 0x\w+…\w+ Ethereum Sepolia",
        words(finance.get("/admin/chain/deposit/")),
    )
    deposit = Deposit.objects.get()
    record = text(finance.get(f"/admin/chain/deposit/{deposit.pk}/change/"))
    assert f"/admin/payments/payment/{made['id']}/change/" in record
    assert f"/admin/stores/store/{cast.bakery.store.pk}/change/" in record
    assert "Log index" in record.partition("empty fields")[2]


def test_a_row_of_a_test_clock_stands_at_the_time_that_it_was_made(
    cast: Cast, finance: Browser
) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(test_offset_seconds=3 * 86_400)
    made = make.payment(cast.bakery.test)
    payment = Payment.objects.get(pk=made["id"])
    real = time_of(payment.pk)
    assert real is not None and payment.created_at - real > timedelta(days=2)
    shown = words(finance.get("/admin/payments/payment/"))
    times = (" ".join(strip_tags(moment(at)).split()) for at in (real, payment.created_at))
    assert f"{' '.join(times)} by its test clock" in shown


def test_a_movement_says_whose_it_is_how_much_and_what_it_served(
    cast: Cast, finance: Browser
) -> None:
    made = paid(cast.bakery.test)
    store = escape(cast.bakery.store.name)
    settled = Movement.objects.get(kind="payment_settled")
    shown = words(finance.get("/admin/ledger/movement/"))
    assert re.search(rf"{settled.pk} .{{15,40}} UTC Payment settled {store} Test [\d.]+ ETH", shown)
    record = words(finance.get(f"/admin/ledger/movement/{settled.pk}/change/"))
    assert f"Movement {settled.pk}: Payment settled" in record
    assert f"Reference Payment {made['reference']} {made['id']}" in record
    assert f"Held of {store}, ETH on Ethereum Sepolia, Test" in record


def test_the_audit_log_names_the_store_of_an_entry(cast: Cast, finance: Browser) -> None:
    audit.record(
        "payout_destination.created",
        store=cast.bakery.store,
        mode="test",
        name=f"{ADDRESS} (Sepolia)",
    )
    shown = text(finance.get("/admin/stores/auditentry/"))
    assert f'>{escape(cast.bakery.store.name)}</bdi> <span class="badge wait">Test' in shown
    assert f'title="{ADDRESS}">0x5a5a…5a5a</bdi> (Sepolia)' in shown

"""Lists of the staff site: six columns, one order, and no more questions for more rows."""

import re

import pytest
from django.contrib import admin

from apps.assets.models import Asset
from apps.console.staff.groups import GROUPS
from apps.core.money import amount_text
from apps.core.staff.labels import LABELS
from apps.core.staff.pages import ReadOnly
from apps.payments.models import Payment
from tests import make
from tests.cast import Cast
from tests.console.staff.pages import dead, reviewed, statements, words
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_search import copies
from tests.make import paid

ADDRESS = "0x" + "5a" * 20

admin.autodiscover()

LISTS = {
    f"{model._meta.app_label}/{model._meta.model_name}": page_admin
    for model, page_admin in admin.site._registry.items()
}


def test_every_list_has_its_group_and_every_line_of_the_table_is_a_list() -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert len(set(listed)) == len(listed)
    assert set(listed) == {model._meta.label for model in admin.site._registry}
    assert set(LABELS) <= set(listed)


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
    monkeypatch.setattr("apps.core.staff.paging.COUNTED_MAX", 20)
    monkeypatch.setattr("apps.core.staff.paging.CappedPaginator.capped_at", 20)
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
    old = list(Payment.objects.filter(reference__startswith="OLD").order_by("reference"))
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

"""Pages that a member of staff reads: people's words for records, choices and values, one look on
every page, errors that are about staff."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin

from apps.access.models import ApiKey
from apps.access.services import create_api_key
from apps.agents.models import Mandate
from apps.assets.models import FAR_FUTURE, Asset, Rate
from apps.billing.models import Customer, Price
from apps.core.text.words import code_words
from apps.ledger.models import Account
from apps.payments.models import PaymentEvent
from apps.payouts.models.wallet_networks import WalletNetwork
from apps.staff.payments import PaymentEventsInline
from apps.staff.plumbing.values import named, number_text, record_title, shown
from apps.staff.templatetags.staff import age
from apps.stores.models import AuditEntry, Store
from apps.stores.settings import columns_of, settings_models
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.staff.pages import words
from tests.staff.test_roles import signed_in

# Proper names keep their capitals.
NAMES = {
    "BNB Smart Chain",
    "British Pound",
    "Danish Krone",
    "Hong Kong Dollar",
    "In its own coin, a share of Ethereum's fees included",
    "In its own coin, with a share of Ethereum's fees",
    "Japanese Yen",
    "Norwegian Krone",
    "Singapore Dollar",
    "Swedish Krona",
    "Swiss Franc",
    "US Dollar",
    "Canary Islands (IGIC)",
    "Ceuta and Melilla (IPSI)",
    *(network.full_name for network in WalletNetwork),
}


# Of OAuth applications and grants: the library's own words.
LIBRARY_COLUMNS = {
    "algorithm",
    "authorization_grant_type",
    "client_type",
    "code_challenge_method",
    "registration_source",
    "status",
}


@pytest.mark.parametrize("app", sorted({model._meta.app_label for model in apps.get_models()}))
def test_choices_are_written_as_sentences_begin_and_names_as_their_owners_do(app: str) -> None:
    labels = {
        label
        for model in apps.get_app_config(app).get_models()
        if model.__module__.startswith("apps.") and model._meta.label != "access.DeviceGrant"
        for field in model._meta.fields
        if not (app == "access" and field.name in LIBRARY_COLUMNS)
        for _, label in field.choices or ()
    }
    titled = {str(label) for label in labels if re.search(r"[a-z] [A-Z][a-z]", str(label))}
    assert titled <= NAMES
    assert not {"Erc20", "Http", "Kyb", "N8N", "Prestashop", "Woocommerce", "X402"} & labels


@pytest.mark.parametrize(
    "model", sorted(admin.site._registry, key=lambda model: model._meta.label), ids=str
)
def test_no_record_is_called_by_an_abbreviation_of_the_code(model: Any) -> None:
    page: Any = admin.site._registry[model]
    names = page.plural()
    assert not re.search(r"\bapi\b|\bentry$|row failure|\bmails|payout caps", names), names


def test_every_column_that_a_page_has_words_for_exists() -> None:
    pages: list[Any] = list(admin.site._registry.values())
    settings = {name for model in settings_models() for name in columns_of(model)}
    for page in [*pages, *(part for owner in pages for part in owner.inlines)]:
        columns = {field.name for field in page.model._meta.fields}
        if page.model is Store:
            columns |= settings
        texts = getattr(page, "help_texts", {})
        assert {*page.labels, *texts, *page.value_texts, *page.code_nouns} <= columns, page


def test_a_key_lists_its_scopes_and_answers_yes_or_no(cast: Cast, finance: Browser) -> None:
    scopes = ["payments:read", "refunds:write"]
    key, _ = create_api_key(cast.bakery.store, "test", scope_names=scopes)
    page = text(finance.get(f"/admin/access/apikey/{key.pk}/change/"))
    assert "<li>payments:read</li><li>refunds:write</li>" in page
    assert "[&#x27;" not in page and "API key " in page
    lists = text(finance.get("/admin/assets/asset/"))
    assert '<span class="no">No</span>' in lists and "icon-no" not in lists


def test_the_end_of_time_and_a_rate_are_said_in_words_and_as_few_digits() -> None:
    row = Rate(valid_until=FAR_FUTURE, rate=Decimal("1800.500000000000000000"))
    assert shown(row, "valid_until") == "No end"
    assert shown(row, "rate") == "1,800.5"
    assert number_text(Decimal("0.000000000000000001")) == "0.000000000000000001"
    assert number_text(Decimal(30)) == "30"


def test_a_name_of_the_code_is_read_as_words_and_what_others_wrote_stays() -> None:
    event = PaymentEvent(event_type="refund_confirmed", from_status=None, to_status="completed")
    page = PaymentEventsInline
    assert (page.value_of(event, "event_type"), page.value_of(event, "to_status")) == (
        "Refund confirmed",
        "Completed",
    )
    key = ApiKey(name="my_till")
    assert shown(key, "name") == "my_till"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("payout_confirmed", "Payout confirmed"),
        ("x402_settled", "x402 settled"),
        ("offramp_clearing", "Off-ramp clearing"),
        ("onramper", "Onramper"),
        ("coingecko", "CoinGecko"),
    ],
)
def test_a_code_is_read_as_words_and_names_as_their_owners_write_them(
    code: str, words: str
) -> None:
    assert code_words(code) == words


def test_a_record_is_called_by_what_tells_it_and_not_by_a_number(db: None) -> None:
    price = Price(unit_amount_cents=2400, currency="EUR", interval="monthly")
    quarter = Price(unit_amount_cents=6900, currency="EUR", interval="monthly", interval_count=3)
    assert str(Price(unit_amount_cents=668740, currency="EUR", interval="yearly")) == (
        "€6,687.40 yearly"
    )
    assert (record_title(price), str(quarter)) == ("€24.00 monthly", "€69.00 monthly × 3")
    assert record_title(Rate(pk=8, asset_id="ETH", currency="CHF")) == "ETH on Ethereum in CHF"
    assert (
        record_title(AuditEntry(pk=7, action="second_factor.set_up")) == "7: Second factor set up"
    )
    assert record_title(Mandate(mandate_ref="market research")) == "market research"
    account = Account(kind="x402_clearing", asset_id="SETH", mode="test")
    assert record_title(account) == "x402 clearing, ETH on Ethereum Sepolia, Test"
    usdc = Asset.objects.get(pk="USDC_SETH")
    assert record_title(usdc) == named(usdc) == "USDC on Ethereum Sepolia"
    nameless = Customer(email="ann@example.com", address={"city": "Lyon"})
    assert named(nameless) == "ann@example.com"


def test_what_has_just_begun_is_not_zero_minutes_old() -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    assert age(now, now) == "less than a minute"
    assert age(datetime(2026, 11, 23, 9, tzinfo=UTC), now).replace("\xa0", " ") == "3 hours"


def test_amounts_stand_in_line_and_each_cell_says_its_column(cast: Cast, finance: Browser) -> None:
    make.payment(cast.bakery.test, amount="18.50")
    page = text(finance.get("/admin/payments/payment/"))
    assert 'data-label="Amount" class="number field-amount"' in page
    assert 'data-label="Status" class="beside field-state"' in page
    assert 'data-label="Order ID" class="blank field-order"' in page


@pytest.mark.parametrize("path", ["", "payments/payment/", "sending/", "proxies/", "jobs/"])
def test_no_page_of_the_site_loads_a_sheet_of_djangos(finance: Browser, path: str) -> None:
    page = text(finance.get(f"/admin/{path}"))
    assert "css/tokens" in page and "css/staff" in page
    assert "admin/css" not in page


def test_the_page_of_proxies_says_who_is_seen_and_keeps_what_was_typed(finance: Browser) -> None:
    page = text(finance.get("/admin/proxies/?mine=192.0.2.7"))
    assert "Your address</th><td><bdi>127.0.0.1</bdi>" in page
    assert 'name="mine" value="192.0.2.7"' in page


def test_a_form_has_no_null_and_names_its_fields_as_people_do(cast: Cast) -> None:
    staff = signed_in(make.clerk("admin"))
    about = f"?store={cast.bakery.store.pk}"
    page = text(staff.get(f"/admin/stores/staffrequest/ask/agents/{about}"))
    assert "> null<" not in page and "> {}<" not in page
    assert "Authorization URL" in page
    assert "Cards in live mode" in text(staff.get(f"/admin/stores/staffrequest/ask/cards/{about}"))


def test_whoever_may_not_is_told_about_the_role_and_not_about_a_form(cast: Cast) -> None:
    browser = signed_in(make.clerk("support"))
    refused = browser.get("/admin/stores/staffrequest/ask/cards/")
    assert refused.status_code == 403
    assert "Your staff role doesn’t allow this" in text(refused)
    assert "expired" not in text(refused)


@pytest.mark.parametrize(
    "path", ["payments/payment/00000000-0000-0000-0000-000000000000/change/", "nowhere/"]
)
def test_a_record_that_is_not_there_is_a_page_of_the_site(finance: Browser, path: str) -> None:
    missing = finance.get(f"/admin/{path}")
    assert missing.status_code == 404
    assert "Page not found" in text(missing) and "payment link" not in text(missing)


def test_what_is_saved_is_said_by_its_name_and_stands_in_the_history(cast: Cast) -> None:
    browser = signed_in(make.clerk("admin"))
    page = f"/admin/stores/user/{cast.bob.pk}"
    form = {"name": "Bob Baker", "is_active": "on", "reason": "Asked by email", "_save": ""}
    assert browser.post(f"{page}/change/", **form).status_code == 302
    assert f"Person saved: {cast.bob.email}" in words(browser.get("/admin/stores/user/"))
    history = words(browser.get(f"{page}/history/"))
    assert "Changed Name: Asked by email" in history


def test_a_fraction_is_typed_in_as_percent(cast: Cast) -> None:
    admins = signed_in(make.clerk("admin"))
    page = text(admins.get(f"/admin/stores/store/{cast.bakery.store.pk}/change/"))
    assert re.search(r'name="fee_fraction" value="1"', page)

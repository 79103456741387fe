"""A record of the staff site says what it is in its heading, its status as its list does, and who
did what in words."""

import re
from html import escape
from pathlib import Path
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.billing.models import Customer, Invoice
from apps.links.models import Till
from apps.payouts.models import Payout
from apps.staff.plumbing.codes import heading_text
from apps.staff.plumbing.values import shown
from apps.stores.audit_words import action_words
from apps.stores.auditing import audit
from apps.stores.models import AuditEntry, Store
from tests import make
from tests.auditing import found_of
from tests.billing.records import opened
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.links.makers import donation
from tests.make import paid
from tests.staff.pages import SEARCH, reviewed, stray, words
from tests.staff.test_roles import signed_in

ROOT = Path(__file__).resolve().parents[2]
RECORDED = re.compile(r'audit\.record\(\s*"([a-z0-9_]+\.[a-z_]+)"')
ACTIONS = sorted(
    {
        action
        for path in (ROOT / "apps").rglob("*.py")
        for action in RECORDED.findall(path.read_text())
    }
)


def test_what_the_audit_log_records_is_read_as_words() -> None:
    assert len(ACTIONS) > 50
    for action in ACTIONS:
        said = action_words(action)
        assert said[0].isupper() and not set("._") & set(said), action
    assert action_words("api_key.created") == "API key created"
    assert action_words("invoice.written_off") == "Invoice written off"


def test_the_audit_log_says_what_was_done_and_by_whom(cast: Cast, finance: Browser) -> None:
    finance.get(SEARCH, data={"q": "nobody"})
    shown_list = words(finance.get("/admin/stores/auditentry/"))
    assert "Staff search staff.searched" in shown_list
    entry = AuditEntry.objects.order_by("-id").first()
    assert entry is not None
    record = words(finance.get(f"/admin/stores/auditentry/{entry.pk}/change/"))
    assert f"Audit log entry {entry.pk}: Staff search" in record
    assert "Action Staff search staff.searched" in record


def test_an_invoice_is_found_by_its_number(cast: Cast, finance: Browser) -> None:
    row = Invoice.objects.get(pk=opened(cast.bakery.test)["id"])
    other = opened(cast.bakery.test)["id"]
    for typed in (f"INV-{row.number:04d}", f"inv-{row.number}", str(row.number)):
        page = text(finance.get("/admin/billing/invoice/", data={"q": typed}))
        assert f"{row.pk}/change/" in page and f"{other}/change/" not in page, typed


def test_the_page_of_a_payout_in_review_says_which_network_it_leaves_on(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 1)
    page = f"/admin/payouts/payout/{Payout.objects.get().pk}/decide/"
    assert "Amount 0.01 ETH Value now ≈" in words(finance.get(page))
    assert "Asset ETH on Ethereum Sepolia To 0x" in words(finance.get(page))


@pytest.mark.parametrize(
    ("name", "shown_as"),
    [
        ("Second factor of staff@demo.example", "Second factor of staff@demo.example"),
        ("GET /payments/mark_paid", "GET /payments/<wbr>mark_<wbr>paid"),
        ("long.name.of.a.person@example.com", "long.name.of.a.person<wbr>@example.com"),
        ("Elektrizitätenhauptbetriebswerk", "Elektrizitätenhauptbetriebswerk"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_the_name_of_a_record_breaks_between_its_parts(name: str, shown_as: str) -> None:
    assert heading_text(name) == shown_as


def test_what_takes_more_than_a_line_of_a_record_comes_last(cast: Cast, finance: Browser) -> None:
    """Fields in two columns come before it, without a hole."""
    made = make.payment(cast.bakery.test, metadata={"table": "7"})
    page = text(finance.get(f"/admin/payments/payment/{made['id']}/change/"))
    rows = re.findall(r'<div class="form-row( wide)? field-(\w+)', page)
    assert ("", "settlement_currency") in rows and rows[-1] == (" wide", "metadata")


def test_several_amounts_of_a_record_are_each_in_words(cast: Cast, finance: Browser) -> None:
    link = donation(cast.bakery)
    page = words(finance.get(f"/admin/links/paymentlink/{link.pk}/change/"))
    assert "€5.00 €10.00 €25.00" in page
    assert re.findall("<li>(.*?)</li>", shown(Till(tip_bps=[500, 1250]), "tip_bps")) == [
        "5%",
        "12.5%",
    ]


def test_the_details_of_an_act_are_in_coins_and_name_what_an_id_is_of(
    cast: Cast, finance: Browser
) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    entry = audit.record(
        "books.corrected",
        store=cast.bakery.store,
        target=cast.alice,
        name="alice",
        details={
            "asset": "SETH",
            "account": "custody_hot",
            "amount_atomic": -(10**18),
            "payment": made["id"],
            "per_tx_atomic": [None, 10**17],
            "refunds": ["00000000-0000-4000-8000-000000000000"],
            "sent": [f"{10**16} SETH to 0x{'a1' * 20}"],
        },
    )
    page = words(finance.get(f"/admin/stores/auditentry/{entry.pk}/change/"))
    assert f"What {cast.alice.email} {cast.alice.pk}" in page
    assert "Asset ETH on Ethereum Sepolia Account Hot wallet custody" in page
    assert f"Amount −1 ETH -{10**18} atomic units" in page
    assert f"Payment Payment {made['reference']} {made['id']}" in page
    assert f"None → 0.1 ETH None → {10**17} atomic units" in page
    assert "Refund 00000000-0000-4000-8000-000000000000" in page
    assert f"Sent 0.01 ETH to 0x{'a1' * 20}" in page


def test_a_record_has_the_status_of_its_list_and_its_id_below_its_name(
    cast: Cast, finance: Browser
) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    page = text(finance.get(f"/admin/payments/payment/{made['id']}/change/"))
    assert re.search(r'class="badge good"[^>]*>Completed<', page)
    assert f'<bdi class="code">{made["id"]}</bdi>' in page
    assert 'data-label="Amount due"' in page


def test_roles_and_addresses_are_words(cast: Cast) -> None:
    person = make.clerk("finance", "admin")
    assert "<li>Admin</li>" in str(shown(person, "staff_roles"))
    customer = Customer(address={"line1": "3 rue Claire", "country": "FR"})
    address = str(shown(customer, "address"))
    assert "<dt>Line 1</dt>" in address and "<dd>France</dd>" in address


def test_what_is_stored_in_small_units_is_typed_in_peoples_units(cast: Cast) -> None:
    admins = signed_in(make.clerk("admin"))
    Store.objects.filter(pk=cast.bakery.store.pk).update(fee_fraction="0.01")
    store = text(admins.get(f"/admin/stores/store/{cast.bakery.store.pk}/change/"))
    assert 'name="fee_fraction" value="1"' in store and "Fee (%)" in store
    assert 'name="underpayment_tolerance_bps" value="0.5"' in store
    Asset.objects.filter(pk="SETH").update(min_withdrawal_atomic=10**15)
    asset = text(admins.get("/admin/assets/asset/SETH/change/"))
    # Three places could be read as thousands: a fourth says that they are not.
    assert 'name="min_withdrawal_atomic" value="0.0010"' in asset
    assert "Minimum payout (ETH)" in asset


@pytest.mark.parametrize(
    ("column", "typed"),
    [
        ("underpayment_tolerance_bps", "100.01"),
        ("underpayment_tolerance_bps", "0.125"),
        ("payout_review_threshold_cents", "12.345"),
        ("payout_review_threshold_cents", "-1"),
    ],
)
def test_a_number_that_its_unit_does_not_have_is_refused_at_its_input(
    cast: Cast, column: str, typed: str
) -> None:
    admins = signed_in(make.clerk("admin"))
    page = f"/admin/stores/store/{cast.bakery.store.pk}/change/"
    answer = admins.post(page, reason="A slip", **{column: typed})
    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors[column]


def changed_asset(admins: Browser, **typed: str) -> Any:
    before = {"is_active": "on", "min_withdrawal_atomic": "0.01", "position": "1"}
    page = "/admin/assets/asset/SETH/change/"
    return admins.post(page, reason="Gas is dear", **before, **typed)


def test_staff_say_how_an_asset_is_swept_in_coins_percent_and_days(cast: Cast) -> None:
    admins = signed_in(make.clerk("admin"))
    typed = {
        "sweep_minimum_atomic": "0.25",
        "sweep_cost_bps": "2.5",
        "sweep_after_days": "30",
    }
    assert changed_asset(admins, **typed).status_code == 302
    asset = Asset.objects.get(pk="SETH")
    swept = (asset.sweep_minimum_atomic, asset.sweep_cost_bps, asset.sweep_after_days)
    assert swept == (25 * 10**16, 250, 30)
    page = text(admins.get("/admin/assets/asset/SETH/change/"))
    assert "Minimum sweep (ETH)" in page and 'name="sweep_cost_bps" value="2.5"' in page
    assert changed_asset(admins).status_code == 302, "empty again"
    asset.refresh_from_db()
    swept = (asset.sweep_minimum_atomic, asset.sweep_cost_bps, asset.sweep_after_days)
    assert swept == (None, None, None) and not found_of("settings_logged")


@pytest.mark.parametrize(
    ("column", "typed", "said"),
    [
        ("sweep_minimum_atomic", "0", "The minimum sweep must be above zero"),
        ("sweep_cost_bps", "0", "A sweep may cost above 0 and up to 100 percent"),
        ("sweep_cost_bps", "101", "Enter a percentage from 0 to 100"),
        ("sweep_after_days", "3651", "The days must be from 1 to 3650"),
        ("sweep_after_days", "99999", "The days must be from 1 to 3650"),
    ],
)
def test_sweeps_out_of_bounds_are_refused_at_their_input(
    cast: Cast, column: str, typed: str, said: str
) -> None:
    answer = changed_asset(signed_in(make.clerk("admin")), **{column: typed})
    assert answer.status_code == 200
    errors = answer.context["adminform"].form.errors
    assert list(errors) == [column] and said in str(errors[column])


def test_a_search_calls_its_groups_and_hits_as_the_lists_do(cast: Cast, finance: Browser) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    hits = words(finance.get(SEARCH, data={"q": "24.90"}))
    assert f"Results for 24.90 Payments {made['reference']} Test €24.90 · Completed" in hits
    assert "People" in words(finance.get(SEARCH, data={"q": "alice"}))


def test_a_heading_names_an_amount_and_keeps_the_id_that_people_quote(
    cast: Cast, finance: Browser
) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    payout = make.payout(cast.bakery.test, 10**16)
    page = words(finance.get(f"/admin/payouts/payout/{payout['id']}/change/"))
    store = re.escape(escape(cast.bakery.store.name))
    assert re.search(rf"Payout of 0\.01 ETH {store} .* UTC {payout['id']} History", page)
    transfer = stray(cast)
    page = words(finance.get(f"/admin/chain/unmatchedtransfer/{transfer.pk}/change/"))
    assert re.search(r"Unmatched transfer (of [\d.,]+ \w+|0x\w+…\w+) .* UTC Details", page)


def test_the_history_says_what_was_changed_and_why(cast: Cast) -> None:
    admins = signed_in(make.clerk("admin"))
    record = "/admin/assets/asset/SETH/"
    admins.post(
        f"{record}change/",
        min_withdrawal_atomic="0.007",
        is_active="on",
        position=str(Asset.objects.get(pk="SETH").position),
        reason="Smaller payouts",
    )
    change = "Changed Minimum payout (ETH): Smaller payouts"
    assert change in words(admins.get(f"{record}history/"))
    assert Asset.objects.get(pk="SETH").min_withdrawal_atomic == 7 * 10**15
    entry = AuditEntry.objects.get(action="staff.changed")
    column = "min_withdrawal_atomic"
    details = {"typed": [column], "message": change, column: 7 * 10**15}
    assert (entry.reason, entry.details) == ("Smaller payouts", details)


def test_the_audit_log_names_coins_with_their_networks(cast: Cast, finance: Browser) -> None:
    entry = audit.record("payout_schedule.created", store=cast.bakery.store, name="USDC_SETH")
    for page in ("", f"{entry.pk}/change/"):
        shown = words(finance.get(f"/admin/stores/auditentry/{page}"))
        assert "USDC on Ethereum Sepolia" in shown and "USDC_SETH" not in shown

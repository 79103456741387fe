"""The staff site's pages of their own: what waits, the trial balance, jobs, the kill switch, one
search. None costs more with more data."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.models import SecondFactor
from apps.assets.models import Asset
from apps.chain.models import SendingHold, UnmatchedTransfer
from apps.chain.sending import caps, outflow
from apps.console.staff import home as staff_home
from apps.console.staff import trial_balance
from apps.console.staff.groups import GROUPS
from apps.core import clock, rows
from apps.core.models import RowFailure
from apps.core.staff.labels import LABELS
from apps.core.staff.lists import amount_text
from apps.payments.models import PaymentAddress
from apps.payouts.models import Payout
from apps.stores.models import AuditEntry, AuditSeal, StaffRequest, User
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast
from tests.console.test_staff_roles import signed_in
from tests.dashboard.browse import Browser, next_code, text
from tests.make import paid

admin.autodiscover()
LISTS = {
    f"{model._meta.app_label}/{model._meta.model_name}": one
    for model, one in admin.site._registry.items()
}
HOME = "/admin/"
SENDING = "/admin/sending/"
SEARCH = "/admin/search/"


@pytest.fixture
def finance(cast: Cast) -> Browser:
    return signed_in(make.clerk("finance"))


def person_of(browser: Browser) -> User:
    return User.objects.get(pk=browser.client.session["_auth_user_id"])


def statements(act: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as asked:
        act()
    return len(asked)


def words(page: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text(page)).split())


def reviewed(cast: Cast, count: int) -> None:
    """So many payouts in review."""
    make.store_coins(cast.bakery.store, "SETH", count * 10**18)
    change_store(cast.bakery.store, payout_review_threshold_cents=0)
    for _ in range(count):
        make.payout(cast.bakery.test, 10**16)


def dead(count: int, job: str = "payments.expire_due") -> None:
    at = clock.real_now()
    facts = {
        "tries": 12,
        "error": "ValueError",
        "since": at,
        "not_before": at,
        "dead_at": at - timedelta(hours=3),
    }
    RowFailure.objects.bulk_create(
        RowFailure(job=job, row_id=uuid.uuid4().hex, **facts) for _ in range(count)
    )


def stray(cast: Cast) -> UnmatchedTransfer:
    """Coins of a known asset at the address of a payment."""
    made = make.payment(cast.bakery.test)
    address = PaymentAddress.objects.get(payment=made["id"], asset="SETH").address
    return UnmatchedTransfer.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address=address,
        tx_hash="0x" + uuid.uuid4().hex * 2,
        log_index=0,
        from_address="0x" + "a1" * 20,
        amount_atomic=10**17,
        block_number=1,
        reason="Another asset",
        detected_at=clock.real_now(),
    )


# --- lists ----------------------------------------------------------------------------------------


def test_every_list_has_its_group_and_every_line_of_the_table_is_a_list() -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert len(set(listed)) == len(listed)
    assert set(listed) == {model._meta.label for model in admin.site._registry}
    assert set(LABELS) <= set(listed)


@pytest.mark.parametrize("page", LISTS)
def test_a_list_has_six_columns_one_order_and_no_filter_that_asks_for_values(page: str) -> None:
    one = LISTS[page]
    assert len(one.list_display) <= 6 and tuple(one.sortable_by) == ()
    for column in one.list_filter:
        if isinstance(column, str):
            field = one.model._meta.get_field(column)
            blank = [value for value, _ in field.choices or () if value == ""]
            assert (
                field.is_relation
                or (field.choices and not blank)
                or field.get_internal_type() == "BooleanField"
            ), column


def test_a_list_counts_no_further_than_its_cap_and_asks_no_more_for_more(
    finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "/admin/core/rowfailure/"
    dead(2)
    finance.get(page)
    few = statements(lambda: finance.get(page))
    dead(40)
    assert statements(lambda: finance.get(page)) == few
    monkeypatch.setattr("apps.core.staff.lists.COUNTED_MAX", 20)
    monkeypatch.setattr("apps.core.staff.lists.CappedPaginator.capped_at", 20)
    assert "First 20 row failures: search or filter to see others" in " ".join(
        text(finance.get(page)).split()
    )


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


def test_amounts_have_separators() -> None:
    assert amount_text(1_000_000_500_000, 6) == "1,000,000.5"
    assert amount_text(-5 * 10**17, 18) == "-0.5"


# --- home -----------------------------------------------------------------------------------------


def test_the_home_tells_what_waits_since_when_and_where(cast: Cast, finance: Browser) -> None:
    reviewed(cast, 2)
    dead(1)
    found = {one.name: one for one in staff_home.queues(clock.real_now())}
    assert (found["Payouts in review"].count, found["Jobs that gave up"].count) == (2, 1)
    shown = " ".join(text(finance.get(HOME)).split())
    assert "Payouts in review" in shown and "oldest 3 hours" in shown
    for one in found.values():
        assert finance.get(one.url).status_code == 200, one.name


def test_a_long_queue_is_told_as_99_and_more_and_costs_nothing_more(finance: Browser) -> None:
    finance.get(HOME)
    none = statements(lambda: finance.get(HOME))
    dead(150)
    assert statements(lambda: finance.get(HOME)) == none
    [one] = [one for one in staff_home.queues(clock.real_now()) if one.name == "Jobs that gave up"]
    assert one.shown == "99+"


def test_the_home_tells_how_near_a_day_is_to_its_limit_and_leads_to_the_switch(
    finance: Browser, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SIGNER_ALARMS = ["ETH=10"]
    coin = Asset.objects.get(pk="ETH")
    shown = []
    for day in (1, 9, 11):
        rows = [
            outflow.Outflow(coin, 0, day * 10**18, caps.alarm(coin)),
            outflow.Outflow(coin, 0, 1, None),
        ]
        monkeypatch.setattr(outflow, "by_asset", lambda mode, at, rows=rows: rows)
        [fact] = [
            one
            for one in staff_home.health(clock.real_now())
            if one.name == "Signing limit, ETH on Ethereum"
        ]
        assert fact.words == f"{day} of 10 ETH signed in 24 hours"
        shown.append(fact.tone)
    assert shown == ["good", "wait", "bad"]
    home = text(finance.get(HOME))
    assert (
        'href="/admin/sending/#hold">Hold sending' in home
        and finance.get(fact.url).status_code == 200
    )


def test_an_empty_list_says_why_it_is_empty(finance: Browser) -> None:
    lists = {
        "payments/payment/": "Nothing in the last 7 days.",
        "payments/payment/?days=all": "Nothing matches.",
        "stores/verification/": "Nothing needs a decision.",
        "core/rowfailure/": "No row failures yet.",
        "core/rowfailure/?q=nothing": "Nothing matches.",
        "webhooks/delivery/?days=all": "0 deliveries",
    }
    for page, words in lists.items():
        assert words in text(finance.get(f"/admin/{page}")), page


def test_whoever_has_no_role_finds_none_of_the_pages(cast: Cast) -> None:
    for page in (HOME, SENDING, SEARCH, "/admin/jobs/", "/admin/trial-balance/"):
        assert Browser(cast.alice).get(page, follow=True).status_code == 404


# --- decisions ------------------------------------------------------------------------------------


def test_a_payout_is_approved_with_a_code_beside_what_is_known_of_the_store(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 1)
    row = Payout.objects.get()
    page = f"/admin/payouts/payout/{row.pk}/decide/"
    shown = text(finance.get(page))
    assert (
        "None, this is the first" in shown
        and "Alice&#x27;s Bakery" in shown
        and "Payouts of the store" in shown
    )
    assert shown.index('value="reject"') < shown.index('value="approve"')
    assert finance.post(page, decision="approve", reason="Known").status_code == 422
    assert Payout.objects.get().status == "requires_review"
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    said = {"decision": "approve", "reason": "Known", "code": next_code(person_of(finance))}
    assert finance.post(page, **said).status_code == 302
    assert Payout.objects.get().status == "pending"


def test_above_the_limit_an_approval_needs_a_reason(
    cast: Cast, finance: Browser, settings: Any
) -> None:
    settings.STAFF_FOUR_EYES_ABOVE_CENTS = 0
    reviewed(cast, 1)
    page = f"/admin/payouts/payout/{Payout.objects.get().pk}/decide/"
    refused = finance.post(page, decision="approve", code=next_code(person_of(finance)))
    assert refused.status_code == 422 and "This approval needs a reason" in text(refused)
    assert not StaffRequest.objects.filter(kind="payout").exists()


def test_a_decision_asks_no_more_for_a_store_with_many_payouts(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 2)
    page = f"/admin/payouts/payout/{Payout.objects.order_by('created_at').first().pk}/decide/"  # type: ignore[union-attr]  # made above
    finance.get(page)
    few = statements(lambda: finance.get(page))
    reviewed(cast, 4)
    assert statements(lambda: finance.get(page)) == few


def test_a_button_without_a_reason_does_nothing(finance: Browser) -> None:
    dead(1)
    admins = signed_in(make.clerk("admin"))
    failure = RowFailure.objects.get()
    admins.post("/admin/core/rowfailure/", action="retry", _selected_action=str(failure.pk))
    assert "give a reason" in text(admins.get("/admin/core/rowfailure/"))
    failure.refresh_from_db()
    assert failure.dead_at is not None


def test_a_row_that_is_set_aside_leaves_the_queue_and_no_job_looks_at_it(cast: Cast) -> None:
    dead(1)
    admins = signed_in(make.clerk("admin"))
    failure = RowFailure.objects.get()
    admins.post(
        "/admin/core/rowfailure/",
        action="set_aside",
        reason="The store has closed",
        _selected_action=str(failure.pk),
    )
    failure.refresh_from_db()
    assert (failure.set_aside_reason, failure.dead_at is None) == ("The store has closed", False)
    assert rows.failing() == []
    assert [
        one.count for one in staff_home.queues(clock.real_now()) if one.name == "Jobs that gave up"
    ] == [0]
    assert "The store has closed" in text(admins.get("/admin/core/rowfailure/"))
    assert (
        AuditEntry.objects.filter(action="staff.changed", reason="The store has closed").count()
        == 1
    )


# --- unmatched transfers --------------------------------------------------------------------------


def test_an_unmatched_transfer_is_resolved_once_with_a_reason_and_moves_nothing(
    cast: Cast, finance: Browser
) -> None:
    row = stray(cast)
    page = f"/admin/chain/unmatchedtransfer/{row.pk}/resolve/"
    shown = text(finance.get(page))
    assert "Take the coins into custody" in shown and "account=custody_deposits" in shown
    assert finance.post(page, outcome="kept").status_code == 422
    assert finance.post(page, outcome="stolen", reason="x").status_code == 422
    assert (
        finance.post(page, outcome="kept", reason="Nobody has asked for a year").status_code == 302
    )
    row.refresh_from_db()
    assert (row.outcome, row.outcome_reason) == (
        "kept",
        "Nobody has asked for a year",
    ) and row.resolved_at is not None
    assert finance.post(page, outcome="ignored", reason="Again").status_code == 422
    assert (
        AuditEntry.objects.filter(
            action="unmatched_transfer.resolved", reason="Nobody has asked for a year"
        ).count()
        == 1
    )
    assert trial_balance.now().sheets == []


def test_only_finance_resolves_it(cast: Cast) -> None:
    row = stray(cast)
    for role in ("support", "admin"):
        browser = signed_in(make.clerk(role))
        page = f"/admin/chain/unmatchedtransfer/{row.pk}/resolve/"
        assert browser.get(page).status_code == 200
        assert browser.post(page, outcome="kept", reason="x").status_code == 403


# --- the books, jobs, the kill switch -------------------------------------------------------------


def test_the_trial_balance_sums_to_zero_and_tells_when_it_does_not(
    cast: Cast, finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid(cast.bakery.test)
    told = trial_balance.now()
    assert told.is_balanced and [sheet.asset_id for sheet in told.sheets] != []
    assert all(sheet.debit == sheet.credit for sheet in told.sheets)
    shown = text(finance.get("/admin/trial-balance/"))
    assert "Sums to zero" in shown and "Debits equal credits" in shown
    skewed = " ".join(trial_balance._BY_KIND.split()).replace(
        "sum(b.amount) FILTER (WHERE b.amount > 0)", "sum(b.amount + 1) FILTER (WHERE b.amount > 0)"
    )
    monkeypatch.setattr(trial_balance, "_BY_KIND", skewed)
    assert "Not balanced" in text(finance.get("/admin/trial-balance/"))


def test_the_trial_balance_of_the_last_seal_is_without_what_was_booked_since(
    cast: Cast, finance: Browser
) -> None:
    page = "/admin/trial-balance/?as_of=seal"
    AuditSeal.objects.all().delete()
    assert "The audit log isn&#x27;t sealed yet" in text(
        finance.get(page)
    ) or "isn't sealed yet" in text(finance.get(page))
    make.store_coins(cast.bakery.store, "ETH", 3 * 10**18)
    sealed_at = clock.real_now()
    AuditSeal.objects.create(
        number=7, sealed_at=sealed_at, entry_ids=[], previous="0" * 64, seal="1" * 64
    )
    make.store_coins(cast.bakery.store, "ETH", 5 * 10**18)
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    told = trial_balance.at_last_seal()
    assert told is not None and (told.at, told.seal, told.is_balanced) == (sealed_at, 7, True)
    assert [(sheet.mode, sheet.asset_id, sheet.debit, sheet.credit) for sheet in told.sheets] == [
        ("live", "ETH", "3", "3")
    ]
    [now] = [sheet for sheet in trial_balance.now().sheets if sheet.asset_id == "ETH"]
    assert (now.debit, now.credit) == ("8", "8")
    assert "audit log seal 7" in " ".join(text(finance.get(page)).split())


def test_a_trial_balance_that_takes_too_long_is_said_to(
    finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_balance, "SECONDS_MAX", 1)
    monkeypatch.setattr(trial_balance, "_BY_KIND", "SELECT pg_sleep(5)")
    assert "Too many accounts" in text(finance.get("/admin/trial-balance/"))
    AuditSeal.objects.create(
        number=7, sealed_at=clock.real_now(), entry_ids=[], previous="0" * 64, seal="1" * 64
    )
    monkeypatch.setattr(trial_balance, "_BY_KIND_AT", "SELECT pg_sleep(5)")
    assert "Too many accounts" in text(finance.get("/admin/trial-balance/?as_of=seal"))


def test_the_monitor_tells_jobs_and_outbox(finance: Browser) -> None:
    dead(3)
    shown = text(finance.get("/admin/jobs/"))
    assert "payments.expire_due" in shown and "Deliveries waiting" in shown and "webhooks" in shown


def test_one_holds_sending_and_two_resume_it(cast: Cast) -> None:
    first = signed_in(make.clerk("finance"))
    second = signed_in(make.clerk("finance"))
    assert first.post(SENDING, act="hold", what="asset:SETH", reason="").status_code == 422
    assert (
        first.post(SENDING, act="hold", what="asset:SETH", reason="A strange payout").status_code
        == 302
    )
    hold = SendingHold.objects.get()
    shown = text(first.get(SENDING))
    assert "A strange payout" in shown and "ETH on Ethereum Sepolia" in shown
    assert "ETH on Ethereum Sepolia" in text(first.get(HOME))
    assert first.post(SENDING, act="hold", what="asset:SETH", reason="Again").status_code == 422
    assert first.post(SENDING, act="resume", hold=hold.pk, reason="It was ours").status_code == 302
    asked = StaffRequest.objects.get(kind="sending")
    page = f"/admin/stores/staffrequest/{asked.pk}/decide/"
    said = {"decision": "approve", "digest": asked.digest}
    assert first.post(page, **said, code=next_code(person_of(first))).status_code == 422
    assert second.post(page, **said, code=next_code(person_of(second))).status_code == 302
    hold.refresh_from_db()
    assert hold.lifted_at is not None and hold.lift_reason == "It was ours"
    assert first.post(SENDING, act="resume", hold=hold.pk, reason="x").status_code == 422


@pytest.mark.parametrize(
    ("role", "holds", "resumes"),
    [("support", 403, 403), ("finance", 302, 302), ("admin", 302, 403)],
)
def test_roles_hold_and_resume(cast: Cast, role: str, holds: int, resumes: int) -> None:
    browser = signed_in(make.clerk(role))
    assert browser.post(SENDING, act="hold", what="all", reason="x").status_code == holds
    row = SendingHold.objects.first() or SendingHold.objects.create(
        reason="x", placed_by=make.clerk("admin"), placed_at=clock.real_now()
    )
    assert browser.post(SENDING, act="resume", hold=row.pk, reason="x").status_code == resumes


# --- search ---------------------------------------------------------------------------------------


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
    for one in [*quoted, *([address] if address else [])]:
        shown = text(finance.get(SEARCH, data={"q": one}, follow=True))
        assert "Nothing found" not in shown, one
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


def test_what_one_switches_off_alone_has_its_reason_in_the_audit_log(cast: Cast) -> None:
    admins = signed_in(make.clerk("admin"))
    store = change_store(cast.bakery.store, card_funding_test=True)
    page = "/admin/stores/staffrequest/ask/dispatch/"
    form = {
        "store": str(store.pk),
        "authorization_provider": store.authorization_provider,
        "reason": "Chargebacks",
    }
    assert admins.post(page, **form).status_code == 302
    store.refresh_from_db()
    assert store.card_funding_test is False
    assert AuditEntry.objects.filter(action="store.changed", reason="Chargebacks").count() == 1

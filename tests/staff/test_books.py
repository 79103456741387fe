"""The trial balance, jobs and the kill switch."""

import pytest

from apps.chain.models import SendingHold
from apps.core import clock
from apps.ledger.models import Account, Movement
from apps.staff.books import trial_balance
from apps.stores.models import AuditEntry, AuditSeal, StaffRequest
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, next_code, text
from tests.make import paid
from tests.staff.pages import HOME, SENDING, dead, person_of
from tests.staff.test_roles import signed_in


def test_the_trial_balance_sums_to_zero_and_tells_when_it_does_not(
    cast: Cast, finance: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid(cast.bakery.test)
    told = trial_balance.now()
    assert told.is_balanced and [sheet.asset_id for sheet in told.sheets] != []
    assert all(sheet.debit == sheet.credit for sheet in told.sheets)
    shown = text(finance.get("/admin/trial-balance/"))
    assert shown.count(">Balanced<") > 1 and "Debits equal credits" in shown
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
    assert "The audit log isn’t sealed yet" in text(
        finance.get(page)
    ) or "isn’t sealed yet" in text(finance.get(page))
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


@pytest.mark.parametrize("role", ["finance", "admin"])
def test_nobody_adds_changes_or_deletes_what_is_booked(cast: Cast, role: str) -> None:
    paid(cast.bakery.test)
    browser = signed_in(make.clerk(role))
    for name, record in (
        ("account", Account.objects.filter(store_id=cast.bakery.store.pk).latest("pk")),
        ("movement", Movement.objects.latest("pk")),
    ):
        pages = f"/admin/ledger/{name}/"
        shown = text(browser.get(f"{pages}{record.pk}/change/"))
        assert 'name="_save"' not in shown and "/delete/" not in shown
        for page in ("add/", f"{record.pk}/change/", f"{record.pk}/delete/"):
            answer = browser.post(f"{pages}{page}", _save="1", post="yes")
            assert answer.status_code in (403, 404), (page, answer.status_code)
        assert type(record).objects.filter(pk=record.pk).exists()


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


def test_what_one_switches_off_alone_has_its_reason_in_the_audit_log(cast: Cast) -> None:
    admins = signed_in(make.clerk("admin"))
    store = change_store(cast.bakery.store, card_funding_test=True)
    page = "/admin/stores/staffrequest/ask/cards/"
    form = {
        "store": str(store.pk),
        "card_funding_test": "off",
        "reason": "Chargebacks",
    }
    assert admins.post(page, **form).status_code == 302
    store.refresh_from_db()
    assert store.card_funding_test is False
    assert AuditEntry.objects.filter(action="store.changed", reason="Chargebacks").count() == 1

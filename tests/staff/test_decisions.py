"""Decisions of staff: payouts in review, rows set aside and transfers that match nothing."""

from typing import Any

from apps.access.models import SecondFactor
from apps.assets.models import AcceptedAsset
from apps.chain.models import Deposit, OutgoingTransaction, UnknownTransaction
from apps.core import clock, rows
from apps.core.models import OutgoingMail, RowFailure
from apps.payments.models import PaymentAddress
from apps.payouts.models import Destination, Payout
from apps.payouts.services.destinations import add_bank
from apps.staff.books import trial_balance
from apps.staff.front import home as staff_home
from apps.stores.models import AuditEntry, StaffRequest
from apps.stores.models.notifications import Notification
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, next_code, text
from tests.make import paid
from tests.staff.pages import (
    DECISIONS,
    dead,
    decisions,
    person_of,
    reviewed,
    statements,
    stray,
    words,
)
from tests.staff.test_roles import signed_in


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
        and "Other payouts of the store" in shown
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
        queue.count
        for queue in staff_home.queues(clock.real_now())
        if queue.name == "Jobs that gave up"
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


# --- bank accounts and stopped assets -------------------------------------------------------------


def bank_of(cast: Cast, mode: str = "test") -> Destination:
    account = "DE89370400440532013000"
    store = cast.bakery.store
    return add_bank(store, mode, currency="EUR", holder="Rye GmbH", account=account)


def emails() -> list[str]:
    return [row.to for row in OutgoingMail.objects.filter(template="review_outcome")]


def headlines() -> list[str]:
    rows = Notification.objects.filter(kind="verification").order_by("created_at")
    return [row.title for row in rows]


def waiting(name: str) -> int:
    queues = staff_home.queues(clock.real_now())
    return next(queue.count for queue in queues if queue.name == name)


def test_a_bank_account_is_verified_beside_what_is_known_of_the_store(
    cast: Cast, finance: Browser
) -> None:
    paid(cast.bakery.test, amount="24.90")
    bank = bank_of(cast)
    assert waiting("Bank accounts to verify") == 1
    listed = text(finance.get("/admin/payouts/destination/?kind__exact=bank&review=pending"))
    page = f"/admin/payouts/destination/{bank.pk}/decide/"
    assert f'href="{page}"' in listed and 'value="verify"' not in listed
    shown = text(finance.get(page))
    for part in (
        "Rye GmbH",
        "Alice&#x27;s Bakery",
        "Payouts of the store",
        "ETH",
        "≈ €",
    ):
        assert part in shown, part
    assert "0532" not in shown
    sums = finance.get(page).content.decode()
    assert "≈\N{NO-BREAK SPACE}€" in sums and "≈ €" not in sums and ", ≈" not in sums
    assert finance.post(page, decision="approve", reason="Statement seen").status_code == 302
    bank.refresh_from_db()
    assert bank.status == "verified" and waiting("Bank accounts to verify") == 0
    entry = AuditEntry.objects.get(action="payout_destination.verified")
    assert (entry.actor_kind, entry.reason) == ("staff", "Statement seen")
    assert headlines() == ["Your EUR account ending in 3000 was verified"] and emails() == []
    assert finance.post(page, decision="reject", reason="Late").status_code == 422
    finance.post(
        "/admin/payouts/destination/",
        action="take_back",
        reason="Statement was forged",
        _selected_action=str(bank.pk),
    )
    bank.refresh_from_db()
    assert bank.status == "pending"
    entry = AuditEntry.objects.get(action="payout_destination.unverified")
    assert entry.reason == "Statement was forged"


def test_a_bank_account_is_rejected_with_a_reason_that_the_store_reads(
    cast: Cast, finance: Browser
) -> None:
    change_store(cast.bakery.store, kyc_confirmed_at=None)
    bank = bank_of(cast, "live")
    page = f"/admin/payouts/destination/{bank.pk}/decide/"
    assert finance.post(page, decision="reject").status_code == 422
    reason = "The holder is <b>somebody</b> else"
    assert finance.post(page, decision="reject", reason=reason).status_code == 302
    bank.refresh_from_db()
    assert (bank.status, bank.rejection_reason) == ("rejected", reason)
    assert AuditEntry.objects.get(action="payout_destination.rejected").reason == reason
    assert headlines() == ["Your EUR account ending in 3000 couldn’t be verified"]
    assert emails() == [cast.alice.email] and waiting("Bank accounts to verify") == 0
    owner = Browser(cast.alice)
    owner.switch("live")
    shown = text(owner.get("payouts/destinations"))
    assert "The holder is &lt;b&gt;somebody&lt;/b&gt; else" in shown and "Rejected" in shown
    assert "Pending verification" not in shown
    assert finance.post(page, decision="approve").status_code == 422


def stopped(cast: Cast) -> AcceptedAsset:
    row = AcceptedAsset.objects.get(store=cast.bakery.store, mode="test", asset="SETH")
    AcceptedAsset.objects.filter(pk=row.pk).update(suspended_at=clock.real_now())
    return row


def test_a_stopped_asset_is_kept_stopped_or_accepted_again(cast: Cast, finance: Browser) -> None:
    made = paid(cast.bakery.test, amount="24.90")
    address = PaymentAddress.objects.filter(payment=made["id"]).values("address")
    Deposit.objects.filter(address__in=address).update(is_lost=True)
    row = stopped(cast)
    page = f"/admin/assets/acceptedasset/{row.pk}/decide/"
    shown = text(finance.get(page))
    for part in (
        "Lost deposits",
        "Value now",
        "≈ €",
        "Payouts of the store",
        "Keep it stopped",
    ):
        assert part in shown, part
    assert finance.post(page, decision="reject").status_code == 422
    assert finance.post(page, decision="reject", reason="The miner is unknown").status_code == 302
    row.refresh_from_db()
    assert row.status == "stopped" and waiting("Assets stopped for review") == 0
    assert "The miner is unknown" in text(Browser(cast.alice).get("attention"))
    assert AuditEntry.objects.get(action="asset.kept_stopped").reason == "The miner is unknown"
    finance.post(
        "/admin/assets/acceptedasset/",
        action="end_review",
        reason="Corrected",
        _selected_action=str(row.pk),
    )
    row.refresh_from_db()
    assert (row.status, row.review_reason) == ("accepted", "")
    row = stopped(cast)
    assert finance.post(page, decision="approve", reason="Mined again").status_code == 302
    assert AcceptedAsset.objects.get(pk=row.pk).status == "accepted"
    assert headlines() == [
        "ETH on Ethereum Sepolia stays stopped",
        *["ETH on Ethereum Sepolia is accepted again"] * 2,
    ]


def test_a_decision_is_named_as_people_would_and_so_is_what_became_of_it(
    cast: Cast, finance: Browser
) -> None:
    reviewed(cast, 1)
    asset = f"/admin/assets/acceptedasset/{stopped(cast).pk}/decide/"
    subjects = {
        asset: "ETH on Ethereum Sepolia for Alice’s Bakery",
        f"/admin/payouts/destination/{bank_of(cast).pk}/decide/": (
            "EUR account ending in 3000 for Alice’s Bakery"
        ),
        f"/admin/payouts/payout/{Payout.objects.get().pk}/decide/": "payout for Alice’s Bakery",
    }
    for page, subject in subjects.items():
        assert decisions(text(finance.get(page))) == DECISIONS, page
        assert f"Review {subject}" in words(finance.get(page)).replace("&#x27;", "’"), page
    listed = finance.client.post(
        asset, {"decision": "reject", "reason": "The miner is unknown"}, follow=True
    )
    said = words(listed).replace("&#x27;", "’")
    assert "ETH on Ethereum Sepolia for Alice’s Bakery: kept stopped" in said


def test_only_finance_decides_about_bank_accounts_and_stopped_assets(cast: Cast) -> None:
    pages = (
        f"/admin/payouts/destination/{bank_of(cast).pk}/decide/",
        f"/admin/assets/acceptedasset/{stopped(cast).pk}/decide/",
    )
    for role in ("support", "admin"):
        browser = signed_in(make.clerk(role))
        for page in pages:
            assert "can view this, not decide it" in text(browser.get(page))
            for decision in ("approve", "reject"):
                assert browser.post(page, decision=decision, reason="x").status_code == 403


def test_what_only_an_operator_settles_shows_the_command(cast: Cast, finance: Browser) -> None:
    unknown = UnknownTransaction.objects.create(
        chain_id="sepolia",
        from_address="0x" + "a1" * 20,
        nonce=1,
        tx_hash="0x" + "b2" * 32,
        value_atomic=0,
        found_at=clock.real_now(),
    )
    listed = text(finance.get("/admin/chain/unknowntransaction/"))
    assert f"manage.py sending known {unknown.tx_hash}" in listed
    asset = AcceptedAsset.objects.get(store=cast.bakery.store, mode="test", asset="SETH").asset
    row = OutgoingTransaction.objects.create(
        chain_id="sepolia",
        asset=asset,
        to_address="0x" + "c3" * 20,
        amount_atomic=1,
        purpose="refund",
        reference="refund",
        status="review",
        requested_at=clock.real_now(),
    )
    listed = text(finance.get("/admin/chain/outgoingtransaction/?status__exact=review&days=all"))
    for command in (f"sent {row.pk} --hash HASH", f"unsent {row.pk}", f"again {row.pk}"):
        assert f"manage.py sending {command}" in listed, command
    OutgoingTransaction.objects.filter(pk=row.pk).update(status="failed")
    assert "manage.py" not in text(finance.get("/admin/chain/outgoingtransaction/?days=all"))


def test_payouts_that_waited_for_a_stopped_coin_are_released_together(
    cast: Cast, finance: Browser
) -> None:
    make.funded(cast.bakery.test)
    row = stopped(cast)
    held = [make.payout(cast.bakery.test, 10**14)["id"] for _ in range(3)]
    page = "/admin/payouts/payout/"
    said = {"action": "release", "reason": "Corrected", "_selected_action": held}

    def states() -> set[str]:
        return set(Payout.objects.values_list("status", flat=True))

    finance.post(page, **said)
    assert states() == {"requires_review"}  # without a code
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    finance.post(page, **said, code=next_code(person_of(finance)))
    assert states() == {"requires_review"}  # while the coin is stopped

    AcceptedAsset.objects.filter(pk=row.pk).update(suspended_at=None)
    finance.post(page, **said, code=next_code(person_of(finance)))

    assert states() == {"pending"}
    assert AuditEntry.objects.filter(action="payout.approved", reason="Corrected").count() == 3

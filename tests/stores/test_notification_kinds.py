"""Kinds of notifications: the events of each, and who sees it in the dashboard."""

import uuid

from apps.chain.models import Deposit
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.payments.models import Payment
from apps.payments.services import completed_emails, unexpected
from apps.payments.services.change_status import change_status
from apps.payments.services.settle import settle_payment
from apps.payments.states import PaymentDecision
from apps.stores.models import Member, Notification, NotificationChoice, Role
from apps.stores.notices import notifications
from apps.stores.notices.kinds import KINDS
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import waiting_approval
from tests.stores.test_notifications import colleague, news, told

# --- what is told ---------------------------------------------------------------------------------


def titles(cast: Cast, kind: str) -> list[str]:
    rows = Notification.objects.filter(store=cast.bakery.store, kind=kind)
    return list(rows.values_list("title", flat=True))


def test_what_is_accepted_over_or_under_the_amount_due_is_told(cast: Cast) -> None:
    api = cast.bakery.test
    make.simulated(api, make.payment(api, title="Rye")["id"], "overpaid")
    assert titles(cast, "payment_attention") == ["Payment of €10.00 was overpaid by €0.20"]
    change_store(cast.bakery.store, accept_underpayments=True)
    short = make.payment(api, amount="24.00", expires_in=300)
    make.simulated(api, short["id"], "underpaid")
    make.advance(api, 400)
    assert set(titles(cast, "payment_attention")) == {
        "Payment of €10.00 was overpaid by €0.20",
        "Payment of €24.00 was underpaid by €12.00",
    }
    make.paid(api)
    assert len(titles(cast, "payment_attention")) == 2


def test_coins_that_nobody_expected_are_told_once(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    transfer_id = make.stray_transfer(made["id"])
    settle_payment(uuid.UUID(made["id"]))
    (row,) = Notification.objects.filter(kind="unmatched_transfer")
    assert row.title.endswith(" arrived unexpectedly") and made["reference"] in row.text
    assert row.path == f"/dashboard/transfers/{transfer_id}"
    assert Browser(cast.alice).get(row.path).status_code == 200


def test_a_coin_that_is_stopped_is_told_once(cast: Cast) -> None:
    row = Payment.objects.get(pk=make.paid(cast.bakery.test)["id"])
    deposit = Deposit.objects.select_related("asset__chain").get()
    for _ in range(2):
        unexpected.stop_for_review(row, deposit, clock.real_now())
    assert titles(cast, "asset_stopped") == ["ETH on Ethereum Sepolia is stopped for review"]
    (notice,) = Notification.objects.filter(kind="asset_stopped")
    assert f"deposit of payment {row.reference} (€10.00) left the chain" in notice.text
    assert notice.path == f"/dashboard/payments/{row.pk}"
    assert Browser(cast.alice).get(notice.path).status_code == 200
    assert row.reference in Browser(cast.alice).get("attention").content.decode()


def test_each_payment_that_lost_its_deposit_is_told_though_the_coin_is_stopped(
    cast: Cast,
) -> None:
    paid = [Payment.objects.get(pk=make.paid(cast.bakery.test)["id"]) for _ in range(2)]
    for row in paid:
        deposit = Deposit.objects.select_related("asset__chain").get(
            address_id__in=row.addresses.values("address_id")
        )
        unexpected.stop_for_review(row, deposit, clock.real_now())
    notices = Notification.objects.filter(kind="asset_stopped").values_list("path", flat=True)
    assert set(notices) == {f"/dashboard/payments/{row.pk}" for row in paid}
    shown = Browser(cast.alice).get("attention").content.decode()
    assert all(row.reference in shown for row in paid)


def test_a_payout_that_waits_for_a_second_person_is_told_beside_its_emails(cast: Cast) -> None:
    held = waiting_approval(cast)
    (row,) = Notification.objects.filter(kind="payout_approval")
    assert (row.title, row.text[:10]) == ("Payout needs approval", "0.1 ETH to")
    assert row.path == f"/dashboard/approvals/{held['id']}"
    Notification.objects.filter(pk=row.pk).update(mode="live")
    notifications.tell(row.pk)
    assert not OutgoingMail.objects.filter(template="notification").exists()


# --- what a person sees in the dashboard ----------------------------------------------------------


def test_a_kind_that_is_hidden_is_neither_counted_nor_listed_for_that_person_alone(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    admin = Browser(colleague(cast, Role.ADMIN))
    saved = browser.post("notifications/settings", shown_payout_problem="off")
    assert saved.status_code == 303
    for kind in ("payout_problem", "refund_failed"):
        notifications.record(news(cast, kind, mode="test"))
    assert "Notifications, 1 unread" in text(browser.get())
    assert "Notifications, 2 unread" in text(admin.get())
    rows = browser.get("notifications").context["window"].rows
    assert [row.kind for row in rows] == ["refund_failed"]
    assert len(admin.get("notifications").context["window"].rows) == 2
    browser.post("notifications/settings", shown_payout_problem="on")
    assert len(browser.get("notifications").context["window"].rows) == 2


def test_what_is_hidden_is_still_emailed_and_what_isnt_emailed_is_still_shown(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.post("notifications/settings", shown_payout_problem="off", refund_failed="off")
    emails = told(cast, news(cast), news(cast, "refund_failed"))
    assert [email.to for email in emails] == [[cast.alice.email]]
    browser.switch("live")
    rows = browser.get("notifications").context["window"].rows
    assert [row.kind for row in rows] == ["refund_failed"]


def test_completed_payments_are_listed_for_whom_asks_for_them(cast: Cast) -> None:
    browser = Browser(cast.alice)
    other = Browser(colleague(cast, Role.ADMIN))
    browser.switch("live")
    other.switch("live")
    api = cast.bakery.live
    row = Payment.objects.get(pk=make.payment(api, title="Rye")["id"])
    began = PaymentDecision("processing", None, "payment_intent.processing")
    done = PaymentDecision("completed", "completed_exact", "payment_intent.completed")
    change_status(row, began, done, at=clock.real_now())
    completed_emails.tell_all()
    assert not Notification.objects.filter(kind="payment_completed").exists()
    browser.post("notifications/settings", shown_payment_completed="on")
    completed_emails.tell_all()
    assert [item.kind for item in browser.get("notifications").context["window"].rows] == [
        "payment_completed"
    ]
    assert other.get("notifications").context["window"].rows == []


def test_hiding_a_kind_leaves_its_emails_as_the_role_has_them(cast: Cast) -> None:
    notifications.show_kinds(cast.alice, cast.bakery.store, {"payout_problem": False, "odd": True})
    member = Member.objects.get(user=cast.alice, store=cast.bakery.store)
    assert notifications.channels_of(member)["payout_problem"] == ("immediately", False)
    notifications.choose(cast.alice, cast.bakery.store, {"payout_problem": "off"})
    assert notifications.channels_of(member)["payout_problem"] == ("off", False)
    assert NotificationChoice.objects.count() == 1


def test_the_page_of_settings_sends_every_box(cast: Cast) -> None:
    browser = Browser(cast.alice)
    page = browser.get("notifications/settings").content.decode()
    for kind in KINDS:
        assert f'type="hidden" name="shown_{kind}" value="off"' in page
        assert f'type="checkbox" name="shown_{kind}" value="on"' in page

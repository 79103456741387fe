"""One member of staff alone: no way to give a store away, to change what decides about its money,
or to confirm deposits sooner; decisions of two are reported to the store's owners."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail
from django.db import IntegrityError, connection, transaction

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.assets.models import Asset, Chain
from apps.billing.models import InvoiceSettings
from apps.core import acting, clock, mail
from apps.payouts.models import Destination, PayoutSettings
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.limits import PAYOUT_LIMITS
from apps.stores.models import AuditEntry, Member, Notification, Role, StaffRequest, Store, User
from apps.stores.staff import four_eyes
from tests import make
from tests.auditing import found_of
from tests.cast import Cast
from tests.dashboard.browse import Browser, next_code, text
from tests.staff.test_roles import REGISTRY, signed_in

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
# What the page of a store is sent with, apart from what a test is about.
STORE = {
    "accept_overpayments": "on",
    "underpayment_tolerance_bps": "0.5",
    "overpayment_tolerance_bps": "1",
    "fee_fraction": "1",
    "payout_network_fee": "service",
    "invoice_due_days": "7",
    "reason": "They asked for it",
    "members-TOTAL_FORMS": "0",
    "members-INITIAL_FORMS": "0",
}


@pytest.fixture
def clerk(db: None) -> User:
    return make.clerk("admin")


@pytest.fixture
def staff(clerk: User) -> Browser:
    return signed_in(clerk)


def page_of(store: Store) -> str:
    return f"/admin/stores/store/{store.pk}/change/"


def bob_of(cast: Cast) -> Member:
    return Member.objects.get(store=cast.bakery.store, user=cast.bob)


def roles_of(store: Store) -> dict[str, str]:
    return dict(Member.objects.filter(store=store).values_list("user__email", "role"))


def approve(row: StaffRequest, browser: Browser, person: User) -> Any:
    page = f"/admin/stores/staffrequest/{row.pk}/decide/"
    said = {"decision": "approve", "digest": row.digest, "reason": "Checked"}
    return browser.post(page, **said, code=next_code(person))


def emails_to(email: str) -> list[Any]:
    mail.send_due()
    return [message for message in django_mail.outbox if message.to == [email]]


# --- giving a store away --------------------------------------------------------------------------


def test_the_page_of_a_store_makes_nobody_its_owner(cast: Cast, staff: Browser) -> None:
    store = cast.bakery.store
    members = list(Member.objects.filter(store=store).order_by("pk"))
    before = roles_of(store)
    rows = {
        f"members-{number}-{name}": str(value)
        for number, member in enumerate(members)
        for name, value in (
            ("id", member.pk),
            ("store", store.pk),
            ("user", member.user_id),
            ("role", Role.OWNER),
        )
    }
    count = str(len(members))
    counts = {"members-TOTAL_FORMS": count, "members-INITIAL_FORMS": count}
    staff.post(page_of(store), **{**STORE, **rows, **counts})
    assert roles_of(store) == before
    shown = text(staff.get(page_of(store)))
    assert "Change role" in shown and 'name="members-0-role"' not in shown


def test_a_role_is_requested_by_one_and_given_by_two(
    cast: Cast, staff: Browser, clerk: User
) -> None:
    store = cast.bakery.store
    asked = staff.post(
        "/admin/stores/staffrequest/ask/member_role/",
        store=str(store.pk),
        email=cast.bob.email,
        role=Role.OWNER,
        reason="The owner has died",
    )
    assert asked.status_code == 302
    row = StaffRequest.objects.get()
    assert approve(row, staff, clerk).status_code == 422
    assert bob_of(cast).role == Role.DEVELOPER

    second = make.clerk("admin")
    assert approve(row, signed_in(second), second).status_code == 302
    assert bob_of(cast).role == Role.OWNER
    (message,) = emails_to(cast.alice.email)
    assert "role of a team member" in message.subject and cast.bob.email in message.body
    assert "Your role in" in emails_to(cast.bob.email)[0].body
    notification = Notification.objects.get(store=store, kind="staff_change", mode="live")
    assert f"{cast.bob.email} is now owner, instead of developer" in notification.text
    assert found_of("staff_acts_by_two") == []


def test_a_store_keeps_an_owner(cast: Cast, staff: Browser) -> None:
    asked = staff.post(
        "/admin/stores/staffrequest/ask/member_role/",
        store=str(cast.bakery.store.pk),
        email=cast.alice.email,
        role=Role.VIEWER,
        reason="Not hers",
    )
    assert asked.status_code == 422 and "A store needs an owner" in text(asked)
    assert not StaffRequest.objects.exists()


def test_no_page_of_the_staff_site_adds_or_deletes(staff: Browser) -> None:
    """Members, invitations, keys, payout destinations, passkeys: none is made here."""
    for page in REGISTRY:
        assert staff.post(f"/admin/{page}/add/", role="owner").status_code == 403, page


def test_the_page_of_a_person_changes_no_way_to_sign_in(cast: Cast, staff: Browser) -> None:
    second_factor.switch_on(cast.alice, SECRET)
    before = User.objects.filter(pk=cast.alice.pk).values(
        "email", "email_key", "password", "is_staff", "is_superuser", "session_version"
    )
    kept = before.get()
    answer = staff.post(
        f"/admin/stores/user/{cast.alice.pk}/change/",
        name="Alice",
        is_active="on",
        email="thief@example.com",
        email_key="thief@example.com",
        password="thief",
        is_staff="on",
        is_superuser="on",
        reason="x",
    )
    assert answer.status_code == 302
    assert before.get() == kept
    assert SecondFactor.objects.filter(user=cast.alice, confirmed=True).exists()


def test_a_lost_factor_is_only_requested(cast: Cast, staff: Browser) -> None:
    second_factor.switch_on(cast.alice, SECRET)
    page = "/admin/stores/staffrequest/ask/second_factor/"
    assert staff.post(page, email=cast.alice.email, reason="Lost").status_code == 302
    assert SecondFactor.objects.filter(user=cast.alice, confirmed=True).exists()


def test_nobody_names_a_payout_destination_of_a_store(cast: Cast, staff: Browser) -> None:
    before = Destination.objects.count()
    staff.post("/admin/payouts/destination/add/", store=str(cast.bakery.store.pk), address="0x1")
    assert Destination.objects.count() == before


# --- what decides about money ---------------------------------------------------------------------


def test_fees_reviews_and_rights_are_requested_and_the_rest_is_saved(
    cast: Cast, staff: Browser, clerk: User
) -> None:
    store = cast.bakery.store
    form = {
        **STORE,
        "is_platform": "on",
        "platform_may_pay_out": "on",
        "invoice_due_days": "14",
    }
    answer = staff.post(page_of(store), **form)
    assert answer.status_code == 302
    unchanged = Store.objects.get(pk=store.pk)
    assert not unchanged.is_platform
    assert InvoiceSettings.of(unchanged).invoice_due_days == 14
    assert not PayoutSettings.of(unchanged).platform_may_pay_out
    assert found_of("settings_logged") == []

    row = StaffRequest.objects.get()
    assert ("Runs a platform", "Off", "On") in four_eyes.content_of(row).lines
    assert approve(row, staff, clerk).status_code == 422
    second = make.clerk("admin")
    assert approve(row, signed_in(second), second).status_code == 302
    changed = Store.objects.get(pk=store.pk)
    assert changed.is_platform and PayoutSettings.of(changed).platform_may_pay_out
    (message,) = emails_to(cast.alice.email)
    assert "Runs a platform: On, instead of Off" in message.body
    assert Notification.objects.filter(store=store, kind="staff_change").count() == 1
    assert found_of("settings_logged") == [] and found_of("staff_acts_by_two") == []


def test_one_makes_reviews_stricter_and_the_owners_read_of_it(cast: Cast, staff: Browser) -> None:
    store = cast.bakery.store
    form = {**STORE, "payout_review_threshold_cents": "100", "review_new_destinations": "on"}
    assert staff.post(page_of(store), **form).status_code == 302
    settings = PayoutSettings.of(store)
    assert settings.payout_review_threshold_cents == 10_000 and settings.review_new_destinations
    assert not StaffRequest.objects.exists()
    assert "Payouts are reviewed above" in emails_to(cast.alice.email)[0].body
    staff.post(page_of(store), **{**form, "payout_review_threshold_cents": "200"})
    assert PayoutSettings.of(store).payout_review_threshold_cents == 10_000
    assert StaffRequest.objects.get().kind == "store_terms"


def test_payout_limits_are_raised_by_two_and_lowered_by_one(
    cast: Cast, staff: Browser, clerk: User
) -> None:
    """None is no limit: to take one away raises it."""
    store = cast.bakery.store
    cap = set_store_cap(store, "SETH", per_tx_atomic=10**18, daily_atomic=3 * 10**18)
    page = f"/admin/payouts/storepayoutcap/{cap.pk}/change/"
    form = {"per_tx_atomic": "1", "daily_atomic": "3", "reason": "Their contract"}

    assert staff.post(page, **{**form, "per_tx_atomic": "0.5"}).status_code == 302
    cap.refresh_from_db()
    assert (cap.per_tx_atomic, cap.daily_atomic) == (5 * 10**17, 3 * 10**18)
    assert not StaffRequest.objects.exists()
    assert ": 0.5, instead of 1" in emails_to(cast.alice.email)[0].body

    for wanted in ({"per_tx_atomic": "0.6"}, {"daily_atomic": ""}, {"daily_atomic": "4"}):
        staff.post(page, **{**form, "per_tx_atomic": "0.5", **wanted})
        cap.refresh_from_db()
        assert (cap.per_tx_atomic, cap.daily_atomic) == (5 * 10**17, 3 * 10**18), wanted
        row = StaffRequest.objects.get(state="pending")
        assert row.kind == "payout_limits"
        assert approve(row, staff, clerk).status_code == 422
        if wanted != {"daily_atomic": "4"}:
            four_eyes.reject(PAYOUT_LIMITS, row.pk, clerk, clock.real_now())
    django_mail.outbox.clear()
    second = make.clerk("admin")
    assert approve(row, signed_in(second), second).status_code == 302
    cap.refresh_from_db()
    assert (cap.per_tx_atomic, cap.daily_atomic) == (5 * 10**17, 4 * 10**18)
    (message,) = emails_to(cast.alice.email)
    assert ": 4, instead of 3" in message.body
    assert found_of("settings_logged") == [] and found_of("staff_acts_by_two") == []
    set_store_cap(store, "SETH", daily_atomic=None)  # by a command, which isn't the staff site
    assert found_of("staff_acts_by_two") == []
    later = time_machine.travel(clock.real_now() + timedelta(minutes=2), tick=True)
    with later, acting.acting(acting.Actor("staff", str(clerk.pk), clerk.email)):
        set_store_cap(store, "SETH", per_tx_atomic=7 * 10**17)
    assert [found.detail for found in found_of("staff_acts_by_two")] == [
        "one raised its payout limits"
    ]


def test_owners_are_told_of_cards_and_agents(cast: Cast, staff: Browser, clerk: User) -> None:
    store = cast.bakery.store
    staff.post(
        "/admin/stores/staffrequest/ask/cards/",
        store=str(store.pk),
        card_funding_live="on",
        reason="Their contract",
    )
    row = StaffRequest.objects.get()
    second = make.clerk("admin")
    assert approve(row, signed_in(second), second).status_code == 302
    (message,) = emails_to(cast.alice.email)
    assert "On, instead of Off" in message.body


def test_a_second_request_about_the_same_is_refused_on_the_page(cast: Cast, staff: Browser) -> None:
    for fee in ("2", "3"):
        answer = staff.post(page_of(cast.bakery.store), **{**STORE, "fee_fraction": fee})
        assert answer.status_code == 302
    assert StaffRequest.objects.count() == 1
    assert "Somebody has asked for this already" in text(staff.get("/admin/stores/store/"))


def test_no_page_gives_an_asset_another_contract(db: None, staff: Browser) -> None:
    """Nor other decimals, another network, or a network another number."""
    before = facts_of_coins()
    coin = {"is_active": "on", "min_withdrawal_atomic": "", "position": "1", "reason": "New"}
    others = {
        "contract_address": make.fresh_address(),
        "atomic_decimals": "2",
        "chain": "sepolia",
        "chain_id": "77",
        "mode": "test",
        "confirmations_floor": "0",
    }
    staff.post("/admin/assets/asset/ETH_USDC/change/", **coin, **others)
    staff.post("/admin/assets/chain/ethereum/change/", explorer_url="", reason="New", **others)
    assert facts_of_coins() == before


def facts_of_coins() -> list[Any]:
    assets = Asset.objects.order_by("pk").values_list(
        "pk", "chain", "contract_address", "atomic_decimals"
    )
    chains = Chain.objects.order_by("pk").values_list(
        "pk", "chain_id", "mode", "required_confirmations", "confirmations_floor"
    )
    return [*assets, *chains]


# --- when deposits count --------------------------------------------------------------------------


def test_confirmations_take_two_and_never_fall_below_the_floor(
    db: None, staff: Browser, clerk: User
) -> None:
    page = "/admin/assets/chain/ethereum/change/"
    form = {"required_confirmations": "0", "explorer_url": "", "reason": "Faster"}
    for wanted in ("0", "1", "2"):
        staff.post(page, **{**form, "required_confirmations": wanted})
        assert "Choose from 3 to 10000 confirmations" in text(staff.get("/admin/assets/chain/"))
    assert not StaffRequest.objects.exists()

    staff.post(page, **{**form, "required_confirmations": "6"})
    row = StaffRequest.objects.get()
    assert Chain.objects.get(pk="ethereum").required_confirmations == 12
    assert approve(row, staff, clerk).status_code == 422
    second = make.clerk("admin")
    assert approve(row, signed_in(second), second).status_code == 302
    assert Chain.objects.get(pk="ethereum").required_confirmations == 6
    line = AuditEntry.objects.get(action="chain.changed")
    assert line.details == {"required_confirmations": [12, 6]}
    assert found_of("settings_logged") == [] and found_of("staff_acts_by_two") == []


@pytest.mark.parametrize(
    "change",
    [
        "required_confirmations = 0",
        "required_confirmations = 2",
        "confirmations_floor = 0",
        "confirmations_floor = 2",
        "confirmations_floor = 1, required_confirmations = 1",
    ],
)
def test_the_database_refuses_fewer_whoever_writes(change: str, db: None) -> None:
    with (
        pytest.raises(IntegrityError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE assets_chain SET {change} WHERE id = 'ethereum'")


# --- a code for each act --------------------------------------------------------------------------


def test_six_minutes_after_the_last_code_an_act_takes_another(
    cast: Cast, staff: Browser, clerk: User
) -> None:
    store = cast.bakery.store
    form = {"invoice_due_days": "14", "support_email": "", "reason": "Agreed"}

    def due_days() -> int:
        return int(text(staff.get(page_of(store))).split('name="invoice_due_days" value="')[1][:2])

    with time_machine.travel(clock.real_now() + timedelta(minutes=6), tick=True):
        asked = staff.post(page_of(store), **form)
        assert asked.status_code == 403 and "Enter a code to continue" in text(asked)
        assert 'name="invoice_due_days" value="14"' in text(asked)
        wrong = staff.post(page_of(store), **form, code="000000")
        assert wrong.status_code == 422
        assert 'value="7' in text(staff.get(page_of(store)))
        SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
        assert staff.post(page_of(store), **form, code=next_code(clerk)).status_code == 302
        assert due_days() == 14
        later = {**form, "invoice_due_days": "15"}
        assert staff.post(page_of(store), **later).status_code == 302


def test_every_act_of_the_staff_site_asks_for_it(cast: Cast, staff: Browser) -> None:
    key = cast.bakery.access().credential_id
    acts: list[tuple[str, dict[str, str]]] = [
        ("/admin/stores/staffrequest/ask/member_role/", {"store": "x"}),
        ("/admin/stores/staffrequest/ask/staff_roles/", {"email": "x"}),
        (f"/admin/stores/user/{cast.bob.pk}/change/", {"name": "Bob"}),
        ("/admin/assets/chain/ethereum/change/", {"reason": "x"}),
        ("/admin/access/apikey/", {"action": "revoke", "_selected_action": str(key)}),
        ("/admin/sending/", {"act": "hold", "what": "all", "reason": "x"}),
    ]
    with time_machine.travel(clock.real_now() + timedelta(minutes=6), tick=True):
        for page, fields in acts:
            assert "Enter a code to continue" in text(staff.post(page, **fields)), page


def test_the_code_of_an_approval_is_taken_once(cast: Cast, staff: Browser) -> None:
    """Also when it is the code that the act needs after five minutes."""
    staff.post(page_of(cast.bakery.store), **{**STORE, "fee_fraction": "2"})
    row = StaffRequest.objects.get()
    second = make.clerk("admin")
    browser = signed_in(second)
    with time_machine.travel(clock.real_now() + timedelta(minutes=6), tick=True):
        assert approve(row, browser, second).status_code == 302
    assert StaffRequest.objects.get().state == "approved"

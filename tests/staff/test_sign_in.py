"""The staff site: staff with a second factor, no secrets, and only the switches that staff
decide."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from apps.access.factors import lost_factor, second_factor
from apps.access.models import ApiKey, SecondFactor
from apps.core import clock
from apps.core.models import RowFailure
from apps.payments.models import Payment
from apps.stores.models import AuditEntry, StaffRequest, User
from apps.stores.services import create_user
from tests import make
from tests.billing import records as billing
from tests.cast import PASSWORD, Api, Cast
from tests.dashboard.browse import Browser, code_of, next_code, text
from tests.make import paid
from tests.staff.forms import StaffBrowser, opened

PAGES = (
    "stores/user",
    "stores/store",
    "stores/auditentry",
    "access/apikey",
    "access/requestentry",
    "access/agentcredential",
    "access/secondfactor",
    "assets/chain",
    "assets/asset",
    "assets/acceptedasset",
    "assets/rate",
    "core/rowfailure",
    "core/outgoingmail",
)


@pytest.fixture
def clerk(cast: Cast) -> User:
    return create_user("clerk@tillgate.example", PASSWORD, is_staff=True)


@pytest.fixture
def staff(clerk: User) -> Browser:
    """The clerk, signed in with a code."""
    browser = StaffBrowser(clerk)
    browser.prove()
    return browser


def test_who_signs_out_reads_so_and_is_asked_to_sign_in_again(staff: Browser) -> None:
    said = text(staff.post("/admin/logout/"))
    assert "Signed out" in said and "You’ve signed out of the staff site." in said
    assert "quality time" not in said, "that is what Django says"
    assert staff.get("/admin/").status_code == 302


def test_staff_sign_in_at_the_dashboard_with_a_code(clerk: User) -> None:
    factor = second_factor.switch_on(clerk, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = Browser()
    browser.post("sign-in", email=clerk.email, password=PASSWORD)
    done = browser.post("sign-in/code", code=code_of(factor), next="/admin/")
    assert done.headers["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200


def test_a_visitor_signs_in_at_the_dashboard(db: None) -> None:
    first = Browser().get("/admin/")
    assert (
        Browser().get(first.headers["Location"]).headers["Location"]
        == "/dashboard/sign-in?next=%2Fadmin%2F"
    )


def test_people_who_are_not_staff_find_nothing(cast: Cast) -> None:
    assert Browser(cast.alice).get("/admin/", follow=True).status_code == 404


def test_staff_without_a_second_factor_set_one_up_first(clerk: User) -> None:
    browser = Browser(clerk)
    answer = browser.get("/admin/", follow=True)
    assert (
        answer.request["PATH_INFO"] == "/dashboard/security/authenticator"
        and answer.status_code == 200
    )
    codes = browser.post(
        "security/authenticator?next=/admin/",
        code=code_of(second_factor.pending(clerk)),
        password=PASSWORD,
    )
    assert 'href="/admin/"' in text(codes)
    assert browser.get("/admin/").status_code == 200


def test_staff_read_every_list_and_no_secret_is_on_any_page(cast: Cast, staff: Browser) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    for page in PAGES:
        answer = staff.get(f"/admin/{page}/")
        assert answer.status_code == 200, page
        for row in list(answer.context["cl"].result_list)[:3]:
            one = staff.get(f"/admin/{page}/{row.pk}/change/")
            assert one.status_code == 200, page
            shown = text(one)
            for secret in ("argon2", "secret_hash", "sealed"):
                assert secret not in shown, page
        assert staff.get(f"/admin/{page}/add/").status_code == 403, page


def test_staff_read_billing_with_its_history_and_never_write_it(cast: Cast, staff: Browser) -> None:
    made = billing.subscribe(cast.bakery.test)
    (invoice,) = billing.invoices_of(cast.bakery.test, made["id"])
    pages = {
        "invoice": invoice,
        "subscription": made,
        "customer": made["customer"],
        "product": {"id": made["price"]["product_id"]},
    }
    for noun, record in pages.items():
        assert staff.get(f"/admin/billing/{noun}/").status_code == 200
        one = staff.get(f"/admin/billing/{noun}/{record['id']}/change/")
        assert one.status_code == 200 and invoice["public_token"] not in text(one)
        assert (
            staff.post(f"/admin/billing/{noun}/{record['id']}/change/", status="paid").status_code
            == 403
        )
        assert staff.get(f"/admin/billing/{noun}/{record['id']}/delete/").status_code == 403


def test_staff_find_what_a_customer_or_a_store_quotes(cast: Cast, staff: Browser) -> None:
    made = paid(cast.bakery.test, order_id="A-77")
    address = Payment.objects.get(pk=made["id"]).addresses.get().address_id
    for quoted in (made["reference"], "A-77", address, made["id"]):
        (found,) = (
            staff.get("/admin/payments/payment/", data={"q": quoted}).context["cl"].result_list
        )
        assert found.reference == made["reference"]
    (deposit,) = (
        staff.get("/admin/chain/deposit/", data={"q": made["transaction"]["tx_hash"]})
        .context["cl"]
        .result_list
    )
    assert deposit.address_id == address
    shown = text(staff.get(f"/admin/payments/payment/{made['id']}/change/"))
    assert "Payment completed" in shown and address in shown
    assert (
        staff.post(f"/admin/payments/payment/{made['id']}/change/", status="refunded").status_code
        == 403
    )
    for page in (
        "chain/hotwallet",
        "chain/outgoingtransaction",
        "chain/unmatchedtransfer",
        "chain/unknowntransaction",
        "swaps/swap",
    ):
        assert staff.get(f"/admin/{page}/").status_code == 200
        assert staff.get(f"/admin/{page}/add/").status_code == 403
    assert staff.get("/admin/payments/refund/", data={"q": made["reference"]}).status_code == 200


def test_staff_turn_the_switches_of_a_store_and_nothing_else(cast: Cast, staff: Browser) -> None:
    store = cast.bakery.store
    page = f"/admin/stores/store/{store.pk}/change/"
    form = opened(staff, page, "accept_underpayments")
    stolen = {"name": "Stolen", "test_offset_seconds": 9, "remove_service_branding": "on"}
    wanted = {**form, **stolen, "accept_underpayments": "on", "confirmed": "1"}
    assert staff.client.post(page, wanted).status_code == 200
    answer = staff.client.post(page, {**wanted, "reason": "A new contract"})
    assert answer.status_code == 302, answer.context["errors"]
    store.refresh_from_db()
    assert store.accept_underpayments is True and store.remove_service_branding is False
    assert store.name == "Alice's Bakery" and store.test_offset_seconds == 0
    assert (
        AuditEntry.objects.get(action="staff.changed", target_id=str(store.pk)).reason
        == "A new contract"
    )


def test_staff_revoke_a_key(cast: Cast, staff: Browser) -> None:
    key = ApiKey.objects.get(pk=cast.bakery.access().credential_id)
    staff.post(
        "/admin/access/apikey/", action="revoke", reason="Leaked", _selected_action=str(key.pk)
    )
    assert Api(cast.bakery.secrets["test"]).get("/payments").status_code == 401


def test_two_members_of_staff_take_off_the_second_factor_of_a_person_who_lost_it(
    cast: Cast, clerk: User, staff: Browser
) -> None:
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    signed_in = Browser(cast.alice)
    assert "?" + urlencode({"email": cast.alice.email}) in text(
        staff.get("/admin/access/secondfactor/")
    )
    lost_factor.request_removal(
        cast.alice, "Showed her passport", make.clerk("admin"), clock.real_now()
    )
    asked = StaffRequest.objects.get()
    page = f"/admin/stores/staffrequest/{asked.pk}/decide/"
    shown = text(staff.get(page))
    assert "Showed her passport" in shown and "Password only" in shown and asked.digest in shown
    said = {"decision": "approve", "digest": asked.digest}
    assert staff.post(page, **said, code="000000").status_code == 422
    assert SecondFactor.objects.filter(user=cast.alice).exists()
    SecondFactor.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    assert staff.post(page, **said, code=next_code(clerk)).status_code == 302
    assert not SecondFactor.objects.filter(user=cast.alice).exists()
    assert signed_in.get().status_code == 302


def test_staff_see_the_rows_that_jobs_gave_up_and_have_them_retried(staff: Browser) -> None:
    at = clock.real_now()
    facts = {
        "tries": 12,
        "error": "ValueError (apps/x.py:1)",
        "since": at,
        "not_before": at + timedelta(hours=1),
        "dead_at": at,
    }
    failure = RowFailure.objects.create(job="payments.expire_due", row_id="a-row", **facts)
    shown = text(staff.get("/admin/core/rowfailure/?dead_at__isempty=0"))
    assert "payments.expire_due" in shown and "a-row" in shown and "ValueError" in shown
    staff.post(
        "/admin/core/rowfailure/",
        action="retry",
        reason="The bug is mended",
        _selected_action=str(failure.pk),
    )
    failure.refresh_from_db()
    assert (
        failure.dead_at is None and failure.not_before <= clock.real_now() and failure.tries == 12
    )

"""A cashier sells at the point of sale, and sees and hears nothing else of the store."""

import re
import uuid

from apps.access.person import sessions
from apps.api.urls import ROUTES
from apps.payments.models import Payment
from apps.stores.models import Member, Role, Store
from apps.stores.notices.kinds import KINDS
from apps.stores.notices.notifications import choices_of, choose, recipients
from tests.cast import Cast
from tests.dashboard.browse import text
from tests.links.cashiers import joined
from tests.links.sales import ring_up


def test_a_cashier_sells_and_sees_nothing_else(cast: Cast) -> None:
    browser = joined(cast, Role.CASHIER)
    assert browser.get("")["Location"].endswith("/point-of-sale"), "home is the till"
    path = ring_up(browser)["Location"].removeprefix("/dashboard/")
    assert browser.post(f"{path}/tip").status_code == 303
    assert browser.get(path).status_code == browser.get("point-of-sale/sales").status_code == 200
    payment = Payment.objects.get()
    for page in (
        "payments",
        f"payments/{payment.pk}",
        "balances",
        "team",
        "settings",
        "search?q=a",
    ):
        assert browser.get(page).status_code == 403, page
    for page in (f"payments/{payment.pk}/refund", "point-of-sale/settings", "point-of-sale/items"):
        assert browser.post(page).status_code == 403, page
    for path in ("payments", "balances", "events", "payouts"):
        assert browser.get(f"/api/v2/{path}").status_code == 403, path
    assert "Refund" not in text(browser.get("point-of-sale/sales"))


def test_a_cashier_of_a_closed_store_reads_none_of_its_books(cast: Cast) -> None:
    browser, viewer = joined(cast, Role.CASHIER), joined(cast, Role.VIEWER, "reader")
    Store.objects.filter(pk=cast.bakery.store.pk).update(deleted_at=cast.bakery.access().now())
    for page in ("", "payments", "payments.csv", "balances", "point-of-sale/sales"):
        assert browser.get(page).status_code == 403, page
    assert browser.user is not None and sessions.stores_of(browser.user) == []
    assert viewer.get("payments").status_code == 200


# Paths of the API that answer whoever asks.
OPEN = (
    "checkout/",
    "oauth/",
    "billing/invoice/",
    "platform/onboarding_links/",
    "agentic/market_data",
)


def test_a_cashier_reads_nothing_at_the_api_whether_or_not_a_route_has_a_scope(cast: Cast) -> None:
    browser = joined(cast, Role.CASHIER)
    for route in ROUTES:
        if "GET" in route.scopes and not route.path.startswith(OPEN):
            path = re.sub(r"<str:\w+>", str(uuid.uuid4()), route.path)
            assert browser.get(f"/api/v2/{path}").status_code in (401, 403), path
    swap = {"source_asset_id": "SETH", "buy_asset_id": "USDC_SETH", "sell_amount_atomic": "1000"}
    answer = browser.client.post("/api/v2/balance_swaps/quote", swap, "application/json")
    assert answer.status_code == 403


def test_a_cashier_hears_of_nothing_by_email_even_what_they_chose_before(cast: Cast) -> None:
    store = cast.bakery.store
    browser = joined(cast, Role.CASHIER)
    assert browser.get("notifications/settings").status_code == 404
    fields = {"payout_confirmed": "immediately", "shown_payout_confirmed": "on"}
    assert browser.post("notifications/settings", **fields).status_code == 404
    member = Member.objects.get(user__email=browser.user and browser.user.email, store=store)
    choose(member.user, store, dict.fromkeys(KINDS, "immediately"))
    choose(member.user, store, {"payment_completed": "daily"})
    assert set(choices_of(member).values()) == {"off"}
    for kind in KINDS:
        for choice in ("immediately", "daily"):
            assert member not in recipients(store, kind, choice)

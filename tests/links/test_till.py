"""The till: a sale with its tip is one payment whose lines add up, made once, and what its page
says of it."""

import uuid
from html import unescape
from typing import Any

import pytest

from apps.core.messages.fields import Invalid
from apps.core.money import Bps
from apps.links.requests import SaleRequest, TillRequest
from apps.links.selectors import TIPS_DEFAULT, till_of
from apps.links.services.till import change_till, start_sale, tip_cents
from apps.payments.models import Payment
from apps.stores.models import AuditEntry, Member, Role, Store
from tests.cast import Cast, Shop, person
from tests.dashboard.browse import Browser, text
from tests.make import advance, simulated

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(cast: Cast) -> Browser:
    return Browser(cast.alice)


def ring_up(browser: Browser, **fields: str) -> Any:
    return browser.post(
        "point-of-sale",
        **{"form_key": uuid.uuid4().hex, "amount": "12.50", "currency": "EUR", **fields},
    )


@pytest.mark.parametrize(
    ("cents", "share", "currency", "tip"),
    [
        (1250, 1000, "EUR", 125),
        (1, 1000, "EUR", 0),
        (5, 1000, "EUR", 1),
        (1249, 1500, "EUR", 187),
        (123400, 500, "JPY", 6200),
    ],
)
def test_a_tip_is_rounded_half_up_to_what_can_be_paid(
    cents: int, share: int, currency: str, tip: int
) -> None:
    assert tip_cents(cents, Bps(share), currency) == tip


def test_a_sale_with_a_tip_adds_up(bakery: Shop, alice: Browser) -> None:
    answer = ring_up(alice, tip="1000", note="Table 4")
    assert answer.status_code == 303
    made = Payment.objects.get()
    assert (made.settlement_amount_cents, made.title, made.metadata) == (
        1375,
        "Table 4",
        {"source": "point_of_sale", "tip": "1.25"},
    )
    lines = [
        (line_item["description"], line_item["quantity"] * line_item["unit_amount_cents"])
        for line_item in made.line_items
    ]
    assert (
        lines == [("Table 4", 1250), ("Tip", 125)]
        and sum(cents for _, cents in lines) == made.settlement_amount_cents
    )


@pytest.mark.parametrize(
    ("fields", "total"),
    [({}, 1250), ({"tip": "custom", "tip_amount": "2"}, 1450), ({"tip": "custom"}, 1250)],
)
def test_tips_are_the_customers_to_give(
    bakery: Shop, alice: Browser, fields: dict[str, str], total: int
) -> None:
    ring_up(alice, **fields)
    assert Payment.objects.get().settlement_amount_cents == total


def test_a_store_that_takes_no_tips_offers_none(bakery: Shop, alice: Browser) -> None:
    assert till_of(bakery.store).tip_bps == list(TIPS_DEFAULT)
    change_till(bakery.owner_access(), TillRequest(currency="USD"))
    page = alice.get("point-of-sale").content.decode()
    assert 'name="tip"' not in page and '<option value="USD" data-step="1" selected>' in page
    ring_up(alice, tip="1000")
    assert Payment.objects.get().settlement_amount_cents == 1250


def test_settings_of_the_till_are_kept_and_audited(bakery: Shop, alice: Browser) -> None:
    for tips in ("12.5%, 5", "20"):
        assert alice.post("point-of-sale/settings", currency="CHF", tips=tips).status_code == 303
    assert till_of(bakery.store).tip_bps == [2000] and till_of(bakery.store).currency == "CHF"
    details = (
        AuditEntry.objects.filter(action="till.changed")
        .order_by("id")
        .values_list("details", flat=True)
    )
    assert list(details) == [{"tip_bps": [500, 1250]}, {"tip_bps": [2000]}]


@pytest.mark.parametrize("tips", [(1, 2, 3, 4, 5), (0,), (10_001,)])
def test_what_is_no_tip_is_refused(bakery: Shop, tips: tuple[int, ...]) -> None:
    with pytest.raises(Invalid):
        change_till(bakery.owner_access(), TillRequest(currency="EUR", tip_bps=tips))


def test_a_sale_sent_twice_is_one_payment(bakery: Shop, alice: Browser) -> None:
    key = uuid.uuid4().hex
    assert ring_up(alice, form_key=key)["Location"] == ring_up(alice, form_key=key)["Location"]
    assert Payment.objects.count() == 1


def test_a_till_follows_its_payment(bakery: Shop, alice: Browser) -> None:
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    payment = Payment.objects.get()
    opened = alice.get(path).content.decode()
    assert (
        "QR code of the checkout" in opened
        and "data-refreshes" in opened
        and 'http-equiv="refresh"' in opened
    )
    assert "opens a wallet" in alice.get(f"{path}?asset=SETH").content.decode()
    assert "QR code of the checkout" in alice.get(f"{path}?asset=%3Cb%3E").content.decode()
    simulated(bakery.test, str(payment.pk), "underpaid")
    told = text(alice.get(path))
    assert "Partially paid" in told and "asks for the remaining €" in told
    simulated(bakery.test, str(payment.pk), "exact")
    done = alice.get(path).content.decode()
    assert (
        "data-refreshes" not in done and "Receipt" in done and f"/pay/{payment.reference}" in done
    )
    assert "QR code" not in done


def test_a_sale_that_nobody_paid_says_that_time_is_up(bakery: Shop, alice: Browser) -> None:
    path = ring_up(alice)["Location"].removeprefix("/dashboard/")
    advance(bakery.test, 1000)
    assert "Time is up" in text(alice.get(path))


def test_the_same_refusals_as_those_of_the_api(bakery: Shop, alice: Browser) -> None:
    platform = Store.objects.create(name="Mall", created_at=bakery.access().now())
    Store.objects.filter(pk=bakery.store.pk).update(platform=platform, kyc_confirmed_at=None)
    alice.switch("live")
    answer = ring_up(alice)
    assert answer.status_code == 403 and "Store KYC verification required" in unescape(
        answer.content.decode()
    )
    assert not Payment.objects.exists()


@pytest.mark.parametrize("role", [Role.ACCOUNTANT, Role.VIEWER])
def test_who_may_not_ask_for_money_has_no_till(cast: Cast, role: str) -> None:
    guest = person("guest")
    Member.objects.create(
        store=cast.bakery.store, user=guest, role=role, created_at=cast.bakery.access().now()
    )
    browser = Browser(guest)
    assert browser.get("point-of-sale").status_code == 403 and ring_up(browser).status_code == 403
    assert "Point of sale" not in browser.get("payments").content.decode()
    assert not Payment.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"amount_cents": 0}, "amount"),
        ({"tip_cents": 10**12}, "tip"),
        ({"note": "x" * 151}, "note"),
    ],
)
def test_what_is_no_sale_is_refused(bakery: Shop, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        start_sale(
            bakery.owner_access(),
            SaleRequest(**{"amount_cents": 100, "currency": "EUR", "form_key": "k", **fields}),
        )
    assert refused.value.field == field

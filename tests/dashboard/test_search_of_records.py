"""Search by the sender or recipient of coins, and by the IDs of records: of the own store alone, by
those who may see it."""

from apps.access.models import RequestEntry
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.payments.models import PaymentAddress
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Role
from tests.billing import records as billing
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import RECORDS
from tests.dashboard.test_search import groups, hits, joined
from tests.make import fresh_address, paid, payment, store_coins, stray_transfer


def test_a_payment_is_found_by_who_sent_the_coins_and_by_the_email_of_its_metadata(
    cast: Cast,
) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    made = paid(api, title="Rye", metadata={"customer_email": "Ann@Rye.example"})
    theirs = paid(
        cast.strangers.test, title="Secret", metadata={"customer_email": "ann@rye.example"}
    )
    sender = fresh_address()
    for sale in (made, theirs):
        address = PaymentAddress.objects.filter(payment=sale["id"]).values("address_id")
        Deposit.objects.filter(address__in=address).update(from_address=sender)
    for typed in (sender, sender.upper().replace("0X", "0x"), "ann@rye.example", "ANN@rye.example"):
        assert hits(cast.bakery, "Payments", typed) == ["Rye"], typed
        listed = browser.get("payments", data={"q": typed}, headers={"HX-Request": "true"})
        assert "Rye" in text(listed), typed
    assert hits(cast.bakery, "Payments", "nobody@rye.example") == []


def test_coins_that_no_payment_expected_are_found_by_transaction_and_address(cast: Cast) -> None:
    browser = Browser(cast.alice)
    made = payment(cast.bakery.test, title="Rye")
    transfer = UnmatchedTransfer.objects.get(pk=stray_transfer(made["id"]))
    for typed in (transfer.tx_hash, transfer.address_id, transfer.from_address):
        assert len(hits(cast.bakery, "Unmatched transfers", typed)) == 1, typed
    assert hits(cast.strangers, "Unmatched transfers", transfer.tx_hash) == []
    assert len(groups(browser, transfer.tx_hash)["Unmatched transfers"]) == 1
    browser.switch("live")
    assert "Unmatched transfers" not in groups(browser, transfer.tx_hash)


def test_a_refund_is_found_by_the_address_that_it_went_to(cast: Cast) -> None:
    made = paid(cast.bakery.test, title="Rye")
    store_coins(cast.bakery.store, "SETH", 10**18)
    to = fresh_address()
    answer = cast.bakery.test.post(
        f"/payments/{made['id']}/refunds", {"destination_address": to}, key="rye"
    )
    assert answer.status_code in (200, 201), answer.content
    assert hits(cast.bakery, "Refunds", to) == ["Refund of Rye"]
    assert hits(cast.strangers, "Refunds", to) == []


# Group: the record of test_pages that it finds by its ID, and who may not see it.
BY_ID = {
    "Agents": ("agents", Role.ACCOUNTANT),
    "API requests": ("requests", Role.ACCOUNTANT),
    "Events": ("events", Role.ACCOUNTANT),
    "Mandates": ("agents/mandates", Role.ACCOUNTANT),
    "Mass payouts": ("payouts/batches", None),
    "Payout destinations": ("payouts/destinations", None),
    "Payout schedules": ("payouts/schedules", None),
    "Reports": ("reports", None),
    "Sub-merchants": ("platform", None),
}


def test_a_record_is_found_by_its_id_in_its_own_store_alone(cast: Cast) -> None:
    readers = {role: joined(cast, role) for _, role in BY_ID.values() if role is not None}
    for title, (begins, hidden_from) in BY_ID.items():
        typed = RECORDS[begins](cast)["id"]
        if title == "API requests":
            typed = RequestEntry.objects.get(pk=typed).request_id
        assert len(hits(cast.bakery, title, typed)) == 1, title
        assert hits(cast.strangers, title, typed) == [], title
        if hidden_from is not None:
            assert title not in groups(readers[hidden_from], typed), title


def test_prices_destinations_and_sub_merchants_are_found_by_what_people_have_of_them(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    price = billing.price(cast.bakery.test)
    answer = browser.get("search", data={"q": price["id"]})
    assert answer.headers["Location"] == f"/dashboard/products/{price['product_id']}"
    saved = add_wallet(cast.bakery.store, "test", "sepolia", fresh_address(), label="Cold wallet")
    for typed in (saved.address, "cold w"):
        assert hits(cast.bakery, "Payout destinations", typed) == ["Cold wallet"], typed
    assert hits(cast.bakery, "Sub-merchants", "corner") == []
    RECORDS["platform"](cast)
    assert hits(cast.bakery, "Sub-merchants", "corner") == ["Corner Shop"]

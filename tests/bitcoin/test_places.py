"""Litecoin at every place that lists or counts coins: eight decimals, and no token."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest

from apps.access.access import Access
from apps.access.factors import second_factor
from apps.assets.models import Asset
from apps.chain.addresses import NotValidOn
from apps.chain.models import SightingRecord
from apps.core import clock
from apps.core.money import amount_text
from apps.ledger.selectors import balances
from apps.links.services.sales import payment_of
from apps.payments.models import Payment
from apps.payouts.services.destinations import UnknownNetwork, add_wallet, network_named, title
from apps.reports.models import Report
from apps.stores.models import Store
from apps.stores.settings import write_settings
from tests import make
from tests.billing import records as billing
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import CHAIN, Reading, entry, reading
from tests.cast import Api
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link, reference_of, send
from tests.links.sales import set_up, sold
from tests.reports.reading import made, rows_of

__all__ = ["reading"]
pytestmark = pytest.mark.litecoin


def way_of(reading: Reading, payment_id: object) -> dict[str, Any]:
    return entry(make.detail(reading.shop.test, str(payment_id)))


def pay(litecoin: Litecoin, reading: Reading, payment_id: object) -> dict[str, Any]:
    """In full, and mined."""
    way = way_of(reading, payment_id)
    litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine(2)
    reading.read()
    return way


def merchant(reading: Reading) -> Browser:
    browser = Browser(reading.shop.owner)
    browser.post("mode", mode="test")
    return browser


def file_of(browser: Browser, path: str) -> list[dict[str, str]]:
    answer = browser.get(path)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_the_merchants_page_shows_what_waits_and_what_will_not_come(
    litecoin: Litecoin, reading: Reading
) -> None:
    payment = make.payment(reading.shop.test)
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    reading.read()
    page = text(merchant(reading).get(f"payments/{payment['id']}"))
    amount = way["crypto_amount"].rstrip("0")
    assert "is on its way." in page and amount in page
    litecoin.mine(2)
    reading.read()
    assert "is on its way" not in text(merchant(reading).get(f"payments/{payment['id']}"))


def test_what_waits_for_long_is_told_with_what_can_be_done(
    litecoin: Litecoin, reading: Reading
) -> None:
    payment = make.payment(reading.shop.test)
    litecoin.pay(entry(payment)["address"], entry(payment)["crypto_amount"])
    reading.read()

    def pages() -> tuple[str, str]:
        customers = reading.shop.test.client.get(f"/pay/{payment['reference']}")
        return customers.content.decode(), text(merchant(reading).get(f"payments/{payment['id']}"))

    assert not any("low fee" in page for page in pages())
    SightingRecord.objects.update(seen_at=clock.real_now() - timedelta(hours=2))
    customers, merchants = pages()
    assert "If your wallet offers to raise the fee" in customers
    assert "Only the customer’s wallet can raise it" in merchants


def test_a_payment_link_is_paid(litecoin: Litecoin, reading: Reading) -> None:
    link = made_link(reading.shop)
    made_at = Payment.objects.get(reference=reference_of(send(link)))
    page = reading.shop.test.client.get(f"/pay/{made_at.reference}?asset=TLTC").content.decode()
    way = way_of(reading, made_at.pk)
    assert way["address"] in page and "litecoin:" in page
    pay(litecoin, reading, made_at.pk)
    made_at.refresh_from_db()
    assert made_at.status == "completed"
    browser = merchant(reading)
    assert "12.00" in text(browser.get(f"payment-links/{link.pk}"))
    [row] = file_of(browser, f"payment-links/{link.pk}/payments.csv")
    assert (row["amount"], row["reference"]) == ("12.00", made_at.reference)


def test_a_sale_at_the_counter_is_paid_and_seen_before_a_block_has_it(
    litecoin: Litecoin, reading: Reading
) -> None:
    access = Access.for_session(reading.shop.owner, reading.shop.store, "test")
    set_up(access)
    sale = sold(access)
    payment = payment_of(sale)
    assert payment is not None
    browser = merchant(reading)
    way = way_of(reading, payment.pk)
    shown = browser.get(f"point-of-sale/{sale.pk}?asset=TLTC").context
    assert way["address"] in shown["code"] and shown["chosen"].asset.asset_id == "TLTC"
    litecoin.pay(way["address"], way["crypto_amount"])
    reading.read()
    assert "Payment seen, not confirmed yet" in text(browser.get(f"point-of-sale/{sale.pk}"))
    display = reading.shop.test.client.get(f"/pay/{sale.token}/display").content.decode()
    assert "We see your payment." in display
    litecoin.mine(2)
    reading.read()
    assert "Paid" in text(browser.get(f"point-of-sale/{sale.pk}"))
    assert "12.50" in text(browser.get("point-of-sale/sales"))


def test_an_invoice_and_a_subscription_are_paid(litecoin: Litecoin, reading: Reading) -> None:
    api = reading.shop.test
    subscription = billing.subscribe(api)
    records = [billing.opened(api), *billing.invoices_of(api, subscription["id"])]
    for record in records:
        token = record["public_token"]
        started = billing.ok(billing.start_payment(token), 201)["payment"]
        page = api.client.get(f"/invoice/{token}?asset=TLTC").content.decode()
        assert way_of(reading, started["payment_intent_id"])["address"] in page
        assert "data-pulse" in page
        pay(litecoin, reading, started["payment_intent_id"])
        billing.view(token)
        assert billing.invoice(api, record["id"])["status"] == "paid"
        assert api.client.get(f"/invoice/{token}/receipt.pdf").status_code == 200
    assert billing.subscription(api, subscription["id"])["status"] == "active"


def test_lists_statements_and_reports_count_eight_decimals(
    litecoin: Litecoin, reading: Reading
) -> None:
    payment = make.payment(reading.shop.test)
    pay(litecoin, reading, payment["id"])
    held = balances(reading.shop.store.pk, "test")["TLTC"].available_atomic
    net = amount_text(held, 8)
    assert held % 10**6 and len(net.partition(".")[2]) > 6
    browser = merchant(reading)
    for path in ("payments.csv", "statement.csv"):
        told = json.dumps(file_of(browser, path))
        assert "LTC" in told, path
        assert path == "payments.csv" or net in told, path
    assert "LTC" in json.dumps(file_of(browser, "balances.csv"))
    for path in ("", "payments", "statement", "balances", "reports", "swaps", "swaps/new"):
        answer = browser.get(path)
        assert answer.status_code == 200, path
    for path in ("statement", "balances"):
        assert "LTC" in text(browser.get(path)), path
    today = clock.real_now().date()
    days = today - timedelta(days=1), today + timedelta(days=1)
    make.advance(reading.shop.test, 4 * 86_400)  # only days that are over are reported
    access = Access.for_public(Store.objects.get(pk=reading.shop.store.pk), "test")
    for kind in set(Report.Type) - {Report.Type.TAX_REPORT}:  # it has no coins
        rows = rows_of(made(access, *days, kind))
        assert net in json.dumps(rows), kind
        assert made(access, *days, kind, format="pdf").startswith(b"%PDF")


def test_agents_see_it_and_draw_on_it_and_cannot_offer_it_over_x402(
    litecoin: Litecoin, reading: Reading
) -> None:
    write_settings(reading.shop.store, {"authorization_provider": "policy"})
    payment = make.payment(reading.shop.test, amount="100.00")
    pay(litecoin, reading, payment["id"])
    agent = Api(reading.shop.secrets["test_agent"])
    answer = agent.post(
        "/agentic/mandates",
        {"asset_id": "TLTC", "total_cap_atomic": "5000000", "mandate_ref": "books"},
    )
    assert answer.status_code == 201, answer.content
    goal = litecoin.faucet("getnewaddress")
    body = {"asset_id": "TLTC", "mandate_ref": "books", "amount_atomic": "1000000"}
    drawn = agent.post("/agentic/x402/settlements", body | {"pay_to": goal}, key="k")
    assert drawn.status_code == 201, drawn.content
    offer = {"asset_id": "TLTC", "amount": "0.50", "resource": "https://rye.example/a"}
    refused = reading.shop.test.post("/x402/requirements", offer, key="o")
    assert refused.status_code == 422, refused.content
    kinds = json.dumps(reading.shop.test.get("/x402/supported").json())
    assert "LTC" not in kinds and "litecoin" not in kinds


def test_each_place_for_an_address_shows_how_the_networks_addresses_begin(
    litecoin: Litecoin, reading: Reading
) -> None:
    payment = make.payment(reading.shop.test)
    pay(litecoin, reading, payment["id"])
    second_factor.switch_on(reading.shop.owner, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = merchant(reading)
    for path in ("payouts/new?asset=TLTC", f"payments/{payment['id']}/refund"):
        page = browser.get(path).content.decode()
        assert 'placeholder="rltc1…"' in page and 'placeholder="0x' not in page, path
    assert 'placeholder="0x' not in browser.get("payouts/destinations/wallet").content.decode()


def test_a_wallet_of_the_network_is_saved_and_paid_out_to(
    litecoin: Litecoin, reading: Reading
) -> None:
    payment = make.payment(reading.shop.test)
    pay(litecoin, reading, payment["id"])
    goal = litecoin.faucet("getnewaddress")
    store = reading.shop.store
    with pytest.raises(NotValidOn):
        add_wallet(store, "test", CHAIN, "0x52908400098527886E0F7030069857D2E4169EE7")
    saved = add_wallet(store, "test", CHAIN, goal.upper(), "Cold wallet")
    assert (saved.address, title(saved)) == (goal, f"{goal} (Litecoin Testnet)")
    payout = make.payout(
        reading.shop.test, 1_000_000, asset_id="TLTC", crypto_payout_detail_id=str(saved.pk)
    )
    assert payout["destination_address"] == goal
    Asset.objects.filter(chain=CHAIN).update(is_active=False)
    with pytest.raises(UnknownNetwork):
        network_named(CHAIN)

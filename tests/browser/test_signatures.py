"""A customer signs a payment with the wallet of their browser, which has no coin for gas, on a
chain that is real; and one whose wallet is a smart account pays in one step."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from apps.agents.models import SignedPayment
from apps.agents.services.x402_progress import advance_signed_payments
from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds
from apps.chain.sending.permits import PERMIT2
from apps.stores.services import change_store
from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.test_wallet import (
    DOLLAR,
    PHONE,
    TOKEN,
    _anvil,
    buried,
    chain,
    checkout,
    entry_of,
    shop,
    start,
    token,
    wallet,
    watched,
)
from tests.browser.wallets import Wallet
from tests.cast import Shop

__all__ = ["_anvil", "chain", "shop", "token", "wallet"]
pytestmark = pytest.mark.chain


@pytest.fixture
def store(shop: Shop, wallet: Wallet) -> Iterator[Shop]:
    """Bears the gas of what its customers sign, out of a hot wallet that has some."""
    before = Asset.objects.get(pk=TOKEN)
    Asset.objects.filter(pk=TOKEN).update(eip712_name="USD Coin", eip712_version="1")
    change_store(shop.store, checkout_signatures="store")
    watched()
    signing_rounds.introduce()
    for hot in HotWallet.objects.filter(chain="sepolia"):
        wallet.chain.call("anvil_setBalance", hot.address, hex(10**18))
    yield shop
    change_store(shop.store, checkout_signatures="off")
    Asset.objects.filter(pk=TOKEN).update(
        eip712_name=before.eip712_name, eip712_version=before.eip712_version
    )


@pytest.fixture
def permits(store: Shop, wallet: Wallet, token: str) -> Shop:
    """Its token knows no signed transfers; Permit2 may take 20 of the wallet's."""
    Asset.objects.filter(pk=TOKEN).update(eip712_name="", eip712_version="")
    wallet.chain.place_permit2()
    wallet.chain.allow(token, PERMIT2, 20 * DOLLAR, wallet.account)
    return store


def carried_out(wallet: Wallet) -> None:
    """Rounds of the worker, under enough blocks."""
    advance_signed_payments()
    signing_rounds.sign_due()
    sender.run_due()
    buried(wallet.chain)
    sender.run_due()
    advance_signed_payments()


def test_a_wallet_without_gas_signs_and_what_is_refused_or_changed_halfway_is_told(
    store: Shop, wallet: Wallet, open_page: OpenPage
) -> None:
    wallet.chain.call("anvil_setBalance", wallet.account, "0x0")
    made = make.payment(store.test, amount="12.50", title="Poppy seed cake")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={TOKEN}", **PHONE)
    expect(page.get_by_text("There’s no network fee for you.")).to_be_visible()
    start(page)
    choice = page.get_by_role("button", name="Test Wallet")
    wallet.refusals = {"eth_signTypedData_v4": (4001, "User rejected the request.")}
    choice.click()
    expect(page.get_by_role("alert")).to_contain_text("You declined this in your wallet.")
    wallet.next_account = wallet.chain.accounts[4]
    owner = wallet.account
    choice.click()
    expect(page.get_by_role("alert")).to_contain_text("account or network in your wallet")
    wallet.account = owner
    assert not SignedPayment.objects.filter(payer=owner.lower()).exists()
    choice.dblclick()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    shoot(page, "wallet-signed")
    assert barriers(page) == [] and overflow(page) <= 0
    carried_out(wallet)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert wallet.sent == []
    [row] = SignedPayment.objects.filter(payer=owner.lower())
    sent = OutgoingTransaction.objects.get(reference=str(row.pk))
    assert sent.status == "confirmed"
    assert row.offer.pay_to_id == entry_of(made, TOKEN)["address"].lower()
    assert make.detail(store.test, made["id"])["state_reason"] == "completed_exact"


def test_a_permit_pays_and_what_is_refused_or_changed_halfway_is_told(
    permits: Shop, wallet: Wallet, open_page: OpenPage
) -> None:
    made = make.payment(permits.test, amount="12.50", title="Poppy seed cake")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={TOKEN}", **PHONE)
    expect(page.get_by_text("You review and confirm the payment in your wallet.")).to_be_visible()
    start(page)
    choice = page.get_by_role("button", name="Test Wallet")
    wallet.while_signing = lambda: call_off(wallet)
    choice.click()
    expect(page.get_by_role("alert")).to_contain_text("Check your wallet before you try again.")
    wallet.while_signing = None
    wallet.refusals = {"eth_signTypedData_v4": (4001, "User rejected the request.")}
    choice.click()
    expect(page.get_by_role("alert")).to_contain_text("You declined this in your wallet.")
    wallet.next_account = wallet.chain.accounts[4]
    owner = wallet.account
    choice.click()
    expect(page.get_by_role("alert")).to_contain_text("account or network in your wallet")
    wallet.account = owner
    rows = SignedPayment.objects.filter(offer__payment_id=made["id"])
    assert not rows.exists()
    choice.dblclick()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    shoot(page, "wallet-permit")
    assert barriers(page) == [] and overflow(page) <= 0
    carried_out(wallet)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert wallet.sent == []
    [row] = rows
    sent = OutgoingTransaction.objects.get(reference=str(row.pk))
    assert (sent.status, sent.to_address) == ("confirmed", PERMIT2)
    assert make.detail(permits.test, made["id"])["state_reason"] == "completed_exact"


def call_off(wallet: Wallet) -> None:
    """The number that the wallet is asked to sign, as its owner may at any time."""
    method, given = wallet.asked[-1]
    assert method == "eth_signTypedData_v4"
    number = int(json.loads(given[1])["message"]["nonce"])
    data = f"0x3ff9dcb1{number >> 8:064x}{1 << (number & 0xFF):064x}"
    call = {"from": wallet.account, "to": PERMIT2, "data": data, "gas": hex(100_000)}
    wallet.chain.call("anvil_setBalance", wallet.account, hex(10**18))
    wallet.chain.wait(wallet.chain.call("eth_sendTransaction", call))
    wallet.chain.call("anvil_setBalance", wallet.account, "0x0")


def test_a_transaction_pays_once_permit2_may_take_no_more(
    permits: Shop, wallet: Wallet, open_page: OpenPage, token: str
) -> None:
    made = make.payment(permits.test, amount="12.50")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={TOKEN}")
    start(page)

    def take_back() -> None:
        wallet.chain.allow(token, PERMIT2, 0, wallet.account)
        wallet.chain.call("anvil_setBalance", wallet.account, hex(10**18))

    wallet.while_signing = take_back
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    buried(wallet.chain)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert len(wallet.sent) == 1
    assert not SignedPayment.objects.filter(offer__payment_id=made["id"]).exists()


@pytest.mark.parametrize("look", [PHONE, {}])
def test_what_comes_on_top_is_shown_before_the_wallet_asks(
    store: Shop, wallet: Wallet, open_page: OpenPage, look: dict[str, Any]
) -> None:
    change_store(store.store, checkout_signatures="customer")
    wallet.chain.call("anvil_setBalance", wallet.account, "0x0")
    made = make.payment(store.test, amount="12.50", title="Poppy seed cake")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={TOKEN}", **look)
    start(page)
    expect(page.get_by_text("The network’s fee is added to it.")).to_be_visible()
    dialog = page.get_by_role("dialog", name="Pay with wallet")
    choice = page.get_by_role("button", name="Test Wallet")
    agree = page.get_by_role("button", name="Continue")
    choice.click()
    expect(dialog.get_by_text("13.888889 USDC", exact=True).last).to_be_visible()
    expect(dialog.get_by_text("Network fee")).to_be_visible()
    shoot(page, f"wallet-cost-{'phone' if look else 'desk'}")
    assert barriers(page) == [] and overflow(page) <= 0
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    start(page)
    wallet.refusals = {"eth_signTypedData_v4": (4001, "User rejected the request.")}
    choice.click()
    agree.click()
    expect(page.get_by_role("alert")).to_contain_text("You declined this in your wallet.")
    rows = SignedPayment.objects.filter(offer__payment_id=made["id"])
    assert not rows.exists()
    choice.click()
    agree.click()
    expect(dialog.get_by_text("Sent, waiting for the network")).to_be_visible()
    carried_out(wallet)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert wallet.sent == []
    [row] = rows
    assert row.amount_atomic > row.offer.amount_atomic == 13_888_889
    assert make.detail(store.test, made["id"])["state_reason"] == "completed_exact"


def test_a_wallet_that_no_block_has_yet_pays_by_a_transaction(
    store: Shop, wallet: Wallet, open_page: OpenPage
) -> None:
    wallet.chain.call("anvil_setBalance", wallet.account, hex(10**18))
    wallet.is_undeployed = True
    made = make.payment(store.test, amount="12.50")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={TOKEN}")
    start(page)
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    buried(wallet.chain)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert len(wallet.sent) == 1 and "eth_signTypedData_v4" in [name for name, _ in wallet.asked]
    assert not SignedPayment.objects.filter(offer__payment_id=made["id"]).exists()


def test_a_smart_account_pays_in_one_step(shop: Shop, wallet: Wallet, open_page: OpenPage) -> None:
    watched()
    wallet.chain.call("anvil_setBalance", wallet.account, hex(10**18))
    wallet.sends_together = True
    made = make.payment(shop.test, amount="12.50")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset=SETH")
    start(page)
    wallet.refusals = {"wallet_sendCalls": (4001, "User rejected the request.")}
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.get_by_role("alert")).to_contain_text("You declined this in your wallet.")
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    buried(wallet.chain)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert wallet.sent == [] and make.detail(shop.test, made["id"])["status"] == "completed"

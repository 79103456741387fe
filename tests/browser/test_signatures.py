"""A customer signs a payment with the wallet of their browser, which has no coin for gas, on a
chain that is real; and one whose wallet is a smart account pays in one step."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from apps.agents.models import SignedPayment
from apps.agents.services.x402_progress import advance_signed_payments
from apps.assets.models import Asset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds
from apps.stores.services import change_store
from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.browser.test_wallet import (
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


def carried_out(wallet: Wallet) -> None:
    """What the worker does, under enough blocks."""
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
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=20_000)
    assert wallet.sent == []
    [row] = SignedPayment.objects.filter(payer=owner.lower())
    sent = OutgoingTransaction.objects.get(reference=str(row.pk))
    assert sent.status == "confirmed"
    assert row.offer.pay_to_id == entry_of(made, TOKEN)["address"].lower()
    assert make.detail(store.test, made["id"])["state_reason"] == "completed_exact"


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
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=20_000)
    assert wallet.sent == [] and make.detail(shop.test, made["id"])["status"] == "completed"

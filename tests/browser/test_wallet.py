"""A customer pays with the wallet of their browser, in one confirmation: a native coin and a token
on a chain that is real."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.assets.models import Asset
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.models import Block, Head
from apps.chain.watching.watcher import Watcher
from apps.payments.services.settle import settle_deposits
from tests import make
from tests.browser.conftest import OpenPage, barriers, barriers_again, overflow, shoot
from tests.browser.wallets import Wallet
from tests.cast import Cast, Shop
from tests.chain.local import LocalChain, program

PHONE = {"width": 390, "height": 660}
TOKEN = "USDC_SETH"
DOLLAR = 10**6


@pytest.fixture(scope="module")
def _anvil() -> Iterator[LocalChain]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    local = LocalChain(anvil)
    yield local
    local.close()


@pytest.fixture
def chain(_anvil: LocalChain, settings: Any) -> Iterator[LocalChain]:
    settings.CHAIN_URLS = {"sepolia": [_anvil.url]}
    settings.CHAIN_START_BLOCKS = {"sepolia": _anvil.height}
    yield _anvil
    for model in (Block, Head):
        model.objects.filter(chain="sepolia").delete()


@pytest.fixture(scope="module")
def token(_anvil: LocalChain) -> str:
    """The contract of a token, on the chain of all tests."""
    return _anvil.deploy_token()


@pytest.fixture
def shop(world: Cast, chain: LocalChain, token: str) -> Iterator[Shop]:
    """Takes a token too."""
    before = Asset.objects.get(pk=TOKEN)
    Asset.objects.filter(pk=TOKEN).update(contract_address=token, is_active=True)
    accept_all_active(world.bakery.store)
    refresh()
    yield world.bakery
    Asset.objects.filter(pk=TOKEN).update(
        contract_address=before.contract_address, is_active=before.is_active
    )


@pytest.fixture
def wallet(chain: LocalChain, shop: Shop, token: str) -> Wallet:
    account = chain.accounts[3]
    chain.mint(token, account, 1000 * DOLLAR)
    return Wallet(chain, account)


def checkout(open_page: OpenPage, wallet: Wallet, path: str, **look: Any) -> Page:
    page = open_page("/healthz", **look)
    wallet.enter(page)
    page.goto(page.url.replace("/healthz", path))
    return page


def start(page: Page, name: str = "Pay with wallet") -> None:
    if page.locator("label[for=way-wallet]").is_visible():
        page.locator("label[for=way-wallet]").click()
    page.get_by_role("link", name=name).click()


def confirm(page: Page, name: str = "Pay with wallet") -> None:
    start(page, name)
    page.get_by_role("button", name="Test Wallet").click()


def buried(chain: LocalChain) -> None:
    """Enough blocks on top, seen and settled."""
    chain.mine(4)
    watcher = Watcher("sepolia")
    while watcher.step():
        pass
    watcher.close()
    settle_deposits()


def entry_of(made: dict[str, Any], asset_id: str) -> dict[str, Any]:
    return next(
        payment_address
        for payment_address in made["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == asset_id
    )


def watched() -> None:
    """Addresses made later are seen from the head of now on."""
    watcher = Watcher("sepolia")
    while watcher.step():
        pass
    watcher.close()


pytestmark = pytest.mark.chain


# In the suite a native coin in test_customers_abroad.py, and the rest of a token below.
@pytest.mark.whole
@pytest.mark.parametrize(("asset_id", "look"), [("SETH", PHONE), (TOKEN, {})])
def test_one_confirmation_pays(
    shop: Shop, wallet: Wallet, open_page: OpenPage, asset_id: str, look: dict[str, Any]
) -> None:
    watched()
    made = make.payment(shop.test, amount="12.50", title="Poppy seed cake")
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={asset_id}", **look)
    start(page)
    expect(page.get_by_role("dialog", name="Pay with wallet")).to_be_visible()
    expect(page.get_by_role("button", name="Test Wallet")).to_be_visible()
    shoot(page, f"wallet-choose-{asset_id}")
    judge = barriers if look is PHONE else barriers_again
    assert judge(page) == []
    assert overflow(page) <= 0
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    shoot(page, f"wallet-sent-{asset_id}")
    assert judge(page) == []
    entry, (sent,) = entry_of(made, asset_id), wallet.sent
    amount = int(entry["crypto_amount_atomic"])
    if asset_id == "SETH":
        assert (sent["to"], int(sent["value"], 16), sent["data"]) == (
            entry["address"],
            amount,
            "0x",
        )
    else:
        assert (
            int(sent["value"], 16) == 0
            and sent["data"] == f"0xa9059cbb{entry['address'][2:].lower():0>64}{amount:064x}"
        )
        assert sent["to"].lower() == Asset.objects.get(pk=TOKEN).contract_address
    buried(wallet.chain)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    expect(page.locator("#wallets")).not_to_be_visible()
    assert make.detail(shop.test, made["id"])["state_reason"] == "completed_exact"


REFUSALS = [
    (
        "eth_sendTransaction",
        (4001, "User rejected the request."),
        "You declined this in your wallet. Nothing was sent.",
    ),
    (
        "eth_requestAccounts",
        (-32002, "Already processing eth_requestAccounts."),
        "Your wallet is locked or still has a request open.",
    ),
    (
        "wallet_switchEthereumChain",
        (4001, "User rejected the request."),
        "You declined this in your wallet. Nothing was sent.",
    ),
    (
        "eth_sendTransaction",
        (-32000, "insufficient funds for gas * price + value"),
        "doesn’t have enough",
    ),
    (
        "eth_sendTransaction",
        (-32603, "Internal JSON-RPC error."),
        "Your wallet couldn’t send the payment.",
    ),
]


def test_every_refusal_is_told_and_can_be_tried_again(
    shop: Shop, wallet: Wallet, open_page: OpenPage
) -> None:
    """By a wallet that is at another network first, and doesn't know this one."""
    wallet.known = {1}
    made = make.payment(shop.test)
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset=SETH", **PHONE)
    start(page)
    for method, error, words in REFUSALS:
        wallet.network = 1
        wallet.refusals = {method: error}
        page.get_by_role("button", name="Test Wallet").click()
        expect(page.get_by_role("alert")).to_contain_text(words)
    shoot(page, "wallet-refused")
    assert barriers(page) == []
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    methods = [method for method, _ in wallet.asked]
    assert (
        methods.index("wallet_switchEthereumChain")
        < methods.index("wallet_addEthereumChain")
        < methods.index("eth_sendTransaction")
    )
    (added,) = next(given for method, given in wallet.asked if method == "wallet_addEthereumChain")
    assert added["chainId"] == "0xaa36a7" and added["rpcUrls"][0].startswith("https://")
    assert wallet.chain.url not in str(wallet.asked), "an operator's own node is nobody's business"


def test_after_a_part_the_wallet_is_asked_for_the_rest_of_a_token(
    shop: Shop, wallet: Wallet, open_page: OpenPage, token: str
) -> None:
    """One that hasn't enough isn't."""
    watched()
    made = make.payment(shop.test, amount="40.00")
    entry = entry_of(made, TOKEN)
    part = int(entry["crypto_amount_atomic"]) // 4
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset={TOKEN}", **PHONE)
    wallet.chain.mint(token, wallet.chain.accounts[0], part)
    wallet.chain.transfer(token, entry["address"], part)
    buried(wallet.chain)
    expect(page.get_by_role("heading", name="Partially paid")).to_be_visible(timeout=60_000)
    shoot(page, "wallet-underpaid")
    owner = wallet.account
    wallet.account = wallet.chain.accounts[4]  # has ether, and none of the token
    confirm(page, "Pay the rest")
    expect(page.get_by_role("alert")).to_contain_text("doesn’t have enough")
    assert wallet.sent == []
    wallet.account = owner
    page.get_by_role("button", name="Test Wallet").click()
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    (sent,) = wallet.sent
    rest = int(entry["crypto_amount_atomic"]) - part
    assert int(sent["value"], 16) == 0 and sent["to"].lower() == token
    assert sent["data"] == f"0xa9059cbb{entry['address'][2:].lower():0>64}{rest:064x}"
    buried(wallet.chain)
    expect(page.get_by_role("heading", name="Paid (test)")).to_be_visible(timeout=60_000)
    assert make.detail(shop.test, made["id"])["state_reason"] == "completed_exact"


def test_the_keyboard_alone_pays_and_nobody_pays_twice_by_pressing_twice(
    shop: Shop, wallet: Wallet, open_page: OpenPage
) -> None:
    made = make.payment(shop.test)
    page = checkout(open_page, wallet, f"/pay/{made['reference']}?asset=SETH")
    page.locator("#way-qr").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#way-wallet")).to_be_checked()
    page.locator("#pay-with-wallet").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    for _ in range(6):
        if page.evaluate("document.activeElement.textContent.includes('Test Wallet')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("dialog").get_by_text("Sent, waiting for the network")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    expect(page.locator("#pay-with-wallet")).to_be_focused()

    expect(page.locator("#waiting")).to_contain_text("Sent, waiting for the network")
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") == "true"):
        page.evaluate("htmx.trigger('#checkout', 'refresh')")
    expect(page.locator("#waiting")).to_contain_text("Sent, waiting for the network")
    start(page)
    expect(page.get_by_role("button", name="Test Wallet")).to_have_count(0)
    expect(page.get_by_role("button", name="Send again")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).not_to_be_visible()
    assert len(wallet.sent) == 1


def test_a_phone_without_a_wallet_in_its_browser_opens_one(shop: Shop, open_page: OpenPage) -> None:
    made = make.payment(shop.test)
    page = open_page(f"/pay/{made['reference']}?asset=SETH", **PHONE)
    start(page)
    for name, form in {
        "MetaMask": r"https://link\.metamask\.io/dapp/127\.0\.0\.1:\d+/pay/[A-Z0-9]{16}\?asset=SETH",
        "Trust Wallet": r"https://link\.trustwallet\.com/open_url\?coin_id=60&url=http%3A%2F%2F127.*%2Fpay%2F[A-Z0-9]{16}%3Fasset%3DSETH",
        "Coinbase Wallet": r"https://go\.cb-w\.com/dapp\?cb_url=http%3A%2F%2F127.*%2Fpay%2F[A-Z0-9]{16}%3Fasset%3DSETH",
        "Another wallet app": r"ethereum:0x[0-9a-fA-F]{40}@11155111\?value=\d+",
    }.items():
        expect(page.get_by_role("link", name=name)).to_have_attribute(
            "href", re.compile(f"^{form}$")
        )
    shoot(page, "wallet-apps")
    assert barriers(page) == []
    page.get_by_role("button", name="Copy address").last.click()
    assert page.evaluate("navigator.clipboard.readText()") == entry_of(made, "SETH")["address"]


# In the suite in test_checkout.py, and the token's link in hosted/test_checkout.py.
@pytest.mark.whole
def test_without_scripts_the_link_of_the_wallet_and_the_code_remain(
    shop: Shop, open_page: OpenPage
) -> None:
    made = make.payment(shop.test)
    for look in (PHONE, {}):
        page = open_page(f"/pay/{made['reference']}?asset={TOKEN}", script=False, **look)
        expect(page.get_by_role("link", name="Pay with wallet")).to_have_attribute(
            "href", re.compile(r"^ethereum:0x[0-9a-fA-F]{40}@11155111/transfer")
        )
        expect(page.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
        expect(page.locator(".fours")).to_be_visible()

"""The demo does its main job: a customer pays on a real chain, the page says so, the merchant is
notified, the ledger agrees."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import standardwebhooks
import stripe
from eth_account import Account
from playwright.sync_api import Page, expect

from apps.core import local_chain
from dev.demo.chain import GWEI, DemoWallet
from dev.ports import free_port
from tests.agents.paying import Payer
from tests.browser.conftest import OpenPage
from tests.stack import ROOT, Demo, Remote, mine, wait_for
from tests.webhooks.receivers import Receiver

EVENTS = [
    "payment_intent.processing",
    "payment_intent.completed",
    "payment_intent.failed",
    "transaction.confirmed",
    "transaction.failed",
]


@dataclass
class Merchant:
    """The demo's store in one mode, with an endpoint that is listening and a customer's wallet on
    its chain."""

    demo: Demo
    api: Remote
    wallet: DemoWallet
    chain: dict[str, Any]
    receiver: Receiver
    secret: str
    key: str

    def pay(self, entry: dict[str, Any], amount_atomic: int | None = None) -> str:
        amount = int(entry["crypto_amount_atomic"]) if amount_atomic is None else amount_atomic
        token = self.chain.get("tokens", {}).get(entry["supported_asset"]["asset_id"])
        return (
            self.wallet.transfer(token, entry["address"], amount)
            if token
            else self.wallet.send(entry["address"], amount)
        )

    def heard(self, type: str, payment: dict[str, Any]) -> dict[str, Any]:
        """The event of this payment, with both libraries' word that it is genuine."""

        def found() -> list[dict[str, Any]]:
            return [
                request
                for request in self.receiver.requests
                if _is(json.loads(request["raw"]), type, payment)
            ]

        request = wait_for(found, lambda some: bool(some))[0]
        stripe.WebhookSignature.verify_header(
            request["raw"].decode(), request["headers"]["service-signature"], self.secret, 300
        )
        standardwebhooks.Webhook(self.secret).verify(request["raw"], request["headers"])
        event: dict[str, Any] = json.loads(request["raw"])
        return event

    def settled(self, payment: dict[str, Any], status: str) -> dict[str, Any]:
        """The payment once it has this status, while blocks go by."""

        def read() -> dict[str, Any]:
            mine(self.chain["rpc_url"], 1)
            return self.api.detail(payment["id"])

        found = wait_for(read, lambda one: one["status"] == status)
        # What it sent for it is buried and booked while the page is looked at.
        mine(self.chain["rpc_url"], 12)
        return found


def _is(event: dict[str, Any], type: str, payment: dict[str, Any]) -> bool:
    return event["type"] == type and event["data"]["object"]["id"] == payment["reference"]


def entry_of(payment: dict[str, Any], asset_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        payment_address
        for payment_address in payment["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == asset_id
    )
    return found


@pytest.fixture(scope="module", autouse=True)
def _audited_at_the_end(demo: Demo) -> Iterator[None]:
    """These are the demo's last tests."""
    yield
    try:
        # The gas of the last transaction is booked once it is buried, and a job has seen that.
        mine(demo.info["chains"]["live"]["rpc_url"], 12)
        wait_for(lambda: findings(demo), lambda told: not told)
    finally:
        demo.stop()


def findings(demo: Demo) -> str:
    """Findings of the audit of the demo's books and chains."""
    audit = demo.manage("verify_ledger", "--chain")
    return audit.stdout + audit.stderr if audit.returncode else ""


def merchant_in(demo: Demo, mode: str, receiver: Receiver) -> Merchant:
    api = Remote(demo.info["base_url"], demo.info["store"]["keys"][mode]["secret"])
    made = api(
        "POST",
        "/webhook_endpoints",
        {"webhook_endpoint": {"url": receiver.url, "subscribed_events": EVENTS}},
    )
    chain = demo.info["chains"][mode]
    wallet = DemoWallet(chain["rpc_url"], chain["funded_private_key"])
    key = demo.info["store"]["keys"][mode]["secret"]
    return Merchant(demo, api, wallet, chain, receiver, made["signing_secret"], key)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    listening = Receiver()
    yield listening
    listening.close()


@pytest.fixture
def live(demo: Demo, receiver: Receiver) -> Merchant:
    return merchant_in(demo, "live", receiver)


@pytest.fixture
def test(demo: Demo, receiver: Receiver) -> Merchant:
    return merchant_in(demo, "test", receiver)


def watch(open_page: OpenPage, payment: dict[str, Any], asset_id: str) -> Page:
    """The checkout page of a payment, marked so that a reload would show."""
    page = open_page(f"{payment['hosted_url']}?asset={asset_id}")
    page.evaluate("window.isTheSamePage = true")
    return page


def sees(page: Page, words: str) -> None:
    """The customer reads this without having reloaded the page."""
    expect(page.locator("#checkout")).to_contain_text(words, timeout=60_000)
    assert page.evaluate("window.isTheSamePage") is True


@pytest.mark.parametrize(
    "asset_id",
    ["ETH", pytest.param("ETH_USDC", marks=pytest.mark.whole)],  # half of it is paid below
)
def test_a_payment_from_a_wallet_turns_to_paid_and_the_merchant_is_told(
    live: Merchant, open_page: OpenPage, asset_id: str
) -> None:
    payment = live.api.payment(title="One coffee")
    page = watch(open_page, payment, asset_id)
    tx_hash = live.pay(entry_of(payment, asset_id))
    done = live.settled(payment, "completed")
    sees(page, "Paid")
    assert (done["state_reason"], done["transaction"]["tx_hash"]) == ("completed_exact", tx_hash)
    assert (
        live.heard("payment_intent.completed", payment)["data"]["object"]["status"] == "completed"
    )


@pytest.mark.whole  # in the suite by hand in browser/test_customers_abroad.py
def test_half_the_amount_waits_for_the_rest(live: Merchant, open_page: OpenPage) -> None:
    payment = live.api.payment()
    entry = entry_of(payment, "ETH_USDC")
    page = watch(open_page, payment, "ETH_USDC")
    half = int(entry["crypto_amount_atomic"]) // 2
    live.pay(entry, half)
    waiting = wait_for(
        lambda: live.api.detail(payment["id"]),
        lambda one: one["state_reason"] == "processing_underpaid",
    )
    assert waiting["status"] == "processing"
    sees(page, "missing")
    live.pay(entry, int(entry["crypto_amount_atomic"]) - half)
    assert live.settled(payment, "completed")["state_reason"] == "completed_exact"
    sees(page, "Paid")


@pytest.mark.whole  # in tests/flows and in the checkout of the suite
def test_too_much_is_paid_and_says_how_much(live: Merchant, open_page: OpenPage) -> None:
    payment = live.api.payment()
    entry = entry_of(payment, "ETH")
    page = watch(open_page, payment, "ETH")
    live.pay(entry, 2 * int(entry["crypto_amount_atomic"]))
    done = live.settled(payment, "completed")
    assert (done["state_reason"], done["overpayment"]["excess_atomic"]) == (
        "completed_overpaid",
        entry["crypto_amount_atomic"],
    )
    sees(page, "Paid")
    assert (
        live.heard("payment_intent.completed", payment)["data"]["object"]["state_reason"]
        == "completed_overpaid"
    )


@pytest.mark.whole  # in tests/payments of the suite
def test_a_payment_after_expiry_is_held_as_a_late_deposit(
    test: Merchant, open_page: OpenPage
) -> None:
    payment = test.api.payment(expires_in=300)
    page = watch(open_page, payment, "SETH")
    test.api("POST", "/test_clock/advance", {"seconds": 301})
    sees(page, "expired")
    entry = entry_of(payment, "SETH")
    test.pay(entry)

    def late() -> list[dict[str, Any]]:
        mine(test.chain["rpc_url"], 1)
        found: list[dict[str, Any]] = test.api.detail(payment["id"])["late_deposits"]
        return found

    (deposit,) = wait_for(late, lambda some: bool(some) and some[0]["status"] == "confirmed")
    assert deposit["amount_atomic"] == entry["crypto_amount_atomic"]
    assert test.api.detail(payment["id"])["status"] == "expired"
    test.heard("transaction.confirmed", payment)


@pytest.mark.whole  # in tests/chain of the suite
def test_a_reorganisation_in_between_credits_nothing_twice_and_loses_nothing(
    live: Merchant, open_page: OpenPage
) -> None:
    url = live.chain["rpc_url"]
    account = Account.from_key(live.chain["funded_private_key"])
    payment = live.api.payment()
    entry = entry_of(payment, "ETH")
    page = watch(open_page, payment, "ETH")
    nonce = int(local_chain.call(url, "eth_getTransactionCount", account.address, "pending"), 16)
    signed = account.sign_transaction(
        {
            "type": 2,
            "chainId": live.chain["chain_id"],
            "nonce": nonce,
            "to": entry["address"],
            "gas": 21_000,
            "value": int(entry["crypto_amount_atomic"]),
            "maxFeePerGas": 50 * GWEI,
            "maxPriorityFeePerGas": GWEI,
        }
    )
    raw = "0x" + bytes(signed.raw_transaction).hex()
    local_chain.call(url, "eth_sendRawTransaction", raw)
    mine(url, 1)
    wait_for(lambda: live.api.detail(payment["id"]), lambda one: one["status"] == "processing")
    local_chain.call(url, "anvil_reorg", 3, [])
    live.heard("transaction.failed", payment)
    local_chain.call(url, "eth_sendRawTransaction", raw)
    done = live.settled(payment, "completed")
    assert done["financials"]["assets"][0]["gross_atomic"] == entry["crypto_amount_atomic"]
    assert [payment_event["event_type"] for payment_event in done["payment_events"]].count(
        "payment_intent.completed"
    ) == 1
    sees(page, "Paid")


# --- agents pay over x402 ---


@pytest.fixture
def x402_server(live: Merchant) -> Iterator[str]:
    """The example of the guide, word for word, as a process; its paid page."""
    port = free_port()
    environ = {
        **os.environ,
        "TILLGATE_URL": live.api.base_url,
        "TILLGATE_KEY": live.key,
        "PORT": str(port),
    }
    process = subprocess.Popen(
        [sys.executable, "docs/examples/x402_server.py"], cwd=ROOT, env=environ
    )
    url = f"http://localhost:{port}/report"
    wait_for(lambda: is_up(url), lambda up: up)
    yield url
    process.terminate()
    process.wait()


def is_up(url: str) -> bool:
    try:
        return requests.get(url, timeout=60).status_code == 402
    except requests.ConnectionError:
        return False


@pytest.mark.whole  # in the suite without a running demo in agents/test_x402.py
def test_an_agent_pays_a_server_over_x402_and_the_payment_is_completed(
    live: Merchant, x402_server: str
) -> None:
    agent = Account.create()
    token = live.chain["tokens"]["ETH_USDC"]
    live.wallet.receipt(live.wallet.transfer(token, agent.address, 2_500_000))
    environ = {**os.environ, "PRIVATE_KEY": agent.key.to_0x_hex()}
    command = [sys.executable, "docs/examples/x402_client.py", x402_server]
    run = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert "200 " in run.stdout and "It will rain" in run.stdout, run.stdout + run.stderr
    tx_hash = run.stdout.rpartition(" ")[2].strip()
    payment = next(
        item
        for item in live.api("GET", "/payments?per_page=5")["data"]
        if item["description"] == "Report"
    )
    done = live.settled(live.api.detail(payment["id"]), "completed")
    assert (done["transaction"]["tx_hash"], done["transaction"]["from_address"].lower()) == (
        tx_hash,
        agent.address.lower(),
    )
    assert live.heard("payment_intent.completed", done)["data"]["object"]["status"] == "completed"


@pytest.mark.whole  # in tests/agents of the suite
def test_ten_settlements_of_one_signature_at_once_move_the_coins_once(live: Merchant) -> None:
    payer = Payer()
    token = live.chain["tokens"]["ETH_USDC"]
    live.wallet.receipt(live.wallet.transfer(token, payer.address, 5_000_000))
    asked = live.api(
        "POST",
        "/x402/requirements",
        {"asset_id": "ETH_USDC", "amount_atomic": "1000000", "resource": "mcp://tool/search"},
    )
    body = payer.signed(asked)
    assert live.api("POST", "/x402/verify", body)["isValid"]
    with ThreadPoolExecutor(10) as pool:
        told = list(
            pool.map(
                lambda _: Remote(live.api.base_url, live.key)("POST", "/x402/settle", body),
                range(10),
            )
        )
    assert [item["success"] for item in told].count(True) == 1, told
    assert {item.get("errorReason") for item in told} <= {
        None,
        "duplicate_settlement",
        "invalid_exact_evm_nonce_already_used",
    }
    mine(live.chain["rpc_url"], 12)
    replay = wait_for(
        lambda: live.api("POST", "/x402/settle", body),
        lambda one: one["extra"]["state"] == "settled",
    )
    assert (replay["success"], replay["errorReason"]) == (
        False,
        "invalid_exact_evm_nonce_already_used",
    )
    holds = local_chain.call(
        live.chain["rpc_url"],
        "eth_call",
        {"to": token, "data": f"0x70a08231{payer.address[2:]:0>64}"},
        "latest",
    )
    assert int(holds, 16) == 4_000_000


@pytest.mark.whole  # in tests/browser/test_invoice.py of the suite
def test_an_invoice_is_sent_opened_paid_from_a_wallet_and_receipted(
    live: Merchant, open_page: OpenPage
) -> None:
    owner = live.api(
        "POST", "/billing/customers", {"customer": {"email": "ann@invoiced.example", "name": "Ann"}}
    )["id"]
    body = {
        "customer_id": owner,
        "currency": "EUR",
        "line_items": [{"description": "Beans", "quantity": 2, "unit_amount_cents": 700}],
    }
    made = live.api("POST", "/billing/invoices", {"invoice": body})
    for act in ("finalize", "send"):
        made = live.api("POST", f"/billing/invoices/{made['id']}/{act}")

    def mailed(words: str) -> bool:
        return any(
            words in email.read_text()
            for email in (Path(live.demo.folder.name) / "mailbox").glob("*.eml")
        )

    wait_for(lambda: mailed(f"Invoice {made['formatted_number']} from"), bool)
    page = open_page(made["hosted_url"])
    page.get_by_role("button", name="Pay €14.00").click()
    expect(page.get_by_role("heading", name="Pay with crypto")).to_be_visible()
    page.evaluate("window.isTheSamePage = true")
    started = live.api("POST", f"/billing/invoice/{made['public_token']}/payment_intent")["payment"]
    tx_hash = live.pay(entry_of(live.api.detail(started["payment_intent_id"]), "ETH"))
    live.settled({"id": started["payment_intent_id"]}, "completed")
    sees(page, "Thank you")
    expect(page.locator(".received")).to_contain_text(tx_hash)
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("link", name="Receipt as PDF").click(no_wait_after=True)
    assert download.value.path().read_bytes().startswith(b"%PDF-")
    assert live.api("GET", f"/billing/invoices/{made['id']}")["status"] == "paid"
    wait_for(lambda: mailed(f"Receipt for invoice {made['formatted_number']}"), bool)

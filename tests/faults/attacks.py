"""What a bad neighbor does: each attack on other merchants, on the web processes and on the
service's gas, over and over.

A refusal is the right answer to most of them; what each was told is counted and printed.
"""

import secrets
import socket
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import requests

from apps.core import local_chain
from dev.demo.chain import DemoWallet
from tests.stack import Demo, Remote
from tests.webhooks.receivers import RawReceiver

FUNDS_EUR = "5000.00"
PATIENCE_SECONDS = 120.0
UNFINISHED = 24
ENDPOINTS = 40
READERS = 6
PRINTERS = 8
LISTENERS = 4
# Costs nothing while the gas is estimated (gasprice 0), and burns all of it when it is mined.
GAS_TRAP = "0x3a15600657fe5b00"
TRAP_ADDRESS = "0x00000000000000000000000000000000badbad00"


class Mallory:
    """A merchant with coins of its own, and visitors without any credential."""

    def __init__(self, demo: Demo, made: Any, wallet: DemoWallet) -> None:
        self.base_url = demo.info["base_url"]
        self.told = defaultdict[str, Counter[str]](Counter)
        self.test = Remote(self.base_url, made["keys"]["test"]["secret"])
        self.live = Remote(self.base_url, made["keys"]["live"]["secret"])
        self.publishable = made["keys"]["test"]["publishable"]
        self.email = made["user"]["email"]
        sale = self.live.payment(amount=FUNDS_EUR)
        entry = next(
            payment_address
            for payment_address in sale["payment_addresses"]
            if payment_address["supported_asset"]["asset_id"] == "ETH"
        )
        wallet.receipt(wallet.send(entry["address"], int(entry["crypto_amount_atomic"])))
        self.live.until(sale["id"], "completed", PATIENCE_SECONDS)
        local_chain.call(wallet.url, "anvil_setCode", TRAP_ADDRESS, GAS_TRAP)
        self.invoice = self._invoice()
        self._ended = threading.Event()
        self.black_hole = RawReceiver(lambda _: self._hold())
        self._threads: list[threading.Thread] = []

    def _invoice(self) -> str:
        """The public link of an open invoice."""
        customer = self.test("POST", "/billing/customers", {"customer": {"email": "m@example.com"}})
        lines = [
            {"description": f"Line {n}", "quantity": 1, "unit_amount_cents": 100} for n in range(40)
        ]
        body = {"customer_id": customer["id"], "currency": "EUR", "line_items": lines}
        made = self.test("POST", "/billing/invoices", {"invoice": body})
        found = self.test("POST", f"/billing/invoices/{made['id']}/finalize", {})
        return str(found["public_token"])

    def start(self) -> None:
        for name, (attack, times) in ATTACKS.items():
            for _ in range(times):
                thread = threading.Thread(target=self._repeat, args=(name, attack), daemon=True)
                self._threads.append(thread)
                thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)

    def _repeat(self, name: str, attack: "Attack") -> None:
        while not self._ended.is_set():
            try:
                told = attack(self)
            except requests.RequestException as error:
                told = type(error).__name__
            self.told[name][told] += 1
            # A laptop's worth of each: what they take from the machine themselves must not be the
            # result.
            self._ended.wait(0.2)

    def _hold(self) -> None:
        """A receiver that takes a connection and says nothing."""
        self._ended.wait(30)

    def ask(self, method: str, path: str, key: str, body: Any = None) -> str:
        headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": secrets.token_hex(8)}
        answer = requests.request(
            method, f"{self.base_url}{path}", json=body, headers=headers, timeout=40
        )
        return str(answer.status_code)

    def key(self, api: Remote) -> str:
        return str(api.session.headers["Authorization"]).removeprefix("Bearer ")


Attack = Callable[[Mallory], str]


def small_payouts(of: Mallory) -> str:
    """A queue of payouts that nobody else should stand in."""
    to = f"0x{secrets.token_hex(20)}"
    body = {"asset_id": "ETH", "amount_atomic": str(2 * 10**15), "destination_address": to}
    return of.ask("POST", "/api/v2/payouts", of.key(of.live), body)


def gas_theft(of: Mallory) -> str:
    """Payouts to a contract that burns its gas and reverts when it is mined."""
    body = {
        "asset_id": "ETH",
        "amount_atomic": str(2 * 10**15),
        "destination_address": TRAP_ADDRESS,
    }
    return of.ask("POST", "/api/v2/payouts", of.key(of.live), body)


def documents(of: Mallory) -> str:
    """A public PDF, again and again."""
    return str(
        requests.get(f"{of.base_url}/invoice/{of.invoice}/invoice.pdf", timeout=40).status_code
    )


def clocks(of: Mallory) -> str:
    return of.ask("POST", "/api/v2/test_clock/advance", of.key(of.test), {"seconds": 60 * 86_400})


def floods(of: Mallory) -> str:
    body = {"payment_intent": {"amount": "1.00", "currency": "EUR"}}
    return of.ask("POST", "/api/v2/payments", of.publishable, body)


def searches(of: Mallory) -> str:
    return of.ask("GET", "/api/v2/payments?reference=ZZQQ", of.key(of.test))


def unfinished_bodies(of: Mallory) -> str:
    """Headers, two bytes, and silence."""
    host = of.base_url.partition("://")[2]
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), timeout=40) as connection:
        head = (
            f"POST /api/v2/payments HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {of.publishable}\r\nContent-Length: 500\r\n\r\n{{ "
        )
        connection.sendall(head.encode())
        try:
            return connection.recv(64).decode(errors="replace").partition("\r\n")[0] or "closed"
        except TimeoutError:
            return "held for 40 s"


def endpoints(of: Mallory) -> str:
    """A stranger's host that never answers, named as often as it goes."""
    endpoint = {
        "url": f"{of.black_hole.url}?{secrets.token_hex(4)}",
        "subscribed_events": ["payment_intent.created"],
    }
    return of.ask(
        "POST", "/api/v2/webhook_endpoints", of.key(of.test), {"webhook_endpoint": endpoint}
    )


def poison(of: Mallory) -> str:
    """A number that no list could show again."""
    endpoint = '"url": "https://example.com/h", "subscribed_events": ["payment_intent.created"]'
    raw = f'{{"webhook_endpoint": {{{endpoint}, "metadata": {{"n": 1e999}}}}}}'.encode()
    headers = {"Authorization": f"Bearer {of.key(of.test)}", "Content-Type": "application/json"}
    answer = requests.post(
        f"{of.base_url}/api/v2/webhook_endpoints", data=raw, headers=headers, timeout=40
    )
    return str(answer.status_code)


def sign_ins(of: Mallory) -> str:
    page = f"{of.base_url}/dashboard/sign-in"
    visitor = requests.Session()
    visitor.get(page, timeout=40)
    fields = {"email": "honest@example.com", "password": secrets.token_hex(8)}
    fields["csrfmiddlewaretoken"] = visitor.cookies.get("csrftoken") or ""
    return str(visitor.post(page, data=fields, timeout=40).status_code)


# name: what is done, and by how many at once
ATTACKS: dict[str, tuple[Attack, int]] = {
    "small payouts": (small_payouts, 2),
    "payouts that burn gas": (gas_theft, 1),
    "public PDFs": (documents, PRINTERS),
    "test clocks": (clocks, LISTENERS),
    "publishable key": (floods, 2),
    "searches": (searches, READERS),
    "unfinished bodies": (unfinished_bodies, UNFINISHED),
    "endpoints at a stranger": (endpoints, 1),
    "poisoned metadata": (poison, 1),
    "wrong passwords": (sign_ins, 1),
}

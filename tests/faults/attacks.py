"""Attacks of a bad neighbor on other merchants, on the web processes and on the service's gas, over
and over.

A refusal is the right answer to most of them; their answers are counted and printed.
"""

import io
import secrets
import socket
import threading
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import requests
from PIL import Image

from apps.core import local_chain
from dev.demo.chain import DemoWallet
from tests.stack import Demo, Remote
from tests.webhooks.receivers import RawReceiver

FUNDS_EUR = "5000.00"
PATIENCE_SECONDS = 120.0
PASSWORD = "pw-0123456789"
UPLOADERS = 4
LINES = 10_000
UPLOAD_BYTES = 4_000_000
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
        self.dashboard = self._signed_in()
        self.files = files()
        self._ended = threading.Event()
        self.black_hole = RawReceiver(lambda _: self._hold())
        self.endpoint = self._endpoint()
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

    def _signed_in(self) -> dict[str, str]:
        """The cookies of a session in the dashboard."""
        page = f"{self.base_url}/dashboard/sign-in"
        browser = requests.Session()
        browser.get(page, timeout=40)
        fields = {"email": self.email, "password": PASSWORD}
        fields["csrfmiddlewaretoken"] = browser.cookies.get("csrftoken") or ""
        answer = browser.post(page, data=fields, timeout=40, allow_redirects=False)
        assert answer.status_code == 302, answer.text[:500]
        browser.get(f"{self.base_url}/dashboard/", timeout=40)
        return dict(browser.cookies)

    def _endpoint(self) -> str:
        """An endpoint at a host that nobody has proved."""
        body = {"url": self.black_hole.url, "subscribed_events": ["invoice.paid"]}
        return str(self.test("POST", "/webhook_endpoints", {"webhook_endpoint": body})["id"])

    def upload(self, path: str, field: str, name: str, **typed: str) -> str:
        """A file in a form of the dashboard, as a browser sends it."""
        fields = {**typed, "csrfmiddlewaretoken": self.dashboard.get("csrftoken", "")}
        answer = requests.post(
            f"{self.base_url}/dashboard/{path}",
            data=fields,
            files={field: (name, self.files[name])},
            cookies=self.dashboard,
            timeout=40,
            allow_redirects=False,
        )
        return str(answer.status_code)

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


def files() -> dict[str, bytes]:
    """Small files that take much when they are opened: by name."""
    pictures = {}
    for side in (4096, 2048):
        made = io.BytesIO()
        Image.new("RGB", (side, side), "#0a6b4c").save(made, "PNG")
        pictures[f"{side}.png"] = made.getvalue()
    drawing = zlib.compress(b"0 0 90 90 re f\n" * 2_000_000)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 900]/Contents 4 0 R>>"
    heavy = (
        b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
        b"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n3 0 obj\n" + page + b"\nendobj\n"
        b"4 0 obj\n<</Filter/FlateDecode/Length "
        + str(len(drawing)).encode()
        + b">>\nstream\n"
        + drawing
        + b"\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"
    )
    lines = "".join(f"SETH,0.001,0x{number + 1:040x}\n" for number in range(LINES))
    return {
        **pictures,
        "heavy.pdf": heavy,
        "payouts.csv": f"asset_id,amount,destination\n{lines}".encode(),
    }


def small_payouts(of: Mallory) -> str:
    """A queue of payouts that must hold up nobody else."""
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


def logos(of: Mallory) -> str:
    """A picture of a few kilobytes that takes 64 MB when it is decoded, and one that is just small
    enough."""
    return of.upload("settings/logo", "logo", secrets.choice(("4096.png", "2048.png")))


def business_documents(of: Mallory) -> str:
    """A page that takes seconds to draw."""
    return of.upload("verification", "document", "heavy.pdf", add="1")


def payout_lists(of: Mallory) -> str:
    return of.upload("payouts/batches/new", "file", "payouts.csv", form_key=secrets.token_hex(16))


def uploads_of_strangers(of: Mallory) -> str:
    """Megabytes where no file is asked for, by nobody."""
    file = {"file": ("a.bin", bytes(UPLOAD_BYTES))}
    answer = requests.post(f"{of.base_url}/dashboard/sign-in", files=file, timeout=40)
    return str(answer.status_code)


def events_by_hand(of: Mallory) -> str:
    """Test events to a stranger's host."""
    return of.ask("POST", f"/api/v2/webhook_endpoints/{of.endpoint}/send_test", of.key(of.test), {})


def customers(of: Mallory) -> str:
    body = {"customer": {"email": f"{secrets.token_hex(8)}@example.com"}}
    return of.ask("POST", "/api/v2/billing/customers", of.key(of.test), body)


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
    "logos": (logos, UPLOADERS),
    "business documents": (business_documents, UPLOADERS),
    "lists of payouts": (payout_lists, UPLOADERS),
    "uploads of strangers": (uploads_of_strangers, UPLOADERS),
    "events by hand": (events_by_hand, 2),
    "customers": (customers, 2),
}

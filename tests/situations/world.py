"""The world outside of a running demo: networks with people's wallets on them, a node that can be
made to err, stores with their merchants' pages, and operators with their commands."""

import base64
import html
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

import requests
from django_otp.oath import totp
from eth_abi.abi import encode

from apps.chain.networks.evm.spelling import checksummed
from apps.core import local_chain
from apps.core.process.published_secrets import CHAIN_KEYS
from dev import anvil
from dev.anvil import BLOCK_SECONDS
from dev.demo.chain import DemoWallet
from tests.chain.local import Node
from tests.chain.proxy import Change, Proxy
from tests.faults.attacks import PASSWORD
from tests.faults.neighbours import open_store
from tests.stack import Demo, Remote

ETHER = 10**18
DOLLAR = 10**6
PATIENCE_SECONDS = 120.0
PAUSE_SECONDS = 1.5
PAGES_MAX = 10
CODE_SECONDS = 30
TOO_MANY = 429
TEST_DOLLARS = "USDC_SETH"
_TAGS = re.compile(r"<(script|style|template)\b.*?</\1>|<[^>]+>", re.DOTALL)
_TRANSFER = re.compile(r'href="/dashboard/(transfers/[^"]+)"')
_ENTRY = re.compile(r"<li>.*?</li>", re.DOTALL)
T = TypeVar("T")


class Wrong(AssertionError):
    """Somebody saw something else than the guide says."""


def until(
    read: Callable[[], T],
    holds: Callable[[T], bool],
    what: str,
    seconds: float = PATIENCE_SECONDS,
) -> T:
    """Look again and again; raises Wrong with what was seen last."""
    end = time.monotonic() + seconds
    while True:
        found = read()
        if holds(found):
            return found
        if time.monotonic() > end:
            raise Wrong(f"{what}: not within {seconds:.0f} s, but {str(found)[:300]}")
        time.sleep(PAUSE_SECONDS)


def words(markup: str) -> str:
    """Words of a page."""
    return " ".join(html.unescape(_TAGS.sub(" ", markup)).split())


class Network:
    """A chain, and the wallets with coins on it."""

    def __init__(self, url: str, tokens: dict[str, str], key: str) -> None:
        self.url = url
        self.tokens = tokens
        self._giver = DemoWallet(url, key)
        self._turn = threading.Lock()

    def call(self, method: str, *given: Any) -> Any:
        return local_chain.call(self.url, method, *given)

    def wallet(self) -> DemoWallet:
        """Somebody with a key, ether and every token. (A reorganization takes gifts of the node
        back, as it does transactions.)"""
        one = DemoWallet(self.url, "0x" + secrets.token_hex(32))
        with self._turn:
            given = self._giver.send(one.address, 100 * ETHER)
        self._giver.receipt(given)
        sent = [one.mint(token, one.address, 1_000_000 * DOLLAR) for token in self.tokens.values()]
        for tx_hash in sent:
            one.receipt(tx_hash)
        return one

    def contract(self, code: str) -> str:
        address = "0x" + secrets.token_hex(20)
        self.call("anvil_setCode", address, code)
        return address

    def send_as(self, address: str, to: str, value: int) -> str:
        """A transaction of an address that has no key here, such as a contract's."""
        self.call("anvil_impersonateAccount", address)
        self.call("anvil_setBalance", address, hex(value + ETHER))
        call = {"from": address, "to": to, "value": hex(value), "gas": hex(100_000)}
        return str(self.call("eth_sendTransaction", call))

    def held(self, holder: str, token: str = "") -> int:
        if not token:
            return int(self.call("eth_getBalance", holder, "latest"), 16)
        data = "0x70a08231" + encode(["address"], [holder]).hex()
        return int(self.call("eth_call", {"to": token, "data": data}, "latest"), 16)

    def fresh(self) -> str:
        """An address that nobody has used."""
        return checksummed("0x" + secrets.token_hex(20))

    def block_of(self, tx_hash: str) -> int:
        """Once it is mined."""
        found = until(
            lambda: self.call("eth_getTransactionReceipt", tx_hash), bool, f"{tx_hash} is mined"
        )
        return int(found["blockNumber"], 16)

    @property
    def height(self) -> int:
        return int(self.call("eth_blockNumber"), 16)

    def pass_blocks(self, count: int) -> None:
        end = self.height + count
        until(lambda: self.height, lambda height: height >= end, f"{count} blocks")


class Merchant:
    """A person who is signed in to the dashboard with an authenticator app, in one mode."""

    def __init__(self, base_url: str, email: str, mode: str) -> None:
        self.url = f"{base_url}/dashboard"
        self._session = requests.Session()
        self._session.trust_env = False
        self._turn = threading.Lock()
        self._step = 0
        self._secret = ""
        self._session.get(f"{self.url}/sign-in", timeout=60)
        self.post("sign-in", email=email, password=PASSWORD)
        self._set_up_app()
        self.post("mode", mode=mode)

    def _set_up_app(self) -> None:
        shown = re.search(r'id="key"[^>]*>([A-Z2-7 ]+)<', self.markup("security/authenticator"))
        if shown is None:
            raise Wrong("the page of the authenticator app has no key")
        self._secret = shown[1].replace(" ", "")
        self.post("security/authenticator", code=self._code(), password=PASSWORD)

    def _code(self) -> str:
        """One that wasn't shown before: each is taken once."""
        while int(time.time()) // CODE_SECONDS <= self._step:
            time.sleep(0.5)
        self._step = int(time.time()) // CODE_SECONDS
        return f"{totp(base64.b32decode(self._secret)):06d}"

    def markup(self, path: str) -> str:
        with self._turn:
            answer = self._session.get(f"{self.url}/{path}", timeout=60)
        if answer.status_code != 200:
            raise Wrong(f"{path}: {answer.status_code}")
        return answer.text

    def read(self, path: str) -> str:
        return words(self.markup(path))

    def pages(self, path: str) -> str:
        """A list with what follows on further pages."""
        whole = page = self.markup(path)
        while older := re.search(r'rel="next" href="([^"]+)"', page):
            page = self.markup(f"{path}{html.unescape(older[1])}")
            whole += page
        return whole

    def post(self, path: str, **fields: str) -> str:
        """Press a button, and answer the page that asks for a code; what the last page says."""
        with self._turn:
            answer = self._send(f"{self.url}/{path}", fields)
            if self._secret and (form := _asking(answer.text)):
                shown = answer.url
                answer = self._send(shown, {**fields, **form, "code": self._code()})
                if shown.partition("?")[0].endswith("/confirm"):  # which holds for some minutes
                    answer = self._send(f"{self.url}/{path}", fields)
        if answer.status_code != 200:
            raise Wrong(f"POST {path}: {answer.status_code} {main_of(answer.text)[:500]}")
        return words(answer.text)

    def _send(self, url: str, fields: dict[str, str]) -> requests.Response:
        token = self._session.cookies.get("csrftoken") or ""
        sent = {**fields, "csrfmiddlewaretoken": token}
        while (answer := self._session.post(url, data=sent, timeout=60)).status_code == TOO_MANY:
            time.sleep(float(answer.headers.get("Retry-After", "5")))
        return answer


def _asking(page: str) -> dict[str, str]:
    """The hidden fields of the form that takes a code."""
    for form in re.findall(r"<form.*?</form>", page, re.DOTALL):
        if 'name="code"' in form:
            inputs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
            found = {name: html.unescape(value) for name, value in inputs}
            return {name: value for name, value in found.items() if "csrf" not in name} or {"": ""}
    return {}


def main_of(page: str) -> str:
    """The main part of a page."""
    return words(page.partition("<main")[2])


class Shop:
    """A store in one mode."""

    def __init__(self, demo: Demo, made: Any, mode: str, network: Network) -> None:
        self.base_url = demo.info["base_url"]
        self.mailbox = Path(demo.info["mailbox"])
        self.mode = mode
        self.network = network
        self.native = "ETH" if mode == "live" else "SETH"
        self.api = Remote(self.base_url, made["keys"][mode]["secret"])
        self.merchant = Merchant(self.base_url, made["user"]["email"], mode)

    def visit(self, path: str, **fields: str) -> str:
        """Text of a customer's page, or of the answer to a form of it."""
        return words(self.markup(path, **fields))

    def markup(self, path: str, **fields: str) -> str:
        url = f"{self.base_url}{path}"
        with requests.Session() as visitor:
            visitor.trust_env = False
            if fields:
                answer = visitor.post(url, data=fields, timeout=60)
            else:
                answer = visitor.get(url, timeout=60)
        if answer.status_code not in (200, 410, 422):
            raise Wrong(f"{path}: {answer.status_code}")
        return answer.text

    def email(self, to: str) -> str:
        """The newest email to somebody."""
        found = until(
            lambda: [text for text in self._emails() if to in text], bool, f"an email to {to}"
        )
        return found[-1]

    def _emails(self) -> list[str]:
        files = sorted(self.mailbox.iterdir(), key=lambda path: path.stat().st_mtime)
        return [path.read_text(errors="replace") for path in files if path.is_file()]

    def write(self, path: str, body: Any = None) -> Any:
        """A request that takes a key of its own each time."""
        return self.api("POST", path, body, key=secrets.token_hex(8))

    def begin(self, title: str, **fields: Any) -> "Story":
        return Story(self, title, self.api.payment(title=title, **fields))


class Story:
    """One situation of one payment: what was done, and what each of the three saw of it."""

    def __init__(self, shop: Shop, title: str, made: dict[str, Any]) -> None:
        self.shop = shop
        self.title = title
        self.made = made
        self.customer: list[str] = []
        self.merchant: list[str] = []
        self.program: list[str] = []
        self.operator: list[str] = []

    @classmethod
    def of(cls, shop: Shop, payment_id: str, title: str) -> Self:
        """Of a payment that an invoice or an agent has."""
        return cls(shop, title, shop.api.detail(payment_id))

    @cached_property
    def payer(self) -> DemoWallet:
        return self.shop.network.wallet()

    @property
    def id(self) -> str:
        return str(self.made["id"])

    @property
    def reference(self) -> str:
        return str(self.made["reference"])

    @property
    def page(self) -> str:
        return f"/pay/{self.reference}"

    def way(self, asset_id: str = "") -> tuple[str, int]:
        """Where a coin goes, and how much of it is asked for."""
        wanted = asset_id or self.shop.native
        for entry in self.made["payment_addresses"]:
            if entry["supported_asset"]["asset_id"] == wanted:
                return str(entry["address"]), int(entry["crypto_amount_atomic"])
        raise Wrong(f"{wanted} isn't offered")

    def pay(self, share: float = 1.0, asset_id: str = "", *, more: int = 0) -> str:
        """The hash of a transaction of the payer's own, once it is mined."""
        to, due = self.way(asset_id)
        amount = int(due * share) + more if share != 1.0 else due + more
        token = self.shop.network.tokens.get(asset_id, "")
        sent = self.payer.transfer(token, to, amount) if token else self.payer.send(to, amount)
        self.payer.receipt(sent)
        return sent

    def detail(self) -> dict[str, Any]:
        return self.shop.api.detail(self.id)

    def until(self, *states: str, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """The payment once it has one of the states or reasons; it is read from the API."""
        return until(
            self.detail,
            lambda found: {found["status"], found["state_reason"]} & set(states) != set(),
            f"{self.title} is {' or '.join(states)}",
            seconds,
        )

    def seconds_left(self) -> float:
        """Until the deadline that it was made with."""
        end = datetime.fromisoformat(self.made["expires_at"].replace("Z", "+00:00"))
        return end.timestamp() - time.time()

    def deadline_passes(self) -> None:
        time.sleep(max(0.0, self.seconds_left()) + BLOCK_SECONDS)

    def confirmed(self) -> None:
        """Everything that has come has its confirmations."""
        until(
            lambda: [item["status"] for item in self.detail()["transactions"]],
            lambda found: bool(found) and set(found) == {"confirmed"},
            f"what came for {self.title} is confirmed",
        )

    def look(self, query: str = "") -> None:
        """The views of the three at this moment."""
        self.customer.append(self.shop.visit(self.page + query))
        self.merchant.append(self.shop.merchant.read(f"payments/{self.id}"))
        self.merchant += self.of_it("attention")
        self.program.append(json.dumps(self.detail()))
        self.program.append(json.dumps(self.events()))

    def refunds(self) -> list[Any]:
        return list(self.shop.api("GET", f"/payments/{self.id}/refunds"))

    def of_it(self, path: str) -> list[str]:
        """The entries of a list of the dashboard that are about this payment."""
        entries = _ENTRY.findall(self.shop.merchant.pages(path))
        about = self._about()
        return [words(entry) for entry in entries if any(part in entry for part in about)]

    def transfer(self) -> str:
        """The page of coins in another coin, to which the payment's page leads; empty while none
        have come."""
        found = _TRANSFER.search(self.shop.merchant.markup(f"payments/{self.id}"))
        return found[1] if found else ""

    def _about(self) -> tuple[str, ...]:
        parts = (f"{self.title} ", self.id, self.reference, self.transfer())
        return tuple(part for part in parts if part)

    def events(self) -> list[Any]:
        """As an endpoint would be sent them, newest first."""
        found: list[Any] = []
        before = ""
        for _ in range(PAGES_MAX):
            page = self.shop.api("GET", f"/events?per_page=100{before}")["data"]
            found += [event for event in page if self.id in json.dumps(event)]
            if len(page) < 100:
                break
            before = f"&before={page[-1]['id']}"
        return found

    def names_transaction(self, tx_hash: str) -> None:
        """The customer says that they have paid."""
        self.customer.append(self.shop.visit(f"{self.page}/sent", transaction=tx_hash))

    def check(self, holds: bool, what: str) -> None:
        if not holds:
            raise Wrong(what)


class World:
    """One demo, whose test network is reached through a node that can be made to err."""

    def __init__(self) -> None:
        program = anvil.anvil_program()
        if program is None:
            raise SystemExit("anvil isn't installed")
        self.test_node = Node(program, "--block-time", str(BLOCK_SECONDS))
        _wait_for_node(self.test_node.url)
        self.proxy = Proxy(self.test_node.url)
        seen = self.proxy.url.replace("someone:hunter2@", "")
        self.demo = Demo(
            {local_chain.SEPOLIA: seen, local_chain.NAMES_VARIABLE: local_chain.SEPOLIA}
        )
        chain = self.demo.info["chains"]["live"]
        self.live = Network(chain["rpc_url"], chain["tokens"], CHAIN_KEYS["live"])
        self.test = Network(self.test_node.url, {}, CHAIN_KEYS["test"])
        self.test.tokens[TEST_DOLLARS] = self._dollars_of_test()
        self._turn = threading.Lock()
        self.made = open_store(self.demo, "Situations")
        self.shop = Shop(self.demo, self.made, "live", self.live)

    def _dollars_of_test(self) -> str:
        """The contract of the test network's dollar token, which the service knows from here on."""
        issuer = self.test.wallet()
        placed = issuer.receipt(issuer.deploy_token("USD Coin", "USDC", 6))
        contract = str(placed.contract_address).lower()
        self.operator("set_asset", TEST_DOLLARS, "--contract", contract, "--active", "true")
        return contract

    @contextmanager
    def test_network(self) -> Iterator[Network]:
        """Turn of the one test that changes the answers of the test network's node, or takes blocks
        back."""
        with self._turn:
            yield self.test

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """The test network's node has blocks without their logs, and headers that fit."""
        silent = {"logsBloom": "0x" + "0" * 512}

        def lie(method: str, given: list[Any], result: Any) -> Any:
            if method == "eth_getLogs":
                return []
            is_block = method.startswith("eth_getBlockBy") and isinstance(result, dict)
            return {**result, **silent} if is_block else result

        with self.told(lie):
            yield

    @contextmanager
    def told(self, lie: Change) -> Iterator[None]:
        self.proxy.changes.append(lie)
        try:
            yield
        finally:
            self.proxy.changes.remove(lie)

    def test_shop(self, name: str) -> Shop:
        """A store of its own, whose test clock may be moved."""
        return Shop(self.demo, open_store(self.demo, name), "test", self.test)

    def operator(self, *command: str) -> str:
        run = self.demo.manage(*command)
        if run.returncode:
            raise Wrong(f"manage.py {' '.join(command)}: {run.stdout[-500:]}{run.stderr[-500:]}")
        return run.stdout

    def end(self) -> None:
        self.demo.stop()
        self.proxy.close()
        self.test_node.end()


def _wait_for_node(url: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not local_chain.is_chain(url, local_chain.CHAIN_IDS[local_chain.SEPOLIA]):
        if time.monotonic() > end:
            raise SystemExit("anvil didn't start")
        time.sleep(0.1)

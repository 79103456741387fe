"""`python -m tests.faults.shards`: two whole installations, each with a database, processes, a
wallet and a store of its own, read one chain behind one router, and one of them is lost.

Each store is sold to, refunds and pays out through the router. Keys and references reach their
server alone; while one is gone the other's callers hear no error; a third database reads the books
of both. Exit 1 when it isn't so. It needs nginx and postgres_fdw.
"""

import hmac
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import requests

from apps.core import local_chain
from apps.core.process.published_secrets import CHAIN_KEYS
from dev import machine
from dev.demo.chain import DemoWallet
from dev.ports import free_port
from tests.faults.outages import COINS, OPEN
from tests.faults.running import LOADED_BY_WEB, Stack
from tests.federation import Federation, own_sums
from tests.router import Router
from tests.stack import Remote, mine, wait_for
from tests.webhooks.receivers import Receiver

HOME, SECOND = "01", "02"
NAMES = {HOME: "home", SECOND: "second"}
CHAINS = ("CHAIN_ETHEREUM_URL", "CHAIN_SEPOLIA_URL", local_chain.NAMES_VARIABLE)
COIN = "SETH"
JOB_SECONDS = 120.0
AWAY_SECONDS = 3.0
# Faster callers meet the limits of their key.
PAUSE_SECONDS = 0.1
WITHOUT_COINS = """
from apps.assets.rates import refresh
from apps.chain.sending import signing_rounds
signing_rounds.introduce()
refresh()
"""
# As a reference from before there were shards may look: of the first server, like the second's.
PAYMENT = """
from apps.access.services import authenticate
from apps.payments.requests import PaymentRequest
from apps.payments.services.create import create_payment
request = PaymentRequest(amount="10.00", currency="EUR")
print(create_payment(authenticate("{key}"), request)[0].reference)
"""


class Server:
    """One installation: its processes, its store, and who calls it through the router. `is_whole`
    when it has coins on the chain."""

    def __init__(
        self, shard: str, router_url: str, chains: dict[str, str], *, is_whole: bool
    ) -> None:
        self.shard = shard
        own = {"SHARD": shard, "PUBLIC_URL": router_url, "TRUSTED_PROXY_HOPS": "1", **chains}
        self.stack = Stack(own) if is_whole else Stack(own, LOADED_BY_WEB)
        self.chains = {name: self.stack.environ[name] for name in CHAINS}
        self.chain = self.chains["CHAIN_SEPOLIA_URL"]
        self.key = self.new_store("Alice")
        if is_whole:
            self._open_wallet()
        self.stack.manage("shell", "--command", (OPEN if is_whole else "") + WITHOUT_COINS)
        self.api = Remote(router_url, self.key)
        self.receiver = Receiver()

    def _open_wallet(self) -> None:
        """A seed of its own, and coins in its hot wallet."""
        wallet = self.stack.manage("create_wallet", "--json")
        for mode, xpub in wallet["deposit_xpubs"].items():
            self.stack.environ[f"DEPOSIT_XPUB_{mode.upper()}"] = xpub
        self.stack.manage("set_asset", COIN, "--confirmations", "2")
        hot = wallet["hot_wallets"]["test"]
        local_chain.call(self.chain, "anvil_setBalance", hot, hex(2 * COINS))

    def new_store(self, name: str, **settings: str) -> str:
        """The secret key of a store's test mode."""
        email = f"{name.lower()}-{self.shard}@example.com"
        made = self.stack.manage(
            *("create_store", "--name", name, "--email", email),
            "--password",
            "pw-0123456789",
            "--json",
            **settings,
        )
        return str(made["keys"]["test"]["secret"])

    def looking_like(self, shard: str) -> tuple[str, str]:
        """A key and a payment's reference of this server that look as if they were of another
        shard."""
        key = self.new_store("Bob", SHARD=shard)
        command = ("shell", "--command", PAYMENT.format(key=key))
        return key, self.stack.manage(*command, SHARD=shard).split()[-1]

    def start(self, names: Iterable[str] = ()) -> None:
        for name in names or self.stack.commands():
            self.stack.start(name)

    def answers(self) -> bool:
        try:
            return requests.get(f"{self.stack.base_url}/readyz/web", timeout=10).ok
        except requests.RequestException:
            return False

    def fall(self) -> None:
        """As a machine is lost, with everything on it."""
        for name in list(self.stack.processes):
            self.stack.kill(name)
        self.stack.kill_database()
        self.stack.kill_redis()

    def rise(self, names: Iterable[str] = ()) -> None:
        self.stack.start_services()
        self.start(names)
        wait_for(self.answers, bool)

    def close(self) -> None:
        self.receiver.close()
        self.stack.close()


class Pair:
    """Both installations, the router before them, and the database that reads the books of both.
    With `names`, these processes alone run."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        port = free_port()
        self._open: list[Any] = []
        try:
            url = f"http://localhost:{port}"
            home = self._keep(Server(HOME, url, {}, is_whole=not self.names))
            second = self._keep(Server(SECOND, url, home.chains, is_whole=not self.names))
            self.servers = {HOME: home, SECOND: second}
            ports = {NAMES[shard]: server.stack.port for shard, server in self.servers.items()}
            for server in self.servers.values():
                server.start(self.names)
            self.router = self._keep(Router(ports, NAMES, port=port))
            databases = {
                shard: server.stack.environ["DATABASE_URL"]
                for shard, server in self.servers.items()
            }
            self.federation = Federation(databases)
            self._open.append(self.federation)
            for server in self.servers.values():
                wait_for(server.answers, bool)
        except BaseException:
            self.close()
            raise

    def _keep(self, part: Any) -> Any:
        self._open.append(part)
        return part

    def shared_wallets(self) -> list[tuple[object, ...]]:
        """Hot wallets that both have: those of one seed."""
        assert {row[0] for row in self.federation.ask("SELECT shard FROM hot_wallet")} == {
            *self.servers
        }
        return self.federation.ask("SELECT chain_id, shards FROM shared_wallet ORDER BY chain_id")

    def close(self) -> None:
        for part in reversed(self._open):
            part.remove() if isinstance(part, Federation) else part.close()


def sell(server: Server, wallet: DemoWallet) -> dict[str, Any]:
    """A payment through the router that a customer pays on the chain, until it is completed."""
    made = server.api.payment()
    row = next(
        address
        for address in made["payment_addresses"]
        if address["supported_asset"]["asset_id"] == COIN
    )
    wallet.send(row["address"], int(row["crypto_amount_atomic"]))
    return until(server, f"/payments/{made['id']}", "completed")


def until(server: Server, path: str, status: str) -> dict[str, Any]:
    def read() -> dict[str, Any]:
        mine(server.chain, 1)
        found: dict[str, Any] = server.api("GET", path)
        return found

    return wait_for(read, lambda found: found["status"] == status, JOB_SECONDS)


def main_job(server: Server, wallet: DemoWallet) -> list[str]:
    """A sale, its signed webhook, the customer's visit, a refund, a payout."""
    wrong = []
    endpoint = {"url": server.receiver.url, "subscribed_events": ["payment_intent.completed"]}
    made = server.api("POST", "/webhook_endpoints", {"webhook_endpoint": endpoint})
    payment = sell(server, wallet)
    reference = payment["reference"]
    wait_for(lambda: server.receiver.requests, bool)
    told = server.receiver.requests[0]
    if not is_signed(told, made["signing_secret"]):
        wrong.append(f"{server.shard}: a webhook with another signature")
    if server.receiver.events()[0]["data"]["object"]["id"] != reference:
        wrong.append(f"{server.shard}: a webhook of something else")
    page = requests.get(f"{server.api.base_url}/pay/{reference}", timeout=30)
    if page.status_code != 200 or reference[:2] != server.shard:
        wrong.append(f"{server.shard}: the page of {reference} answers {page.status_code}")
    refund = {"refund": {"amount": "0.001"}}
    server.api("POST", f"/payments/{payment['id']}/refunds", refund, key="refund")
    until(server, f"/payments/{payment['id']}", "refunded")
    to = f"0x{int(server.shard) + 10**30:040x}"
    body = {"asset_id": COIN, "amount_atomic": str(10**16), "destination_address": to}
    payout = server.api("POST", "/payouts", body, key="payout")
    until(server, f"/payouts/{payout['id']}", "confirmed")
    arrived = int(local_chain.call(server.chain, "eth_getBalance", to, "latest"), 16)
    if arrived != 10**16:
        wrong.append(f"{server.shard}: {arrived} arrived instead of {10**16}")
    return wrong


def is_signed(told: dict[str, Any], secret: str) -> bool:
    moment, signature = re.findall(r"(?:t|v1)=(\w+)", told["headers"]["service-signature"])
    body = f"{moment}.".encode() + told["raw"]
    return hmac.compare_digest(hmac.new(secret.encode(), body, "sha256").hexdigest(), signature)


def strayed(pair: Pair) -> list[str]:
    """Requests that reached another server than the one of their shard."""
    ports = {shard: f"127.0.0.1:{server.stack.port}" for shard, server in pair.servers.items()}
    return [
        f"{request.method} {request.path} of {request.shard} was at {request.upstreams}"
        for request in pair.router.passed()
        if request.shard in ports and request.upstreams != [ports[request.shard]]
    ]


def known_elsewhere(pair: Pair) -> list[str]:
    """A key of one is unknown at the other, and the router doesn't find it there."""
    wrong = []
    for server, other in ((HOME, SECOND), (SECOND, HOME)):
        headers = {"Authorization": f"Bearer {pair.servers[server].key}"}
        url = f"{pair.servers[other].stack.base_url}/api/v2/payments"
        status = requests.get(url, headers=headers, timeout=30).status_code
        if status != 401:
            wrong.append(f"the key of {server} gets {status} at {other}")
    return wrong


def found_at_home(pair: Pair) -> list[str]:
    """Records of home that look as if they weren't are found there nevertheless; unknown ones are
    refused as ever."""
    key, reference = pair.servers[HOME].looking_like(SECOND)
    url = pair.router.base_url
    unknown = key[:-1] + ("0" if key[-1] != "0" else "1")
    asked = {
        f"{url}/api/v2/payments": [(key, 200), (unknown, 401), (pair.servers[SECOND].key, 200)],
        f"{url}/api/v2/checkout/{reference}": [("", 200)],
        f"{url}/pay/{reference}": [("", 200)],
        f"{url}/pay/{SECOND}{'A' * 14}": [("", 404)],
        f"{url}/api/v2/payments/{'0' * 8}": [(pair.servers[SECOND].key, 404)],
    }
    wrong = []
    api = Remote(url, key)
    made = api.payment(amount="12.00", description="x" * 200)
    if api.detail(made["id"])["settlement_amount"] != "12.00":
        wrong.append("a body didn't arrive where it was asked again")
    for path, answers in asked.items():
        for sent, expected in answers:
            headers = {"Authorization": f"Bearer {sent}"} if sent else {}
            status = requests.get(path, headers=headers, timeout=30).status_code
            if status != expected:
                wrong.append(f"{path} answered {status} instead of {expected}")
    return wrong


def lose_second(pair: Pair, say: Callable[[str], None]) -> list[str]:
    """Without it the other's callers hear no error, and its own a 503 that says when to come
    again."""
    home, second = pair.servers[HOME], pair.servers[SECOND]
    reference = second.api.payment()["reference"]
    second.fall()
    told: Counter[str] = Counter()
    wrong = []
    deadline = time.monotonic() + AWAY_SECONDS
    while time.monotonic() < deadline:
        made = home.api.payment()
        page = requests.get(f"{pair.router.base_url}/pay/{made['reference']}", timeout=30)
        told[f"home {page.status_code}"] += 1
        time.sleep(PAUSE_SECONDS)
        headers = {"Authorization": f"Bearer {second.key}"}
        for path in ("/api/v2/payments", f"/pay/{reference}"):
            answer = requests.get(pair.router.base_url + path, headers=headers, timeout=30)
            told[f"second {answer.status_code}"] += 1
            if answer.status_code != 503 or not answer.headers.get("Retry-After"):
                wrong.append(f"{path} answered {answer.status_code} while its server was away")
    if set(told) != {"home 200", "second 503"}:
        wrong.append(f"while one was away: {dict(told)}")
    say(f"while {SECOND} was away for {AWAY_SECONDS:.0f} s: {dict(told)}")
    second.rise(pair.names)
    page = requests.get(f"{pair.router.base_url}/pay/{reference}", timeout=30)
    return wrong if page.status_code == 200 else [*wrong, f"{reference} is gone"]


def unbalanced(pair: Pair) -> list[str]:
    """The third database has the sums of each server, with nothing left over."""
    rows = pair.federation.trial_balance()
    wrong = [f"books don't balance: {row}" for row in rows if row[5] != 0]
    for shard, server in pair.servers.items():
        own = own_sums(server.stack.environ["DATABASE_URL"])
        read = [row[1:] for row in rows if row[0] == shard]
        if read != own or not own:
            wrong.append(f"{shard} has {own}, and is read as {read}")
    return wrong


def play(say: Callable[[str], None]) -> list[str]:
    pair = Pair()
    try:
        wrong: list[str] = []
        servers = list(pair.servers.values())
        wallet = DemoWallet(servers[0].chain, CHAIN_KEYS["test"])
        for server in servers:
            wrong += main_job(server, wallet)
            say(f"{server.shard}: sold, told, refunded, paid out")
        wrong += [*strayed(pair), *known_elsewhere(pair), *unbalanced(pair)]
        if shared := pair.shared_wallets():
            wrong.append(f"both have {shared}")
        say(f"{len(pair.router.passed())} requests, each at its server")
        wrong += [*found_at_home(pair), *lose_second(pair, say)]
        for server in servers:
            sell(server, wallet)
            mine(server.chain, 4)
        for server in servers:
            server.stack.manage("verify_ledger", "--chain")
            say(f"{server.shard}: verify_ledger --chain found nothing")
        for row in pair.federation.trial_balance():
            say(f"{row[0]} {row[1]} {row[2]}: {row[3]} debited, {row[4]} credited")
        return [*wrong, *unbalanced(pair)]
    finally:
        pair.close()


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing is left running
    if not (machine.nginx() and machine.postgres_with_fdw()):
        print("it needs nginx and postgres_fdw: sudo apt-get install -y nginx-light postgresql")
        return 2
    wrong = play(lambda line: print(line, flush=True))
    print("\n".join(wrong) or "both served their stores, and one without the other")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

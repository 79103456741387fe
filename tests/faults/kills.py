"""A worker killed at every point of what leaves: payouts, refunds, swaps, sweeps, draws and what payers signed, on a chain of its own.

Each job runs in a forked child, so that a SIGKILL takes no other with it; the parent never touches the database. What the parent
asks for is always asked again under the same key, as a caller who got no answer would.
"""

import importlib
import os
import pickle
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config import embedded, local_chain
from tests.faults import agents

KINDS = ("payout", "refund", "swap", "sweep", "settlement", "x402")
PLACES = tuple(f"send.K{number}" for number in range(1, 9))
# Some can also be killed before anything is asked of the sender; there they are killed first.
OWN_PLACES = {
    "payout": ("payout.K1", "payout.K2", "payout.K7"),
    "swap": ("swap.K1", "swap.K8"),
    **{kind: (f"{kind}.K1", f"{kind}.K2") for kind in agents.KINDS},
}
RESUME_SECONDS = 60.0
ROUNDS = 12
ETHER, DOLLAR = 10**18, 10**6
# Loaded once, so that the children don't.
LOADED = (
    *("apps.payouts.services.create", "apps.payouts.services.progress", "apps.payments.services.refund_progress", "apps.chain.sweeper"),
    *("apps.swaps.services.progress", "apps.swaps.providers.uniswap", "apps.payments.services.sweep_books", "apps.chain.watcher"),
    *("apps.agents.services.dispatch", "apps.agents.services.x402_settle", "tests.faults.agents"),
    *("apps.console.audit", "apps.console.demo.exchange", "apps.chain.providers.jsonrpc", "tests.make"),
)
CHAIN, COIN, TOKEN = "sepolia", "SETH", "USDC_SETH"


@dataclass
class Outcome:
    """What the kills did. `resumed_seconds` is how long after each kill everything had come to its end."""

    killed: Counter[tuple[str, str]] = field(default_factory=Counter)
    passed_by: Counter[tuple[str, str]] = field(default_factory=Counter)
    resumed_seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class World:
    """Embedded services of its own, a store with money, and the means to run one round of the worker and to kill it in there."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="tgk", dir="/tmp")
        os.environ |= {"TILLGATE_VAR": str(Path(self.folder.name) / "test"), "TILLGATE_ENV": "test", "LOG_LEVEL": "CRITICAL"}
        for name in (*embedded.SERVICES, embedded.WITHOUT):
            os.environ.pop(name, None)
        embedded.ensure(mode=embedded.TEST)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        self.url = os.environ["CHAIN_SEPOLIA_URL"]
        import django

        django.setup()
        for name in LOADED:
            importlib.import_module(name)
        self.facts: dict[str, Any] = self.run(lambda: _open_store(self.url))
        self._name_exchange()
        self.number = 0

    def _name_exchange(self) -> None:
        from django.conf import settings

        settings.SWAP_ROUTERS = [f"{CHAIN}={self.facts['router']}"]
        settings.PROVIDERS["swaps"]["test"] = [{"BACKEND": "apps.swaps.providers.uniswap.Uniswap", "OPTIONS": {}}]

    def close(self) -> None:
        embedded.leave_all()
        self.folder.cleanup()

    # --- children ---------------------------------------------------------------------------------

    def run(self, job: Callable[[], Any]) -> Any:
        """What the job returns, done in a child. Raises RuntimeError when the child broke."""
        is_killed, result = self._fork(job, "")
        if is_killed or result is None or result[0] != "done":
            raise RuntimeError(f"a child broke: {result}")
        return result[1]

    def kill_at(self, place: str, job: Callable[[], Any]) -> bool:
        """Whether the job came by the place, and so was killed there."""
        is_killed, result = self._fork(job, place)
        if not is_killed and (result is None or result[0] != "done"):
            raise RuntimeError(f"a child broke: {result}")
        return is_killed

    def _fork(self, job: Callable[[], Any], place: str) -> tuple[bool, Any]:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            os.environ["TILLGATE_FAILPOINT"] = place
            try:
                answer: Any = ("done", job())
            except BaseException as error:
                answer = ("broke", repr(error))
            with os.fdopen(writer, "wb") as out:
                pickle.dump(answer, out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as told:
            data = told.read()
        _, status = os.waitpid(pid, 0)
        is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        return is_killed, pickle.loads(data) if data else None

    # --- one kill ---------------------------------------------------------------------------------

    def suffer(self, kind: str, place: str, outcome: Outcome) -> None:
        """Ask for something, kill the worker there, and see that it comes to its one right end in time."""
        self.number += 1
        wish = self.run(lambda: _prepare(self.url, self.facts, kind, self.number))
        was_killed = self.kill_at(place, lambda: _ask_and_work(self.url, self.facts, wish))
        (outcome.killed if was_killed else outcome.passed_by)[(kind, place)] += 1
        began = time.monotonic()
        fault = self.run(lambda: _recover(self.url, self.facts, wish))
        outcome.resumed_seconds.append(time.monotonic() - began)
        if fault:
            outcome.faults.append(f"{kind} killed at {place}: {fault}")

    def findings(self) -> list[str]:
        """What the audit of books and chain has to say at the end."""
        found: list[str] = self.run(lambda: _audit(self.url))
        return found


# --- what runs in children ------------------------------------------------------------------------


def _open_store(url: str) -> dict[str, Any]:
    from django.core.management import call_command

    from apps.assets.models import Asset, Chain
    from apps.assets.rates import refresh
    from apps.chain import signing
    from apps.chain.keys import Seed
    from apps.chain.watcher import Watcher
    from apps.console.demo import exchange
    from apps.console.demo.chain import Wallet
    from config.demo_secrets import CHAIN_KEYS, DEMO_MNEMONIC
    from tests import make
    from tests.cast import assemble

    call_command("migrate", verbosity=0)
    refresh()
    Chain.objects.filter(pk=CHAIN).update(required_confirmations=2)
    wallet, hot = Wallet(url, CHAIN_KEYS["test"]), Seed(DEMO_MNEMONIC).hot_key("test").address
    local_chain.call(url, "anvil_setBalance", wallet.address, hex(100_000 * ETHER))
    token = str(wallet.receipt(wallet.deploy_token("USD Coin", "USDC", 6))["contractAddress"]).lower()
    Asset.objects.filter(pk=TOKEN).update(contract_address=token, is_active=True)
    router = exchange.open_exchange(wallet)
    if router is None:
        raise RuntimeError("the exchange's contracts aren't installed")
    exchange.fill(wallet, router, exchange.Pool(token, 5000 * ETHER, 10_000_000 * DOLLAR))
    watcher = Watcher(CHAIN)
    while watcher.step():
        pass
    shop = assemble().bakery
    for asset_id, amount in ((COIN, 1000 * ETHER), (TOKEN, 100_000 * DOLLAR)):
        make.store_coins(shop.store, asset_id, amount)
    make.service_coins(COIN, 1000 * ETHER)
    local_chain.call(url, "anvil_setBalance", hot, hex(2000 * ETHER))
    wallet.receipt(wallet.mint(token, hot, 100_000 * DOLLAR))
    signing.introduce()
    agents.open_envelope(shop)
    return {
        "key": shop.secrets["test"],
        "agent": shop.secrets["test_agent"],
        "hot": hot,
        "token": token,
        "router": f"{router.address}:{router.wrapped_native}",
    }


def _prepare(url: str, facts: dict[str, Any], kind: str, number: int) -> dict[str, Any]:
    """What must be there before it can be asked for: a payment that a customer has paid on the chain, for refunds and sweeps."""
    from apps.access.services import authenticate
    from apps.console.demo.chain import Wallet
    from apps.payments.models import PaymentAddress
    from apps.payments.services.create import create_payment
    from apps.payments.services.fields import payment_intent
    from config.demo_secrets import CHAIN_KEYS

    wish: dict[str, Any] = {"kind": kind, "number": number, "to": f"0x{number + 10**20:040x}", "amount": 10**16 + number}
    if kind in ("refund", "sweep"):
        fields = payment_intent("test").check({"amount": "900.00", "currency": "EUR"}, "")
        payment, _ = create_payment(authenticate(facts["key"]), fields, None)
        asset_id = TOKEN if kind == "sweep" and number % 8 == 0 else COIN
        entry = PaymentAddress.objects.get(payment=payment, asset_id=asset_id)
        wallet = Wallet(url, CHAIN_KEYS["test"])
        if asset_id == COIN:
            wallet.receipt(wallet.send(entry.address_id, entry.required_atomic))
        else:
            wallet.receipt(wallet.mint(facts["token"], entry.address_id, entry.required_atomic))
        wish |= {"payment": payment.pk, "address": entry.address_id, "asset": asset_id}
        _round(url)
    if kind == "x402":
        wish["body"] = agents.signed(url, facts, number)
    return wish


def _ask(facts: dict[str, Any], wish: dict[str, Any]) -> str:
    """The request of a caller, with the same key every time; how far it has come."""
    from datetime import timedelta

    from apps.access.services import authenticate
    from apps.chain import sweeper
    from apps.chain.models import Address, OutgoingTransaction
    from apps.core import clock
    from apps.payments.models import Payment
    from apps.payments.services.refund import request_refund
    from apps.payments.services.refund_shares import Wish
    from apps.payouts.services.create import create_payout
    from apps.swaps.services.create import create_swap

    access, key = authenticate(facts["key"]), f"kill-{wish['number']}"
    if wish["kind"] in agents.KINDS:
        return agents.ask(facts, wish, key)
    match wish["kind"]:
        case "payout":
            body = {"asset_id": COIN, "amount_atomic": str(wish["amount"]), "destination_address": wish["to"]}
            return str(create_payout(access, body, key, caller="kills")[0].status)
        case "refund":
            wanted = Wish(amount="0.01", destination_address=wish["to"])
            return str(request_refund(access, Payment.objects.get(pk=wish["payment"]), wanted, key)[0][0].status)
        case "swap":
            source, buy, amount = (COIN, TOKEN, ETHER // 10) if wish["number"] // 4 % 2 else (TOKEN, COIN, 100 * DOLLAR)
            order = {"source_asset_id": source, "buy_asset_id": buy, "sell_amount_atomic": str(amount)}
            return str(create_swap(access, **order, key=key, caller="kills")[0].status)
    Address.objects.filter(pk=wish["address"]).update(watch_balance_until=clock.real_now() - timedelta(seconds=1))
    sweeper.sweep_due()
    done = OutgoingTransaction.objects.filter(purpose="sweep", from_address=wish["address"], handled_status="confirmed")
    return "confirmed" if done.exists() else "waiting"


def _round(url: str) -> None:
    """What the worker and the watcher do every few seconds, and blocks between."""
    from apps.chain import sender, signing
    from apps.chain.watcher import Watcher
    from apps.payments.services.refund_progress import advance_refunds
    from apps.payments.services.settle import settle_deposits
    from apps.payments.services.sweep_books import book_sweeps
    from apps.payouts.services.progress import advance_payouts
    from apps.swaps.services.progress import advance_swaps

    advance_payouts()
    advance_refunds()
    advance_swaps()
    agents.advance()
    signing.sign_due()
    sender.run_due()
    local_chain.call(url, "anvil_mine", "0x4")
    watcher = Watcher(CHAIN)
    while watcher.step():
        pass
    watcher.close()
    settle_deposits()
    sender.run_due()
    advance_payouts()
    advance_refunds()
    advance_swaps()
    agents.advance()
    book_sweeps()


def _ask_and_work(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> None:
    _ask(facts, wish)
    for _ in range(4):
        _round(url)
        if wish["kind"] == "sweep":
            _ask(facts, wish)


def _recover(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> str:
    """What is wrong with the end that it came to; empty when it is the one right end."""
    began = time.monotonic()
    for _ in range(ROUNDS):
        told = _ask(facts, wish)
        if told in ("confirmed", "completed"):
            return _what_is_wrong(url, facts, wish)
        if time.monotonic() - began > RESUME_SECONDS:
            break
        _round(url)
    return f"not over after {time.monotonic() - began:.0f} s: {told}"


def _what_is_wrong(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> str:
    from apps.chain.models import OutgoingTransaction

    if wish["kind"] in ("payout", "refund"):
        expected = wish["amount"] if wish["kind"] == "payout" else ETHER // 100
        got = int(local_chain.call(url, "eth_getBalance", wish["to"], "latest"), 16)
        return "" if got == expected else f"{got} arrived instead of {expected}"
    if wish["kind"] in agents.KINDS:
        return agents.what_is_wrong(url, facts, wish)
    if wish["kind"] == "sweep":
        rows = OutgoingTransaction.objects.filter(purpose="sweep", from_address=wish["address"])
        return "" if rows.count() == 1 else f"{rows.count()} sweeps of one address"
    return ""


def _audit(url: str) -> list[str]:
    from apps.chain.models import HotWallet, OutgoingTransaction
    from apps.console import audit

    for _ in range(2):
        _round(url)
    wallet = HotWallet.objects.get(pk=CHAIN)
    used = int(local_chain.call(url, "eth_getTransactionCount", wallet.address, "latest"), 16)
    found = [f"{one.invariant}: {one.subject} {one.detail}" for one in audit.findings(check_chain=True)]
    if not used == wallet.next_nonce == OutgoingTransaction.objects.filter(from_address=wallet.address).count():
        found.append(f"the chain has {used} transactions of the hot wallet, its next nonce is {wallet.next_nonce}")
    open_ones = OutgoingTransaction.objects.exclude(status__in=("confirmed", "failed")).count()
    return [*found, f"{open_ones} transactions are not over"] if open_ones else found


def _place(kind: str, turn: int) -> str:
    """The next place of a kind."""
    if kind in OWN_PLACES:
        places = OWN_PLACES[kind] + PLACES
        return places[turn // len(KINDS) % len(places)]
    return PLACES[(turn // len(KINDS) + turn) % len(PLACES)]


def suffer_many(kills: int, say: Callable[[str], None]) -> tuple[Outcome, list[str]]:
    """As many kills, spread evenly over kinds and places; what they did, and what the audit found afterwards."""
    world, outcome = World(), Outcome()
    try:
        turn = 0
        while sum(outcome.killed.values()) < kills and turn < 2 * kills:
            kind = KINDS[turn % len(KINDS)]
            world.suffer(kind, _place(kind, turn), outcome)
            turn += 1
            if turn % 10 == 0:
                say(f"{sum(outcome.killed.values())} of {kills} kills, {len(outcome.faults)} faults")
        return outcome, world.findings()
    finally:
        world.close()

"""Work of the children of the kills: a store on a chain, the wish of a caller, the worker's rounds,
and errors at the end.

Imports stand in the functions: the parent forks before Django has a connection.
"""

import time
from typing import Any

from apps.core import local_chain
from tests.faults import agents

RESUME_SECONDS = 60.0
PAID_SECONDS = 60.0
PAUSE_SECONDS = 0.5
ETHER = 10**18
DOLLAR = 10**6
CHAIN = "sepolia"
COIN = "SETH"
TOKEN = "USDC_SETH"


def open_store(url: str) -> dict[str, Any]:
    from apps.assets.models import Asset, Chain
    from apps.assets.rates import refresh
    from apps.chain.keys.seeds import Seed
    from apps.chain.sending import signing_rounds
    from apps.chain.watching.watcher import Watcher
    from apps.core.process.published_secrets import CHAIN_KEYS, DEMO_MNEMONIC
    from dev.demo import exchange
    from dev.demo.chain import DemoWallet
    from tests import make
    from tests.cast import assemble

    refresh()
    Chain.objects.filter(pk=CHAIN).update(required_confirmations=2)
    wallet = DemoWallet(url, CHAIN_KEYS["test"])
    hot = Seed(DEMO_MNEMONIC).hot_key("test").address
    local_chain.call(url, "anvil_setBalance", wallet.address, hex(100_000 * ETHER))
    token = str(wallet.receipt(wallet.deploy_token("USD Coin", "USDC", 6)).contract_address).lower()
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
    signing_rounds.introduce()
    agents.open_envelope(shop)
    return {
        "key": shop.secrets["test"],
        "agent": shop.secrets["test_agent"],
        "hot": hot,
        "token": token,
        "router": f"{router.address}:{router.wrapped_native}",
    }


def prepare(url: str, facts: dict[str, Any], kind: str, number: int) -> dict[str, Any]:
    """Prepare the records that a request needs: a payment that a customer has paid on the chain,
    for refunds and sweeps."""
    from apps.access.services import authenticate
    from apps.core.process.published_secrets import CHAIN_KEYS
    from apps.payments.models import Payment, PaymentAddress
    from apps.payments.requests import PaymentRequest
    from apps.payments.services.create import create_payment
    from dev.demo.chain import DemoWallet

    wish: dict[str, Any] = {
        "kind": kind,
        "number": number,
        "to": f"0x{number + 10**20:040x}",
        "amount": 10**16 + number,
    }
    if kind in ("refund", "sweep"):
        asked = PaymentRequest(amount="900.00", currency="EUR")
        payment, _ = create_payment(authenticate(facts["key"]), asked, None)
        asset_id = TOKEN if kind == "sweep" and number % 8 == 0 else COIN
        entry = PaymentAddress.objects.get(payment=payment, asset_id=asset_id)
        wallet = DemoWallet(url, CHAIN_KEYS["test"])
        if asset_id == COIN:
            wallet.receipt(wallet.send(entry.address_id, entry.required_atomic))
        else:
            wallet.receipt(wallet.mint(facts["token"], entry.address_id, entry.required_atomic))
        wish |= {"payment": payment.pk, "address": entry.address_id, "asset": asset_id}
        # The turn of a worker that was killed before is free when its lease has ended.
        until = time.monotonic() + PAID_SECONDS
        while not Payment.objects.filter(pk=payment.pk, status=Payment.Status.COMPLETED).exists():
            assert time.monotonic() < until, "the payment was not completed"
            time.sleep(PAUSE_SECONDS)
            round(url)
    if kind == "x402":
        wish["body"] = agents.signed(url, facts, number)
    return wish


def ask(facts: dict[str, Any], wish: dict[str, Any]) -> str:
    """The request of a caller, with the same key every time; how far it has come."""
    from datetime import timedelta

    from apps.access.services import authenticate
    from apps.chain.models import Address, OutgoingTransaction
    from apps.chain.sending import sweeper
    from apps.core import clock
    from apps.payments.models import Payment
    from apps.payments.requests import RefundRequest
    from apps.payments.services.refund import request_refund
    from apps.payouts.requests import PayoutRequest, RawAddress
    from apps.payouts.services.create import create_payout
    from apps.swaps.requests import SwapRequest
    from apps.swaps.services.create import create_swap

    access = authenticate(facts["key"])
    key = f"kill-{wish['number']}"
    if wish["kind"] in agents.KINDS:
        return agents.ask(facts, wish, key)
    match wish["kind"]:
        case "payout":
            asked = PayoutRequest(COIN, int(wish["amount"]), RawAddress(wish["to"]))
            return str(create_payout(access, asked, key, caller="kills")[0].status)
        case "refund":
            wanted = RefundRequest(amount="0.01", destination_address=wish["to"])
            return str(
                request_refund(access, Payment.objects.get(pk=wish["payment"]), wanted, key)[0][
                    0
                ].status
            )
        case "swap":
            source, buy, amount = (
                (COIN, TOKEN, ETHER // 10)
                if wish["number"] // 4 % 2
                else (TOKEN, COIN, 100 * DOLLAR)
            )
            return str(
                create_swap(access, SwapRequest(source, buy, amount), key=key, caller="kills")[
                    0
                ].status
            )
    Address.objects.filter(pk=wish["address"]).update(
        watch_balance_until=clock.real_now() - timedelta(seconds=1)
    )
    sweeper.sweep_due()
    done = OutgoingTransaction.objects.filter(
        purpose="sweep", from_address=wish["address"], handled_status="confirmed"
    )
    return "confirmed" if done.exists() else "waiting"


def round(url: str) -> None:
    """The periodic jobs of the worker and the watcher, and blocks between."""
    from apps.chain.sending import sender, signing_rounds
    from apps.chain.watching.watcher import Watcher
    from apps.payments.services.refund_progress import advance_refunds
    from apps.payments.services.settle import settle_deposits
    from apps.payments.services.sweep_books import book_sweeps
    from apps.payouts.services.progress import advance_payouts
    from apps.swaps.services.progress import advance_swaps

    advance_payouts()
    advance_refunds()
    advance_swaps()
    agents.advance()
    signing_rounds.sign_due()
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


def ask_and_work(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> None:
    ask(facts, wish)
    for _ in range(4):
        round(url)
        if wish["kind"] == "sweep":
            ask(facts, wish)


def recover(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> str:
    """Errors of the end that it came to; empty when it is the one right end."""
    began = time.monotonic()
    while (told := ask(facts, wish)) not in ("confirmed", "completed"):
        if time.monotonic() - began > RESUME_SECONDS:
            return f"not over after {time.monotonic() - began:.0f} s: {told}"
        round(url)
        time.sleep(PAUSE_SECONDS)  # what the killed worker held is free when its lease has ended
    return what_is_wrong(url, facts, wish)


def what_is_wrong(url: str, facts: dict[str, Any], wish: dict[str, Any]) -> str:
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


def audit(url: str) -> list[str]:
    from apps.audit import verify
    from apps.chain.models import HotWallet, OutgoingTransaction

    for _ in range(2):
        round(url)
    wallet = HotWallet.objects.get(pk=CHAIN)
    used = int(local_chain.call(url, "eth_getTransactionCount", wallet.address, "latest"), 16)
    found = [
        f"{finding.invariant}: {finding.subject} {finding.detail}"
        for finding in verify.findings(check_chain=True)
    ]
    if (
        not used
        == wallet.next_nonce
        == OutgoingTransaction.objects.filter(from_address=wallet.address).count()
    ):
        found.append(
            f"the chain has {used} transactions of the hot wallet, its next nonce is"
            f" {wallet.next_nonce}"
        )
    open_ones = OutgoingTransaction.objects.exclude(status__in=("confirmed", "failed")).count()
    return [*found, f"{open_ones} transactions are not over"] if open_ones else found

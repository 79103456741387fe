"""`demo`: everything on this machine with one command. The services are up before Django starts
(dev.demo_environment)."""

import contextlib
import json
import os
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from msgspec import UNSET, UnsetType, to_builtins

from apps.assets.rates import refresh
from apps.chain.networks.families import shown_address
from apps.console import local_chains
from apps.console.management.commands.create_store import StoreResult
from apps.core import local_chain
from apps.core.process.published_secrets import CHAIN_KEYS
from apps.stores.command import Result
from apps.stores.models import Store, User
from config import memory
from dev import demo_environment, running
from dev.demo import (
    agents,
    billing,
    database,
    exchange,
    hot_wallets,
    links,
    litecoin,
    oauth_apps,
    payments,
    payouts,
    people,
    permit2,
    platforms,
    readiness,
    runner,
    stablecoins,
    swaps,
)
from dev.demo.chain import DemoWallet
from dev.progress import ProgressBar

T = TypeVar("T")


class DemoSignIn(Result, frozen=True, kw_only=True):
    """Where somebody signs in, and as whom."""

    url: str
    email: str
    password: str


class Merchant(DemoSignIn, frozen=True, kw_only=True):
    totp_secret: str


class LocalChain(Result, frozen=True, kw_only=True):
    """Tokens are placed on the live one only: their contracts by asset."""

    rpc_url: str
    chain_id: int
    funded_private_key: str
    tokens: dict[str, str] | UnsetType = UNSET


class DemoDocument(Result, frozen=True, kw_only=True):
    """var/demo.json; chains by mode."""

    base_url: str
    dashboard: Merchant
    admin: DemoSignIn
    store: StoreResult
    chains: dict[str, LocalChain]
    mailbox: str


class Command(BaseCommand):
    help = "Start everything with embedded services and a seeded store; stop it with Ctrl-C"
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        demo_environment.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        self.is_json = options["json"]
        self.is_broken = False
        self.days = options["days"]
        port = options["port"]
        self.processes = runner.Processes()
        try:
            raise SystemExit(self._run(port))
        except KeyboardInterrupt:
            self.processes.end(kill_seconds=0)  # they hold nothing yet
            raise SystemExit(130) from None
        except CommandError:
            raise
        except Exception as error:
            self._give_up(error)
            raise SystemExit(1) from None
        finally:
            self.processes.end()

    def _run(self, port: int) -> int:
        self.processes.take_signals()
        if demo_environment.is_interrupted():
            raise KeyboardInterrupt
        self.step("database", database.bring_up_to_date)
        local_chains.introduce()
        for folder in (settings.STATIC_ROOT, Path(settings.EMAIL_FILE_PATH)):
            folder.mkdir(parents=True, exist_ok=True)
        litecoin.offer()
        self.step("exchange rates", refresh)
        contracts = self.step("tokens on the local chain", self._tokens)
        if contracts and settings.SWAP_PROVIDER == "uniswap" and not settings.SWAP_ROUTERS:
            self.step("exchange on the local chain", lambda: self._exchange(contracts))
        web = runner.web(port)
        commands = runner.beside_web()
        self.warm_up({"web": web}, commands)
        # It loads while the store is made, and hears as soon as it answers.
        self.processes.start("web", web)
        threading.Thread(target=self._tell_page, args=(port,), daemon=True).start()
        store, merchant, credentials = self.step("demo store", self._store)
        self.step("hot wallets", lambda: hot_wallets.fill(contracts))
        demo_environment.is_made(settings.VAR_DIR)
        connections.close_all()
        for name, command in commands.items():
            self.processes.start(name, command)
        threading.Thread(
            target=self._finish, args=(port, store, merchant, credentials, contracts), daemon=True
        ).start()
        return self.processes.watch() or int(self.is_broken)

    def warm_up(self, web: dict[str, list[str]], commands: dict[str, list[str]]) -> None:
        """Loads once what the processes would load seven times, and what they need besides no
        earlier than they do. The web server has no use for what workers load."""
        connections.close_all()
        memory.freeze_loaded()  # a collection writes to all that it looks at
        self.processes.warm(web)
        from config.celery import app

        app.loader.import_default_modules()
        app.finalize()
        memory.freeze_loaded()
        self.processes.warm(commands)

    def say(self, text: str) -> None:
        running.say(self.style.SUCCESS(text))

    def step(self, title: str, do: Callable[[], T]) -> T:
        """Set when it is done. A stop that is asked for meanwhile ends it: what a first start
        leaves half made is made again by the next."""
        began = time.monotonic()
        is_main = threading.current_thread() is threading.main_thread()
        with self.processes.step() if is_main else contextlib.nullcontext():
            result = do()
        self.say(f"{title} ready in {time.monotonic() - began:.1f} s")
        return result

    def _tokens(self) -> dict[str, str]:
        url = os.environ.get(local_chain.ETHEREUM)
        if not url:
            self.say("no local chain: live payments can't be paid, only simulated ones")
            return {}
        permit2.place(url)
        funded = DemoWallet(url, CHAIN_KEYS["live"])
        holders = [DemoWallet(url, CHAIN_KEYS[name]) for name in ("customer", "card_network")]
        return stablecoins.place_tokens(
            funded, [funded.address, *(holder.address for holder in holders)]
        )

    def _exchange(self, contracts: dict[str, str]) -> None:
        """The local chain's exchange, named to this process and to those that it starts."""
        wallet = DemoWallet(os.environ[local_chain.ETHEREUM], CHAIN_KEYS["live"])
        line = exchange.place(wallet, contracts.values(), settings.VAR_DIR / "demo-exchange.txt")
        if not line:
            self.say("no exchange contracts on this machine: live swaps have no route")
            return
        settings.SWAP_ROUTERS = [line]
        os.environ["SWAP_ROUTERS"] = line

    def _store(self) -> tuple[Store, User, StoreResult]:
        store = people.open_demo_store()
        merchant = User.objects.get(email=people.MERCHANT["email"])
        path = settings.VAR_DIR / "demo-store.json"
        credentials = people.credentials(store, path.read_bytes() if path.exists() else None)
        _write(path, credentials)
        with ProgressBar("making the demo's store") as bar:
            self._fill(store, merchant, bar)
        return store, merchant, credentials

    def _fill(self, store: Store, merchant: User, bar: ProgressBar) -> None:
        payments.seed_test_payments(store, merchant, self.days, bar.at)
        payouts.seed_payouts(store, merchant)
        billing.seed_billing(store, merchant)
        links.seed_links(store, merchant)
        platforms.seed_platform(merchant)
        agents.seed_mandates(store, merchant)
        oauth_apps.seed_apps(store, merchant)

    def _finish(
        self,
        port: int,
        store: Store,
        merchant: User,
        credentials: StoreResult,
        contracts: dict[str, str],
    ) -> None:
        """Once a page answers: tell how to get in; once the processes do: pay the live payments,
        write demo.json, and tell the rest."""
        try:
            began = time.monotonic()
            self._wait_for(readiness.WEB, port)
            self.say(_table(_entry(merchant_of())))
            self._wait_for(readiness.WHOLE, port)
            if self.processes.is_stopping:
                return
            if url := os.environ.get(local_chain.LITECOIN):
                litecoin.confirm_coins(url)
                litecoin.Miner(url).start()
            if contracts:
                customer = DemoWallet(os.environ[local_chain.ETHEREUM], CHAIN_KEYS["customer"])
                payments.pay_live_payments(store, merchant, customer, contracts)
            sample = payments.sample_payment(store, merchant)
            document = describe(port, credentials, contracts)
            _write(settings.VAR_DIR / "demo.json", document)
            self.say(f"processes ready in {time.monotonic() - began:.1f} s")
            self._tell(document, f"{document.base_url}/pay/{sample.reference}")
            if contracts:
                self.step(
                    "payment of an agent over x402", lambda: agents.pay_over_x402(store, merchant)
                )
                self.step("swap of what was paid", lambda: swaps.swap_when_paid(store, merchant))
                self._tell_what_is_next(document)
        except Exception as error:  # nothing else would see what happens in this thread
            if self.processes.is_stopping:
                return  # the services go while it works
            self.is_broken = True
            self._give_up(error)
            self.processes.stop()
        finally:
            connections.close_all()

    def _give_up(self, error: Exception) -> None:
        reason = demo_environment.reason(settings.VAR_DIR, error)
        self.stderr.write(f"the demo couldn't be set up and stops: {reason}")

    def _wait_for(self, path: str, port: int) -> None:
        processes = self.processes
        readiness.wait_for(path, port, lambda: processes.pid("web"), lambda: processes.is_stopping)

    def _tell_page(self, port: int) -> None:
        seconds = readiness.seconds_until_page(port, lambda: self.processes.is_stopping)
        if not self.processes.is_stopping:
            self.say(f"page ready in {seconds:.1f} s: {settings.PUBLIC_URL}/")

    def _tell(self, document: DemoDocument, checkout_url: str) -> None:
        if self.is_json:
            self.stdout.write(json.dumps(to_builtins(document)))
            self.stdout.flush()
        admin = document.admin
        second = people.COLLEAGUE
        rows = [
            ("documentation", f"{document.base_url}/docs"),
            ("mailbox", f"{document.base_url}/dev/mailbox  (files in {document.mailbox})"),
            ("staff", f"{admin.url}  {admin.email}  password {admin.password}"),
            ("second admin", f"{second['email']}  password {second['password']}"),
            (
                "API",
                f"{document.base_url}/api/v2  test key {document.store.keys['test']['secret']}",
            ),
            ("a checkout page", checkout_url),
            *_litecoin_rows(),
            (
                "to stop",
                "Ctrl-C; the data is kept until you start with --fresh",
            ),
        ]
        self.say("\nTillgate is running. Only this machine can reach it.\n")
        self.say(_table(rows))
        self._tell_what_is_next(document)

    def _tell_what_is_next(self, document: DemoDocument) -> None:
        """The last lines on the screen, whatever was printed between."""
        key = document.store.keys["test"]["secret"]
        order = '{"payment_intent": {"amount": "10.00", "currency": "EUR", "title": "One coffee"}}'
        first_payment = (
            f"curl -s {document.base_url}/api/v2/payments -u '{key}:' -H 'Content-Type:"
            f" application/json' -d '{order}'"
        )
        rows = [
            *_entry(document.dashboard),
            ("first payment", first_payment),
        ]
        self.say(f"\n{_table(rows)}\n")


def merchant_of() -> Merchant:
    return Merchant(url=f"{settings.PUBLIC_URL}/dashboard/", **people.MERCHANT)


def _litecoin_rows() -> list[tuple[str, str]]:
    if not os.environ.get(local_chain.LITECOIN):
        return []
    return [("pay in Litecoin", "python3 manage.py pay_litecoin ADDRESS COINS [--private]")]


def _entry(merchant: Merchant) -> list[tuple[str, str]]:
    """The page to open, and who signs in there."""
    who = (
        f"{merchant.email}  password {merchant.password}  authenticator key {merchant.totp_secret}"
    )
    return [("open", merchant.url), ("sign in", who)]


def _table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"  {title:<16} {text}" for title, text in rows)


def describe(port: int, credentials: StoreResult, contracts: dict[str, str]) -> DemoDocument:
    """Contents of var/demo.json, for other programs."""
    base_url = settings.PUBLIC_URL
    chains: dict[str, LocalChain] = {}
    for mode, name in (("live", local_chain.ETHEREUM), ("test", local_chain.SEPOLIA)):
        if url := os.environ.get(name):
            tokens = (
                {asset_id: shown_address(contract) for asset_id, contract in contracts.items()}
                if mode == "live"
                else UNSET
            )
            chains[mode] = LocalChain(
                rpc_url=url,
                chain_id=local_chain.CHAIN_IDS[name],
                funded_private_key=CHAIN_KEYS[mode],
                tokens=tokens,
            )
    return DemoDocument(
        base_url=base_url,
        dashboard=merchant_of(),
        admin=DemoSignIn(url=f"{base_url}/admin/", **people.STAFF),
        store=credentials,
        chains=chains,
        mailbox=str(settings.EMAIL_FILE_PATH),
    )


def _write(path: Path, document: Result) -> None:
    """Whole or not at all, and for this user only."""
    temporary = path.with_suffix(".new")
    temporary.touch(mode=0o600)
    temporary.write_text(json.dumps(to_builtins(document), indent=2) + "\n")
    temporary.replace(path)

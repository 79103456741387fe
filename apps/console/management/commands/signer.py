"""`signer`: the process that opens the seed and has the hot wallets' keys sign. It takes work from
the database alone."""

import signal
import threading
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import Error, close_old_connections

from apps.assets.models import Chain
from apps.chain.keys import keystores
from apps.chain.keys.seeds import Seed
from apps.chain.providers.base import KeystoreError, RpcError
from apps.chain.sending import cold_storage, signing_rounds
from apps.console import exporter
from apps.core.process.heartbeats import HeartbeatPart, Pulse
from apps.core.process.liveness import Liveness
from apps.stores.command import OperatorCommand, Result

# Between two looks that find nothing; anyone who waits for their money waits for this too.
PAUSE_SECONDS = 0.25
PAUSE_SECONDS_MAX = 30.0
log = structlog.get_logger(__name__)


class SignerResult(Result, frozen=True, kw_only=True):
    """How many transactions it has signed until it was stopped."""

    signed: int


class Command(OperatorCommand[SignerResult]):
    help = (
        "Sign outgoing transactions until stopped; needs the key file and the keystore that "
        "decrypts it (SIGNER_KEYSTORE)"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="run one round and exit")

    def run(self, **options: Any) -> SignerResult:
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        if not settings.APPROVAL_KEYS:
            raise CommandError(
                "APPROVAL_KEYS is missing: set it in the environment of the workers and the signer"
            )
        try:
            _check_addresses(keystores.seed())
            _check_lists()
            log.info("signer_started", hot_wallets=signing_rounds.introduce())
        except KeystoreError as error:
            raise CommandError(str(error)) from None
        except RpcError as error:
            if options["once"]:
                raise CommandError(str(error)) from None
        exporter.serve(exporter.process_registry(), settings.METRICS_PORT)
        signed = 0
        pause = PAUSE_SECONDS
        pulse = Pulse(HeartbeatPart.SIGNER)
        liveness = Liveness(settings.ALIVE_FILE)
        while not stopped.is_set():
            liveness.touch()
            try:
                pulse.beat()
                in_this_round = signing_rounds.sign_due()
                signed = signed + in_this_round
                pause = 0.0 if in_this_round else PAUSE_SECONDS
            except Error as error:  # the database is away: it comes back
                pause = min(max(pause, PAUSE_SECONDS) * 2, PAUSE_SECONDS_MAX)
                log.warning("database_away", error=type(error).__name__)
            close_old_connections()
            if options["once"]:
                break
            stopped.wait(pause)
        return SignerResult(signed=signed)


def _check_lists() -> None:
    """Coins sent to a mistyped address are gone, and a mistyped network has one wallet."""
    networks = set(Chain.objects.values_list("pk", flat=True))
    strange = [
        f"{setting} names {name}, which is no network"
        for setting in ("SIGNER_LANES", "SIGNER_GATHER_SECONDS")
        for name in sorted(getattr(settings, setting))
        if name not in networks
    ]
    if wrong := [*cold_storage.problems(), *strange]:
        raise CommandError("; ".join(wrong))


def _check_addresses(seed: Seed) -> None:
    """Customers must never be shown addresses that this seed can't spend from."""
    for mode, xpub in settings.DEPOSIT_XPUBS.items():
        if seed.deposit_xpub(mode) != xpub:
            raise CommandError(f"DEPOSIT_XPUB_{mode.upper()} doesn't belong to the key file")
    for coin, xpubs in settings.COIN_XPUBS.items():
        for mode, xpub in xpubs.items():
            if xpub and seed.coin_xpub(coin, mode) != xpub:
                name = f"DEPOSIT_XPUB_{coin}_{mode}".upper()
                raise CommandError(f"{name} doesn't belong to the key file")

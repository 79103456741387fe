"""`create_wallet`: a new seed in a sealed key file, or the seed of an earlier one. Prints only what
others may know."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from apps.chain.keys import keystores, seeds
from apps.chain.keys.seeds import Seed
from apps.chain.networks.families import shown_address
from apps.chain.providers.base import Keystore, KeystoreError
from apps.chain.providers.key_file import KeyFile
from apps.core.models import Mode
from apps.stores.command import OperatorCommand, Result


class WalletResult(Result, frozen=True, kw_only=True):
    """Where the key lies, and what others may know of it; both by mode."""

    key_file: str
    keystore: str
    deposit_xpubs: dict[str, str]
    coin_xpubs: dict[str, str]
    hot_wallets: dict[str, str]


class Command(OperatorCommand[WalletResult]):
    help = (
        "Create the signer's key file (SIGNER_KEY_FILE), encrypted by SIGNER_KEYSTORE; keep "
        "a copy of it, and of what decrypts it, elsewhere"
    )

    def arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group()
        source.add_argument(
            "--words",
            action="store_true",
            help="read the words of an existing seed from standard input",
        )
        source.add_argument(
            "--reseal",
            metavar="FILE",
            help="use the seed of this key file, decrypted with SIGNER_PASSPHRASE",
        )

    def run(self, **options: Any) -> WalletResult:
        path = Path(settings.SIGNER_KEY_FILE)
        keystore = keystores.keystore()
        try:
            seed = self._seed(path, keystore, options["reseal"], asks_for_words=options["words"])
            hot = {
                mode: shown_address(keystores.HotKey(keystore, mode).address)
                for mode in Mode.values
            }
        except KeystoreError as error:
            raise CommandError(str(error)) from None
        return WalletResult(
            key_file=str(path),
            keystore=keystore.name,
            deposit_xpubs={mode: seed.deposit_xpub(mode) for mode in Mode.values},
            coin_xpubs={
                f"{coin}_{mode}": seed.coin_xpub(coin, mode)
                for coin in seeds.COIN_TYPES
                for mode in Mode.values
            },
            hot_wallets=hot,
        )

    @staticmethod
    def _seed(path: Path, keystore: Keystore, reseal: str | None, *, asks_for_words: bool) -> Seed:
        if reseal:
            return seeds.move_key_file(Path(reseal), KeyFile(reseal), path, keystore)
        words = " ".join(sys.stdin.readline().split()) if asks_for_words else seeds.new_words()
        return seeds.write_key_file(path, words, keystore)

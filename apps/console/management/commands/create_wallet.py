"""`create_wallet`: a new seed in a sealed key file. Prints only what others may know."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from apps.chain import keys
from apps.chain.addresses import checksummed
from apps.console.command import OperatorCommand
from apps.core.models import Mode


class Command(OperatorCommand):
    help = "Make the signer's key file, sealed with SIGNER_PASSPHRASE; keep a copy of both apart from this machine"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--file", default=settings.SIGNER_KEY_FILE, help="where the key file goes (SIGNER_KEY_FILE)")
        parser.add_argument("--words", action="store_true", help="read the words of an earlier seed from standard input")

    def run(self, **options: Any) -> dict[str, Any]:
        words = " ".join(sys.stdin.readline().split()) if options["words"] else keys.new_words()
        seed = keys.write_key_file(Path(options["file"]), words, keys.configured_passphrase())
        return {
            "key_file": options["file"],
            "deposit_xpubs": {mode: seed.deposit_xpub(mode) for mode in Mode.values},
            "hot_wallets": {mode: checksummed(seed.hot_key(mode).address) for mode in Mode.values},
        }

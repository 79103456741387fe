"""`pay_litecoin`: pays from the demo's Litecoin wallet, as a customer's wallet does."""

import os
from argparse import ArgumentParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.management.base import BaseCommand, CommandError

from apps.core.local_chain import LITECOIN
from dev import litecoind


class Command(BaseCommand):
    help = "Pay an address on this machine's Litecoin, as a customer would: 0.25 LTC, for example"
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="or the whole link of a code (litecoin:…?amount=…)")
        parser.add_argument("coins", nargs="?", help="in LTC; not needed with a link that says it")
        parser.add_argument(
            "--private", action="store_true", help="out of Litecoin's private part (MWEB)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        url = os.environ.get(LITECOIN)
        if not url:
            raise CommandError("There is no Litecoin on this machine: install litecoind")
        address, coins = read_link(options["address"], options["coins"])
        try:
            paid = litecoind.pay(url, address, coins, is_private=options["private"])
        except litecoind.NodeRefused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(f"{coins} LTC are on their way to {address}: {paid}")


def read_link(text: str, coins: str | None) -> tuple[str, str]:
    """Raises CommandError."""
    if ":" in text:
        link = urlsplit(text)
        text = link.path
        coins = coins or next(iter(parse_qs(link.query).get("amount", [])), None)
    if coins is None:
        raise CommandError("How much? Name it behind the address")
    return text, coins

"""`create_payout_destination`: a saved wallet or bank account, without the dashboard."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.payouts.models import Destination
from apps.payouts.services.destinations import add_bank, add_wallet, network_named
from apps.stores.command import OperatorCommand, Result, store_named

# An account that no bank has, with the check digits of one: for tries without a real one.
SAMPLE_ACCOUNT = "DE89370400440532013000"


class DestinationResult(Result, frozen=True, kw_only=True):
    """A wallet or a bank account."""

    id: str
    kind: str


class Command(OperatorCommand[DestinationResult]):
    help = "Save a wallet or bank account as a payout destination of a store"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", required=True)
        parser.add_argument("--mode", required=True, choices=["live", "test"])
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--wallet", metavar="NETWORK:ADDRESS")
        where.add_argument("--bank", metavar="CURRENCY")
        parser.add_argument(
            "--verified", action="store_true", help="mark the bank account as verified"
        )
        parser.add_argument("--holder", help="of the bank account (default: the store's name)")
        parser.add_argument(
            "--account", default=SAMPLE_ACCOUNT, help="account number (default: a sample)"
        )
        parser.add_argument("--label", default="")

    def run(self, **options: Any) -> DestinationResult:
        destination = self._wallet(**options) if options["wallet"] else self._bank(**options)
        return DestinationResult(id=str(destination.pk), kind=destination.kind)

    def _wallet(self, **options: Any) -> Destination:
        network, separator, address = options["wallet"].partition(":")
        if not separator:
            raise CommandError("Use the form NETWORK:ADDRESS for a wallet")
        return add_wallet(
            store_named(options["store"]),
            options["mode"],
            network_named(network),
            address,
            options["label"],
        )

    def _bank(self, **options: Any) -> Destination:
        store = store_named(options["store"])
        return add_bank(
            store,
            options["mode"],
            currency=options["bank"],
            holder=options["holder"] or store.name,
            account=options["account"],
            label=options["label"],
            is_verified=options["verified"],
        )

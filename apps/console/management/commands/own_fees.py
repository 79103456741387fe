"""Fees that are due on what came to merchants' own wallets: their list, and a paid invoice."""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.core.models import Mode
from apps.ledger.posting import InsufficientBalance
from apps.payments.services import own_fees
from apps.stores.models import Store, User


class Command(BaseCommand):
    help = "Lists the fees that stores owe for payments to their own wallets, or notes one as paid."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", help="the store's ID; without it all that owe anything")
        parser.add_argument("--mode", choices=Mode.values, default=Mode.LIVE)
        parser.add_argument("--paid", help="atomic units that an invoice has paid")
        parser.add_argument("--asset", help="the asset that they are of")
        parser.add_argument("--invoice", help="its number: each is noted once")
        parser.add_argument("--staff", help="the email of who notes it")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["paid"] is None:
            self._list(options["store"], options["mode"])
        else:
            self._note(**options)

    def _list(self, store_id: str | None, mode: str) -> None:
        stores = Store.objects.filter(pk=_uuid(store_id)) if store_id else own_fees.debtors(mode)
        for store in stores:
            for asset_id, amount in sorted(own_fees.due_of(store.pk, mode).items()):
                self.stdout.write(f"{store.pk} {store.name}: {amount} {asset_id}")

    def _note(self, **options: Any) -> None:
        missing = [name for name in ("store", "asset", "invoice", "staff") if not options[name]]
        if missing:
            raise CommandError(f"--paid needs --{', --'.join(missing)}")
        store = Store.objects.filter(pk=_uuid(options["store"])).first()
        staff = User.objects.filter(email=options["staff"], is_staff=True).first()
        if store is None or staff is None or not options["paid"].isdecimal():
            raise CommandError("No such store or staff member, or --paid is no number")
        try:
            is_new = own_fees.note_paid(
                store,
                options["mode"],
                options["asset"],
                int(options["paid"]),
                invoice=options["invoice"],
                staff=staff,
                reason=f"Invoice {options['invoice']} was paid",
            )
        except (InsufficientBalance, ValueError):
            raise CommandError("Less than that is due") from None
        self.stdout.write("Noted." if is_new else "It was noted before.")


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise CommandError("--store is the ID of a store") from None

"""Saved wallets and bank accounts: making and removing.

A destination is new for a day: where the store asks for review of new ones, payouts to it wait
for a person till then.
"""

import re
import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext_noop

from apps.access import operations, waiting_period
from apps.access.access import Access
from apps.assets.models import Asset
from apps.chain.addresses import check_recipient, may_be_secret
from apps.chain.networks.families import read_any, shown_address
from apps.core import clock, crypto
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, NotFound
from apps.core.ids import new_id
from apps.core.messages.fields import is_uuid
from apps.core.models import Viewer
from apps.core.text.wording import Worded
from apps.payouts.models import Destination, Payout, WalletNetwork
from apps.stores.auditing import audit
from apps.stores.models import Currency, Store

REVIEW_PERIOD = timedelta(hours=24)
PURPOSE = "payout"
HINT_LENGTH = 4
LABEL_MAX = 100
HOLDER_MAX = 200
_ACCOUNT = re.compile(r"[A-Z0-9]{4,34}", re.ASCII)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", re.ASCII)
IBAN_CURRENCIES = frozenset({"EUR", "CHF", "DKK", "SEK", "NOK"})


class UnknownNetwork(Failure):
    field = "network"
    message = "Network is not supported"


class NotAnAddress(Failure):
    field = "address"
    message = "That is not an address of this network"


class AlreadySaved(Failure):
    field = "address"
    message = "This wallet is already saved"


class UnknownCurrency(Failure):
    field = "currency"
    message = "Currency is not supported"


class NotAnAccount(Failure):
    field = "account"
    message = "That is not an account number"


class DetailNotFound(NotFound):
    field = "destination"
    message = "Payout detail not found"


class HolderMissing(Failure):
    field = "holder"
    message = "Name the holder of the account"


def networks_offered() -> list[WalletNetwork]:
    """Those on which a wallet may be saved: of some always, of others while a coin of theirs is
    offered."""
    offered = set(Asset.objects.filter(is_active=True).values_list("chain__pk", flat=True))
    return [row for row in WalletNetwork if row.is_always_offered or row.value in offered]


def network_named(text: str) -> str:
    """A network's name in any case, or the symbol of its chain. Raises UnknownNetwork."""
    name = text.strip().lower()
    offered = [row.value for row in networks_offered()]
    if name in offered:
        return name
    chain_id = (
        Asset.objects.filter(chain__symbol__iexact=name, chain__in=offered)
        .values_list("chain", flat=True)
        .first()
    )
    if chain_id is None:
        raise UnknownNetwork
    return str(chain_id)


def add_wallet(
    store: Store,
    mode: str,
    network: str,
    address: str,
    label: str = "",
    *,
    by: Access | None = None,
    usable_from: datetime | None = None,
) -> Destination:
    """Save a wallet; one that is saved already is refused. Without `by` nobody is signed in, and
    `usable_from` says how long it waits.

    Raises a Failure, or what operations.check refuses with.
    """
    operations.check(by, operations.DESTINATION_ADD, mode=mode)
    columns = {"network": network, "address": _wallet_address(network, address)}
    return _save(store, mode, by, usable_from, kind=Destination.Kind.WALLET, label=label, **columns)


def _wallet_address(network: str, text: str) -> str:
    asset = Asset.objects.filter(chain=network).select_related("chain").first()
    if asset is not None:
        return check_recipient(text, asset, PURPOSE)
    address = read_any(text)
    if address is None:
        raise NotAnAddress(holds_secret=may_be_secret(text))
    return address


def add_bank(
    store: Store,
    mode: str,
    *,
    currency: str,
    holder: str,
    account: str,
    label: str = "",
    is_verified: bool = False,
    by: Access | None = None,
    usable_from: datetime | None = None,
) -> Destination:
    """Save a bank account; its number is sealed. Only a verified one can be paid.

    Raises what add_wallet raises.
    """
    operations.check(by, operations.DESTINATION_ADD, mode=mode)
    number = re.sub(r"[\s-]", "", account).upper()
    if currency not in Currency.values:
        raise UnknownCurrency
    if not holder.strip():
        raise HolderMissing
    if not (is_iban(number) if currency in IBAN_CURRENCIES else _ACCOUNT.fullmatch(number)):
        raise NotAnAccount
    row_id = new_id()
    sealed = crypto.encrypt(number, Destination(pk=row_id).account_place)
    return _save(
        store,
        mode,
        by,
        usable_from,
        id=row_id,
        kind=Destination.Kind.BANK,
        currency=currency,
        holder=holder.strip()[:HOLDER_MAX],
        account_sealed=sealed,
        account_hint=number[-HINT_LENGTH:],
        label=label,
        verified_at=clock.now(store, mode) if is_verified else None,
    )


def is_iban(number: str) -> bool:
    """True if the check digits of an international account number are right."""
    if not _IBAN.fullmatch(number):
        return False
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1


def account_of(destination: Destination) -> str:
    """The account number itself: for the off-ramp, and for nobody else."""
    return crypto.decrypt(destination.account_sealed, destination.account_place)


def _save(
    store: Store, mode: str, by: Access | None, usable_from: datetime | None, **columns: object
) -> Destination:
    at = clock.now(store, mode)
    until = usable_from or waiting_period.usable_from(by, operations.DESTINATION_ADD, mode)
    label = str(columns.pop("label")).strip()[:LABEL_MAX]
    with refused_by("destination_wallet_once", AlreadySaved):
        destination: Destination = Destination.objects.create(
            store=store,
            mode=mode,
            created_at=at,
            cools_until=at + REVIEW_PERIOD,
            usable_from=until,
            label=label,
            **columns,
        )
        audit.record(
            "payout_destination.added",
            store=store,
            mode=mode,
            target=destination,
            name=title(destination),
            details={"usable_from": until, "cools_until": destination.cools_until},
        )
        if by is not None:
            waiting_period.tell(
                by,
                operations.DESTINATION_ADD,
                destination.pk,
                title(destination),
                until,
                done=gettext_noop("A payout wallet was added")
                if destination.is_wallet
                else gettext_noop("A payout bank account was added"),
            )
    return destination


def network_name(wallet: Destination) -> str:
    return WalletNetwork(wallet.network).full_name


def title(destination: Destination) -> str:
    """The destination's name for people; never the account number."""
    if destination.is_wallet:
        return f"{shown_address(destination.address)} ({network_name(destination)})"
    return Worded(
        "{currency} account ending in {digits}",
        currency=destination.currency,
        digits=destination.account_hint,
    )


def remove_destination(destination: Destination, at: datetime, *, by: Access | None = None) -> None:
    """It can't be named any more. Payouts under way go on; schedules to it fail until they have
    another."""
    operations.check(by, operations.DESTINATION_REMOVE)
    with transaction.atomic():
        if Destination.objects.filter(pk=destination.pk, removed_at=None).update(removed_at=at):
            audit.record(
                "payout_destination.removed",
                store=destination.store_id,
                mode=destination.mode,
                target=destination,
                name=title(destination),
            )


def stop_destination(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link: a destination in its waiting period is removed. False when it doesn't any
    more."""
    now = clock.real_now()
    row = Destination.objects.filter(pk=id, usable_from=until, removed_at=None).first()
    if row is None or until <= now:
        return False
    remove_destination(row, now)
    return True


def check_usable(destination: Destination | None, at: datetime) -> None:
    """Refuses a destination that can't be sent to yet. Raises waiting_period.StillWaiting."""
    if (
        destination is not None
        and destination.usable_from is not None
        and destination.usable_from > at
    ):
        raise waiting_period.StillWaiting("This destination", destination.usable_from)


def check_credential(access: Access, address: str) -> None:
    """A new credential names only an address that the store knows. Raises
    waiting_period.StillNew."""
    until = access.new_until
    if until is not None and not usable_addresses(access, {address}):
        raise waiting_period.StillNew(until)


def usable_addresses(viewer: Viewer, addresses: set[str]) -> set[str]:
    """Those that were paid before, or that a saved wallet has whose review period is over."""
    paid = Payout.objects.visible_to(viewer).filter(
        destination_address__in=addresses, status=Payout.Status.CONFIRMED
    )
    saved = (
        Destination.objects.visible_to(viewer)
        .filter(address__in=addresses, removed_at=None)
        .exclude(usable_from__gt=clock.real_now())
    )
    return {
        *paid.values_list("destination_address", flat=True),
        *saved.values_list("address", flat=True),
    }


def find_destination(viewer: Viewer, id: str, kind: str) -> Destination:
    """A saved destination that can be named in a payout. Raises DetailNotFound."""
    rows = Destination.objects.visible_to(viewer).filter(kind=kind, removed_at=None)
    destination: Destination | None = rows.filter(pk=id).first() if is_uuid(id) else None
    if destination is None:
        raise DetailNotFound
    return destination

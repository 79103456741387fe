"""Choice of the wallet that an asset's coins go to: asking for another, informing the owners, and
stopping it.

A person asks with a code of the act. A worker tells the owners and says from when on it counts; the
web's role can do neither (trigger wallet_choice_is_the_workers).
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils.translation import gettext_noop

from apps.access import operation_emails, operations, waiting_period
from apps.access.access import Access
from apps.access.models import WaitingPeriodSettings
from apps.assets.models import Asset
from apps.chain.models import OwnWallet, WalletChoice
from apps.chain.networks.bitcoin.parameters import ScriptKind
from apps.chain.networks.families import shown_address
from apps.chain.own import factory, wallets
from apps.core import clock, jobs
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.models import Mode, OwnedQuerySet, Viewer
from apps.core.rows import Job
from apps.core.text.wording import Worded
from apps.stores.auditing import audit

JOB = Job("chain.start_wallets", limit=100, in_transaction=False)
HELD = gettext_noop("held here")


class OtherStores(Failure):
    field = "content"
    message = (
        "This key is already used elsewhere, so two customers could get the same address. Create"
        " another account in your wallet and paste its key"
    )


class OfPlatform(Failure):
    message = "The platform of this account takes its fee from coins held here"


class AlreadySo(Failure):
    field = "content"
    message = "This asset’s coins go there already"


class NoSuchAsset(Failure):
    field = "asset_id"
    message = "Choose an asset of this mode"


class StillWaits(Failure):
    field = "asset_id"
    message = "Another change of this asset’s wallet is waiting. Cancel it first"


@dataclass(frozen=True)
class WalletRequest:
    """A person's request for a wallet: `kind` is empty for coins that are held by the service."""

    asset_id: str
    kind: str = ""
    content: str = ""
    script: str = ""


def read_request(
    access: Access, request: WalletRequest
) -> tuple[Asset, wallets.NamedWallet | None]:
    """Raises a Failure; none holds what was pasted."""
    wallets.refuse_secrets(request.content)
    if access.store.platform_id is not None:
        raise OfPlatform
    asset = (
        Asset.objects.select_related("chain")
        .filter(pk=request.asset_id, chain__mode=access.mode)
        .first()
    )
    if asset is None:
        raise NoSuchAsset
    if not request.kind:
        return asset, None
    script = {kind.value: kind for kind in ScriptKind}.get(request.script)
    named = wallets.read(request.kind, request.content, asset, script)
    known = OwnWallet.objects.filter(fingerprint=named.fingerprint(access.store_id, access.mode))
    if known.exclude(store_id=access.store_id, mode=access.mode, chain=named.chain).exists():
        raise OtherStores
    return asset, named


def ask_for_wallet(access: Access, request: WalletRequest) -> WalletChoice:
    """Write down that customers' coins of an asset shall go to another wallet. Raises a Failure, or
    what operations.check refuses with."""
    operations.check(access, operations.WALLET_CHANGE)
    asset, named = read_request(access, request)
    at = clock.real_now()
    with transaction.atomic(), refused_by("own_wallet_once", OtherStores):
        if waiting(access).filter(asset=asset).exists():
            raise StillWaits
        wallet = None if named is None else _wallet_of(access, named, at)
        present = current(access, asset.pk, at)
        if (present.wallet_id if present else None) == (wallet.pk if wallet else None):
            raise AlreadySo
        choice: WalletChoice = WalletChoice.objects.create(
            store_id=access.store_id,
            mode=access.mode,
            created_at=at,
            asset=asset,
            wallet=wallet,
            asked_by=access.user,
        )
        audit.record(
            "own_wallet.asked",
            store=access.store,
            mode=access.mode,
            target=choice,
            name=asset.full_name,
            details={"wallet": title(wallet)},
        )
    jobs.enqueue(JOB.name)
    return choice


def _wallet_of(access: Access, named: wallets.NamedWallet, at: datetime) -> OwnWallet:
    """The row of what was named: the one that there is goes on."""
    fingerprint = named.fingerprint(access.store_id, access.mode)
    known: OwnWallet | None = (
        OwnWallet.objects.visible_to(access).filter(fingerprint=fingerprint).first()
    )
    if known is not None:
        return known
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('chain_own_wallet_number')")
        (number,) = cursor.fetchone()
    made: OwnWallet = OwnWallet.objects.create(
        store_id=access.store_id,
        mode=access.mode,
        created_at=at,
        number=number,
        family=named.family,
        chain=named.chain,
        kind=named.kind,
        content=named.content,
        fingerprint=fingerprint,
    )
    return made


def title(wallet: OwnWallet | None) -> str:
    """A wallet's name for people: what they can compare."""
    if wallet is None:
        return HELD
    if wallet.kind == OwnWallet.Kind.FORWARDER:
        return Worded("{address}, behind forwarders", address=shown_address(wallet.content))
    return Worded(
        "a wallet of your own whose first address is {address}", address=first_address(wallet)
    )


def first_address(wallet: OwnWallet) -> str:
    if wallet.kind == OwnWallet.Kind.FORWARDER:
        return shown_address(wallet.content)
    return shown_address(wallets.address_at(wallet, 0))


# --- reads ----------------------------------------------------------------------------------------


def current(viewer: Viewer, asset_id: str, at: datetime) -> WalletChoice | None:
    """The choice that counts for an asset now; None where there was none, and coins are held."""
    return currents(viewer, at).get(asset_id)


def currents(viewer: Viewer, at: datetime) -> dict[str, WalletChoice]:
    """Of each asset that has one."""
    rows = (
        WalletChoice.objects.visible_to(viewer)
        .filter(active_from__lte=at, stopped_at=None)
        .select_related("wallet__chain", "asset__chain")
        .order_by("active_from", "pk")
    )
    return {row.asset_id: row for row in rows}


def own_assets(viewer: Viewer) -> frozenset[str]:
    """The assets whose coins go to a wallet of the merchant's own now."""
    found = currents(viewer, clock.real_now())
    return frozenset(pk for pk, choice in found.items() if choice.wallet_id is not None)


def waiting(viewer: Viewer) -> "OwnedQuerySet":
    """Those that don't count yet."""
    at = clock.real_now()
    rows = WalletChoice.objects.visible_to(viewer).filter(stopped_at=None)
    return rows.exclude(active_from__lte=at)


# --- telling and stopping -------------------------------------------------------------------------


def start_due() -> int:
    """Tell the owners of what was asked for, and let it count after the waiting period; how many
    there were."""

    rows = WalletChoice.objects.filter(told_at=None, stopped_at=None).order_by("created_at")
    return JOB.walk(rows.values_list("pk", flat=True), start)


def start(id: uuid.UUID) -> None:
    """Of one. Where the forwarders' contract isn't on the network it waits, and says so."""
    untold = WalletChoice.objects.select_related("asset__chain", "wallet")
    choice = untold.get(pk=id)
    missing = _missing(choice)
    if missing is not None:
        WalletChoice.objects.filter(pk=id).update(waits_for=missing)
        return
    with transaction.atomic():
        locked = (
            WalletChoice.objects.select_for_update(of=("self",), no_key=True)
            .filter(pk=id, told_at=None, stopped_at=None)
            .select_related("store", "asset__chain", "wallet__chain", "asked_by")
            .first()
        )
        if locked is None:
            return
        at = clock.real_now()
        hours = 0
        if locked.mode == Mode.LIVE:
            hours = waiting_period.hours_of(WaitingPeriodSettings.of(locked.store), at)
        until = at + timedelta(hours=hours)
        locked.told_at = at
        locked.active_from = until
        locked.waits_for = ""
        locked.save(update_fields=["told_at", "active_from", "waits_for"])
        if locked.mode == Mode.LIVE and locked.asked_by is not None:
            operation_emails.tell_later(
                locked.store,
                locked.asked_by,
                operations.WALLET_CHANGE,
                Worded(
                    "{coin}: customers’ coins go to {wallet}",
                    coin=locked.asset.full_name,
                    wallet=title(locked.wallet),
                ),
                waiting_period.stop_of(operations.WALLET_CHANGE, locked.pk, until)
                if hours
                else None,
            )
        audit.record(
            "own_wallet.told",
            store=locked.store_id,
            mode=locked.mode,
            target=locked,
            name=locked.asset.full_name,
            details={"wallet": title(locked.wallet), "active_from": until},
        )


def _missing(choice: WalletChoice) -> str | None:
    """Parts of the network that are missing for a choice; asks nodes."""
    if choice.wallet is None or choice.wallet.kind != OwnWallet.Kind.FORWARDER:
        return None
    return factory.missing_on(choice.asset.chain)


def stop_choice(access: Access, choice: WalletChoice) -> bool:
    """Cancel one that doesn't count yet. Raises what operations.check refuses with."""
    operations.check(access, operations.DESTINATION_REMOVE)
    return _stop(choice)


def stop_by_link(id: uuid.UUID, until: datetime) -> bool:
    """By an owner's link. False when it counts already."""
    row = WalletChoice.objects.filter(pk=id, active_from=until, stopped_at=None).first()
    return row is not None and _stop(row)


def _stop(choice: WalletChoice) -> bool:
    at = clock.real_now()
    with transaction.atomic():
        rows = WalletChoice.objects.filter(pk=choice.pk, stopped_at=None)
        stopped = rows.exclude(active_from__lte=at).update(stopped_at=at)
        if stopped:
            audit.record(
                "own_wallet.stopped",
                store=choice.store_id,
                mode=choice.mode,
                target=choice,
                name=choice.asset_id,
            )
    return bool(stopped)

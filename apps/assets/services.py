"""Assets of the service, and those that a store takes. A store always takes at least one in each
mode."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from apps.access.access import Access
from apps.assets.models import SWEEP_BOUNDS, AcceptedAsset, Asset, Chain
from apps.core import clock
from apps.core.db.constraints import refused_by
from apps.core.db.sql import Statement
from apps.core.errors import Failure, NotFound
from apps.core.ids import new_id_sql
from apps.core.money import atomic_from_coins, decimal_from_atomic, percentage_from_bps
from apps.stores.auditing import audit
from apps.stores.models import Store


class LastAsset(Failure):
    message = "The last accepted asset can't be removed"


class AssetNotActive(Failure):
    field = "asset_id"
    message = "Asset is not active"


class NoContract(Failure):
    message = "A token needs its contract before it can be active"


class NotAContract(Failure):
    message = "Contract is not the address of a token"


class ContractTaken(Failure):
    message = "Another asset has this contract"


class ContractKept(Failure):
    """The owner of the tables may change it still."""

    message = (
        "Coins have come in this asset, so its contract stays. Only the owner of the database's"
        " tables may change it"
    )


CONFIRMATIONS_MAX = 10_000


class NotConfirmations(Failure):
    def __init__(self, lowest: int) -> None:
        super().__init__(f"Confirmations must be between {lowest} and {CONFIRMATIONS_MAX}")


class NotSweptSo(Failure):
    """Says of which column."""


# Has the settings say it.
SWEPT_BY_SETTINGS = "default"
# Of each term its column, and the places of its number; None: those of the coin.
SWEEP_TERMS: Mapping[str, tuple[str, int | None]] = {
    "sweep_minimum": ("sweep_minimum_atomic", None),
    "sweep_cost": ("sweep_cost_bps", 2),
    "sweep_after_days": ("sweep_after_days", 0),
}
NOT_SWEPT_OTHERWISE: Mapping[str, int | None] = {}


class NoTagConfirmations(Failure):
    def __init__(self, chain: Chain) -> None:
        super().__init__(
            f"{chain.name} has no number of confirmations that stands for a tag: its blocks are"
            " counted"
        )


# By which a block counts: the tag that nodes give it, and whether its confirmations are needed too.
FINALITY_RULES: dict[str, tuple[str, bool]] = {
    "confirmations": ("", True),
    "safe": ("safe", False),
    "finalized": ("finalized", False),
    "confirmations+safe": ("safe", True),
    "confirmations+finalized": ("finalized", True),
}


def finality_of(chain: Chain) -> str:
    """The name of a network's rule."""
    rule = (chain.finality_tag, chain.counts_confirmations)
    return next(name for name, known in FINALITY_RULES.items() if known == rule)


def change_asset(
    asset_id: str,
    *,
    contract_address: str | None = None,
    is_active: bool | None = None,
    required_confirmations: int | None = None,
    finality: str | None = None,
    sweeping: Mapping[str, int | None] = NOT_SWEPT_OTHERWISE,
) -> Asset:
    """Staff change an asset; None leaves a thing as it is. A contract is an address as it is
    stored; the confirmations are those of its chain, for deposits not yet seen, and `finality` is
    its chain's rule (FINALITY_RULES). `sweeping` has new values of columns in SWEEP_BOUNDS, where
    None is what the settings say. Raises NotSweptSo besides."""
    with transaction.atomic():
        asset = (
            Asset.objects.select_for_update(of=("self",), no_key=True)
            .filter(pk=asset_id)
            .select_related("chain")
            .first()
        )
        if asset is None:
            raise NotFound("Asset not found")
        if contract_address is not None:
            asset.contract_address = _token_contract(asset, contract_address)
        if is_active is not None:
            asset.is_active = is_active
        if asset.is_active and not asset.is_native and asset.contract_address is None:
            raise NoContract
        _refuse_outside(sweeping)
        for column, value in sweeping.items():
            setattr(asset, column, value)
        with refused_by("asset_is_kept", ContractKept):
            asset.save(update_fields=["contract_address", "is_active", *sweeping])
        if required_confirmations is not None:
            lowest = asset.chain.confirmations_floor
            if not lowest <= required_confirmations <= CONFIRMATIONS_MAX:
                raise NotConfirmations(lowest)
            asset.chain.required_confirmations = required_confirmations
            asset.chain.save(update_fields=["required_confirmations"])
        changed = {
            "contract_address": contract_address,
            "is_active": is_active,
            "required_confirmations": required_confirmations,
            **(_change_finality(asset.chain, finality) if finality is not None else {}),
        }
        audit.record(
            "asset.changed",
            target=asset,
            name=asset.pk,
            details={key: value for key, value in changed.items() if value is not None}
            | dict(sweeping),
        )
    return asset


def _change_finality(chain: Chain, finality: str) -> dict[str, object]:
    """Changes the finality rule; returns the new one. Raises NoTagConfirmations."""
    chain.finality_tag, chain.counts_confirmations = FINALITY_RULES[finality]
    if chain.finality_tag and not chain.tag_confirmations:
        raise NoTagConfirmations(chain)
    chain.save(update_fields=["finality_tag", "counts_confirmations"])
    return {
        "finality_tag": chain.finality_tag,
        "counts_confirmations": chain.counts_confirmations,
    }


def note_stop(asset_id: str, *, is_stopped: bool, at: datetime) -> bool:
    """Keep whether its token moves for us, as the chain says; True when that is news. `at` is
    machine time."""
    rows = Asset.objects.filter(pk=asset_id, stopped_since__isnull=is_stopped)
    return bool(rows.update(stopped_since=at if is_stopped else None))


def _token_contract(asset: Asset, address: str) -> str:
    if asset.is_native:
        raise NotAContract
    if (
        Asset.objects.filter(chain_id=asset.chain_id, contract_address=address)
        .exclude(pk=asset.pk)
        .exists()
    ):
        raise ContractTaken
    return address


def accept_all_active(store: Store) -> None:
    """Assets of a new store: every listed asset of each mode."""
    _ACCEPT.rows(store_id=store.pk, at=clock.real_now())


_ACCEPT = Statement(f"""
INSERT INTO assets_acceptedasset (id, store_id, mode, created_at, asset_id)
SELECT {new_id_sql()}, %(store_id)s::uuid, c.mode, %(at)s::timestamptz, a.id
FROM assets_asset a JOIN assets_chain c ON c.id = a.chain_id
WHERE a.is_active AND a.is_listed
ON CONFLICT DO NOTHING RETURNING id
""")  # noqa: S608  # no input in it


_ACCEPT_NEW = Statement(f"""
INSERT INTO assets_acceptedasset (id, store_id, mode, created_at, asset_id)
SELECT {new_id_sql()}, %(store_id)s::uuid, c.mode, %(at)s::timestamptz, a.id
FROM assets_asset a JOIN assets_chain c ON c.id = a.chain_id AND c.mode = %(mode)s
WHERE a.is_active AND a.is_listed
ON CONFLICT DO NOTHING RETURNING asset_id
""")  # noqa: S608  # no input in it


def accept_all_listed(access: Access) -> list[str]:
    """Take every listed asset of the mode that the store doesn't take yet; their IDs."""
    with transaction.atomic():
        Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
        rows = _ACCEPT_NEW.rows(store_id=access.store_id, mode=access.mode, at=clock.real_now())
        accepted = Asset.objects.filter(pk__in=[asset_id for (asset_id,) in rows])
        for asset in accepted:
            audit.record(
                "asset.accepted",
                store=access.store,
                mode=access.mode,
                target=asset,
                name=asset.pk,
            )
    return [asset.pk for asset in accepted]


def set_accepted(access: Access, asset_id: str, is_accepted: bool) -> None:
    """Take an asset or stop taking it. Raises NotFound, AssetNotActive or LastAsset."""
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is None:
        raise NotFound("Asset not found")
    if not asset.is_active or not asset.is_listed or asset.chain.mode != access.mode:
        raise AssetNotActive
    with transaction.atomic():
        Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
        rows = AcceptedAsset.objects.visible_to(access)
        if is_accepted != rows.filter(asset=asset).exists():
            done = "accepted" if is_accepted else "no_longer_accepted"
            audit.record(
                f"asset.{done}", store=access.store, mode=access.mode, target=asset, name=asset.pk
            )
        if is_accepted:
            AcceptedAsset.objects.get_or_create(
                store=access.store,
                mode=access.mode,
                asset=asset,
                defaults={"created_at": clock.real_now()},
            )
        elif rows.filter(asset=asset).exists():
            if not rows.filter(asset__is_active=True).exclude(asset=asset).exists():
                raise LastAsset
            rows.filter(asset=asset).delete()


def sweep_columns(texts: Mapping[str, str | None], decimals: int) -> dict[str, int | None]:
    """Columns of the terms that are said, of a coin with so many decimals: coins, percent and days
    as digits with a point at most. Raises NotSweptSo."""
    said = {name: text for name in SWEEP_TERMS if (text := texts[name]) is not None}
    columns = {
        SWEEP_TERMS[name][0]: _sweep_value(name, text, decimals) for name, text in said.items()
    }
    _refuse_outside(columns)
    return columns


def _refuse_outside(columns: Mapping[str, int | None]) -> None:
    """Raises NotSweptSo of a value beyond what its column takes."""
    for column, value in columns.items():
        least, most, text = SWEEP_BOUNDS[column]
        if value is not None and not least <= value <= most:
            raise NotSweptSo(text)


def sweep_minimum_text(asset: Asset) -> str | None:
    """The least amount that is swept, in coins; None where the settings say it."""
    least = asset.sweep_minimum_atomic
    return None if least is None else decimal_from_atomic(least, asset.atomic_decimals)


def sweep_cost_text(asset: Asset) -> str | None:
    """The most that a sweep may cost, in percent; None where the settings say it."""
    most = asset.sweep_cost_bps
    return None if most is None else percentage_from_bps(most)


def _sweep_value(name: str, text: str, decimals: int) -> int | None:
    if text == SWEPT_BY_SETTINGS:
        return None
    _, places = SWEEP_TERMS[name]
    value = atomic_from_coins(text, decimals if places is None else places)
    if value is None:
        raise NotSweptSo(f"{text[:60]!r} is no number for --{name.replace('_', '-')}")
    return value

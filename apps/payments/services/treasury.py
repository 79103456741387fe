"""Funding of a hot wallet from outside, booked by staff against the treasury, and only with coins
that the books don't hold already."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.assets.models import Asset
from apps.chain import selectors
from apps.chain.models import Address, HotWallet, SignedTransaction, SpendCandidate
from apps.chain.networks.base import OtherBlock, Transfer
from apps.chain.networks.coins import carrier_of
from apps.chain.networks.families import has_coins
from apps.chain.networks.readers import reader_of
from apps.chain.providers.base import Nodes
from apps.chain.sending import cold_storage
from apps.core.errors import Failure
from apps.ledger import movements
from apps.ledger.chart import CUSTODY_COLD, CUSTODY_HOT
from apps.ledger.movements.own import cold_returned_key, correction_key
from apps.ledger.posting import locked_balance
from apps.ledger.selectors import is_posted
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.models import User


class NotFunding(Failure):
    """The transaction can't be booked as coins from outside; the text says why."""


class AlreadyBooked(Failure):
    message = "This is booked already"


def funding_key(tx_hash: str, asset_id: str) -> str:
    """Key by which coins are booked once, by any member of staff."""
    return f"funding:{tx_hash}:{asset_id}"


def book_funding(
    wallet: HotWallet, tx_hash: str, nodes: Nodes, staff: User, at: datetime
) -> dict[str, int]:
    """Book what a transaction brought the wallet and the others of its chain: atomic units by asset
    id. What cold storage sends back is no new float; on a network with coins its fee comes out of
    cold storage too.

    Raises StaffForbidden, NotFunding, AlreadyBooked and RpcError.
    """
    staff_roles.check(staff, staff_roles.FUNDING)
    assets = {
        asset.contract_address or "": asset
        for asset in Asset.objects.filter(chain=wallet.chain_id)
        if _is_on_chain(asset)
    }
    arrived: Counter[str] = Counter()
    from_cold: Counter[str] = Counter()
    for transfer in _transfers_to(
        wallet, tx_hash, nodes, [contract for contract in assets if contract]
    ):
        asset_id = assets[transfer.contract].pk
        arrived[asset_id] += transfer.amount_atomic
        if transfer.from_address in cold_storage.addresses(asset_id):
            from_cold[asset_id] += transfer.amount_atomic
    cold_fee = 0
    if arrived and has_coins(wallet.chain):
        [asset_id] = arrived
        from_cold[asset_id], cold_fee = _out_of_cold(wallet, tx_hash, asset_id, nodes)
        from_cold[asset_id] = min(from_cold[asset_id], arrived[asset_id])
    if not +arrived:
        raise NotFunding(
            f"The transaction brought {wallet.address} nothing that can be read from it; book it"
            " with a correction"
        )
    with transaction.atomic():
        for asset_id, amount_atomic in arrived.items():
            cold = ColdCoins(from_cold[asset_id], cold_fee)
            _book_arrived(wallet, tx_hash, asset_id, amount_atomic, cold, staff, at)
        audit.record("hot_wallet.funded", target=wallet, name=tx_hash, details=arrived)
    return dict(arrived)


@dataclass(frozen=True)
class ColdCoins:
    """Coins that came back from cold storage, and the fee that was paid out of them."""

    amount_atomic: int
    fee_atomic: int


def _out_of_cold(wallet: HotWallet, tx_hash: str, asset_id: str, nodes: Nodes) -> tuple[int, int]:
    """The coins of cold storage that a transaction took; and its fee, if it took no others."""
    carrier = carrier_of(wallet.chain, nodes)
    found = carrier.found(tx_hash)
    if found is None:
        return 0, 0  # out of the private part
    sources = carrier.sources(found)
    ours = cold_storage.addresses(asset_id)
    cold = sum(amount for address, amount in sources if address in ours)
    if any(address not in ours for address, _ in sources):
        return cold, 0
    return cold, cold - sum(amount for _, amount in found.outputs)


def _book_arrived(
    wallet: HotWallet,
    tx_hash: str,
    asset_id: str,
    amount_atomic: int,
    cold: ColdCoins,
    staff: User,
    at: datetime,
) -> None:
    """As far as the books have it in cold storage it comes back from there; the rest is the
    operator's own, and new."""
    mode = wallet.chain.mode
    returned = fee = 0
    if cold.amount_atomic:
        booked = max(0, -locked_balance(None, mode, asset_id, CUSTODY_COLD))
        returned = min(cold.amount_atomic, booked)
        fee = min(cold.fee_atomic, booked - returned)
        # Under that lock: what was booked one way before must not be booked the other way now.
        if is_posted(
            [correction_key(funding_key(tx_hash, asset_id)), cold_returned_key(tx_hash, asset_id)]
        ):
            raise AlreadyBooked
    if returned:
        movements.cold_returned(
            mode=mode,
            asset_id=asset_id,
            tx_hash=tx_hash,
            amount_atomic=returned,
            fee_atomic=fee,
            at=at,
        )
    if amount_atomic == returned:
        return
    posted = movements.correction(
        key=funding_key(tx_hash, asset_id),
        mode=mode,
        asset_id=asset_id,
        kind=CUSTODY_HOT,
        store_id=None,
        amount_atomic=returned - amount_atomic,
        reason=f"Funded by {tx_hash}",
        staff_id=staff.pk,
        at=at,
    )
    if not posted.is_new:
        raise AlreadyBooked


def _is_on_chain(asset: Asset) -> bool:
    return asset.is_native or bool(asset.contract_address)


def _transfers_to(
    wallet: HotWallet, tx_hash: str, nodes: Nodes, contracts: list[str]
) -> list[Transfer]:
    """Transfers of the transaction to the wallets of the chain, deep enough and not ours."""
    required = wallet.chain.required_confirmations
    reader = reader_of(wallet.chain, nodes)
    try:
        read = reader.transaction(tx_hash, contracts, required)
    except OtherBlock:
        raise NotFunding(
            "The nodes disagree about the block that has it: try again later"
        ) from None
    if read is None:
        raise NotFunding("The chain knows no such transaction, or no block has it yet")
    if read.confirmations < required:
        raise NotFunding(
            f"The transaction has {read.confirmations} of {required} confirmations: try again later"
        )
    if not read.has_moved:
        raise NotFunding("The transaction was reverted")
    wallets = selectors.hot_addresses([wallet.chain_id])
    transfers = [transfer for transfer in read.transfers if transfer.to_address in wallets]
    senders = {transfer.from_address for transfer in transfers} | read.signers
    is_ours = (
        SignedTransaction.objects.filter(tx_hash=tx_hash).exists()
        or SpendCandidate.objects.filter(tx_hash=tx_hash).exists()
        or Address.objects.filter(pk__in=senders).exists()
    )
    if is_ours or not senders.isdisjoint(wallets):
        raise NotFunding("The transaction is the service's own: its coins are in the books already")
    return transfers

"""Moves what the hot wallets hold above each asset's float to cold storage, and books it. What is
promised stays.

The coins go on being owed to whom they were owed before: only the account of where they lie is
another.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Sum

from apps.assets.models import Asset
from apps.assets.selectors import fee_asset_id
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import cold_storage, sender
from apps.chain.sending.following import Booking, TransferOrder
from apps.chain.states import UNMINED
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.selectors import promised

JOB = Job("payments.move_to_cold", in_transaction=False)
_Sent = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
# The service's own, which no account of the books sets aside.
_UNRESERVED = (_Purpose.TEST_PAYMENT, _Purpose.SWEEP_GAS)


def move_to_cold() -> int:
    """Ask for the transfers that are due; how many assets were looked at."""
    wallets = HotWallet.objects.filter(halted_at=None).values("chain")
    return JOB.walk(
        Asset.objects.filter(pk__in=cold_storage.assets(), chain__in=wallets)
        .select_related("chain")
        .order_by("pk"),
        _move,
    )


def _move(asset: Asset) -> None:
    rule = cold_storage.float_of(asset)
    shares = [max(0, free) for free in sender.free_by_wallet(asset.chain_id, asset.pk)]
    free = sum(shares)
    if not shares or free < rule.moved_from_atomic:
        return
    with transaction.atomic():
        HotWallet.objects.select_for_update().get(pk=asset.chain_id)
        spare = free - _promised(asset)
        if spare < rule.moved_from_atomic or spare <= rule.kept_atomic or _is_under_way(asset):
            return
        number = cold_storage.next_number(asset.pk)
        # One transaction leaves from one wallet: the one with the most. The next run goes on.
        amount_atomic = min(spare - rule.kept_atomic, max(shares))
        order = TransferOrder(asset, cold_storage.address(asset.pk, number), amount_atomic)
        FOLLOWER.request(asset, order, cold_storage.reference(asset.pk, number))


def _promised(asset: Asset) -> int:
    """Stores' coins under way, at any stage, and the service's own requested and unsigned ones."""
    own = OutgoingTransaction.objects.filter(
        asset=asset, status=_Sent.REQUESTED, purpose__in=_UNRESERVED
    )
    return promised(asset.mode, asset.pk) + int(
        own.aggregate(total=Sum("amount_atomic"))["total"] or 0
    )


def _is_under_way(asset: Asset) -> bool:
    return OutgoingTransaction.objects.filter(
        asset=asset, purpose=_Purpose.COLD, status__in=(*UNMINED, _Sent.REVIEW)
    ).exists()


class ColdFollower(Booking):
    purpose = _Purpose.COLD
    job = Job("payments.book_cold", limit=100)

    def book(self, transfer: OutgoingTransaction, moved_atomic: int, at: datetime) -> None:
        movements.cold_transfer_sent(
            mode=transfer.mode,
            asset_id=transfer.asset_id,
            outgoing_id=transfer.pk,
            amount_atomic=moved_atomic,
            gas_asset_id=fee_asset_id(transfer.asset),
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )


FOLLOWER = ColdFollower()
book_cold = FOLLOWER.advance

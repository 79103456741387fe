"""What the signer never signs, whoever asked: a second look that trusts nothing above it."""

import re
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum

from apps.assets.models import Asset, Chain
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.core.money import atomic_from_decimal

_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
# Zero, burn addresses and the precompiled contracts: coins sent there are gone.
_LOWEST_ADDRESS = 0x10000
_BURN = {"0x000000000000000000000000000000000000dead", "0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead", "0x" + "f" * 40}
_DAY = timedelta(days=1)
_Status = OutgoingTransaction.Status


def refusal(row: OutgoingTransaction, chain: Chain, at: datetime) -> tuple[str, str] | None:
    """(status, reason) of a transaction that may not be signed: a wrong one fails, a large one waits for a person."""
    asset = row.asset
    if asset.chain_id != chain.pk or row.chain_id != chain.pk or row.mode != chain.mode:
        return _Status.FAILED, "The asset belongs to another chain"
    if not asset.is_native and not asset.contract_address:
        return _Status.FAILED, "The asset has no contract"
    if is_refused_destination(row.to_address, row.purpose, row.mode):
        return _Status.FAILED, "The destination is refused"
    most, most_a_day = caps(asset)
    if row.amount_atomic > most:
        return _Status.REVIEW, "It is above the limit of one transaction"
    signed = OutgoingTransaction.objects.filter(asset=asset, signed_at__gt=at - _DAY).exclude(status=_Status.FAILED)
    if int(signed.aggregate(sum=Sum("amount_atomic"))["sum"] or 0) + row.amount_atomic > most_a_day:
        return _Status.REVIEW, "It is above the limit of one day"
    return None


def is_refused_destination(address: str, purpose: str, mode: str) -> bool:
    """Nobody's address, a token's contract, or one of ours; only a test payment goes to an address of ours."""
    if not _ADDRESS.fullmatch(address) or int(address, 16) < _LOWEST_ADDRESS or address in _BURN:
        return True
    if Asset.objects.filter(contract_address=address).exists() or HotWallet.objects.filter(address=address).exists():
        return True
    is_test_payment = purpose == OutgoingTransaction.Purpose.TEST_PAYMENT and mode == "test"
    return not is_test_payment and Address.objects.filter(address=address).exists()


def caps(asset: Asset) -> tuple[int, int]:
    """The most of an asset in one transaction and in 24 hours, in atomic units; what has no line has no room."""
    for line in settings.SIGNER_CAPS:
        name, _, amounts = line.partition("=")
        if name == asset.pk:
            once, _, daily = amounts.partition(":")
            return atomic_from_decimal(once, asset.atomic_decimals) or 0, atomic_from_decimal(daily or once, asset.atomic_decimals) or 0
    return 0, 0

"""What the signer never signs, whoever asked: a second look that trusts nothing above it."""

import re
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum

from apps.assets.models import Asset, Chain
from apps.chain import history
from apps.chain.calls import refusal_of_call
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.states import TAKES_NO_TOKENS
from apps.core.money import atomic_from_decimal
from apps.core.sql import Statement

_ADDRESS = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
# Zero, burn addresses and the precompiled contracts: coins sent there are gone.
_LOWEST_ADDRESS = 0x10000
_BURN = {"0x000000000000000000000000000000000000dead", "0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead", "0x" + "f" * 40}
_WHOSE = Statement("""
SELECT EXISTS (SELECT 1 FROM assets_asset WHERE contract_address = %(address)s),
       EXISTS (SELECT 1 FROM chain_hotwallet WHERE address = %(address)s),
       EXISTS (SELECT 1 FROM chain_address WHERE address = %(address)s),
       EXISTS (SELECT 1 FROM chain_address WHERE address = %(address)s AND mode = %(mode)s)
""")
_DAY = timedelta(days=1)
_Status, _Purpose = OutgoingTransaction.Status, OutgoingTransaction.Purpose


def refusal(row: OutgoingTransaction, chain: Chain, at: datetime) -> tuple[str, str] | None:
    """(status, reason) of a transaction that may not be signed: a wrong one fails, a large one waits for a person."""
    asset = row.asset
    if asset.chain_id != chain.pk or row.chain_id != chain.pk or row.mode != chain.mode:
        return _Status.FAILED, "The asset belongs to another chain"
    if not asset.is_native and not asset.contract_address:
        return _Status.FAILED, "The asset has no contract"
    wallet = HotWallet.objects.get(chain=chain).address
    if row.call_data or row.purpose in (_Purpose.SWAP, _Purpose.APPROVAL, _Purpose.X402):
        wrong = refusal_of_call(row, wallet)
        if wrong:
            return _Status.FAILED, wrong
    elif is_refused_destination(row.to_address, row.purpose, row.mode):
        return _Status.FAILED, "The destination is refused"
    twin = history.same_as(row, wallet)
    if twin is not None:
        return _Status.REVIEW, f"The wallet did the same before the records were restored: {twin.tx_hash}"
    if row.purpose == _Purpose.X402:
        return None  # nothing of ours goes
    most, most_a_day = caps(asset)
    if row.amount_atomic > most:
        return _Status.REVIEW, "It is above the limit of one transaction"
    if row.purpose == _Purpose.APPROVAL:
        return None  # what it lets go is counted when it goes
    signed = OutgoingTransaction.objects.filter(asset=asset, signed_at__gt=at - _DAY).exclude(status=_Status.FAILED)
    signed = signed.exclude(purpose__in=(*TAKES_NO_TOKENS, _Purpose.SWEEP))
    if int(signed.aggregate(sum=Sum("amount_atomic"))["sum"] or 0) + row.amount_atomic > most_a_day:
        return _Status.REVIEW, "It is above the limit of one day"
    return None


def is_refused_destination(address: str, purpose: str, mode: str) -> bool:
    """Nobody's address, a token's contract, or one of ours; only test payments and the gas of sweeps go to an address of ours."""
    if not _ADDRESS.fullmatch(address) or int(address, 16) < _LOWEST_ADDRESS or address in _BURN:
        return True
    ((is_contract, is_hot, is_deposit, is_of_mode),) = _WHOSE.rows(address=address, mode=mode)
    if is_contract or is_hot:
        return True
    if purpose == _Purpose.SWEEP_GAS:
        return not is_of_mode
    is_test_payment = purpose == _Purpose.TEST_PAYMENT and mode == "test"
    return not is_test_payment and bool(is_deposit)


def refused_destinations(addresses: Collection[str]) -> set[str]:
    """Those of many addresses in lower case that `is_refused_destination` refuses for a payout, by three questions in all."""
    malformed = {one for one in addresses if not _ADDRESS.fullmatch(one)}
    known = set(addresses) - malformed
    gone = {one for one in known if int(one, 16) < _LOWEST_ADDRESS or one in _BURN}
    contracts = {str(one.contract_address) for one in Asset.objects.filter(contract_address__in=known)}
    hot = HotWallet.objects.filter(address__in=known).values_list("address", flat=True)
    deposits = Address.objects.filter(address__in=known).values_list("address", flat=True)
    return malformed | gone | contracts | set(hot) | set(deposits)


def sweep_refusal(row: OutgoingTransaction, chain: Chain) -> str:
    """Why a sweep may not be signed: coins leave a deposit address for the hot wallet of its chain, and for nowhere else."""
    asset = row.asset
    if asset.chain_id != chain.pk or row.chain_id != chain.pk or row.mode != chain.mode:
        return "The asset belongs to another chain"
    if row.call_data or (not asset.is_native and not asset.contract_address):
        return "It is no transfer"
    if not HotWallet.objects.filter(chain=chain, address=row.to_address).exists():
        return "A sweep goes to the hot wallet"
    if not Address.objects.filter(address=row.from_address, mode=row.mode).exists():
        return "It is no deposit address"
    return ""


def caps(asset: Asset) -> tuple[int, int]:
    """The most of an asset in one transaction and in 24 hours, in atomic units; what has no line has no room."""
    for line in settings.SIGNER_CAPS:
        name, _, amounts = line.partition("=")
        if name == asset.pk:
            once, _, daily = amounts.partition(":")
            return atomic_from_decimal(once, asset.atomic_decimals) or 0, atomic_from_decimal(daily or once, asset.atomic_decimals) or 0
    return 0, 0

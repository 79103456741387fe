"""Transactions that the signer refuses from any caller: a second check that trusts nothing above
it. How much it signs is chain.caps'."""

import uuid
from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.conf import settings

from apps.assets.models import Chain
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.networks.families import has_coins, is_burn, stored
from apps.chain.reasons import Reason, Refusal
from apps.chain.sending import approvals, cold_storage, history, sweep_batches
from apps.chain.sending.calls import refusal_of_call
from apps.core.db.sql import Statement, array

_WHOSE = Statement("""
SELECT a.address, EXISTS (SELECT 1 FROM assets_asset t WHERE t.contract_address = a.address)
                  OR EXISTS (SELECT 1 FROM chain_hotwallet w WHERE w.address = a.address),
       EXISTS (SELECT 1 FROM chain_address d WHERE d.address = a.address),
       EXISTS (SELECT 1 FROM chain_address d WHERE d.address = a.address AND d.mode = %(mode)s)
FROM unnest(%(addresses)s::text[]) AS a (address)
""")
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose


class AddressOwner(NamedTuple):
    """Owner of an address: a token, a hot wallet, a deposit address of ours, one of the mode."""

    is_service: bool
    is_deposit: bool
    is_of_mode: bool


def refusals(rows: Sequence[OutgoingTransaction], chain: Chain) -> dict[uuid.UUID, Refusal]:
    """Those that may never be signed as they are: a wrong one fails, what may be a repetition
    waits for a person."""
    wallets = list(
        HotWallet.objects.filter(chain=chain).order_by("number").values_list("address", flat=True)
    )
    owners = _whose([row.to_address for row in rows], chain.mode)
    may_repeat = not history.is_explained(chain.pk, wallets)
    results = {
        row.pk: _refusal(row, chain, wallets, owners[row.to_address], may_repeat=may_repeat)
        for row in rows
    }
    refused = {pk: refusal for pk, refusal in results.items() if refusal is not None}
    unapproved = approvals.refusals([row for row in rows if row.pk not in refused])
    return refused | {pk: Refusal(_Status.REVIEW, reason) for pk, reason in unapproved.items()}


def refusal(row: OutgoingTransaction, chain: Chain) -> Refusal | None:
    """Refusal of a single row."""
    return refusals([row], chain).get(row.pk)


def _refusal(
    row: OutgoingTransaction,
    chain: Chain,
    wallets: Sequence[str],
    owner: AddressOwner,
    *,
    may_repeat: bool,
) -> Refusal | None:
    asset = row.asset
    if asset.chain_id != chain.pk or row.chain_id != chain.pk or row.mode != chain.mode:
        return Refusal(_Status.FAILED, Reason.WRONG_CHAIN)
    if not asset.is_native and not asset.contract_address:
        return Refusal(_Status.FAILED, Reason.NO_CONTRACT)
    if row.purpose == _Purpose.SWEEP_BATCH:
        return sweep_batches.refusal(row, wallets[0])  # whose contract it is
    if row.call_data or row.purpose in (_Purpose.SWAP, _Purpose.APPROVAL, _Purpose.X402):
        wrong = refusal_of_call(row, wallets[0])  # the exchange knows the first one only
        if wrong:
            return Refusal(_Status.FAILED, wrong)
    elif row.purpose == _Purpose.JOIN:
        if not has_coins(chain) or not asset.is_native or row.to_address not in wallets:
            return Refusal(_Status.FAILED, Reason.NOT_TO_HOT_WALLET)
    elif is_refused(row.to_address, row.purpose, row.mode, owner):
        return Refusal(_Status.FAILED, Reason.DESTINATION_REFUSED)
    elif wrong := _off_the_list(row):
        return Refusal(_Status.FAILED, wrong)
    twin = history.same_as(row, wallets) if may_repeat else None
    if twin is not None:
        return Refusal(
            _Status.REVIEW, Reason.SENT_BEFORE, f"{Reason.SENT_BEFORE.label}: {twin.tx_hash}"
        )
    return None


def _off_the_list(row: OutgoingTransaction) -> Reason | None:
    """Why coins of the service itself may not go there: the operator's own lists are in the
    settings, not in the database."""
    if row.purpose == _Purpose.COLD:
        return cold_storage.refusal(row)
    if row.purpose == _Purpose.WITHDRAWAL and not is_listed_for_withdrawal(row.to_address):
        return Reason.NOT_LISTED
    return None


def is_listed_for_withdrawal(address: str) -> bool:
    """Tells whether the operator's earnings may go to this stored address."""
    return address in {stored(entry) for entry in settings.WITHDRAWAL_ADDRESSES}


def _whose(addresses: Collection[str], mode: str) -> dict[str, AddressOwner]:
    return {
        address: AddressOwner(*flags)
        for address, *flags in _WHOSE.rows(addresses=array(set(addresses)), mode=mode)
    }


def is_refused_destination(address: str, purpose: str, mode: str) -> bool:
    """Nobody's address, a token's contract, or one of ours; only test payments and the gas of
    sweeps go to an address of ours."""
    return is_refused(address, purpose, mode, owner_of(address, mode))


def owner_of(address: str, mode: str) -> AddressOwner:
    """Owner of an address in lower case, for `is_refused`."""
    return _whose([address], mode)[address]


def is_refused(address: str, purpose: str, mode: str, owner: AddressOwner) -> bool:
    if is_burn(address) or owner.is_service:
        return True
    if purpose == _Purpose.SWEEP_GAS:
        return not owner.is_of_mode
    is_test_payment = purpose == _Purpose.TEST_PAYMENT and mode == "test"
    return not is_test_payment and owner.is_deposit


def refused_destinations(addresses: Collection[str]) -> set[str]:
    """Those of many addresses in lower case that `is_refused_destination` refuses for a payout, by
    one question in all."""
    return {
        address
        for address, owner in _whose(addresses, "").items()
        if is_refused(address, _Purpose.PAYOUT, "", owner)
    }


def sweep_refusal(row: OutgoingTransaction, chain: Chain) -> Refusal | None:
    """Why a sweep may not be signed: coins leave a deposit address for the hot wallet of its chain,
    and for nowhere else.
    """
    wrong = _wrong_of_sweep(row, chain)
    if wrong:
        return Refusal(_Status.FAILED, wrong)
    return None if approvals.is_approved(row) else Refusal(_Status.REVIEW, Reason.NOT_APPROVED)


def _wrong_of_sweep(row: OutgoingTransaction, chain: Chain) -> Reason | None:
    asset = row.asset
    if asset.chain_id != chain.pk or row.chain_id != chain.pk or row.mode != chain.mode:
        return Reason.WRONG_CHAIN
    if row.call_data or (not asset.is_native and not asset.contract_address):
        return Reason.NO_TRANSFER
    if not HotWallet.objects.filter(chain=chain, address=row.to_address).exists():
        return Reason.NOT_TO_HOT_WALLET
    if not Address.objects.filter(address=row.from_address, mode=row.mode).exists():
        return Reason.NO_DEPOSIT_ADDRESS
    return None

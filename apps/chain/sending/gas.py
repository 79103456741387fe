"""Gas limits of the transactions in a batch: one question per kind of transfer, one per call of a
contract.

A recipient without code can't use more than another, so a coin's transfers share one estimate; a
contract that is sent native coins has a fixed allowance, whatever it answered to the estimate. A
token that moves for nobody is distinguished from a refused recipient.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import token_stops
from apps.chain.sending.calls import call_of, is_over
from apps.chain.sending.transfer_gas import INTRINSIC_GAS, TransferGas
from apps.core import clock
from apps.core.errors import ErrorCode

GAS_MAX = 300_000
CALL_GAS_MAX = 800_000
BATCH_PART_GAS_MAX = 150_000
_WORD_DIGITS = 64
NO_CODE = ("0x", None)


@dataclass(frozen=True)
class Gas:
    """A limit, or why it would be mined in vain, or neither while the node can't tell. `waits` is
    why its token moves nothing for now."""

    limit: int | None = None
    refused: Reason | None = None
    waits: Reason = Reason.NETWORK_SILENT

    @property
    def is_open(self) -> bool:
        return self.limit is None and self.refused is None


def limits_of(
    rows: Sequence[OutgoingTransaction], holder: str, nodes: Nodes, transfer: TransferGas
) -> dict[uuid.UUID, Gas]:
    """Gas limit of each row, of one chain. Raises RpcError when no node answers."""
    transfers = [row for row in rows if not row.call_data]
    codes = nodes.each([("eth_getCode", [row.to_address, "latest"]) for row in transfers])
    plain = {row.pk for row, code in zip(transfers, codes, strict=True) if code in NO_CODE}
    limits = {
        row.pk: Gas(transfer.native) for row in transfers if row.asset.is_native and row.pk in plain
    }
    tokens = [row for row in transfers if not row.asset.is_native]
    limits |= _of_tokens(tokens, plain, holder, nodes, transfer)
    single = [row for row in rows if row.pk not in limits]
    answers = nodes.each([("eth_estimateGas", [_shape(row, holder)]) for row in single])
    limits |= {
        row.pk: _of_one(row, answer, transfer) for row, answer in zip(single, answers, strict=True)
    }
    refused = [row for row in rows if limits[row.pk].refused is not None]
    return limits | _stopped(refused, holder, nodes) if refused else limits


def _shape(row: OutgoingTransaction, holder: str) -> Mapping[str, object]:
    to, value, data = call_of(row)
    given = [item.as_json() for item in row.delegations]
    call: dict[str, object] = {"from": holder, "to": to, "value": hex(value), "data": data}
    return call | ({"authorizationList": given} if given else {})


def _of_tokens(
    rows: Sequence[OutgoingTransaction],
    plain: set[uuid.UUID],
    holder: str,
    nodes: Nodes,
    transfer: TransferGas,
) -> dict[uuid.UUID, Gas]:
    """Estimate per token, of the largest amount to an address without any, which costs most; and
    the recipients that the token refuses."""
    assets = {row.asset_id: row.asset for row in rows}
    calls: list[Call] = [
        ("eth_estimateGas", [token_stops.transfer_call(asset, holder, token_stops.nobody(), most)])
        for asset, most in ((asset, _most(rows, asset)) for asset in assets.values())
    ]
    calls += [("eth_call", [_shape(row, holder), "latest"]) for row in rows]
    answers = nodes.each(calls)
    estimates = dict(zip(assets, answers, strict=False))
    limits = {}
    for row, answer in zip(rows, answers[len(assets) :], strict=True):
        estimate = estimates[row.asset_id]
        if token_stops.refuses(answer):
            limits[row.pk] = Gas(refused=_why(row))
        elif row.pk in plain and not any(isinstance(a, RpcError) for a in (answer, estimate)):
            limits[row.pk] = _checked(row, int(estimate, 16), transfer)
    return limits  # the others are asked about by themselves


def _most(rows: Sequence[OutgoingTransaction], asset: Asset) -> int:
    return max(row.amount_atomic for row in rows if row.asset_id == asset.pk)


def _stopped(
    rows: Sequence[OutgoingTransaction], holder: str, nodes: Nodes
) -> dict[uuid.UUID, Gas]:
    """Of what was refused, that whose token moves for nobody, or not for this wallet: it isn't the
    recipient's affair, and it waits."""
    now = clock.real_now()
    rows = [row for row in rows if not is_over(row, now)]
    tokens = {asset.pk: asset for row in rows for asset in _tokens_of(row)}
    stops = {pk: token_stops.why_stopped(asset, holder, nodes) for pk, asset in tokens.items()}
    waiting = {}
    for row in rows:
        reasons = [stops[asset.pk] for asset in _tokens_of(row)]
        if row.purpose == OutgoingTransaction.Purpose.X402:  # what moves is the payer's
            reasons = [reason for reason in reasons if reason == Reason.TOKEN_STOPPED]
        for reason in filter(None, reasons):
            waiting[row.pk] = Gas(waits=reason)
    return waiting


def _tokens_of(row: OutgoingTransaction) -> list[Asset]:
    assets = [row.asset, row.receives_asset]
    return [asset for asset in assets if asset is not None and asset.contract_address]


def _of_one(row: OutgoingTransaction, answer: Any, transfer: TransferGas) -> Gas:
    if isinstance(answer, RpcError):
        return Gas(refused=_why(row)) if answer.code is ErrorCode.REVERTED else Gas()
    estimate = int(answer, 16)
    if row.purpose == OutgoingTransaction.Purpose.SWEEP_BATCH:
        return _checked(row, estimate * 5 // 4, transfer)
    if row.call_data:
        # A pool that nobody used in this block's second writes more than the estimate saw.
        return _checked(row, 2 * estimate, transfer)
    if not row.asset.is_native:
        return _checked(row, estimate, transfer)
    # Of the estimate, what the bytes take isn't the recipient's affair.
    if estimate - transfer.bytes_gas <= INTRINSIC_GAS:
        return Gas(max(transfer.native, transfer.with_margin(estimate)))
    allowance = settings.SIGNER_CONTRACT_GAS + transfer.bytes_gas
    return Gas(allowance) if estimate <= allowance else Gas(refused=Reason.RECIPIENT_COSTLY)


def most(row: OutgoingTransaction, transfer: TransferGas) -> int:
    """The highest limit that is ever signed."""
    limit = CALL_GAS_MAX if row.call_data else GAS_MAX
    if row.purpose == OutgoingTransaction.Purpose.SWEEP_BATCH:
        limit += len(row.call_data) // _WORD_DIGITS * BATCH_PART_GAS_MAX
    return max(limit, 2 * transfer.unestimated) + transfer.room


def _checked(row: OutgoingTransaction, estimate: int, transfer: TransferGas) -> Gas:
    limit = max(estimate if row.call_data else estimate * 5 // 4, transfer.with_margin(estimate))
    return Gas(limit) if limit <= most(row, transfer) else Gas(refused=_why(row))


def _why(row: OutgoingTransaction) -> Reason:
    """Why it would be mined in vain."""
    if row.purpose == OutgoingTransaction.Purpose.X402:
        return Reason.TOKEN_REFUSES
    if row.purpose == OutgoingTransaction.Purpose.SWEEP_BATCH:
        return Reason.WOULD_REVERT
    return Reason.EXCHANGE_REFUSES if row.call_data else Reason.RECIPIENT_REFUSES

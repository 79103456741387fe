"""How much gas each transaction of a batch is given: one question per kind of transfer, one per
call of a contract.

A recipient without code can't use more than another, so a coin's transfers share one estimate; a
contract that is sent native coins has a fixed allowance, so that what it burns is bounded whatever
it told the estimate.
"""

import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from apps.chain.models import OutgoingTransaction
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending.balances import NATIVE_GAS
from apps.chain.sending.calls import call_of, transfer
from apps.core.errors import ErrorCode

GAS_MAX = 300_000
CALL_GAS_MAX = 800_000
NO_CODE = ("0x", None)


@dataclass(frozen=True)
class Gas:
    """A limit, or why it would be mined in vain, or neither while the node can't tell."""

    limit: int | None = None
    refused: Reason | None = None


def limits_of(
    rows: Sequence[OutgoingTransaction], holder: str, nodes: Nodes
) -> dict[uuid.UUID, Gas]:
    """What each may use. Raises RpcError when no node answers."""
    transfers = [row for row in rows if not row.call_data]
    codes = nodes.each([("eth_getCode", [row.to_address, "latest"]) for row in transfers])
    plain = [row for row, code in zip(transfers, codes, strict=True) if code in NO_CODE]
    limits = {row.pk: Gas(NATIVE_GAS) for row in plain if row.asset.is_native}
    tokens = [row for row in plain if not row.asset.is_native]
    limits |= _of_tokens(tokens, holder, nodes)
    single = [row for row in rows if row.pk not in limits]
    answers = nodes.each([("eth_estimateGas", [_shape(row, holder)]) for row in single])
    return limits | {
        row.pk: _of_one(row, answer) for row, answer in zip(single, answers, strict=True)
    }


def _shape(row: OutgoingTransaction, holder: str) -> dict[str, str]:
    to, value, data = call_of(row)
    return {"from": holder, "to": to, "value": hex(value), "data": data}


def _of_tokens(
    rows: Sequence[OutgoingTransaction], holder: str, nodes: Nodes
) -> dict[uuid.UUID, Gas]:
    """One estimate per token, to an address that has none, which costs most; and whether each
    recipient is let have them."""
    assets = list({row.asset_id: row.asset for row in rows}.values())
    kinds = [transfer(asset, "0x" + secrets.token_hex(20), 1) for asset in assets]
    calls: list[Call] = [
        ("eth_estimateGas", [{"from": holder, "to": to, "data": data}]) for to, _, data in kinds
    ]
    calls += [("eth_call", [_shape(row, holder), "latest"]) for row in rows]
    answers = nodes.each(calls)
    estimates = {
        asset.pk: answer
        for asset, answer in zip(assets, answers, strict=False)
        if not isinstance(answer, RpcError)
    }
    limits = {}
    for row, answer in zip(rows, answers[len(assets) :], strict=True):
        if isinstance(answer, RpcError) or row.asset_id not in estimates:
            continue  # it is asked about by itself
        limits[row.pk] = _checked(row, int(estimates[row.asset_id], 16) * 5 // 4)
    return limits


def _of_one(row: OutgoingTransaction, answer: Any) -> Gas:
    if isinstance(answer, RpcError):
        return Gas(refused=_why(row)) if answer.code is ErrorCode.REVERTED else Gas()
    estimate = int(answer, 16)
    if row.call_data:
        return _checked(
            row, 2 * estimate
        )  # a pool that nobody used in this block's second writes more than the estimate saw
    if row.asset.is_native and estimate > NATIVE_GAS:
        return (
            Gas(settings.SIGNER_CONTRACT_GAS)
            if estimate <= settings.SIGNER_CONTRACT_GAS
            else Gas(refused=Reason.RECIPIENT_COSTLY)
        )
    return _checked(row, estimate if estimate == NATIVE_GAS else estimate * 5 // 4)


def _checked(row: OutgoingTransaction, limit: int) -> Gas:
    return (
        Gas(limit)
        if limit <= (CALL_GAS_MAX if row.call_data else GAS_MAX)
        else Gas(refused=_why(row))
    )


def _why(row: OutgoingTransaction) -> Reason:
    """Why it would be mined in vain."""
    if row.purpose == OutgoingTransaction.Purpose.X402:
        return Reason.TOKEN_REFUSES
    return Reason.EXCHANGE_REFUSES if row.call_data else Reason.RECIPIENT_REFUSES

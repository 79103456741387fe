"""Tells whether a token moves for a holder at all: its issuer may have paused it, or frozen the
holder.

A recipient that is refused is another thing: here the coins would go to addresses that nobody has.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from apps.assets.models import Asset
from apps.chain.networks.evm.transfers import transfer
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import balances
from apps.core.errors import ErrorCode

_PAUSED = "0x5c975abb"
_TRUE = 1
STOPS = (Reason.TOKEN_STOPPED, Reason.WALLET_FROZEN)


def nobody() -> str:
    """An address that nobody has."""
    return f"0x{secrets.token_hex(20)}"


def transfer_call(asset: Asset, holder: str, to: str, amount_atomic: int) -> dict[str, str]:
    contract, _, data = transfer(asset, to, amount_atomic)
    return {"from": holder, "to": contract, "data": data}


def refuses(answer: Any) -> bool:
    """Tell whether the answer to a call of `transfer` is a refusal: reverted, or something else
    than nothing (as old tokens say) or true."""
    if isinstance(answer, RpcError):
        return answer.code is ErrorCode.REVERTED
    return answer not in ("0x", None) and int(str(answer), 16) != _TRUE


def why_stopped(asset: Asset, holder: str, nodes: Nodes, block: str = "latest") -> Reason | None:
    """Why the token moves nothing for a holder; None when it does, or when nobody can say.

    One that holds nothing could be refused for that alone: then only the token's own word counts.
    Raises RpcError.
    """
    return why_many_stopped(asset, [holder], nodes, block)[0]


def why_many_stopped(
    asset: Asset, holders: Sequence[str], nodes: Nodes, block: str = "latest"
) -> list[Reason | None]:
    """Ask `why_stopped` of several holders at once, in their order."""
    contract = str(asset.contract_address)
    questions: list[Call] = [
        ("eth_call", [{"to": contract, "data": _PAUSED}, block]),
        ("eth_call", [transfer_call(asset, nobody(), nobody(), 0), block]),
    ]
    for holder in holders:
        method, (call, _) = balances.call_for_token(asset, holder)
        questions += [
            (method, [call, block]),
            ("eth_call", [transfer_call(asset, holder, nobody(), 1), block]),
        ]
    paused, of_anyone, *answers = nodes.each(questions)
    is_for_all = _is_true(paused) or refuses(of_anyone)
    is_sure = _is_true(paused) and refuses(of_anyone)
    reasons: list[Reason | None] = []
    for held, moved in zip(answers[::2], answers[1::2], strict=True):
        is_holder = not isinstance(held, RpcError) and balances.read_tokens(held) > 0
        if not (refuses(moved) if is_holder else is_sure):
            reasons.append(None)
        else:
            reasons.append(Reason.TOKEN_STOPPED if is_for_all else Reason.WALLET_FROZEN)
    return reasons


def _is_true(answer: Any) -> bool:
    """Of a token that has no such question the answer is none."""
    if isinstance(answer, RpcError) or answer in ("0x", None):
        return False
    return int(str(answer), 16) == _TRUE

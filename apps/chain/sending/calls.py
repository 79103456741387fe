"""The only shapes that are ever signed: transfers, an approval and three calls of the exchange, and
what payers have signed.

`refusal_of_call` reads a stored call back and compares each part with the record: the signer trusts
no caller's bytes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from apps.assets.models import Asset
from apps.chain.encoding import bloom as blooms
from apps.chain.encoding.abi import decode, encode
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.evm.transfers import transfer
from apps.chain.reasons import Reason
from apps.chain.sending import authorizations
from apps.chain.sending.fee_coins import COLLECTOR

_APPROVE = "0x095ea7b3"
_NATIVE_FOR_TOKENS = "0x7ff36ab5"
_TOKENS_FOR_NATIVE = "0x18cbafe5"
_TOKENS_FOR_TOKENS = "0x38ed1739"
_FROM_NATIVE = ("uint256", "address[]", "address", "uint256")
_FROM_TOKENS = ("uint256", "uint256", "address[]", "address", "uint256")
_SELECTOR_LENGTH = 10
TRANSFERRED = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
UNWRAPPED = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"
_TOPICS = {TRANSFERRED: 3, UNWRAPPED: 2}
_Purpose = OutgoingTransaction.Purpose


@dataclass(frozen=True)
class Router:
    """The exchange of a chain (Uniswap V2 or one with its interface) and the contract that wraps
    the native coin for it."""

    address: str
    wrapped_native: str

    def path(self, source: Asset, buy: Asset) -> list[str]:
        """Every pair is with the wrapped coin, so tokens are swapped through it."""
        ends = [self._contract(source), self._contract(buy)]
        return (
            ends if source.is_native or buy.is_native else [ends[0], self.wrapped_native, ends[1]]
        )

    def _contract(self, asset: Asset) -> str:
        return self.wrapped_native if asset.is_native else str(asset.contract_address)


def router_of(chain_id: str) -> Router | None:
    """The exchange that the operator has named for a chain."""
    for line in settings.SWAP_ROUTERS:
        chain, _, contracts = line.partition("=")
        if chain == chain_id:
            address, _, wrapped_native = contracts.lower().partition(":")
            return Router(address, wrapped_native)
    return None


def call_of(row: OutgoingTransaction) -> tuple[str, int, str]:
    """(to, value, data) of what an outgoing transaction does."""
    if not row.call_data:
        return transfer(row.asset, row.to_address, row.amount_atomic)
    value = row.amount_atomic if row.asset.is_native else 0
    return row.to_address, value, row.signed_call or row.call_data


def approval(router: Router, amount_atomic: int) -> str:
    return _APPROVE + encode(["address", "uint256"], [router.address, amount_atomic]).hex()


def swap(
    router: Router,
    source: Asset,
    buy: Asset,
    amount_atomic: int,
    least_atomic: int,
    to: str,
    deadline: int,
) -> str:
    """The call that swaps an exact amount, brings at least so much to `to`, and is refused after
    the deadline (Unix seconds)."""
    path = router.path(source, buy)
    if source.is_native:
        return _NATIVE_FOR_TOKENS + encode(_FROM_NATIVE, [least_atomic, path, to, deadline]).hex()
    selector = _TOKENS_FOR_NATIVE if buy.is_native else _TOKENS_FOR_TOKENS
    return selector + encode(_FROM_TOKENS, [amount_atomic, least_atomic, path, to, deadline]).hex()


def refusal_of_call(row: OutgoingTransaction, wallet: str) -> Reason | None:
    """Why a call may not be signed; None when it is exactly what its record says."""
    if row.purpose == _Purpose.X402:
        return authorizations.refusal(row)
    router = router_of(row.chain_id)
    if router is None:
        return Reason.NO_EXCHANGE
    try:
        is_right = (
            _is_approval(row, router)
            if row.purpose == _Purpose.APPROVAL
            else _is_swap(row, router, wallet)
        )
    except (ValueError, OverflowError):
        is_right = False
    return None if is_right else Reason.STRANGE_CALL


def _is_approval(row: OutgoingTransaction, router: Router) -> bool:
    if row.to_address != row.asset.contract_address:
        return False
    return row.call_data in (approval(router, row.amount_atomic), approval(router, 0))


def _is_swap(row: OutgoingTransaction, router: Router, wallet: str) -> bool:
    if (
        row.purpose != _Purpose.SWAP
        or row.to_address != router.address
        or row.receives_asset is None
    ):
        return False
    shape = _FROM_NATIVE if row.asset.is_native else _FROM_TOKENS
    arguments = decode(shape, bytes.fromhex(row.call_data[_SELECTOR_LENGTH:]))
    least = arguments[-4]
    deadline = arguments[-1]
    expected = swap(
        router, row.asset, row.receives_asset, row.amount_atomic, least, wallet, deadline
    )
    return least > 0 and row.receives_asset.chain_id == row.chain_id and row.call_data == expected


def is_over(row: OutgoingTransaction, at: datetime) -> bool:
    """Tell whether a call's own deadline is over, after which nobody carries it out."""
    data = bytes.fromhex(row.call_data[_SELECTOR_LENGTH:])
    if row.purpose == _Purpose.X402:
        return authorizations.valid_before(row) < at.timestamp()
    if row.purpose != _Purpose.SWAP:
        return False
    deadline: int = decode(_FROM_NATIVE if row.asset.is_native else _FROM_TOKENS, data)[-1]
    return deadline < at.timestamp()


def received(row: OutgoingTransaction, receipt: Any, wallet: str) -> int:
    """Amount of the asset that the wallet received by a receipt's logs."""
    asset = row.receives_asset
    router = router_of(row.chain_id)
    if asset is None or router is None:
        return 0
    kind, contract = (
        (UNWRAPPED, router.wrapped_native)
        if asset.is_native
        else (TRANSFERRED, str(asset.contract_address))
    )
    # Who unwraps is the exchange, which hands the coins on.
    holder = _topic(router.address if asset.is_native else wallet)
    return sum(amount for topics, amount in _told(receipt, contract, kind) if topics[-1] == holder)


@dataclass(frozen=True)
class TokenTransfer:
    """A transfer of tokens that a receipt has to tell of. Nobody in particular gets what the
    exchange takes."""

    contract: str
    sender: str
    to: str | None
    amount_atomic: int
    takes_fees: bool = False  # in the same transaction

    def topics(self) -> list[str]:
        ends = [self.sender] if self.to is None else [self.sender, self.to]
        return [TRANSFERRED, *(_topic(end) for end in ends)]


def move_of(row: OutgoingTransaction) -> TokenTransfer | None:
    """The transfer of tokens by which a transaction does what it is for; None when it moves native
    coins, or nothing."""
    contract = str(row.asset.contract_address)
    if row.asset.is_native or row.purpose in (_Purpose.APPROVAL, _Purpose.SWEEP_BATCH):
        return None
    if row.purpose == _Purpose.X402:
        return TokenTransfer(contract, *authorizations.parties(row), row.amount_atomic)
    to = None if row.call_data else row.to_address
    return TokenTransfer(
        contract, row.from_address, to, row.amount_atomic, takes_fees=row.asset.pays_fees
    )


def arrived(move: TokenTransfer, receipt: Any) -> int:
    """The coins that reached its recipient by the receipt's logs: the amount when one says exactly
    that, else their sum."""
    amounts = [
        amount
        for topics, amount in _told(receipt, move.contract, TRANSFERRED)
        if topics[: len(move.topics())] == move.topics()
    ]
    return move.amount_atomic if move.amount_atomic in amounts else sum(amounts)


def taken(move: TokenTransfer, receipt: Any) -> int:
    """The coins that left its sender by the receipt's logs, no matter who got them, beside fees."""
    return sum(
        amount
        for topics, amount in _told(receipt, move.contract, TRANSFERRED)
        if topics[1] == _topic(move.sender)
        and not (move.takes_fees and topics[2] == _topic(COLLECTOR))
    )


def hides(move: TokenTransfer, receipt: Any) -> bool:
    """Tell whether the receipt's own filter has logs like the one that is missing: then the node
    has left them out."""
    bloom = blooms.read(receipt)
    return bloom is not None and blooms.contains(bloom, [move.contract, *move.topics()])


def _told(receipt: Any, contract: str, kind: str) -> list[tuple[list[str], int]]:
    """The topics and amounts of a contract's logs of a kind."""
    logs = []
    for entry in receipt["logs"]:
        topics = [str(topic).lower() for topic in entry["topics"]]
        if (
            str(entry["address"]).lower() == contract
            and len(topics) == _TOPICS[kind]
            and topics[0] == kind
        ):
            logs.append((topics, int(entry["data"], 16)))
    return logs


def _topic(address: str) -> str:
    return f"0x{address[2:].lower():0>64}"

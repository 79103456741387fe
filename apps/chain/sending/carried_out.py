"""Recipients of a signed transfer (EIP-3009) whose nonce the token has seen. No matter who
submitted it: its receipt, or the deposit that it made, says whether its recipient got them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from apps.assets.models import Asset
from apps.chain.models import Deposit, Head
from apps.chain.networks.evm.block_receipts import Blocks, committed
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.rpc.state import BlockReference, each_at
from apps.chain.sending import authorizations
from apps.chain.sending.authorizations import Authorization

_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
_MOVED = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
# Blocks before the last one that was read, which a reorg may have replaced.
OVERLAP = 20
# As many for an address that was recorded after the payer signed: nobody watched it before.
UNRECORDED = 500
# Nodes answer for so many at once; a reader that is further behind can't say anything.
BLOCKS_MAX = 1000
_CONFIRMED = Deposit.Status.CONFIRMED
_SEEN = (Deposit.Status.CONFIRMING, _CONFIRMED)


def transaction_of(
    asset: Asset, authorization: Authorization, nodes: Nodes, back: int = OVERLAP
) -> str:
    """The hash of the transaction that brought exactly this amount from the payer to the recipient
    of a used authorization; empty when it isn't used, or did something else. It is looked for in
    `back` blocks before the last one that was read. A permit is carried out by nobody but us.

    Not inside a transaction. Raises RpcError, also when the chain hasn't been read for long.
    """
    if authorization.permit:
        return ""
    head = Head.objects.filter(chain_id=asset.chain_id).first()
    if head is None:
        raise RpcError("The chain isn't read")
    state, newest, entries = nodes.batch(
        [
            authorizations.state_call(asset, authorization),
            ("eth_blockNumber", []),
            ("eth_getLogs", [_wanted(asset, authorization, head.number - back)]),
        ]
    )
    if int(newest, 16) < head.number:
        raise RpcError("The node is behind: it may not know yet who used the authorization")
    if not authorizations.says_used(state):
        return ""
    if int(newest, 16) - head.number > BLOCKS_MAX:
        raise RpcError("The chain hasn't been read for long")
    hashes = sorted({str(entry["transactionHash"]).lower() for entry in entries})
    receipts = nodes.anyone([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in hashes])
    if None in receipts:
        raise RpcError("The receipt of who used the authorization is still to come")
    by_block: Blocks = {}
    for tx_hash, receipt in zip(hashes, receipts, strict=True):
        if _pays(asset, authorization, committed(nodes, asset.chain_id, receipt, by_block)):
            return tx_hash
    # What isn't in the new blocks was read before, and is in the table by now.
    rows = _deposits(asset, authorization).filter(status__in=_SEEN).order_by("detected_at")
    booked_hash: str | None = rows.values_list("tx_hash", flat=True).first()
    if booked_hash is None and not hashes:
        _check_read(asset, authorization, head, nodes)
    return booked_hash or ""


def _check_read(asset: Asset, authorization: Authorization, head: Head, nodes: Nodes) -> None:
    """Without a log nobody knows who used it, unless it was used in what has been read. Raises
    RpcError."""
    call = authorizations.state_call(asset, authorization)
    [state] = each_at(nodes, [call], BlockReference(head.number, head.hash))
    if isinstance(state, RpcError):
        raise state
    if not authorizations.says_used(state):
        raise RpcError("The block that used the authorization hasn't been read yet")


def is_confirmed(asset: Asset, authorization: Authorization, tx_hash: str) -> bool:
    """Tell whether what that transaction brought has its confirmations."""
    rows = _deposits(asset, authorization).filter(tx_hash=tx_hash, status=_CONFIRMED)
    return rows.exists()


def _deposits(asset: Asset, authorization: Authorization) -> "QuerySet[Deposit]":
    return Deposit.objects.filter(
        address_id=authorization.to,
        asset=asset,
        from_address=authorization.payer,
        amount_atomic=authorization.amount_atomic,
        is_simulated=False,
    )


def _wanted(asset: Asset, authorization: Authorization, first: int) -> Mapping[str, object]:
    return {
        "address": asset.contract_address,
        "fromBlock": hex(max(0, first)),
        "toBlock": "latest",
        "topics": [_USED, _topic(authorization.payer), authorization.nonce],
    }


def _pays(asset: Asset, authorization: Authorization, receipt: Mapping[str, Any]) -> bool:
    """Tell whether the token used the nonce in it, and moved exactly this to the recipient."""
    entries = [
        ([str(topic).lower() for topic in entry["topics"]], str(entry["data"]))
        for entry in receipt["logs"]
        if str(entry["address"]).lower() == asset.contract_address
    ]
    payer, recipient = _topic(authorization.payer), _topic(authorization.to)
    is_used = any(topics == [_USED, payer, authorization.nonce] for topics, _ in entries)
    moved = [int(data, 16) for topics, data in entries if topics == [_MOVED, payer, recipient]]
    return is_used and moved == [authorization.amount_atomic]


def _topic(address: str) -> str:
    return f"0x{address[2:]:0>64}"

"""Swaps on the exchange of the chain (Uniswap V2), from its first hot wallet: an approval for
tokens, then one call, each sent once.

An allowance is for one swap's exact amount; swaps of one token go one after the other, and one that
fails takes its allowance back.
"""

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.assets.models import Asset
from apps.chain.encoding.abi import decode, encode
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import calls, sender
from apps.chain.sending.calls import Router, router_of
from apps.chain.sending.following import TransferOrder
from apps.core import clock
from apps.core.money import Amount
from apps.swaps.providers.base import (
    FAILED,
    SENT,
    WAITING,
    NoRoute,
    SwapOrder,
    SwapOutcome,
)

_GET_AMOUNTS_OUT = "0xd06ca61f"
TAKEN_BACK = ":end"  # of the reference of the approval that ends an allowance
LIFETIME = timedelta(hours=1)  # the call is refused when it is mined later
_Purpose = OutgoingTransaction.Purpose
_Sent = OutgoingTransaction.Status
_OVER = (_Sent.CONFIRMED, _Sent.FAILED)


@dataclass(frozen=True)
class Uniswap:
    """Routers of chains are those of settings.SWAP_ROUTERS; the signer looks there too."""

    name = "uniswap"
    is_on_chain = True

    def quote(self, sold: Amount[Asset], buy: Asset) -> Amount[Asset]:
        """Present yield of the pools for the amount."""
        router = self._router(sold.asset, buy)
        if router is None:
            raise NoRoute
        data = (
            _GET_AMOUNTS_OUT
            + encode(["uint256", "address[]"], [sold.atomic, router.path(sold.asset, buy)]).hex()
        )
        with closing(nodes_of(sold.asset.chain)) as nodes:
            try:
                answer = nodes.call("eth_call", [{"to": router.address, "data": data}, "latest"])
            except RpcError as error:
                if not error.is_refusal:
                    raise
                raise NoRoute from None  # the router reverts: there is no pool, or it is empty
        try:
            (amounts,) = decode(["uint256[]"], bytes.fromhex(str(answer)[2:]))
        except ValueError:
            raise NoRoute from None
        if not amounts or not amounts[-1]:
            raise NoRoute
        return Amount(buy, int(amounts[-1]))

    def prepare(self, order: SwapOrder) -> None:
        """Nothing: the pools hold the price, and the call its least."""

    def advance(self, order: SwapOrder, at: datetime) -> SwapOutcome:
        """Takes a step: request the approval, then name the call."""
        sent = self._transfer_of(order, _Purpose.SWAP)
        if sent is not None:
            return SwapOutcome(SENT, transfer=_again(sent))
        router = self._router(order.source, order.buy)
        wallet = HotWallet.objects.filter(chain=order.source.chain_id, number=0).first()
        if router is None or wallet is None:
            return SwapOutcome(WAITING, reason="The chain has no exchange")
        refused = None if order.source.is_native else self._approved(order, router)
        return refused or SwapOutcome(SENT, transfer=_call(order, router, wallet))

    def leave(self, order: SwapOrder) -> None:
        """The exchange may no longer take the tokens."""
        router = self._router(order.source, order.buy)
        if router is not None and not order.source.is_native:
            self._request_approval(order, router, f"{order.id}{TAKEN_BACK}", 0)

    def _approved(self, order: SwapOrder, router: Router) -> SwapOutcome | None:
        """None when the router may take the tokens of this order, and of no other."""
        approval = self._transfer_of(order, _Purpose.APPROVAL)
        if approval is None:
            if self._is_other_under_way(order):
                return SwapOutcome(WAITING)
            approval = self._request_approval(order, router, str(order.id), order.sold.atomic)
        if approval.status == _Sent.CONFIRMED:
            return None
        if approval.status == _Sent.FAILED:
            return SwapOutcome(FAILED, reason=approval.reason or "The token refuses the approval")
        return SwapOutcome(WAITING)

    def _is_other_under_way(self, order: SwapOrder) -> bool:
        """True if an earlier order's allowance of this token may be left. The wallet's row is the
        turn: who comes first is first."""
        HotWallet.objects.select_for_update().get(chain=order.source.chain_id, number=0)
        rows = OutgoingTransaction.objects.filter(chain=order.source.chain_id, asset=order.source)
        approvals = rows.filter(purpose=_Purpose.APPROVAL).exclude(reference__endswith=TAKEN_BACK)
        last = approvals.order_by("-requested_at").first()
        if last is None or last.status == _Sent.FAILED:
            return False
        is_used = rows.filter(
            purpose=_Purpose.SWAP, reference=last.reference, status=_Sent.CONFIRMED
        ).exists()
        reverted = rows.filter(
            purpose=_Purpose.APPROVAL, reference=last.reference + TAKEN_BACK, status__in=_OVER
        )
        return not (is_used or reverted.exists())

    def _request_approval(
        self, order: SwapOrder, router: Router, reference: str, amount_atomic: int
    ) -> OutgoingTransaction:
        return sender.request(
            chain_id=order.source.chain_id,
            asset_id=order.source.pk,
            to=str(order.source.contract_address),
            amount_atomic=order.sold.atomic,
            purpose=_Purpose.APPROVAL,
            reference=reference,
            mode=order.mode,
            store_id=order.store_id,
            at=clock.real_now(),
            call_data=calls.approval(router, amount_atomic),
        )

    @staticmethod
    def _transfer_of(order: SwapOrder, purpose: str) -> OutgoingTransaction | None:
        return OutgoingTransaction.objects.filter(purpose=purpose, reference=str(order.id)).first()

    @staticmethod
    def _router(source: Asset, buy: Asset) -> Router | None:
        on_one_chain = source.chain_id == buy.chain_id and all(
            asset.is_native or asset.contract_address for asset in (source, buy)
        )
        return router_of(source.chain_id) if on_one_chain else None


def _call(order: SwapOrder, router: Router, wallet: HotWallet) -> TransferOrder:
    deadline = int((clock.real_now() + LIFETIME).timestamp())
    data = calls.swap(
        router,
        order.source,
        order.buy,
        order.sold.atomic,
        order.least.atomic,
        wallet.address,
        deadline,
    )
    return TransferOrder(order.source, router.address, order.sold.atomic, data, order.buy.pk)


def _again(sent: OutgoingTransaction) -> TransferOrder:
    """The order as it was requested: it contains its deadline, and the router may have changed
    since."""
    return TransferOrder(
        sent.asset, sent.to_address, sent.amount_atomic, sent.call_data, sent.receives_asset_id
    )

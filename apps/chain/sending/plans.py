"""A spend's plan as it is kept with its bytes."""

from collections.abc import Mapping
from typing import Any

from apps.chain.networks.base import Coin, CoinPlace, Order, SpendPlan


def packed(plan: SpendPlan) -> Mapping[str, Any]:
    return {
        "coins": [
            [coin.place.tx_hash, coin.place.output, coin.address, str(coin.amount_atomic)]
            for coin in plan.coins
        ],
        "orders": [
            [order.reference, order.address, str(order.amount_atomic)] for order in plan.orders
        ],
        "change_address": plan.change_address,
        "change_atomic": str(plan.change_atomic),
        "fee_atomic": str(plan.fee_atomic),
        "size": plan.size,
        "fees": [str(fee) for fee in plan.fees],
    }


def unpacked(kept: Mapping[str, Any]) -> SpendPlan:
    return SpendPlan(
        tuple(
            Coin(CoinPlace(tx_hash, output), address, int(amount))
            for tx_hash, output, address, amount in kept["coins"]
        ),
        tuple(
            Order(reference, address, int(amount)) for reference, address, amount in kept["orders"]
        ),
        kept["change_address"],
        int(kept["change_atomic"]),
        int(kept["fee_atomic"]),
        kept["size"],
        tuple(int(fee) for fee in kept["fees"]),
    )

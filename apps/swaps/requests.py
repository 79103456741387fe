"""Requests about swaps and their quotes: the same class for every interface.

`SwapBody` is a swap as the API's callers write it; everybody else makes a `SwapRequest`.
"""

import re
from typing import Annotated, Any

from msgspec import Struct

from apps.core.messages.fields import NOT_EMPTY, AtomicAmount, Invalid, Text
from apps.core.messages.requests import Request, by

_AMOUNT = re.compile(r"[0-9]{1,60}", re.ASCII)


class SwapRequest(Struct, frozen=True):
    """A part of the balance, and what it is sold for. To sell nothing is refused, after the assets
    are known."""

    source_asset_id: str
    buy_asset_id: str
    sell_atomic: int


class SellAmount(AtomicAmount):
    """Text; whether it is an amount is reported after the assets have been looked up."""

    def check(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise Invalid(name, "positive_digits")
        return value


AssetId = Annotated[str, by(Text(20, described=NOT_EMPTY))]


class SwapBody(Request, frozen=True, kw_only=True):
    """POST /balance_swaps and its quote."""

    source_asset_id: AssetId
    buy_asset_id: AssetId
    sell_amount_atomic: Annotated[str, by(SellAmount())]

    def request(self) -> SwapRequest:
        """The request; a text that is no amount sells nothing."""
        amount = int(self.sell_amount_atomic) if _AMOUNT.fullmatch(self.sell_amount_atomic) else 0
        return SwapRequest(self.source_asset_id, self.buy_asset_id, amount)

"""The deposit addresses of a payment as one statement reads them with the payment: each a list of
JSON with its asset and chain, of which rows are made again."""

from typing import Any

from apps.assets.models import Asset, Chain
from apps.core.db.prepared_reads import Columns
from apps.payments.models import Payment, PaymentAddress

_ADDRESS = Columns(PaymentAddress, "a")
_ASSET = Columns(Asset, "k")
_CHAIN = Columns(Chain, "c")
# Of the tables that a statement calls a, k and c.
ADDRESS_CELLS = f"{_ADDRESS.json}, {_ASSET.json}, {_CHAIN.json}"


def address_of(
    payment: Payment, address: list[Any], asset: list[Any], chain: list[Any]
) -> PaymentAddress:
    row = _ADDRESS.row_from_json(address)
    row.payment = payment
    row.asset = _ASSET.row_from_json(asset)
    row.asset.chain = _CHAIN.row_from_json(chain)
    return row

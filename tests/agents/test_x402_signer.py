"""The signer reads what payers signed again: only calls of the token that bring others' coins to an address of ours are signed."""

from dataclasses import replace
from typing import Any

import pytest

from apps.agents.models import SignedPayment
from apps.agents.services.x402_progress import authorization_of
from apps.assets.models import Asset
from apps.chain import limits
from apps.chain.authorizations import call_data
from apps.chain.models import OutgoingTransaction
from tests.agents.conftest import TOKEN, Market

pytestmark = pytest.mark.chain
STRANGER = "0x" + "9" * 40
OTHER_CALL = "The call is not what was asked for"


def test_it_signs_no_other_call(market: Market, settings: Any) -> None:
    market.settle(market.payer.signed(market.ask()))
    row = OutgoingTransaction.objects.select_related("asset__chain").get(purpose="x402")
    one = authorization_of(SignedPayment.objects.get())
    chain = row.asset.chain
    settings.SIGNER_CAPS = []  # what is no coin of ours has no cap
    assert limits.refusal(row, chain) is None
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "another contract": ({"to_address": STRANGER}, OTHER_CALL),
        "another amount": ({"amount_atomic": 1}, OTHER_CALL),
        "a native coin": ({"asset": Asset.objects.get(pk="SETH")}, OTHER_CALL),
        "no call": ({"call_data": ""}, OTHER_CALL),
        "another method": ({"call_data": "0xa9059cbb" + row.call_data[10:]}, OTHER_CALL),
        "something behind it": ({"call_data": row.call_data + "00" * 32}, OTHER_CALL),
        "half a call": ({"call_data": row.call_data[:100]}, OTHER_CALL),
        "no hexadecimal": ({"call_data": "0xzz"}, OTHER_CALL),
        "a recipient of nobody": ({"call_data": call_data(replace(one, to=STRANGER))}, "The coins would not come to a deposit address"),
        "the hot wallet's coins": ({"call_data": call_data(replace(one, payer=market.hot))}, "The coins would leave a hot wallet"),
        "another purpose": ({"purpose": "payout"}, "The chain has no exchange"),
        "the other mode": ({"mode": "live"}, "The asset belongs to another chain"),
    }
    for name, (changes, reason) in cases.items():
        changed = OutgoingTransaction.objects.select_related("asset__chain").get(pk=row.pk)
        for field, value in changes.items():
            setattr(changed, field, value)
        assert limits.refusal(changed, chain) == ("failed", reason), name
    assert Asset.objects.get(pk=TOKEN).contract_address == row.to_address

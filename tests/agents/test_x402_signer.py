"""The signer reads what payers signed again: only calls of the token that bring others' coins to an
address of ours are signed."""

from dataclasses import replace
from typing import Any

import pytest

from apps.agents.models import SignedPayment
from apps.agents.services.x402_progress import authorization_of
from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason, Refusal
from apps.chain.sending import limits
from apps.chain.sending.authorizations import call_data
from tests.agents.conftest import TOKEN, Market

pytestmark = pytest.mark.chain
STRANGER = "0x" + "9" * 40


def test_it_signs_no_other_call(market: Market, settings: Any) -> None:
    market.settle(market.payer.signed(market.ask()))
    row = OutgoingTransaction.objects.select_related("asset__chain").get(purpose="x402")
    one = authorization_of(SignedPayment.objects.get())
    chain = row.asset.chain
    settings.SIGNER_CAPS = []  # what is no coin of ours has no cap
    assert limits.refusal(row, chain) is None
    cases: dict[str, tuple[dict[str, Any], Reason]] = {
        "another contract": ({"to_address": STRANGER}, Reason.STRANGE_CALL),
        "another amount": ({"amount_atomic": 1}, Reason.STRANGE_CALL),
        "a native coin": ({"asset": Asset.objects.get(pk="SETH")}, Reason.STRANGE_CALL),
        "no call": ({"call_data": ""}, Reason.STRANGE_CALL),
        "another method": ({"call_data": "0xa9059cbb" + row.call_data[10:]}, Reason.STRANGE_CALL),
        "something behind it": ({"call_data": row.call_data + "00" * 32}, Reason.STRANGE_CALL),
        "half a call": ({"call_data": row.call_data[:100]}, Reason.STRANGE_CALL),
        "no hexadecimal": ({"call_data": "0xzz"}, Reason.STRANGE_CALL),
        "a recipient of nobody": (
            {"call_data": call_data(replace(one, to=STRANGER))},
            Reason.NOT_TO_DEPOSIT,
        ),
        "the hot wallet's coins": (
            {"call_data": call_data(replace(one, payer=market.hot))},
            Reason.FROM_HOT_WALLET,
        ),
        "another purpose": ({"purpose": "payout"}, Reason.NO_EXCHANGE),
        "the other mode": ({"mode": "live"}, Reason.WRONG_CHAIN),
    }
    for name, (changes, reason) in cases.items():
        changed = OutgoingTransaction.objects.select_related("asset__chain").get(pk=row.pk)
        for field, value in changes.items():
            setattr(changed, field, value)
        assert limits.refusal(changed, chain) == Refusal("failed", reason), name
    assert Asset.objects.get(pk=TOKEN).contract_address == row.to_address

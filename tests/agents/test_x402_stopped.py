"""A signed payment waits for a token that its issuer has paused, and is settled once it moves."""

from datetime import timedelta
from typing import Any

import pytest

from apps.agents.models import SignedPayment
from apps.chain.models import OutgoingTransaction
from apps.core import clock
from tests.agents.conftest import Market

pytestmark = pytest.mark.chain
_IS_PAUSED = "0x" + f"{1:064x}"


def test_it_waits_while_the_token_is_paused_and_is_settled_after(market: Market) -> None:
    asked = market.ask()
    body = market.payer.signed(asked)
    assert market.settle(body)["errorReason"] == "settlement_pending"
    goes_on = pause(market)
    market.send()
    row = OutgoingTransaction.objects.get(purpose="x402")
    assert (row.status, row.reason_code, row.waits_for) == ("requested", "token_stopped", "token")
    assert market.settle(body)["errorReason"] == "settlement_pending"

    goes_on()
    before = clock.real_now() - timedelta(seconds=1)
    OutgoingTransaction.objects.filter(not_before__isnull=False).update(not_before=before)
    market.send()
    assert market.settle(body)["success"]
    market.bury()
    assert SignedPayment.objects.get().status == "settled"
    assert market.held(asked["payTo"]) == 2_500_000


def pause(market: Market) -> Any:
    """For a while the token's contract is another that is paused; what ends it."""
    moody = market.chain.deploy_moody_token()
    code = market.chain.call("eth_getCode", market.token, "latest")
    slot = market.chain.call("eth_getStorageAt", market.token, "0x0", "latest")
    other = market.chain.call("eth_getCode", moody, "latest")
    market.chain.call("anvil_setCode", market.token, other)
    market.chain.call("anvil_setStorageAt", market.token, "0x0", _IS_PAUSED)

    def end() -> None:
        market.chain.call("anvil_setCode", market.token, code)
        market.chain.call("anvil_setStorageAt", market.token, "0x0", slot)

    return end

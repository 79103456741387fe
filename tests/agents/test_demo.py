"""The demo shows what agents spend and what they pay, once; staff see the same and write none of
it."""

import pytest
from eth_account import Account

from apps.agents.models import AgentSettings, Mandate, Settlement, SignedPayment
from apps.core.process.published_secrets import CHAIN_KEYS
from dev.demo import agents
from tests import make
from tests.agents.conftest import DOLLAR, TOKEN, Market
from tests.dashboard.browse import Browser, text
from tests.staff.test_sign_in import clerk, staff

__all__ = ["clerk", "staff"]
pytestmark = pytest.mark.chain


def test_the_demo_has_mandates_of_every_status_and_a_payment_over_x402_once(
    market: Market, staff: Browser
) -> None:
    shop = market.shop
    owner = Browser(shop.owner)
    make.paid(shop.test, amount="100.00")
    market.chain.mint(market.token, Account.from_key(CHAIN_KEYS["customer"]).address, 3 * DOLLAR)
    for _ in range(2):
        agents.seed_mandates(shop.store, shop.owner)
        agents.pay_over_x402(shop.store, shop.owner, TOKEN, "test")
    market.send()
    market.bury()
    spent = {
        mandate.mandate_ref: (mandate.status, mandate.remaining_atomic // 10**12)
        for mandate in Mandate.objects.all()
    }
    assert spent == {
        "market research": ("active", 17),
        "translation": ("exhausted", 0),
        "image search": ("revoked", 9),
        "trial": ("active", 5),
    }
    provider = AgentSettings.of(shop.store).authorization_provider
    assert (Settlement.objects.count(), provider) == (6, "none")
    signed = SignedPayment.objects.get()
    assert (signed.status, signed.offer.payment.status) == ("settled", "completed")
    assert "market research" in text(owner.get("agents/mandates")) and agents.TITLE in text(
        owner.get("agents/x402")
    )

    rows = {
        "mandate": Mandate,
        "settlement": Settlement,
        "signedpayment": SignedPayment,
        "paymentoffer": type(signed.offer),
    }
    for noun, model in rows.items():
        pk = model.objects.order_by("pk").values_list("pk", flat=True)[0]
        shown = staff.get(f"/admin/agents/{noun}/"), staff.get(f"/admin/agents/{noun}/{pk}/change/")
        assert [item.status_code for item in shown] == [200, 200] and not any(
            signed.signature in text(item) for item in shown
        )
        assert staff.post(f"/admin/agents/{noun}/{pk}/change/", status="failed").status_code == 403
        assert [
            staff.get(f"/admin/agents/{noun}/{page}").status_code
            for page in ("add/", f"{pk}/delete/")
        ] == [403, 403]
    assert staff.get("/admin/agents/agentpayoutcap/").status_code == 200

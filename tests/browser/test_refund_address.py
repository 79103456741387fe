"""A customer whose payment came from a contract follows the link in the email and says where the
refund goes."""

import pytest
from playwright.sync_api import expect

from apps.chain.models import Deposit, PayerRecord
from apps.core import clock
from apps.payments.models import HeldRefund, PaymentAddress
from apps.payments.services.settle import settle_payment
from tests import make
from tests.browser.conftest import OpenPage, barriers, overflow, shoot
from tests.cast import Cast, Shop
from tests.chain.conftest import chain
from tests.chain.local import LocalChain
from tests.chain.test_refund_addresses import EMAIL, token_in_email

__all__ = ["chain"]
pytestmark = pytest.mark.chain
ROUTER = "0x" + "f0" * 20
PHONE = {"width": 390, "height": 800}


def rejected(shop: Shop) -> dict[str, str]:
    """A payment of which a contract has paid a third."""
    made = make.payment(shop.test, metadata=EMAIL)
    entry = PaymentAddress.objects.get(payment_id=made["id"], asset_id="SETH")
    at = clock.real_now()
    PayerRecord.objects.create(
        chain_id="sepolia", address=ROUTER, kind="contract", tx_hash="0x" + "1" * 64, checked_at=at
    )
    Deposit.objects.create(
        chain_id="sepolia",
        asset_id="SETH",
        address_id=entry.address_id,
        tx_hash="0x" + "2" * 64,
        log_index=-1,
        from_address=ROUTER,
        amount_atomic=entry.required_atomic // 3,
        block_number=1,
        block_hash="0x" + "3" * 64,
        status="confirmed",
        confirmed_at=at,
        required_confirmations=3,
        detected_at=at,
    )
    settle_payment(made["id"])
    make.advance(shop.test, 3700)
    assert settle_payment(made["id"]).status == "failed"
    return made


def test_the_link_of_the_email_leads_to_a_refund(
    chain: LocalChain, world: Cast, open_page: OpenPage
) -> None:
    made = rejected(world.bakery)
    page = open_page(f"/pay/{made['reference']}", **PHONE)
    expect(page.get_by_text("We emailed a link to a…@example.com.")).to_be_visible()
    page.goto(f"{page.url.partition('?')[0]}/refund/{token_in_email()}")
    field = page.get_by_label("Address of your own wallet")
    field.fill("0x12")
    page.get_by_role("button", name="Send my refund here").click()
    expect(page.get_by_text("That is not an address of this network.")).to_be_visible()
    assert barriers(page) == [] and overflow(page) <= 0
    shoot(page, "refund-address-refused")
    to = make.fresh_address()
    field.fill(to)
    page.get_by_role("button", name="Send my refund here").click()
    expect(page.get_by_text("on Ethereum Sepolia is being returned to:")).to_be_visible()
    assert "to the address it came from" not in page.content()
    assert to.lower() in page.content().lower()
    assert barriers(page) == [] and overflow(page) <= 0
    shoot(page, "refund-address-given")
    held = HeldRefund.objects.get(payment_id=made["id"])
    assert (held.status, held.proof, held.destination_address) == ("sent", "email", to.lower())

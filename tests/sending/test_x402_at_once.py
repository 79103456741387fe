"""Many callers settle what a stranger has submitted: one of them hears of the success."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from apps.access.services import authenticate
from apps.agents.models import PaymentOffer, SignedPayment, SignedPaymentStep
from apps.agents.requests.x402 import SignedPaymentRequest
from apps.agents.services.x402_settle import settle
from apps.assets.models import Asset
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.chain.models import Head
from apps.chain.sending.authorizations import Authorization, call_data
from apps.core import clock
from apps.core.process.published_secrets import CHAIN_KEYS
from dev.demo.chain import DemoWallet
from tests.agents.paying import Payer
from tests.cast import Shop, person, shop_of
from tests.sending.conftest import ETHER, TOKEN, World

pytestmark = pytest.mark.chain
CALLERS = 8
STRANGER = "0x" + "57" * 20


@pytest.fixture
def seller(world: World, token: str) -> Iterator[Shop]:
    """A shop that asks for the token; the chain is read up to here."""
    before = Asset.objects.filter(pk=TOKEN).values("is_active", "eip712_name", "eip712_version")[0]
    Asset.objects.filter(pk=TOKEN).update(
        is_active=True, eip712_name="USD Coin", eip712_version="1"
    )
    now = clock.real_now()
    head = {"number": world.height(), "hash": "0xb", "block_time": now, "synced_at": now}
    was_read = Head.objects.filter(chain_id="sepolia").values().first()
    Head.objects.update_or_create(chain_id="sepolia", defaults=head)
    shop = shop_of(person("alice"), "Reports")
    accept_all_active(shop.store)
    refresh()
    yield shop
    for model in (SignedPaymentStep, SignedPayment, PaymentOffer):
        model.objects.all().delete()
    Head.objects.filter(chain_id="sepolia").delete()
    if was_read is not None:
        Head.objects.create(**was_read)
    Asset.objects.filter(pk=TOKEN).update(**before)


def signed_body(world: World, token: str, seller: Shop) -> dict[str, Any]:
    """A payer's signature with enough coins, which a stranger has submitted."""
    payer = Payer()
    wallet = DemoWallet(world.url, CHAIN_KEYS["test"])
    wallet.receipt(wallet.mint(token, payer.address, 10**7))
    wanted = {"asset_id": TOKEN, "amount_atomic": "2500000", "resource": "https://shop.example/r"}
    asked = seller.test.post("/x402/requirements", wanted)
    assert asked.status_code == 201, asked.content
    body = payer.signed(asked.json())
    payload = body["paymentPayload"]["payload"]
    signed = payload["authorization"]
    one = Authorization(
        payer=signed["from"].lower(),
        to=signed["to"].lower(),
        amount_atomic=int(signed["value"]),
        valid_after=int(signed["validAfter"]),
        valid_before=int(signed["validBefore"]),
        nonce=signed["nonce"].lower(),
        signature=payload["signature"].lower(),
    )
    world.rpc("anvil_impersonateAccount", STRANGER)
    world.rpc("anvil_setBalance", STRANGER, hex(ETHER))
    call = {"from": STRANGER, "to": token, "data": call_data(one), "gas": hex(200_000)}
    world.rpc("eth_sendTransaction", call)
    return body


def test_one_of_many_callers_hears_of_the_success(world: World, token: str, seller: Shop) -> None:
    body = signed_body(world, token, seller)
    access = authenticate(seller.secrets["test"])

    def call(_: int) -> tuple[str, str]:
        try:
            outcome = settle(access, SignedPaymentRequest.read(body))
            return outcome.reason, outcome.signed.tx_hash if outcome.signed else ""
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLERS) as threads:
        told = list(threads.map(call, range(CALLERS)))
    [row] = SignedPayment.objects.all()
    used = "invalid_exact_evm_nonce_already_used"
    assert sorted(told) == sorted([("", row.tx_hash)] + [(used, row.tx_hash)] * (CALLERS - 1))
    assert row.is_elsewhere and row.status == "submitted" and row.answered_at is not None
    assert row.steps.count() == 2

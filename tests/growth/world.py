"""A merchant's days, through the API and the services: records that have come to rest, records that
wait for their time, and how both are distinguished.

The copies of `copies.py` are made of these rows; nothing of the first two parts is due.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import F

from apps.access import request_log
from apps.agents.models import Mandate
from apps.assets.models import Asset
from apps.assets.rates import refresh
from apps.chain.models import (
    Block,
    Deposit,
    Head,
    HotWallet,
    OutgoingTransaction,
    SignedTransaction,
)
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.payments.models import PaymentAddress
from apps.payments.seals import seal_payments
from apps.payments.services.reconcile import reconcile_due
from apps.payments.services.settle import settle_payment
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.services.progress import advance_payouts
from apps.stores.auditing.seals import LOOKED_BACK, seal_lines
from apps.stores.models.notifications import Notification
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from apps.swaps.services.progress import advance_swaps
from apps.webhooks.models import Delivery, Endpoint, Host
from tests import make
from tests.billing import records as billing
from tests.cast import Api, Cast, Shop, assemble
from tests.links.makers import bought, made_link

HOT_WALLET = "0x" + "ab" * 20
BLOCK = 100
EVENTS = ["payment_intent.completed", "payment_intent.expired", "invoice.paid"]


@dataclass(frozen=True)
class World:
    """The store that sells, and its platform."""

    cast: Cast
    shop: Shop


def open_store() -> World:
    """A store with a platform, an endpoint and a wallet; nothing has been sold yet."""
    refresh()
    cast = assemble()
    shop = cast.bakery
    change_store(
        shop.store,
        platform_id=cast.strangers.store.pk,
        platform_fee_fraction=Decimal("0.02"),
        kyc_confirmed_at=clock.real_now(),
    )
    change_store(cast.strangers.store, is_platform=True)
    write_settings(shop.store, {"authorization_provider": "policy"})
    endpoint = {"url": "https://1.1.1.1/hook", "subscribed_events": EVENTS}
    for api in (shop.test, shop.live):
        assert api.post("/webhook_endpoints", {"webhook_endpoint": endpoint}).status_code == 201
    at = clock.real_now()
    for chain_id in ("ethereum", "sepolia"):
        HotWallet.objects.create(chain_id=chain_id, address=HOT_WALLET, next_nonce=2)
        Head.objects.create(
            chain_id=chain_id, number=BLOCK, hash=f"0x{BLOCK:064x}", block_time=at, synced_at=at
        )
        Block.objects.create(
            chain_id=chain_id,
            number=BLOCK,
            hash=f"0x{BLOCK:064x}",
            parent_hash=f"0x{BLOCK - 1:064x}",
            mined_at=at,
            scanned_at=at,
        )
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    return World(cast, shop)


def trade(world: World) -> None:
    """Records that have come to rest once `rest` has run: sales, refunds, payouts, a swap, an
    invoice, a draw of an agent."""
    shop = world.shop
    sale = make.paid(shop.test, amount="20.00", order_id="A-1001", title="Bread", key="sale")
    refund = {"amount": "0.001", "destination_address": make.fresh_address()}
    answer = shop.test.post(f"/payments/{sale['id']}/refunds", {"refund": refund}, key="back")
    assert answer.status_code == 201, answer.content
    make.payment(shop.test)
    for _ in range(3):
        make.paid(shop.test, amount="30.00")
    make.advance(shop.test, 24 * 3600)
    late = make.payment(shop.test)
    make.advance(shop.test, 24 * 3600)
    make.simulated(shop.test, late["id"], late=True, reference="late")
    make.payout(shop.test, 10**15)
    make.advance(shop.test, 120)
    sell_coins(shop)
    advance_swaps()
    billing.pay(shop.test, billing.opened(shop.test, tax_rate_bps=1900))
    bought(shop, made_link(shop, stock=2))
    draw(shop)
    for number in range(3):
        receive(shop, number)
    pay_out(shop)
    request_log.flush()


def sell(world: World) -> None:
    """The usual payments, once `rest` has run: in one coin, and paid, of either mode, or
    abandoned."""
    shop = world.shop
    others = Asset.objects.filter(pk="USDC_SETH")
    others.update(is_active=False)
    for _ in range(2):
        make.payment(shop.test)
    make.paid(shop.test)
    receive(shop, 3)
    make.advance(shop.test, 24 * 3600)
    others.update(is_active=True)
    request_log.flush()


def wait(world: World) -> None:
    """Records under way and not due: intents that can still be paid, an open invoice, subscriptions
    between two cycles."""
    shop = world.shop
    make.payment(shop.test)
    make.simulated(shop.test, make.payment(shop.test)["id"], "unconfirmed")
    for _ in range(2):
        make.payment(shop.live)
    billing.opened(shop.test)
    billing.subscribe(shop.test)
    billing.subscribe(shop.test, trial_period_days=30)
    request_log.flush()


def sell_coins(shop: Shop, key: str = "swap") -> None:
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(10**15),
    }
    assert shop.test.post("/balance_swaps", body, key=key).status_code == 201


def draw(shop: Shop, mandate_ref: str = "books") -> None:
    agent = Api(shop.secrets["test_agent"])
    mandate = {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": mandate_ref}
    assert agent.post("/agentic/mandates", mandate).status_code == 201
    body = {
        "asset_id": "SETH",
        "mandate_ref": mandate_ref,
        "amount_atomic": "300",
        "pay_to": make.fresh_address(),
    }
    assert (
        agent.post("/agentic/x402/settlements", body, key=f"draw of {mandate_ref}").status_code
        == 201
    )


def receive(shop: Shop, number: int) -> None:
    """A live sale, by a deposit in a block that was then brought to the hot wallet."""
    entry = deposited(shop)
    settle_payment(entry.payment_id)
    swept(entry, number)


def deposited(shop: Shop) -> PaymentAddress:
    """The address of a live payment, with the deposit that pays it in a block."""
    at = clock.real_now()
    entry = PaymentAddress.objects.get(payment_id=make.payment(shop.live)["id"], asset_id="ETH")
    Deposit.objects.create(
        chain_id="ethereum",
        asset_id="ETH",
        address_id=entry.address_id,
        tx_hash=f"0x{uuid.uuid4().hex * 2}",
        log_index=-1,
        from_address=HOT_WALLET,
        amount_atomic=entry.required_atomic,
        block_number=BLOCK,
        block_hash=f"0x{BLOCK:064x}",
        status="confirmed",
        confirmed_at=at,
        required_confirmations=3,
        detected_at=at,
    )
    return entry


def swept(entry: PaymentAddress, number: int) -> None:
    """The sweep of what came to an address, mined and not booked."""
    at = clock.real_now()
    OutgoingTransaction.objects.create(
        mode="live",
        chain_id="ethereum",
        asset_id="ETH",
        purpose="sweep",
        reference=f"ethereum:{entry.address_id}:{number}",
        to_address=HOT_WALLET,
        amount_atomic=entry.required_atomic - 5,
        status="confirmed",
        from_address=entry.address_id,
        nonce=0,
        requested_at=at,
        finished_at=at,
        tx_hash=f"0x{uuid.uuid4().hex * 2}",
        network_fee_atomic=5,
        block_number=BLOCK,
    )


def pay_out(shop: Shop) -> None:
    """A live payout that was signed, sent and mined, and booked at each step."""
    mined_payout(shop)
    advance_payouts()


def mined_payout(shop: Shop) -> None:
    """One that was mined since its last step was booked."""
    make.payout(shop.live, 10**15, asset_id="ETH")
    advance_payouts()
    asked = OutgoingTransaction.objects.filter(status="requested", purpose="payout")
    transaction = asked.latest("requested_at")
    tx_hash = f"0x{uuid.uuid4().hex * 2}"
    SignedTransaction.objects.create(
        outgoing=transaction,
        tx_hash=tx_hash,
        raw=f"0x02{transaction.to_address[2:]}",
        max_fee_wei=1,
        priority_fee_wei=1,
        signed_at=clock.real_now(),
    )
    wallet = HotWallet.objects.get(chain=transaction.chain_id)
    HotWallet.objects.filter(pk=wallet.pk).update(next_nonce=F("next_nonce") + 1)
    sent = OutgoingTransaction.objects.filter(pk=transaction.pk)
    sent.update(
        status="submitted", nonce=wallet.next_nonce, tx_hash=tx_hash, from_address=HOT_WALLET
    )
    advance_payouts()
    sent.update(
        status="confirmed",
        network_fee_atomic=5,
        block_number=BLOCK,
        finished_at=clock.real_now() - timedelta(seconds=1),
    )


def rest() -> None:
    """Run every job to its end: deliveries have arrived, emails and notices were sent, and all is
    sealed."""
    at = clock.real_now()
    Delivery.objects.exclude(status="delivered").update(
        status="delivered",
        attempts=1,
        error="",
        response_status=200,
        duration_ms=20,
        delivered_at=F("created_at"),
        next_attempt_at=None,
        claimed_until=None,
    )
    # Which this machine may not have reached.
    Endpoint.objects.update(status="active", disabled_at=None, is_notice_due=False)
    Host.objects.get_or_create(name="1.1.1.1", defaults={"answered_at": at})
    OutgoingMail.objects.exclude(status="sent").update(status="sent", attempts=1, sent_at=at)
    Notification.objects.filter(told_at=None).update(told_at=at)
    Mandate.objects.update(expires_at=at + timedelta(days=500))
    book_sweeps()
    reconcile_due()
    seal_lines(at - 2 * LOOKED_BACK)
    seal_payments(at)

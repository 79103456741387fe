"""Live money and the gas of the moment: nothing leaves, or is carried out, that is worth less than
the chain asks for it."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from apps.agents.models import SignedPayment
from apps.agents.services.x402_offers import HEADROOM_PERCENT
from apps.agents.services.x402_progress import advance_signed_payments
from apps.assets.models import Asset, Chain
from apps.assets.rates import refresh
from apps.assets.selectors import current_rate
from apps.assets.services import accept_all_active
from apps.chain.activation import change_asset
from apps.chain.keys.seeds import Seed
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import costs, outflow, sender, signing_rounds
from apps.chain.sending.transfer_gas import INTRINSIC_GAS, TOKEN_GAS
from apps.chain.watching.watcher import Watcher
from apps.core import clock
from apps.core.documents import drawings
from apps.core.models import Drawing
from apps.core.process.published_secrets import DEMO_MNEMONIC
from apps.core.redis import buckets
from apps.ledger.selectors import account_balance, balances
from apps.payments import tasks
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payments.services.expire import expire_due
from apps.payments.services.held_progress import check_due
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from tests import auditing, make
from tests.agents.conftest import PRICE, Market
from tests.cast import Api, Cast, Shop, assemble
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain, program
from tests.console.test_figures import told
from tests.stage import standing

pytestmark = pytest.mark.chain
ETHER = 10**18
DOLLAR = 10**6
GWEI = 10**9


class Live:
    """The live chain with a dollar token, our hot wallet on it, and the price of gas as one
    likes."""

    def __init__(self, local: LocalChain) -> None:
        self.local = local
        self.watcher = Watcher("ethereum")
        self.hot = Seed(DEMO_MNEMONIC).hot_key("live").address
        self.confirmations = Chain.objects.get(pk="ethereum").required_confirmations

    def cost_gas(self, gwei: int) -> int:
        """From now on a unit of gas costs about so much; exactly how much."""
        self.local.call("anvil_setNextBlockBaseFeePerGas", hex(gwei * GWEI))
        self.local.mine()
        return int(self.local.call("eth_gasPrice"), 16)

    def give(self, shop: Shop, ether: int) -> None:
        held = int(self.local.call("eth_getBalance", self.hot, "latest"), 16)
        self.local.call("anvil_setBalance", self.hot, hex(held + ether * ETHER))
        make.store_coins(shop.store, "ETH", ether * ETHER)

    def work(self) -> None:
        """Run the worker's jobs, with enough blocks on top."""
        advance_payouts("live")
        advance_refunds("live")
        signing_rounds.sign_due()
        sender.run_due()
        self.local.mine(self.confirmations)
        while self.watcher.step():
            pass
        settle_deposits()
        sender.run_due()
        advance_payouts("live")
        advance_refunds("live")


def standing_on(local: LocalChain) -> Cast:
    """Shops whose payments the service has read of the chain so far."""
    cast = assemble()
    signing_rounds.introduce()
    refresh()
    change_asset("ETH_USDC", contract_address=local.deploy_token(), required_confirmations=3)
    accept_all_active(cast.bakery.store)
    found = Live(local)
    while found.watcher.step():
        pass
    found.watcher.close()
    return cast


@pytest.fixture(scope="module")
def local() -> Iterator[LocalChain]:
    anvil = program()
    if anvil is None:
        pytest.skip("anvil isn't installed")
    local = LocalChain(anvil, chain_id=1)
    with override_settings(
        CHAIN_URLS={"ethereum": [local.url]}, CHAIN_START_BLOCKS={"ethereum": 0}
    ):
        yield local
    local.close()


@pytest.fixture(scope="module")
def everybody(local: LocalChain, django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    yield from standing(django_db_blocker, lambda: standing_on(local))


@pytest.fixture
def cast(everybody: Cast, db: None) -> Cast:
    return everybody.again()


@pytest.fixture
def live(local: LocalChain, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    monkeypatch.setattr(costs, "_prices", {})
    monkeypatch.setattr(costs, "FRESH_SECONDS", 0.0)
    found = Live(local)
    with local.going_back():
        yield found
    found.watcher.close()


# --- payouts ---


def answer_to(api: Api, amount_atomic: int, asset_id: str = "ETH") -> Any:
    return make.ask_payout(api, str(amount_atomic), asset_id=asset_id)


class TestPayouts:
    def test_one_is_worth_so_many_times_its_gas_at_the_moment_when_it_is_asked_for(
        self, live: Live, bakery: Shop, settings: Any
    ) -> None:
        live.give(bakery, 5)
        price = live.cost_gas(200)
        for times in (2, 5):
            settings.PAYOUT_MINIMUM_GAS_TIMES = times
            least = times * INTRINSIC_GAS * price
            assert least > Asset.objects.get(pk="ETH").min_withdrawal_atomic
            refused = answer_to(bakery.live, least - 1)
            assert (refused.status_code, refused.json()) == (
                422,
                {"error": "Amount is below the network minimum"},
            )
            assert answer_to(bakery.live, least).status_code == 201

    def test_a_tokens_gas_is_counted_at_what_it_costs_in_the_token(
        self, live: Live, bakery: Shop
    ) -> None:
        make.store_coins(bakery.store, "ETH_USDC", 10_000 * DOLLAR)
        price = live.cost_gas(200)
        at = clock.real_now()
        ether, dollar = (current_rate(item, "USD", at) for item in ("ETH", "ETH_USDC"))
        assert ether is not None and dollar is not None
        least = int(2 * TOKEN_GAS * price * ether.rate / dollar.rate) * DOLLAR // ETHER
        assert least > 50 * DOLLAR
        assert answer_to(bakery.live, least - DOLLAR, "ETH_USDC").status_code == 422
        assert answer_to(bakery.live, least + DOLLAR, "ETH_USDC").status_code == 201

    def test_while_gas_is_cheap_the_assets_own_minimum_holds_and_test_mode_asks_no_more(
        self, live: Live, bakery: Shop
    ) -> None:
        live.give(bakery, 1)
        make.funded(bakery.test)
        least = Asset.objects.get(pk="ETH").min_withdrawal_atomic
        live.cost_gas(1)
        assert [answer_to(bakery.live, item).status_code for item in (least - 1, least)] == [
            422,
            201,
        ]
        live.cost_gas(200)
        assert answer_to(bakery.live, least).status_code == 422
        assert (
            answer_to(
                bakery.test, Asset.objects.get(pk="SETH").min_withdrawal_atomic, "SETH"
            ).status_code
            == 201
        )


# --- refunds that nobody asked for ---


def paid_with(live: Live, shop: Shop, amount_atomic: int) -> str:
    """A payment that somebody has paid that much of; its id."""
    payment = make.payment(shop.live, amount="100.00")
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="ETH")
    assert amount_atomic < entry.required_atomic // 2
    live.local.pay(entry.address_id, amount_atomic)
    return str(payment["id"])


def test_what_costs_more_to_send_back_than_it_is_worth_is_held_and_left_to_the_merchant(
    live: Live, bakery: Shop
) -> None:
    fee = INTRINSIC_GAS * live.cost_gas(100)
    live.give(bakery, 1)
    dust = paid_with(live, bakery, fee // 2)
    enough = paid_with(live, bakery, 2 * fee)
    live.work()
    live.cost_gas(100)
    Payment.objects.update(expires_at="2020-01-01T00:00:00Z")
    expire_due()
    check_due()
    assert [Payment.objects.get(pk=item).status for item in (dust, enough)] == ["failed", "failed"]
    assert list(Refund.objects.values_list("payment_id", "amount_atomic")) == [
        (Payment.objects.get(pk=enough).pk, 2 * fee)
    ]
    assert [make.detail(bakery.live, item)["needs_attention"] for item in (dust, enough)] == [
        "dust_refund",
        None,
    ]
    assert account_balance(bakery.store.pk, "live", "ETH", "held") == fee // 2

    asked = bakery.live.post(f"/payments/{dust}/refunds", {"refund": {}}, key="by hand")
    assert asked.status_code == 201, asked.content
    live.work()
    live.work()
    assert (
        set(Refund.objects.values_list("status", flat=True)) == {"confirmed"}
        and Refund.objects.count() == 2
    )
    assert make.detail(bakery.live, dust)["needs_attention"] is None
    assert auditing.breaches(check_chain=True) == []


def test_live_refunds_go_out_whatever_waits_in_test_mode(live: Live, bakery: Shop) -> None:
    live.give(bakery, 1)
    live.cost_gas(1)
    make.funded(bakery.test)
    waiting = make.paid(bakery.test)
    body = {"refund": {"amount": "0.001", "destination_address": make.fresh_address()}}
    assert (
        bakery.test.post(f"/payments/{waiting['id']}/refunds", body, key="test").status_code == 201
    )
    paid_with(live, bakery, ETHER // 100)
    live.work()
    Payment.objects.filter(mode="live").update(expires_at="2020-01-01T00:00:00Z")
    expire_due()
    tasks.advance_refunds(mode="live")
    assert OutgoingTransaction.objects.get().purpose == "refund"
    assert Refund.objects.get(mode="test").status == "pending"
    tasks.advance_refunds(mode="test")
    assert Refund.objects.get(mode="test").status == "submitted"


def test_a_paid_payments_document_is_drawn_before_anybody_asks(
    live: Live,
    bakery: Shop,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.WORK_INLINE = False
    monkeypatch.setattr(drawings, "WAIT_SECONDS", 0.3)
    payment = make.payment(bakery.live, amount="100.00")
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="ETH")
    live.local.pay(entry.address_id, entry.required_atomic)
    buckets.client().delete("documents")
    with django_capture_on_commit_callbacks(execute=True):
        live.work()
    (message,) = [json.loads(bucket) for bucket in buckets.client().lrange("documents", 0, -1)]
    assert message["headers"]["task"] == "documents.prepare_payments"
    assert payment["id"] in base64.b64decode(message["body"]).decode()
    assert bakery.live.get(f"/payments/{payment['id']}/invoice").status_code == 503
    Drawing.objects.all().delete()
    tasks.prepare_documents([payment["id"]])
    drawings.draw_due()
    answer = bakery.live.get(f"/payments/{payment['id']}/invoice")
    assert (answer.status_code, answer.content[:5]) == (200, b"%PDF-")


# --- payments that are carried out for somebody ---


class LiveMarket(Market):
    @property
    def api(self) -> Api:
        return self.shop.live


@pytest.fixture
def market(live: Live, bakery: Shop, settings: Any) -> LiveMarket:
    settings.X402_SETTLE_SECONDS = (
        0  # whoever settles is told that it isn't known yet: the worker's part is played in between
    )
    Asset.objects.filter(pk="ETH_USDC").update(eip712_name="USD Coin", eip712_version="1")
    token = str(Asset.objects.get(pk="ETH_USDC").contract_address)
    found = LiveMarket(bakery, token, live.local, Reader(), live.hot)
    live.local.mint(token, found.payer.address, 1000 * DOLLAR)
    return found


class TestSettling:
    def test_what_is_worth_less_than_its_gas_is_not_carried_out(
        self, market: LiveMarket, live: Live
    ) -> None:
        live.cost_gas(20)
        fee = costs.fee(Asset.objects.select_related("chain").get(pk="ETH_USDC"))
        assert fee is not None and fee > DOLLAR
        least = -(-fee * HEADROOM_PERCENT // 100)
        for amount in (1, fee, least - 1):
            order = {**PRICE, "asset_id": "ETH_USDC", "amount_atomic": str(amount)}
            refused = market.api.post("/x402/requirements", order)
            assert (refused.status_code, refused.json()["error"]["code"]) == (
                422,
                "amount_too_small",
            )
        offers = [
            market.payer.signed(market.ask(asset_id="ETH_USDC", amount_atomic=str(amount)))
            for amount in (least, 2 * least)
        ]
        live.cost_gas(30)  # half as much again as when they were made
        heard = []
        for signed in offers:
            heard.append(
                (
                    market.verify(signed).get("invalidReason"),
                    market.settle(signed).get("errorReason"),
                )
            )
        short = "invalid_exact_evm_payload_authorization_value"
        assert heard == [(short, short), (None, "settlement_pending")]
        assert SignedPayment.objects.count() == 1
        assert list(OutgoingTransaction.objects.values_list("purpose", flat=True)) == ["x402"]

    def test_its_gas_is_the_merchants(self, market: LiveMarket, live: Live, bakery: Shop) -> None:
        live.give(bakery, 1)
        live.cost_gas(20)
        asked = market.ask(asset_id="ETH_USDC", amount_atomic=str(50 * DOLLAR))
        market.settle(market.payer.signed(asked))
        live.work()
        advance_signed_payments()
        sent = OutgoingTransaction.objects.get(purpose="x402")
        assert (sent.status, SignedPayment.objects.get().status) == ("confirmed", "settled")
        assert (
            balances(bakery.store.pk, "live")["ETH"].available_atomic
            == ETHER - sent.network_fee_atomic
            < ETHER
        )
        assert account_balance(None, "live", "ETH", "network_fees") == 0
        assert auditing.breaches(check_chain=True) == []


# --- everything that leaves ---


class TestAlarm:
    def test_more_than_is_usual_calls_somebody_and_stops_nothing(
        self, live: Live, cast: Cast, settings: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        settings.SIGNER_ALARMS = ["ETH=1"]
        settings.SIGNER_CAPS = ["ETH=5:2"]
        for shop in (cast.bakery, cast.strangers):
            live.give(shop, 10)
        live.cost_gas(1)
        usual = make.payout(cast.bakery.live, 9 * ETHER // 10, asset_id="ETH")
        live.work()
        assert outflow.watch(clock.real_now()) == 0 and "outflow_above_alarm" not in caplog.text
        above = [
            make.payout(shop.live, 8 * ETHER // 10, asset_id="ETH")
            for shop in (cast.strangers, cast.bakery)
        ]
        beyond = make.payout(cast.bakery.live, ETHER, asset_id="ETH")
        live.work()
        states = {str(payout.pk): payout.status for payout in Payout.objects.all()}
        assert [states[item["id"]] for item in (usual, *above, beyond)] == [
            "confirmed",
            "confirmed",
            "confirmed",
            "requires_review",
        ]
        assert outflow.watch(clock.real_now()) == 1 and "outflow_above_alarm" in caplog.text
        figures = told()
        assert (
            figures['tillgate_outgoing_day{asset="ETH"}']
            == 2.5
            > figures['tillgate_outgoing_alarm{asset="ETH"}']
            == 1.0
        )
        after = make.payout(cast.strangers.live, ETHER // 2, asset_id="ETH")
        live.work()
        assert Payout.objects.get(pk=after["id"]).status == "confirmed"

    def test_what_goes_back_to_its_payer_counts_for_nothing(
        self, live: Live, bakery: Shop, settings: Any
    ) -> None:
        settings.SIGNER_ALARMS = ["ETH=0.001"]
        live.give(bakery, 1)
        live.cost_gas(1)
        paid_with(live, bakery, ETHER // 100)
        live.work()
        Payment.objects.update(expires_at="2020-01-01T00:00:00Z")
        expire_due()
        live.work()
        live.work()
        assert (Refund.objects.get().status, OutgoingTransaction.objects.get().goes_back) == (
            "confirmed",
            True,
        )
        assert outflow.watch(clock.real_now()) == 0
        make.payout(bakery.live, ETHER // 100, asset_id="ETH")
        live.work()
        assert outflow.watch(clock.real_now()) == 1

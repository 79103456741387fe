"""Money through its whole life in any order: in by payments of every kind, out by refunds, payouts
and swaps, while time passes.

The model is plain numbers: what came in less what went out is what the store has, asked again means
the same, and the audit is silent.
"""

import os
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from apps.assets.models import Asset
from apps.ledger.models import Entry, Movement
from apps.ledger.selectors import balances
from apps.payments.models import Payment, Refund
from apps.payouts.models import Payout
from apps.swaps.models import Swap
from tests import auditing, make
from tests.cast import Api, Cast, Shop, shop_of
from tests.whole import usually

SHARES = st.sampled_from([1, 10, 50, 100, 101])  # percent of what there is
SCENARIOS = st.sampled_from(["exact", "underpaid", "overpaid", "unconfirmed", "reverted"])
NO = (409, 422)
KINDS = {"deposit_confirmed", "payment_settled", "payout_created", "refund_created", "swap_created"}


def ids(told: Any) -> set[str]:
    return {item["id"] for item in (told if isinstance(told, list) else [told])}


class Lifecycle(RuleBasedStateMachine):
    cast: ClassVar[Cast]
    shop: Shop

    @initialize()
    def begin(self) -> None:
        self.shop = shop_of(self.cast.alice, "Lives")
        self.payments = [str(make.paid(self.api, amount="999.99")["id"])]
        self.said: list[tuple[Callable[[], Any], set[str]]] = []
        self.keys = 0
        # Whatever follows, everything has happened once.
        self.refund(self.payments[0], "0.001")
        self.pay_out(1)
        self.swap(1)

    @property
    def api(self) -> Api:
        return self.shop.test

    def available(self) -> int:
        found = balances(self.shop.store.pk, "test").get("SETH")
        return 0 if found is None else found.available_atomic

    def ask(self, path: str, body: dict[str, Any]) -> None:
        """A call under a key of its own; its answer is kept, to be asked for again."""
        self.keys += 1
        key = f"key {self.keys}"
        answer = self.api.post(path, body, key=key)
        assert answer.status_code in (200, 201, *NO), answer.content
        # A refund of an intent that has ended may find all its coins under way already: it makes no
        # record, so its key is free.
        if answer.status_code == 201 and (
            "refunds" not in path or Refund.objects.filter(idempotency_key=key).exists()
        ):
            self.said.append((lambda: self.api.post(path, body, key=key), ids(answer.json())))

    @rule(scenario=SCENARIOS, amount=st.sampled_from(["0.37", "10.00", "999.99"]))
    def a_customer_pays(self, scenario: str, amount: str) -> None:
        made = make.payment(self.api, amount=amount)
        self.payments.append(made["id"])
        self.api.post(f"/payments/{made['id']}/simulated_payments", {"scenario": scenario})

    @precondition(lambda self: self.payments)
    @rule(data=st.data(), late=st.booleans())
    def more_comes_in_for_an_old_one(self, data: st.DataObject, late: bool) -> None:
        chosen = data.draw(st.sampled_from(self.payments))
        answer = self.api.post(
            f"/payments/{chosen}/simulated_payments", {"scenario": "exact", "late": late}
        )
        assert answer.status_code in (201, *NO), answer.content

    @precondition(lambda self: self.payments)
    @rule(data=st.data(), amount=st.sampled_from([None, "0.000001", "0.001", "1"]))
    def somebody_is_refunded(self, data: st.DataObject, amount: str | None) -> None:
        self.refund(data.draw(st.sampled_from(self.payments)), amount)

    def refund(self, payment_id: str, amount: str | None) -> None:
        wish = {
            "destination_address": make.fresh_address(),
            **({"amount": amount} if amount else {}),
        }
        self.ask(f"/payments/{payment_id}/refunds", {"refund": wish})

    @rule(share=SHARES)
    def some_is_paid_out(self, share: int) -> None:
        self.pay_out(share)

    def pay_out(self, share: int) -> None:
        amount = max(1, self.available() * share // 100)
        self.ask(
            "/payouts",
            {
                "asset_id": "SETH",
                "amount_atomic": str(amount),
                "destination_address": make.fresh_address(),
            },
        )

    @rule(share=SHARES)
    def some_is_swapped(self, share: int) -> None:
        self.swap(share)

    def swap(self, share: int) -> None:
        amount = max(1, self.available() * share // 100)
        self.ask(
            "/balance_swaps",
            {
                "source_asset_id": "SETH",
                "buy_asset_id": "USDC_SETH",
                "sell_amount_atomic": str(amount),
            },
        )

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def a_caller_asks_again(self, data: st.DataObject) -> None:
        again, known = data.draw(st.sampled_from(self.said))
        answer = again()
        assert answer.headers.get("Idempotent-Replayed") == "true" and known <= ids(answer.json())

    @rule(seconds=st.sampled_from([1, 61, 3600, 25 * 3600]))
    def time_passes(self, seconds: int) -> None:
        make.advance(self.api, seconds)

    @invariant()
    def what_came_in_less_what_went_out_is_there(self) -> None:
        if not hasattr(self, "shop"):
            return
        store = self.shop.store
        entries = Entry.objects.filter(
            account__store_id=store.pk, account__kind="available", asset_id="SETH"
        )
        assert (
            self.available()
            == sum(int(entry) for entry in entries.values_list("amount_atomic", flat=True))
            >= 0
        )
        came_in = entries.filter(
            movement__kind__in=("payment_settled", "overpayment_settled", "late_deposit_accepted")
        )
        went_out = [
            *Payout.objects.filter(store=store, asset_id="SETH")
            .exclude(funds="returned")
            .values_list("amount_atomic", flat=True),
            *Swap.objects.filter(store=store, source_asset_id="SETH")
            .exclude(status="failed")
            .values_list("sell_amount_atomic", flat=True),
        ]
        refunds = (
            Refund.objects.filter(store=store)
            .exclude(status="failed")
            .values_list("amount_atomic", flat=True)
        )
        rest = sum(int(item) for item in came_in.values_list("amount_atomic", flat=True)) - sum(
            int(item) for item in went_out
        )
        assert rest - sum(int(refund) for refund in refunds) <= self.available() <= rest

    def teardown(self) -> None:
        make.advance(self.api, 61)
        assert auditing.breaches() == []
        assert not Payment.objects.filter(
            store=self.shop.store, status="processing", expires_at=None
        ).exists()


USUAL = usually(short="3 12", whole="12 16")
EXAMPLES, STEPS = (int(part) for part in os.environ.get("TILLGATE_LIVES", USUAL).split())
# Shorter stories of the same fault would take minutes to find.
PHASES = (Phase.explicit, Phase.generate)
LIMITS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    phases=PHASES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@pytest.mark.django_db
def test_money_is_kept_whatever_happens_to_it(cast: Cast) -> None:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    Lifecycle.cast = cast
    run_state_machine_as_test(Lifecycle, settings=LIMITS)
    assert set(Movement.objects.values_list("kind", flat=True)) >= KINDS, (
        "everything that can happen did"
    )

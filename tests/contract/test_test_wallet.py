"""The test wallet: for test payments only, within its cap and allowance, and never when it is
empty."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings as project

from apps.chain.models import HotWallet, OutgoingTransaction
from apps.core import clock, local_chain
from apps.payments.services.test_wallet import DAILY_ATOMIC, PER_PAYMENT_ATOMIC
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast, Shop, shop_of

WALLET = "0x2222222222222222222222222222222222222222"


@pytest.fixture
def funded_test_wallet(db: None) -> None:
    """The test chain's hot wallet, with more coins than a day's allowance."""
    local_chain.call(project.CHAIN_URLS["sepolia"][0], "anvil_setBalance", WALLET, hex(10**19))
    HotWallet.objects.update_or_create(
        chain_id="sepolia", defaults={"address": WALLET, "next_nonce": 0}
    )


def ask(shop: Shop, payment: dict[str, Any], **fields: Any) -> Any:
    return shop.test.post(f"/payments/{payment['id']}/test_payments", fields)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_what_the_test_wallet_refuses(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    for fields, expected in (
        ({"amount_atomic": str(PER_PAYMENT_ATOMIC + 1)}, (422, "test_payment_amount_too_large")),
        ({"amount_atomic": "0"}, (422, "test_payment_invalid_amount")),
        ({"amount_atomic": 5}, (422, "test_payment_invalid_amount")),
        ({"amount_atomic": "-1"}, (422, "test_payment_invalid_amount")),
        ({"test_payment": {"amount_atomic": "x"}}, (422, "test_payment_invalid_amount")),
    ):
        assert code(ask(bakery, payment, **fields)) == expected
    live = make.payment(bakery.live)
    assert code(bakery.live.post(f"/payments/{live['id']}/test_payments", {})) == (
        403,
        "test_payment_live_mode",
    )
    assert code(ask(bakery, make.paid(bakery.test))) == (422, "test_payment_already_finalized")


def test_an_empty_wallet_says_so(bakery: Shop, settings: Any) -> None:
    settings.CHAIN_URLS = {}
    answer = ask(bakery, make.payment(bakery.test))
    assert code(answer) == (503, "test_payment_faucet_unfunded")
    assert int(answer.headers["Retry-After"]) >= 1


def test_the_allowance_is_the_stores_for_any_24_hours(
    bakery: Shop, funded_test_wallet: None
) -> None:
    payment = make.payment(bakery.test, amount="100000.00")
    for n in range(1, 6):
        body = ask(bakery, payment, amount_atomic=str(PER_PAYMENT_ATOMIC)).json()
        assert int(body["remaining_daily_atomic"]) == DAILY_ATOMIC - n * PER_PAYMENT_ATOMIC
    refused = ask(bakery, payment, amount_atomic="1")
    assert code(refused) == (429, "test_payment_allowance_exhausted")
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_401
    assert OutgoingTransaction.objects.filter(purpose="test_payment").count() == 5
    make.advance(bakery.test, 86_401)
    fresh = make.payment(bakery.test)
    assert code(ask(bakery, fresh, amount_atomic="1")) == (429, "test_payment_allowance_exhausted")
    with time_machine.travel(clock.real_now() + timedelta(seconds=86_401)):
        fresh = make.payment(bakery.test)
        assert ask(bakery, fresh, amount_atomic="1").status_code == 202


def used_up(shop: Shop, times: int = 5) -> None:
    payment = make.payment(shop.test, amount="100000.00")
    for _ in range(times):
        assert ask(shop, payment, amount_atomic=str(PER_PAYMENT_ATOMIC)).status_code == 202


def test_stores_of_one_owner_have_two_allowances_together(
    cast: Cast, funded_test_wallet: None
) -> None:
    shops = [cast.bakery, *(shop_of(cast.alice, f"Shop {number}") for number in range(2))]
    for shop in shops[:2]:
        used_up(shop)
    refused = ask(shops[2], make.payment(shops[2].test), amount_atomic="1")
    assert code(refused) == (429, "test_payment_allowance_exhausted")
    used_up(cast.strangers, 1)


def test_a_platform_and_its_sub_merchants_have_two_allowances_together(
    cast: Cast, funded_test_wallet: None
) -> None:
    platform = cast.bakery
    change_store(platform.store, is_platform=True)
    for number in range(3):
        merchant = shop_of(cast.strangers.owner, f"Stall {number}", is_kyc_confirmed=True)
        change_store(merchant.store, platform_id=platform.store.pk)
        if number < 2:
            used_up(merchant)
    refused = ask(merchant, make.payment(merchant.test), amount_atomic="1")
    assert code(refused) == (429, "test_payment_allowance_exhausted")

"""The test wallet: for test payments only, within its cap and allowance, and never when it is
empty."""

from typing import Any

import pytest
from django.conf import settings as project

from apps.chain.models import HotWallet, OutgoingTransaction
from apps.core import local_chain
from apps.payments.services.test_wallet import DAILY_ATOMIC, PER_PAYMENT_ATOMIC
from tests import make
from tests.cast import Shop

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
    assert ask(bakery, fresh, amount_atomic="1").status_code == 202

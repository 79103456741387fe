"""A store names the transaction that its customer says they sent, and reads what became of it."""

import pytest

from apps.chain.models import Deposit
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.django_db
STRANGE = "0x" + "ab" * 32


def test_a_store_reads_what_became_of_a_transaction(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    browser = Browser(cast.alice)
    page = f"payments/{made['id']}/transaction"
    assert page in text(browser.get(f"payments/{made['id']}"))
    make.simulated(cast.bakery.test, made["id"], "underpaid")
    tx_hash = Deposit.objects.get().tx_hash
    for status, words in {
        "confirmed": "It is booked.",
        "confirming": "It is confirming.",
        "failed": "It failed.",
    }.items():
        Deposit.objects.update(status=status)
        assert words in text(
            browser.post(page, transaction=f"https://explorer.example/tx/{tx_hash}")
        )
    assert "It wasn’t found." in text(browser.post(page, transaction=STRANGE))


def test_one_of_another_payment_is_nothing_of_this_one(cast: Cast) -> None:
    paid, other = make.payment(cast.bakery.test), make.payment(cast.bakery.test)
    make.simulated(cast.bakery.test, paid["id"])
    tx_hash = Deposit.objects.get().tx_hash
    answer = Browser(cast.alice).post(f"payments/{other['id']}/transaction", transaction=tx_hash)
    assert "It wasn’t found." in text(answer)

"""The merchant accepts what is held for an address to go back to: from then on nobody is asked for
one, and nothing of it is said to be unpaid or owed."""

from typing import Any

import pytest

from apps.access.access import Access
from apps.payments import attention
from apps.payments.models import HeldRefund, Payment
from apps.payments.services.refund_progress import advance_refunds
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.test_refund_addresses import EMAIL, page, post, token_in_email
from tests.chain.test_unknown_payers import flag_of, refunds, rejected
from tests.dashboard.browse import Browser, text

pytestmark = pytest.mark.chain


def accept(shop: Shop, payment: dict[str, Any]) -> dict[str, Any]:
    answer = shop.test.post(f"/payments/{payment['id']}/accept_shortfall", {})
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_nobody_is_asked_for_an_address_any_more(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery, metadata=EMAIL)
    token = token_in_email()
    assert "Where should your refund go?" in page(payment)
    body = accept(bakery, payment)
    assert (body["status"], body["needs_attention"]) == ("failed", None)
    assert (body["amount_paid"], body["accepted_late_amount"]) == ("5.00", "5.00")
    assert HeldRefund.objects.get().status == "closed"
    shown = page(payment)
    assert "has accepted what you sent" in shown and "Only €5.00 of €10.00 had arrived" in shown
    untrue = ("Where should", "was not accepted", "start again", "Ask Bakery", "emailed")
    assert [words for words in untrue if words in shown] == []
    to = make.fresh_address()
    assert post(payment, f"refund/{token}", address=to).status_code >= 400
    advance_refunds()
    assert refunds(payment) == [] and flag_of(payment) == ""
    assert auditing.breaches() == []


def test_the_store_has_nothing_to_do_for_it_any_more(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery)
    viewer = Access.for_public(bakery.store, "test")
    assert attention.held_refunds(viewer).count() == 1
    accept(bakery, payment)
    assert not attention.held_refunds(viewer).exists()
    assert not attention.unreturned_payments(viewer).exists()
    shown = text(Browser(bakery.owner).get(f"payments/{payment['id']}"))
    assert "Nothing was paid" not in shown and "A late deposit of" not in shown
    assert "was accepted on" in shown
    assert "Deposit accepted" in shown and "Late deposit accepted" not in shown


def test_a_share_whose_sender_is_being_checked_is_taken_too(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    payment = rejected(chain, watcher, bakery)
    HeldRefund.objects.update(status="checking", why="")
    Payment.objects.update(needs_attention="")
    accept(bakery, payment)
    advance_refunds()
    assert HeldRefund.objects.get().status == "closed" and refunds(payment) == []
    assert auditing.breaches() == []

"""Coins in a token's own contract, on a real chain: everyone who opens the payment later is shown
them too, for as long as the payment isn't paid."""

from typing import Any

import pytest
from django.test import Client

from apps.payments.models import Payment
from tests import auditing, make
from tests.billing import records
from tests.cast import Cast
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.test_payment_flow import entry
from tests.chain.test_unknown_payers import half, time_is_up, token
from tests.dashboard.browse import Browser, text

__all__ = ["token"]
pytestmark = pytest.mark.chain
TOLD = "These coins went to the token’s own contract."
FOREVER = "Nobody can return them, neither Alice&#x27;s Bakery nor we."
TO_MERCHANT = "Coins for this payment went to the token’s own contract."


def lost(chain: LocalChain, watcher: Reader, token: str, amount_atomic: int = 5_000_000) -> str:
    """The hash of a transaction that sent coins there."""
    watcher.read()
    chain.mint(token, chain.accounts[0], amount_atomic)
    tx_hash = chain.transfer(token, token, amount_atomic)
    watcher.read()
    return tx_hash


def named(made: dict[str, Any], tx_hash: str) -> None:
    Client().post(f"/pay/{made['reference']}/sent", {"transaction": tx_hash})


def page(made: dict[str, Any], query: str = "") -> str:
    """As somebody else's browser has it, or the same one a day later."""
    return text(Client().get(f"/pay/{made['reference']}{query}"))


def test_later_visits_of_customer_and_merchant_tell_it(
    chain: LocalChain, watcher: Reader, cast: Cast, token: str
) -> None:
    made = make.payment(cast.bakery.test)
    merchant = Browser(cast.alice)
    assert TOLD not in page(made)
    assert TO_MERCHANT not in text(merchant.get(f"payments/{made['id']}"))
    tx_hash = lost(chain, watcher, token)
    named(made, tx_hash)
    for shown in (page(made), page(made, "?asset=USDC_SETH")):
        assert TOLD in shown and FOREVER in shown and tx_hash in shown
        assert "Amount due" in shown  # which can still be paid
    seen = text(merchant.get(f"payments/{made['id']}"))
    assert TO_MERCHANT in seen and tx_hash in seen
    part = Client().get(f"/pay/{made['reference']}", headers={"HX-Request": "true"})
    assert TOLD in text(part)  # the part of the page that is swapped


def test_it_is_told_once_to_who_has_just_named_it(
    chain: LocalChain, watcher: Reader, cast: Cast, token: str
) -> None:
    made = make.payment(cast.bakery.test)
    first = lost(chain, watcher, token)
    where = f"/pay/{made['reference']}/sent"
    shown = text(Client().post(where, {"transaction": first}, follow=True))
    assert shown.count(TOLD) == 1
    second = lost(chain, watcher, token, 6_000_000)
    shown = text(Client().post(where, {"transaction": second}, follow=True))
    assert shown.count(TOLD) == 2 and first in shown and second in shown


def test_the_merchant_who_has_found_it_tells_the_customer_too(
    chain: LocalChain, watcher: Reader, cast: Cast, token: str
) -> None:
    made = make.payment(cast.bakery.test)
    tx_hash = lost(chain, watcher, token)
    Browser(cast.alice).post(f"payments/{made['id']}/transaction", transaction=tx_hash)
    assert TOLD in page(made) and tx_hash in page(made)


def test_one_that_ended_unpaid_goes_on_telling_it(
    chain: LocalChain, watcher: Reader, cast: Cast, token: str
) -> None:
    expired, failed = make.payment(cast.bakery.test), make.payment(cast.bakery.test)
    tx_hash = lost(chain, watcher, token)
    way = entry(failed)
    chain.pay(way["address"], half(failed, "SETH"))
    for made in (expired, failed):
        named(made, tx_hash)
    watcher.read()
    make.looked_at(expired["id"])
    time_is_up(chain, watcher)
    for made, status in ((expired, "expired"), (failed, "failed")):
        assert Payment.objects.get(pk=made["id"]).status == status
        assert page(made).count(TOLD) == 1
        assert TO_MERCHANT in text(Browser(cast.alice).get(f"payments/{made['id']}"))


def test_one_that_is_paid_says_no_more_of_it(
    chain: LocalChain, watcher: Reader, cast: Cast, token: str
) -> None:
    made = make.payment(cast.bakery.test)
    named(made, lost(chain, watcher, token))
    make.simulated(cast.bakery.test, made["id"])
    assert TOLD not in page(made)
    seen = text(Browser(cast.alice).get(f"payments/{made['id']}"))
    assert TO_MERCHANT not in seen and "Coins sent to a token’s contract" in seen
    assert auditing.breaches() == []


def test_an_invoices_page_tells_it_while_its_payment_is_open_and_when_that_has_expired(
    chain: LocalChain, watcher: Reader, cast: Cast, token: str
) -> None:
    bill = records.opened(cast.bakery.test)
    started = records.ok(records.start_payment(bill["public_token"]), 201)["payment"]
    made = {"id": started["payment_intent_id"], "reference": started["token"]}
    tx_hash = lost(chain, watcher, token)
    named(made, tx_hash)
    where = f"/invoice/{bill['public_token']}"
    for _ in range(2):
        shown = text(Client().get(where))
        assert shown.count(TOLD) == 1 and tx_hash in shown
        make.advance(cast.bakery.test, 3601)
    assert Payment.objects.get(pk=made["id"]).status == "expired"

"""A stock is never oversold by buyers at one moment, and a piece that nobody paid for can be bought
again."""

import uuid

import pytest

from apps.core.clock import real_now
from apps.core.db import sql
from apps.links.invariants import LINKS
from apps.links.models import LinkPayment, PaymentLink
from apps.links.requests import Purchase
from apps.links.selectors import tally_of
from apps.links.services.buy import RESERVED_SECONDS, SoldOut, buy
from apps.payments.models import Payment
from tests.billing.test_at_once import together
from tests.cast import Cast, Shop
from tests.links.makers import bought, made_link, send
from tests.make import advance, simulated


def breaches() -> list[object]:
    return [row for item in LINKS for row in sql.Statement(item.breaches).rows()]


def new_key() -> str:
    return uuid.uuid4().hex


def test_of_twenty_buyers_of_three_pieces_three_get_one(committed: Cast) -> None:
    link = made_link(committed.bakery, stock=3)

    def customer(_: int) -> str:
        try:
            return buy(link, Purchase(form_key=new_key())).status
        except SoldOut:
            return "sold out"

    answers = together(customer, 20)
    assert sorted(answers) == ["pending"] * 3 + ["sold out"] * 17
    assert LinkPayment.objects.filter(link=link).count() == 3 and not breaches()


def test_a_form_sent_by_many_at_once_is_one_payment(committed: Cast) -> None:
    link = made_link(committed.bakery, stock=2)
    key = new_key()
    found = together(lambda _: buy(link, Purchase(form_key=key)).pk, 12)
    assert len(set(found)) == 1 and LinkPayment.objects.filter(link=link).count() == 1


def test_a_piece_that_nobody_paid_for_is_sold_again(bakery: Shop) -> None:
    link = made_link(bakery, stock=1)
    assert send(link).status_code == 303
    assert send(link).status_code == 422 and tally_of(link).taken == 1
    advance(bakery.test, RESERVED_SECONDS + 1)
    bakery.store.refresh_from_db()
    assert bought(bakery, link).status == "completed"
    assert send(link).status_code == 422
    assert LinkPayment.objects.filter(link=link).exclude(released_at=None).count() == 1
    assert not breaches()


@pytest.mark.parametrize("scenario", ["unconfirmed", "underpaid"])
def test_money_that_is_on_its_way_holds_its_piece(bakery: Shop, scenario: str) -> None:
    link = made_link(bakery, stock=1)
    bought(bakery, link, scenario)
    assert send(link).status_code == 422
    assert tally_of(link).open == 1


def test_a_failed_payment_gives_its_piece_back(bakery: Shop) -> None:
    link = made_link(bakery, stock=1)
    bought(bakery, link, "underpaid")
    advance(bakery.test, RESERVED_SECONDS + 1)
    bakery.store.refresh_from_db()
    assert Payment.objects.get(store=bakery.store).status in ("failed", "refunded")
    assert bought(bakery, link).status == "completed"


def test_a_refunded_sale_stays_sold(bakery: Shop) -> None:
    link = made_link(bakery, stock=1)
    paid = bought(bakery, link)
    Payment.objects.filter(pk=paid.pk).update(status="refunded")
    assert send(link).status_code == 422


def test_an_oversold_stock_is_found(bakery: Shop) -> None:
    link = made_link(bakery, stock=2)
    send(link)
    paid = bought(bakery, link)
    assert not breaches()
    PaymentLink.objects.filter(pk=link.pk).update(stock=1)
    assert len(breaches()) == 1
    PaymentLink.objects.filter(pk=link.pk).update(stock=2)
    LinkPayment.objects.filter(payment=paid).update(released_at=real_now())
    assert len(breaches()) == 1


def test_a_payment_of_another_mode_is_found(bakery: Shop) -> None:
    send(made_link(bakery))
    PaymentLink.objects.update(mode="live")
    assert len(breaches()) == 1


def test_a_late_payment_reopens_nothing(bakery: Shop) -> None:
    """Coins that arrive after the deadline are a late deposit: the piece may be sold to somebody
    else by then."""
    link = made_link(bakery, stock=1)
    send(link)
    advance(bakery.test, RESERVED_SECONDS + 1)
    bakery.store.refresh_from_db()
    late = Payment.objects.get(store=bakery.store)
    simulated(bakery.test, str(late.pk), "exact", late=True)
    late.refresh_from_db()
    assert (
        late.status == "expired" and bought(bakery, link).status == "completed" and not breaches()
    )

"""Received, remaining and surplus amounts are one figure each wherever they are shown, and add up
to what is due."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.payments.documents.progress import Progress, progress_of
from apps.payments.models import Payment
from apps.payments.selectors import received_by
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser

pytestmark = pytest.mark.django_db
# Half a cent at 1800 EUR a coin, and the atomic unit before and after.
HALF_CENT = 1_997_222_222_222_222


def came(made: dict[str, Any]) -> Progress:
    payment = Payment.objects.get(pk=made["id"])
    return progress_of(payment, received_by(payment))


def plain(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize("atomic", [HALF_CENT - 1, HALF_CENT, HALF_CENT + 1])
def test_checkout_dashboard_inbox_and_api_round_a_half_cent_alike(cast: Cast, atomic: int) -> None:
    shop = cast.bakery
    made = make.payment(shop.test, amount="7.80")
    made = make.simulated(shop.test, made["id"], amount_atomic=str(atomic))
    paid = made["amount_paid"]
    left = f"{7.80 - float(paid):.2f}"
    checkout = plain(Client().get(f"/pay/{made['reference']}").content.decode())
    assert f"€{paid} of €7.80 received" in checkout and f"€{left}" in checkout

    page = Browser(cast.alice)
    detail = plain(page.get(f"payments/{made['id']}").content.decode())
    assert f"€{paid} Rate" in detail and f"€{left}" in detail
    inbox = plain(page.get("attention").content.decode())
    assert f"€{paid} of €7.80" in inbox and f"€{left} missing" in inbox


@pytest.mark.parametrize("over", [HALF_CENT - 1, HALF_CENT, HALF_CENT + 1])
def test_what_is_over_is_what_came_less_what_was_due(cast: Cast, over: int) -> None:
    shop = cast.bakery
    made = make.payment(shop.test, amount="7.80")
    due = int(made["payment_addresses"][0]["crypto_amount_atomic"])
    made = make.simulated(shop.test, made["id"], amount_atomic=str(due + over))
    excess = round(float(made["amount_paid"]) * 100) - 780
    assert made["overpayment"]["excess_cents"] == excess == came(made).over_cents
    checkout = plain(Client().get(f"/pay/{made['reference']}").content.decode())
    assert f"Overpaid €{excess / 100:.2f}" in checkout

    page = Browser(cast.alice)
    assert f"€{excess / 100:.2f} over" in plain(page.get("attention").content.decode())
    assert f"Overpaid by €{excess / 100:.2f}" in plain(
        page.get(f"payments/{made['id']}").content.decode()
    )


def test_the_fee_on_top_is_a_part_of_what_is_due(cast: Cast) -> None:
    shop = cast.bakery
    made = make.payment(shop.test, amount="100.00", customer_pays_fee=True)
    make.simulated(shop.test, made["id"], "underpaid")
    progress = came(made)
    assert (progress.total_cents, progress.received_cents) == (10101, 5051)
    assert progress.left_cents == 10101 - 5051
    made = make.simulated(shop.test, made["id"])
    assert made["amount_paid"] == "101.01" and came(made).over_cents == 0


def test_while_a_coin_is_missing_something_is_left(cast: Cast) -> None:
    shop = cast.bakery
    made = make.payment(shop.test, amount="7.80")
    due = int(made["payment_addresses"][0]["crypto_amount_atomic"])
    make.simulated(shop.test, made["id"], "unconfirmed", amount_atomic=str(due - 1))
    progress = came(made)
    assert (progress.received_cents, progress.left_cents) == (779, 1)


def test_a_yen_is_never_split(cast: Cast) -> None:
    shop = cast.bakery
    made = make.payment(shop.test, amount="1001", currency="JPY")
    for part in ("0.001235", "0.000111"):
        make.simulated(shop.test, made["id"], amount=part, reference=part)
        progress = came(made)
        assert progress.received_cents % 100 == 0
        assert progress.received_cents + progress.left_cents == 100_100

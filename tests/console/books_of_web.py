"""Books of a live store, and the calls of somebody who runs SQL as the web's role."""

import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.grants import WEB
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.db import tenancy
from apps.ledger.models import Entry, Movement
from apps.ledger.selectors import account_balance
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payouts.models import Payout
from tests import make
from tests.cast import Cast, Shop
from tests.chain.test_signer_believes_nobody import deposit_in_a_block
from tests.roles import acting_as

ETHER = 10**18


def call(function: str, *arguments: Any, scope: tenancy.Scope | None = None) -> tuple[Any, ...]:
    """One statement, as the web's role, with every store in its scope or those of `scope`."""
    places = ", ".join(["%s"] * len(arguments))
    opened = tenancy.everyone("an attack") if scope is None else tenancy.within(scope)
    with acting_as(WEB), opened, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {function}({places}, now())", arguments)
        row: tuple[Any, ...] = cursor.fetchone()
        return row


def refused(function: str, *arguments: Any, of: str = "permission denied for movement") -> None:
    before = Movement.objects.count(), Entry.objects.count()
    with pytest.raises(DatabaseError, match=of):
        call(function, *arguments)
    assert (Movement.objects.count(), Entry.objects.count()) == before


@dataclass
class Books:
    """Of a live store with ten ether, and a payment of its own."""

    shop: Shop
    other: Shop
    payment: Payment

    def balance(self, kind: str, shop: Shop | None = None) -> int:
        return account_balance((shop or self.shop).store.pk, "live", "ETH", kind)

    def made(self) -> dict[str, Any]:
        now = clock.real_now()
        return {"store": self.shop.store, "mode": "live", "created_at": now, "updated_at": now}

    def payout(self, amount_atomic: int = ETHER, **columns: Any) -> Payout:
        """A row that the web has written, and nothing more."""
        row: Payout = Payout.objects.create(
            **self.made()
            | {
                "asset_id": "ETH",
                "amount_atomic": amount_atomic,
                "rail": "crypto",
                "destination_address": make.fresh_address(),
                "idempotency_key": str(uuid.uuid4()),
            }
            | columns
        )
        return row

    def failed(self, **columns: Any) -> Payout:
        """One that has set its coins aside and failed."""
        payout = self.payout(**columns)
        call("payouts_post_payout_created", payout.pk)
        Payout.objects.filter(pk=payout.pk).update(status="failed", failure_code="unknown")
        return payout

    def refund(self, amount_atomic: int = ETHER, **columns: Any) -> Refund:
        row: Refund = Refund.objects.create(
            **self.made()
            | {
                "payment": self.payment,
                "asset_id": "ETH",
                "reason": "merchant_requested",
                "destination_address": make.fresh_address(),
                "amount_atomic": amount_atomic,
                "is_from_held": False,
                "is_simulated": False,
            }
            | columns
        )
        return row

    def deposit(self, status: str = "confirmed") -> Deposit:
        """One that the watcher has written at an address of the payment."""
        deposit = deposit_in_a_block(status)
        way = PaymentAddress.objects.get(payment=self.payment, asset_id="ETH")
        Deposit.objects.filter(pk=deposit.pk).update(address_id=way.address_id)
        deposit.refresh_from_db()
        return deposit


@pytest.fixture
def books(cast: Cast) -> Books:
    payment = make.payment(cast.bakery.live)
    for shop in (cast.bakery, cast.strangers):
        make.store_coins(shop.store, "ETH", 10 * ETHER)
    return Books(cast.bakery, cast.strangers, Payment.objects.get(pk=payment["id"]))

"""What web's role gives back of coins that are set aside: a payout's own, and nothing that another
record still has signed."""

import uuid

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.grants import WEB
from apps.core import clock
from apps.core.db import tenancy
from apps.core.ids import new_id
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE, RESERVED
from apps.ledger.movements.lines import StoreMove
from apps.ledger.posting import account_id
from apps.ledger.selectors import account_balance
from apps.payments.models import Payment, PaymentAddress
from tests import make
from tests.cast import Shop
from tests.chain.test_signer_believes_nobody import FORGED, forged
from tests.roles import acting_as

AMOUNT = 10**15


def of(shop: Shop, amount_atomic: int = AMOUNT, mode: str = "test") -> StoreMove:
    return {
        "store_id": shop.store.pk,
        "mode": mode,
        "asset_id": "SETH",
        "amount_atomic": amount_atomic,
        "at": clock.real_now(),
    }


def give_back(shop: Shop, subject: uuid.UUID, amount_atomic: int = AMOUNT) -> None:
    with (
        acting_as(WEB),
        tenancy.everyone("what a policy hides would be refused by it alone"),
        transaction.atomic(),
    ):
        movements.payout_released(**of(shop, amount_atomic), payout_id=subject)


def refunded(shop: Shop) -> uuid.UUID:
    """The payment of a refund that has set coins aside."""
    payment = uuid.UUID(make.payment(shop.test)["id"])
    movements.refund_created(**of(shop), payment_id=payment, refund_id=new_id(), is_from_held=False)
    return payment


def sold(shop: Shop) -> uuid.UUID:
    """A swap that has."""
    swap = new_id()
    movements.swap_created(
        store_id=shop.store.pk,
        mode="test",
        asset_id="SETH",
        swap_id=swap,
        sell_atomic=AMOUNT,
        at=clock.real_now(),
    )
    return swap


@pytest.mark.parametrize("make_record", [refunded, sold])
def test_coins_of_another_record_are_no_payouts(bakery: Shop, make_record: object) -> None:
    make.funded(bakery.test)
    assert callable(make_record)
    subject = make_record(bakery)
    available = account_balance(bakery.store.pk, "test", "SETH", "available")
    with pytest.raises(DatabaseError, match="it may be on its way"):
        give_back(bakery, subject)
    assert account_balance(bakery.store.pk, "test", "SETH", "available") == available


def test_a_payout_with_the_id_of_a_payment_gives_back_its_own_alone(bakery: Shop) -> None:
    make.funded(bakery.test)
    subject = refunded(bakery)
    movements.payout_created(**of(bakery, 1), payout_id=subject)
    with pytest.raises(DatabaseError, match="it may be on its way"):
        give_back(bakery, subject, AMOUNT + 1)
    give_back(bakery, subject, 1)


def test_what_is_simulated_is_booked_in_test_mode_alone(bakery: Shop) -> None:
    """At an address of test mode, which web lists for a live payment."""
    payment = Payment.objects.get(pk=make.payment(bakery.live)["id"])
    values = forged("test", "sepolia", "SETH", is_simulated=True)
    PaymentAddress.objects.create(
        payment=payment,
        asset_id="SETH",
        address_id=values["address"],
        position=9,
        required_atomic=1,
        exchange_rate=1,
        required_confirmations=1,
        created_at=clock.real_now(),
    )
    with acting_as(WEB), tenancy.everyone("an attack"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(FORGED, values)
        with (
            pytest.raises(DatabaseError, match="nobody has simulated this"),
            transaction.atomic(),
        ):
            movements.deposit_confirmed(
                **of(bakery, values["amount"], "live"),
                deposit_id=values["id"],
                payment_id=payment.pk,
                is_simulated=True,
            )


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01"])
def test_nothing_is_booked_at_a_time_that_nobody_can_read(bakery: Shop, moment: str) -> None:
    """The signer reads when the movements of a day began."""
    make.funded(bakery.test)
    legs = [(AVAILABLE, -1), (RESERVED, 1)]
    accounts = [account_id(bakery.store.pk, "test", "SETH", kind) for kind, _ in legs]
    payout = new_id()
    with (
        acting_as(WEB),
        tenancy.everyone("an attack"),
        pytest.raises(DatabaseError, match="it is at no time"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SELECT * FROM ledger_post(%s, 'payout_created', 'test', %s, %s, %s,"
            " ARRAY['SETH', 'SETH'], %s, ARRAY['principal', 'principal'], NULL)",
            [f"payout:{payout}", payout, moment, accounts, [amount for _, amount in legs]],
        )

"""Deposits to merchants' own wallets that were booked and have left the chain: once the review has
ended they leave the memo accounts, and they are in them again when the chain has them again
(decision 880).

Nothing that the service holds or owes changes.
"""

import uuid

from django.db import transaction

from apps.assets.models import AcceptedAsset
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.db.sql import Statement
from apps.core.rows import Job
from apps.ledger import keys, movements
from apps.ledger.chart import OWN_FEES_DUE, OWN_PENDING, OWN_RECEIVED
from apps.ledger.models import Movement
from apps.ledger.movements import OwnParts
from apps.ledger.posting import locked_balance
from apps.ledger.selectors import is_posted, own_pending_of, taken_by
from apps.payments.models import LateDeposit, Payment, PaymentAddress
from apps.payments.services.change_status import locked_payment
from apps.payments.services.settle import shares

JOB = Job("payments.reverse_own_losses", limit=200)
_Status = Deposit.Status
# Lost and reported, under no review, and not reversed; or reversed, and there again.
_DUE = Statement(f"""
WITH reversed AS MATERIALIZED (
    SELECT {keys.subject_sql("m.key")} AS deposit_id, EXISTS (SELECT FROM ledger_movement r
        WHERE r.key = '{keys.OWN_RESTORED.name}' || substr(m.key, {len(keys.OWN_REVERSED.name) + 1})
    ) AS is_restored
    FROM ledger_movement m WHERE m.kind = 'own_deposit_reversed'
), open AS (SELECT deposit_id::uuid AS id FROM reversed WHERE NOT is_restored)
SELECT d.id FROM chain_deposit d
JOIN chain_address o ON o.address = d.address_id AND o.purpose = 'own'
JOIN payments_paymentaddress w ON w.address_id = d.address_id AND w.asset_id = d.asset_id
JOIN payments_payment p ON p.id = w.payment_id
WHERE d.is_lost AND d.status = 'failed' AND d.handled_status = 'failed'
    AND d.id NOT IN (SELECT id FROM open)
    AND NOT EXISTS (SELECT FROM assets_acceptedasset s WHERE s.store_id = p.store_id
        AND s.mode = p.mode AND s.asset_id = d.asset_id AND d.id = ANY (s.lost_deposit_ids))
UNION SELECT d.id FROM open JOIN chain_deposit d USING (id)
WHERE d.status = 'confirmed' AND NOT d.is_lost
LIMIT {JOB.limit}
""")  # noqa: S608  # our own text


def reverse_own_losses() -> int:
    """Of everybody; how many there were."""
    return JOB.each(lambda: [row[0] for row in _DUE.rows()], _settle)


@transaction.atomic
def _settle(deposit_id: uuid.UUID) -> None:
    row = Deposit.objects.values("address_id", "asset_id").get(pk=deposit_id)
    entry = PaymentAddress.objects.get(address=row["address_id"], asset=row["asset_id"])
    payment = locked_payment(entry.payment_id)
    deposit = Deposit.objects.select_for_update(no_key=True, of=("self",)).get(pk=deposit_id)
    times = Movement.objects.filter(
        kind="own_deposit_reversed", key__startswith=keys.OWN_REVERSED.of(deposit.pk, "")
    ).count()
    is_reversed = bool(times) and not is_posted([keys.OWN_RESTORED.of(deposit.pk, times)])
    if is_reversed and deposit.status == _Status.CONFIRMED and not deposit.is_lost:
        _restore(payment, deposit, times)
    elif not is_reversed and deposit.is_lost and not _is_under_review(payment, deposit):
        _reverse(payment, deposit, times + 1)


def _is_under_review(payment: Payment, deposit: Deposit) -> bool:
    return AcceptedAsset.objects.filter(
        store=payment.store_id,
        mode=payment.mode,
        asset=deposit.asset_id,
        lost_deposit_ids__contains=[deposit.pk],
    ).exists()


def _reverse(payment: Payment, deposit: Deposit, time: int) -> None:
    movements.own_deposit_reversed(
        parts=_parts(payment, deposit),
        at=clock.now(payment.store, payment.mode),
        **_of(payment, deposit, time),
    )


def _restore(payment: Payment, deposit: Deposit, time: int) -> None:
    taken = taken_by(keys.OWN_REVERSED.of(deposit.pk, time))
    movements.own_deposit_restored(
        parts={
            "pending_atomic": taken.get(OWN_PENDING, 0),
            "received_atomic": taken.get(OWN_RECEIVED, 0),
            "fees_due_atomic": taken.get(OWN_FEES_DUE, 0),
        },
        at=clock.now(payment.store, payment.mode),
        **_of(payment, deposit, time),
    )


def _of(payment: Payment, deposit: Deposit, time: int) -> movements.OwnDeposit:
    return {
        "store_id": payment.store_id,
        "mode": payment.mode,
        "asset_id": deposit.asset_id,
        "deposit_id": deposit.pk,
        "payment_id": payment.pk,
        "time": time,
    }


def _parts(payment: Payment, deposit: Deposit) -> OwnParts:
    """Where its coins are booked. Of a settled one its fee is due no more, as far as any is; what
    was collected or paid stays with the service until staff give it back."""
    amount = int(deposit.amount_atomic)
    if _is_pending(payment, deposit):
        return {"pending_atomic": amount, "received_atomic": 0, "fees_due_atomic": 0}
    split = shares(payment, deposit.asset_id, amount, is_own=True)
    of_store = (payment.store_id, payment.mode, deposit.asset_id)
    fee = min(split["service_fee_atomic"], locked_balance(*of_store, OWN_FEES_DUE))
    return {"pending_atomic": 0, "received_atomic": amount - fee, "fees_due_atomic": fee}


def _is_pending(payment: Payment, deposit: Deposit) -> bool:
    """Tells whether the deposit has never been settled: the payment's pending amount is more than
    that of the others that wait there."""
    if payment.completed_at is None:
        return True
    waiting = LateDeposit.objects.filter(
        payment=payment,
        accepted_at=None,
        deposit__asset=deposit.asset_id,
        deposit__handled_status=_Status.CONFIRMED,
        deposit__is_lost=False,
    ).exclude(deposit=deposit.pk)
    others = sum(int(late.deposit.amount_atomic) for late in waiting.select_related("deposit"))
    return own_pending_of(payment.pk, deposit.asset_id) - others >= deposit.amount_atomic

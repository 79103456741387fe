"""Settlements that are sent on the chain: each requests one transaction from the sender, keyed by
the settlement, and follows it to its end.

A settlement whose outcome is unknown stays submitted. A failed settlement returns the coins to the
store and the amount to the mandate.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from django.db import transaction

from apps.agents import states
from apps.agents.models import Mandate, Settlement, SettlementStep
from apps.agents.services.mandates import change_status
from apps.assets.selectors import native_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import attempts, sender
from apps.chain.sending.limits import is_refused_destination
from apps.core import clock
from apps.core.failpoints import failpoint
from apps.core.machine import Change, Noted
from apps.core.rows import Job
from apps.ledger import movements

PURPOSE = OutgoingTransaction.Purpose.SETTLEMENT
JOB = Job("agents.advance_settlements", limit=100)
MISSING_PAY_TO = "missing_pay_to"
INVALID_PAY_TO = "invalid_pay_to"
_Sent = OutgoingTransaction.Status
_Status = Settlement.Status


def advance_settlements(mode: str = "") -> int:
    """The sweep (of a mode): move every settlement that is to be dispatched one step; how many
    there were."""
    rows = Settlement.objects.filter(status__in=states.OPEN, is_dispatched=True).order_by(
        "created_at"
    )
    rows = rows.filter(mode=mode) if mode else rows
    return JOB.walk(rows.values_list("pk", flat=True), advance_settlement, mode=mode)


def advance_settlement(settlement_id: uuid.UUID) -> None:
    """One settlement, under its own lock; its mandate is locked only to give room back."""
    with transaction.atomic():
        rows = Settlement.objects.select_for_update(no_key=True, of=("self",)).select_related(
            "store", "asset__chain"
        )
        settlement = rows.get(pk=settlement_id)
        if settlement.status not in states.OPEN or not settlement.is_dispatched:
            return
        at = clock.now(settlement.store, settlement.mode)
        if not settlement.pay_to:
            _fail(settlement, MISSING_PAY_TO, at)
        elif settlement.status == _Status.PENDING and is_refused_destination(
            settlement.pay_to.lower(), PURPOSE, settlement.mode
        ):
            _fail(settlement, INVALID_PAY_TO, at)
        else:
            _follow(settlement, settlement.pay_to, at)


def _follow(settlement: Settlement, pay_to: str, at: datetime) -> None:
    def ask(reference: str) -> OutgoingTransaction:
        return sender.request(
            chain_id=settlement.asset.chain_id,
            asset_id=settlement.asset_id,
            to=pay_to,
            amount_atomic=settlement.amount_atomic,
            purpose=PURPOSE,
            reference=reference,
            mode=settlement.mode,
            store_id=settlement.store_id,
            at=clock.real_now(),
        )

    transfer = attempts.newest(ask, settlement.pk, partial(_book_gas, at=at))
    failpoint("settlement.K2")
    if settlement.status == _Status.PENDING and transfer.status in (
        _Sent.SUBMITTED,
        _Sent.CONFIRMED,
        _Sent.REVIEW,
    ):
        _move(settlement, _Status.SUBMITTED, at, tx_ref=transfer.tx_hash or None)
    if transfer.status == _Sent.CONFIRMED:
        _confirm(settlement, transfer, at)
        sender.mark_handled(transfer)
    elif transfer.status == _Sent.FAILED:
        _fail(
            settlement,
            transfer.reason or "The transaction failed",
            at,
            gas_atomic=transfer.network_fee_atomic,
        )
        sender.mark_handled(transfer)


def _book_gas(transfer: OutgoingTransaction, at: datetime) -> None:
    """Book the gas of an attempt that failed."""
    movements.attempt_gas_paid(
        mode=transfer.mode,
        outgoing_id=transfer.pk,
        gas_asset_id=native_asset_id(transfer.asset),
        gas_atomic=transfer.network_fee_atomic,
        at=at,
    )


def _confirm(settlement: Settlement, transfer: OutgoingTransaction, at: datetime) -> None:
    _move(settlement, _Status.CONFIRMED, at, tx_ref=transfer.tx_hash)
    movements.x402_confirmed(
        mode=settlement.mode,
        asset_id=settlement.asset_id,
        settlement_id=settlement.pk,
        amount_atomic=settlement.amount_atomic,
        gas_asset_id=native_asset_id(settlement.asset),
        gas_atomic=transfer.network_fee_atomic,
        at=at,
    )


def _fail(settlement: Settlement, reason: str, at: datetime, *, gas_atomic: int = 0) -> None:
    """It moved nothing and never will: the debit is reversed, and the envelope has its room back. A
    reverted one has paid its gas."""
    _move(settlement, _Status.FAILED, at, note=reason[:200], failure_reason=reason[:200])
    movements.x402_reversed(
        store_id=settlement.store_id,
        mode=settlement.mode,
        asset_id=settlement.asset_id,
        settlement_id=settlement.pk,
        amount_atomic=settlement.amount_atomic,
        gas_asset_id=native_asset_id(settlement.asset),
        gas_atomic=gas_atomic,
        at=at,
    )
    mandate = Mandate.objects.select_for_update(no_key=True).get(pk=settlement.mandate_id)
    Mandate.objects.filter(pk=mandate.pk).update(
        spent_atomic=mandate.spent_atomic - settlement.amount_atomic, updated_at=at
    )
    if mandate.status == Mandate.Status.EXHAUSTED and mandate.expires_at > at:
        change_status(mandate, Mandate.Status.ACTIVE, at)


def _move(
    settlement: Settlement, to: str, at: datetime, *, note: str = "", **changes: object
) -> None:
    states.SETTLEMENT.change_locked(settlement, Noted(to, note), at=at, updated_at=at, **changes)


@states.SETTLEMENT.recorder
def _record(changes: Sequence[Change[Settlement, Noted]]) -> None:
    for change in changes:
        SettlementStep.objects.create(
            settlement=change.row,
            from_status=change.before,
            to_status=change.step.status,
            at=change.at,
            note=change.step.note,
        )

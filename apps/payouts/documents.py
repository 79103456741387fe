"""A payout and a schedule as the API tells them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.chain.addresses import checksummed
from apps.core import money
from apps.core.clock import iso
from apps.payouts import states
from apps.payouts.models import Payout, Schedule

# The coins that pay for gas all have so many places.
GAS_DECIMALS = 18


def payout_document(payout: Payout) -> dict[str, Any]:
    asset = payout.asset
    fee, has_failed = payout.network_fee_atomic, payout.status == Payout.Status.FAILED
    return {
        "id": str(payout.pk),
        "status": payout.status,
        "payout_rail": payout.rail,
        "payout_schedule_id": None if payout.schedule_id is None else str(payout.schedule_id),
        "amount_atomic": str(payout.amount_atomic),
        "amount_decimal": money.decimal_from_atomic(payout.amount_atomic, asset.atomic_decimals),
        "destination_address": None if payout.destination_address is None else checksummed(payout.destination_address),
        "provider_tx_id": payout.provider_tx_id,
        "tx_hash": payout.tx_hash,
        "fiat_currency": payout.fiat_currency,
        "paid_fiat_amount_cents": payout.paid_fiat_amount_cents,
        "paid_fx_rate": None if payout.paid_fx_rate is None else money.rate_text(payout.paid_fx_rate),
        "paid_fee_cents": payout.paid_fee_cents,
        "paid_at": iso(payout.paid_at),
        "paid_external_reference": payout.paid_external_reference,
        "network_fee_decimal": None if fee is None else money.decimal_from_atomic(fee, GAS_DECIMALS),
        "state_transitions": [one.document() for one in told_transitions(payout)],
        "failure_reason": payout.failure_reason if has_failed else None,
        "failure_code": payout.failure_code if has_failed else None,
        "livemode": payout.is_live,
        "simulated": payout.is_simulated,
        "withheld_atomic": str(payout.withheld_atomic),
        "failed_gas_charged_atomic": str(payout.failed_gas_atomic),
        "pending_reason": pending_reason(payout),
        "funds_returned": payout.funds == Payout.Funds.RETURNED,
        "next_retry_at": iso(payout.retry_at),
        "created_at": iso(payout.created_at),
        "updated_at": iso(payout.updated_at),
        "asset": {
            "asset_id": asset.pk,
            "coin_symbol": asset.coin_symbol,
            "chain_symbol": asset.chain.symbol,
            "atomic_decimals": asset.atomic_decimals,
        },
    }


def pending_reason(payout: Payout) -> str | None:
    """Why it is not on its way, as a code; None while nothing holds it up."""
    if payout.status in states.WAITING:
        return payout.pending_reason or None
    if payout.status == Payout.Status.REQUIRES_REVIEW:
        return states.COOLING_DOWN if payout.review_reason == states.NEW_DESTINATION else states.AWAITING_APPROVAL
    return None


@dataclass(frozen=True)
class Told:
    """A line of the history that merchants see; `note` is what was said of a failure."""

    before: str | None
    to: str
    at: datetime
    note: str

    def document(self) -> dict[str, Any]:
        return {"from": self.before, "to": self.to, "at": iso(self.at), "note": self.note or None}


def told_transitions(payout: Payout) -> list[Told]:
    """Oldest first; steps between the told states are left out."""
    told: list[Told] = []
    for line in payout.transitions.all():
        before = told[-1].to if told else None
        to = states.TOLD.get(line.to_status)
        if to is not None and to != before:
            told.append(Told(before, to, line.at, line.note if to == Payout.Status.FAILED else ""))
    return told


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    kind, asset = schedule.destination_type, schedule.asset
    destination_id = None if schedule.destination_id is None else str(schedule.destination_id)
    raw = schedule.destination_address
    return {
        "id": str(schedule.pk),
        "frequency": schedule.frequency,
        "minimum_fiat_cents": schedule.minimum_fiat_cents,
        "minimum_fiat_currency": schedule.minimum_fiat_currency,
        "destination_address": None if raw is None else checksummed(raw),
        "destination_type": kind,
        "payout_rail": Payout.Rail.FIAT_MANUAL if kind == "fiat" else Payout.Rail.CRYPTO,
        "next_payout_at": iso(schedule.next_payout_at),
        "last_payout_at": iso(schedule.last_payout_at),
        "last_skip_reason": schedule.last_skip_reason,
        "active": schedule.is_active and schedule.deleted_at is None,
        "livemode": schedule.is_live,
        "fiat_payout_detail_id": destination_id if kind == "fiat" else None,
        "crypto_payout_detail_id": destination_id if kind == "crypto" else None,
        "created_at": iso(schedule.created_at),
        "updated_at": iso(schedule.updated_at),
        "asset": {"asset_id": asset.pk, "coin_symbol": asset.coin_symbol, "chain_symbol": asset.chain.symbol},
    }

"""A payout, a quote and a schedule as every interface shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from apps.assets.models import Asset
from apps.chain.networks.families import fee_decimals, shown_address
from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Id, Time
from apps.payouts import states
from apps.payouts.models import Payout, Schedule

PendingReason = Annotated[str, Meta(extra_json_schema={"enum": list(states.PENDING_REASONS)})]


class AssetNamed(Document, frozen=True, kw_only=True):
    asset_id: str
    coin_symbol: str
    chain_symbol: str


class AssetPaidOut(AssetNamed, frozen=True, kw_only=True):
    atomic_decimals: int


class PayoutTransition(Document, frozen=True, kw_only=True):
    before: str | None = field(name="from")
    to: str
    at: Time
    note: str | None


class PayoutDocument(Document, frozen=True, kw_only=True):
    """`pending_reason` says why it is not on its way yet; null while nothing holds it up."""

    id: Id
    status: str
    payout_rail: str
    payout_schedule_id: Id | None
    amount_atomic: Digits
    amount_decimal: Decimals
    destination_address: str | None
    provider_tx_id: str | None
    tx_hash: str | None
    fiat_currency: str | None
    paid_fiat_amount_cents: int | None
    paid_fx_rate: Decimals | None
    paid_fee_cents: int | None
    paid_at: Time | None
    paid_external_reference: str | None
    network_fee_decimal: Decimals | None
    state_transitions: list[PayoutTransition]
    failure_reason: str | None
    failure_code: str | None
    livemode: bool
    simulated: bool | None
    withheld_atomic: Digits
    failed_gas_charged_atomic: Digits
    pending_reason: PendingReason | None
    funds_returned: bool
    next_retry_at: Time | None
    created_at: Time
    updated_at: Time
    asset: AssetPaidOut


class PayoutQuoteDocument(Document, frozen=True, kw_only=True):
    asset_id: str
    coin_symbol: str
    amount_atomic: Digits
    estimated_fiat_cents: int
    estimated_fee_cents: int
    exchange_rate: Decimals
    fiat_currency: str
    source_currency: str
    minimum_atomic: Digits
    meets_minimum: bool
    expires_at: Time | None


class PayoutScheduleDocument(Document, frozen=True, kw_only=True):
    id: Id
    frequency: str
    minimum_fiat_cents: int | None
    minimum_fiat_currency: str | None
    destination_address: str | None
    destination_type: str
    payout_rail: str
    next_payout_at: Time | None
    last_payout_at: Time | None
    last_skip_reason: str | None
    active: bool
    livemode: bool
    fiat_payout_detail_id: Id | None
    crypto_payout_detail_id: Id | None
    created_at: Time
    updated_at: Time
    asset: AssetNamed


class PayoutScheduleWithPayouts(PayoutScheduleDocument, frozen=True, kw_only=True):
    payouts: list[PayoutDocument]


class PayoutScheduleRun(Document, frozen=True, kw_only=True):
    """Outcome of a run that was asked for."""

    triggered: bool
    skip_reason: str | UnsetType | None = UNSET
    payout: PayoutDocument | UnsetType | None = UNSET


def payout_document(payout: Payout) -> PayoutDocument:
    fee = payout.network_fee_atomic
    has_failed = payout.status == Payout.Status.FAILED
    asset = payout.asset
    decimals = asset.atomic_decimals
    return PayoutDocument(
        id=str(payout.pk),
        status=payout.status,
        payout_rail=payout.rail,
        payout_schedule_id=None if payout.schedule_id is None else str(payout.schedule_id),
        amount_atomic=str(payout.amount_atomic),
        amount_decimal=money.decimal_from_atomic(payout.amount_atomic, decimals),
        destination_address=None
        if payout.destination_address is None
        else shown_address(payout.destination_address),
        provider_tx_id=payout.provider_tx_id,
        tx_hash=payout.tx_hash,
        fiat_currency=payout.fiat_currency,
        paid_fiat_amount_cents=payout.paid_fiat_amount_cents,
        paid_fx_rate=None if payout.paid_fx_rate is None else money.rate_text(payout.paid_fx_rate),
        paid_fee_cents=payout.paid_fee_cents,
        paid_at=iso(payout.paid_at),
        paid_external_reference=payout.paid_external_reference,
        network_fee_decimal=None
        if fee is None
        else money.decimal_from_atomic(fee, fee_decimals(asset.chain)),
        state_transitions=[transition.document() for transition in public_transitions(payout)],
        failure_reason=payout.failure_reason if has_failed else None,
        failure_code=payout.failure_code if has_failed else None,
        livemode=payout.is_live,
        simulated=payout.is_simulated,
        withheld_atomic=str(payout.withheld_atomic),
        failed_gas_charged_atomic=str(payout.failed_gas_atomic),
        pending_reason=pending_reason(payout),
        funds_returned=payout.funds == Payout.Funds.RETURNED,
        next_retry_at=iso(payout.retry_at),
        created_at=iso(payout.created_at),
        updated_at=iso(payout.updated_at),
        asset=AssetPaidOut(**_names(payout.asset), atomic_decimals=decimals),
    )


def _names(asset: Asset) -> dict[str, str]:
    return {
        "asset_id": asset.pk,
        "coin_symbol": asset.coin_symbol,
        "chain_symbol": asset.chain.symbol,
    }


def pending_reason(payout: Payout) -> str | None:
    """Why it is not on its way, as a code; None while nothing holds it up."""
    if payout.status in states.WAITING:
        return payout.pending_reason or None
    if payout.status == Payout.Status.REQUIRES_REVIEW:
        return (
            states.COOLING_DOWN
            if payout.review_reason == states.NEW_DESTINATION
            else states.AWAITING_APPROVAL
        )
    return None


@dataclass(frozen=True)
class PublicTransition:
    """A line of the history that merchants see; `note` is what was said of a failure."""

    before: str | None
    to: str
    at: datetime
    note: str

    def document(self) -> PayoutTransition:
        return PayoutTransition(
            before=self.before, to=self.to, at=iso(self.at), note=self.note or None
        )


def public_transitions(
    payout: Payout, statuses: Mapping[str, str] = states.TOLD
) -> list[PublicTransition]:
    """Oldest first; steps between the public states are left out."""
    transitions: list[PublicTransition] = []
    for line in payout.transitions.all():
        before = transitions[-1].to if transitions else None
        to = statuses.get(line.to_status)
        if to is not None and to != before:
            note = line.note if to in states.EXPLAINED else ""
            transitions.append(PublicTransition(before, to, line.at, note))
    return transitions


def schedule_document(schedule: Schedule) -> PayoutScheduleDocument:
    kind = schedule.destination_type
    destination_id = None if schedule.destination_id is None else str(schedule.destination_id)
    raw = schedule.destination_address
    return PayoutScheduleDocument(
        id=str(schedule.pk),
        frequency=schedule.frequency,
        minimum_fiat_cents=schedule.minimum_fiat_cents,
        minimum_fiat_currency=schedule.minimum_fiat_currency,
        destination_address=None if raw is None else shown_address(raw),
        destination_type=kind,
        payout_rail=Payout.Rail.FIAT_MANUAL if kind == "fiat" else Payout.Rail.CRYPTO,
        next_payout_at=iso(schedule.next_payout_at),
        last_payout_at=iso(schedule.last_payout_at),
        last_skip_reason=schedule.last_skip_reason,
        active=schedule.is_active and schedule.deleted_at is None,
        livemode=schedule.is_live,
        fiat_payout_detail_id=destination_id if kind == "fiat" else None,
        crypto_payout_detail_id=destination_id if kind == "crypto" else None,
        created_at=iso(schedule.created_at),
        updated_at=iso(schedule.updated_at),
        asset=AssetNamed(**_names(schedule.asset)),
    )

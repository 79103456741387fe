"""GET /payment_intents/{id}/reconciliation: amounts in coins of the asset paid, before a deposit of
the first address."""

from msgspec.structs import asdict

from apps.core import money
from apps.core.clock import iso
from apps.core.messages.documents import Decimals, Digits, Document, Id, Time
from apps.ledger.selectors import payment_split
from apps.payments.documents.financials import AssetShares, asset_shares, main_asset
from apps.payments.documents.values import ReconciliationStatus
from apps.payments.models import Payment
from apps.payments.selectors import Received

UNDER_INVESTIGATION = "under_investigation"


class ReconciledAsset(AssetShares, frozen=True, kw_only=True):
    required_atomic: Digits
    confirmed_atomic: Digits
    unconfirmed_atomic: Digits
    tx_hashes: list[str]


class ReconciliationDocument(Document, frozen=True, kw_only=True):
    """The amounts are null before the first check. `swap_delta` is what an automatic swap brought
    beside its estimate."""

    payment_intent_id: Id
    reference: str
    status: ReconciliationStatus
    balanced: bool
    expected_amount: Decimals | None
    received_amount: Decimals | None
    swap_delta: Decimals | None
    currency: str
    expected_amount_atomic: Digits
    received_amount_atomic: Digits
    swap_delta_atomic: Digits
    last_checked_at: Time | None
    assets: list[ReconciledAsset]


def reconciliation_document(
    payment: Payment, received: list[Received], *, is_balanced: bool
) -> ReconciliationDocument:
    """Without a swap: a view that knows of one replaces the two figures of it."""
    main = main_asset(received) or received[0]
    decimals = main.address.asset.atomic_decimals
    is_checked = payment.reconciled_at is not None
    expected = main.address.required_atomic
    got = main.confirmed_atomic
    return ReconciliationDocument(
        payment_intent_id=str(payment.pk),
        reference=payment.reference,
        status=payment.reconciliation_status or UNDER_INVESTIGATION,
        balanced=is_balanced,
        expected_amount=money.decimal_from_atomic(expected, decimals) if is_checked else None,
        received_amount=money.decimal_from_atomic(got, decimals) if is_checked else None,
        swap_delta="0" if is_checked else None,
        currency=main.address.asset.coin_symbol,
        expected_amount_atomic=str(expected) if is_checked else "0",
        received_amount_atomic=str(got) if is_checked else "0",
        swap_delta_atomic="0",
        last_checked_at=iso(payment.reconciled_at),
        assets=_assets(payment, received),
    )


def _assets(payment: Payment, received: list[Received]) -> list[ReconciledAsset]:
    splits = payment_split([payment.pk]).get(payment.pk, {})
    return [
        ReconciledAsset(
            **asdict(asset_shares(intake, splits.get(intake.address.asset_id))),
            required_atomic=str(intake.address.required_atomic),
            confirmed_atomic=str(intake.confirmed_atomic),
            unconfirmed_atomic=str(intake.unconfirmed_atomic),
            tx_hashes=[deposit.tx_hash for deposit in intake.deposits],
        )
        for intake in received
        if intake.deposits
    ]

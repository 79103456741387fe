"""Sample events of invoices and subscriptions for test deliveries, of the classes of real
events."""

from django.conf import settings

from apps.billing import states
from apps.billing.documents.credit_notes import CreditNoteDocument, CreditNoteLineDocument
from apps.billing.documents.customers import CustomerSummary
from apps.billing.documents.invoices import InvoiceDocument, InvoiceLineDocument
from apps.billing.documents.subscriptions import (
    PriceWithProduct,
    SubscriptionDocument,
    SubscriptionItemDocument,
)
from apps.billing.models import Interval
from apps.webhooks.samples import SAMPLE_AT, SAMPLE_ID

_NEXT_MONTH = "2026-02-01T12:00:00.000000Z"
_TOKEN = "test-event"  # noqa: S105  # opens nothing
_CENTS = 1000
_INVOICES = {"finalized": states.OPEN, "paid": states.PAID, "voided": states.VOID}
_SUBSCRIPTIONS = {
    "created": states.ACTIVE,
    "updated": states.ACTIVE,
    "past_due": states.PAST_DUE,
    "canceled": states.CANCELED,
}
_CUSTOMER = CustomerSummary(id=SAMPLE_ID, email="customer@example.com", name="Example Customer")
_PRICE = PriceWithProduct(
    id=SAMPLE_ID,
    product_id=SAMPLE_ID,
    product_name="Example Plan",
    unit_amount_cents=_CENTS,
    currency="EUR",
    interval=Interval.MONTHLY.value,
    interval_count=1,
)
_LINE = InvoiceLineDocument(
    id=SAMPLE_ID,
    description="Example Plan",
    quantity=1,
    unit_amount_cents=_CENTS,
    amount_cents=_CENTS,
    net_cents=_CENTS,
    tax_rate_id=None,
    tax_category=None,
    tax_rate_bps=None,
    position=0,
)


def invoice(event_type: str) -> InvoiceDocument:
    status = _INVOICES[event_type.rpartition(".")[2]]
    return InvoiceDocument(
        id=SAMPLE_ID,
        status=status,
        number=1,
        formatted_number="INV-0001",
        custom_number=None,
        po_number=None,
        buyer_reference=None,
        public_token=_TOKEN,
        hosted_url=f"{settings.PUBLIC_URL}/invoice/{_TOKEN}",
        x402_url=f"{settings.PUBLIC_URL}/invoice/{_TOKEN}/x402",
        customer_id=SAMPLE_ID,
        customer=_CUSTOMER,
        subscription_id=None,
        period_key=None,
        currency="EUR",
        subtotal_cents=_CENTS,
        discount_cents=0,
        tax_cents=0,
        total_cents=_CENTS,
        amount_paid_cents=_CENTS if status == states.PAID else 0,
        credit_applied_cents=0,
        refunded_cents=0,
        discount_type=None,
        discount_value=None,
        tax_rate_bps=None,
        tax_rate_id=None,
        tax_case=None,
        taxes=[],
        issued_on=SAMPLE_AT[:10],
        supplied_from=SAMPLE_AT[:10],
        supplied_until=SAMPLE_AT[:10],
        due_on=SAMPLE_AT[:10],
        due_at=SAMPLE_AT,
        description=None,
        notes=None,
        footer=None,
        metadata={"test": "true"},
        needs_attention=None,
        line_items=[_LINE],
        livemode=False,
        finalized_at=SAMPLE_AT,
        paid_at=SAMPLE_AT if status == states.PAID else None,
        voided_at=SAMPLE_AT if status == states.VOID else None,
        created_at=SAMPLE_AT,
        updated_at=SAMPLE_AT,
    )


def credit_note(event_type: str) -> CreditNoteDocument:
    return CreditNoteDocument(
        id=SAMPLE_ID,
        number=1,
        formatted_number="CN-0001",
        invoice_id=SAMPLE_ID,
        invoice_number="INV-0001",
        customer=_CUSTOMER,
        reason="other",
        memo=None,
        currency="EUR",
        net_cents=_CENTS,
        tax_cents=0,
        total_cents=_CENTS,
        issued_on=SAMPLE_AT[:10],
        line_items=[
            CreditNoteLineDocument(tax_category=None, tax_rate_bps=0, net_cents=_CENTS, tax_cents=0)
        ],
        livemode=False,
        created_at=SAMPLE_AT,
    )


def subscription(event_type: str) -> SubscriptionDocument:
    status = _SUBSCRIPTIONS[event_type.rpartition(".")[2]]
    return SubscriptionDocument(
        id=SAMPLE_ID,
        customer_id=SAMPLE_ID,
        price_id=SAMPLE_ID,
        quantity=1,
        status=status,
        started_at=SAMPLE_AT,
        current_period_start=SAMPLE_AT,
        current_period_end=_NEXT_MONTH,
        next_billing_at=None if status == states.CANCELED else _NEXT_MONTH,
        trial_end=None,
        cancel_at_period_end=False,
        cancel_at=None,
        canceled_at=SAMPLE_AT if status == states.CANCELED else None,
        paused_at=None,
        failed_cycle_count=1 if status == states.PAST_DUE else 0,
        grace_cycles=3,
        tax_rate_id=None,
        discount_type=None,
        discount_value=None,
        amount_cents=_CENTS,
        currency="EUR",
        interval=_PRICE.interval,
        interval_count=_PRICE.interval_count,
        items=[SubscriptionItemDocument(id=None, quantity=1, price=_PRICE)],
        price=_PRICE,
        customer=_CUSTOMER,
        metadata={"test": "true"},
        livemode=False,
        created_at=SAMPLE_AT,
        updated_at=SAMPLE_AT,
    )

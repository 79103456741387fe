"""Payments for staff who help a store or its customer: found by whatever somebody quotes."""

from typing import ClassVar

from django.utils.safestring import SafeString

from apps.assets.selectors import with_chains
from apps.core.templatetags.tillgate import fiat
from apps.payments.models import Payment, PaymentAddress, PaymentEvent
from apps.staff import lists
from apps.staff.pages import History, Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.structures import TableColumn, side_by_side, table

_ATTENTION = [
    ("card_refund", "Card payment to be refunded"),
    ("dust_refund", "Refund too small to send"),
    ("held_refund", "Refund waits for an address"),
    ("own_refund", "To be refunded from the merchant’s own wallet"),
]
NEEDS_ATTENTION = lists.choices("needs_attention", "attention", _ATTENTION)
_LINE_COLUMNS = (
    TableColumn("Description"),
    TableColumn("Quantity", is_number=True),
    TableColumn("Unit price", is_number=True),
)


def _line_items(payment: Payment) -> SafeString:
    return table(
        _LINE_COLUMNS,
        (
            (
                item["description"],
                f"{item['quantity']:,}",
                fiat(item["unit_amount_cents"], payment.settlement_currency),
            )
            for item in payment.line_items
        ),
    )


def _held_open(payment: Payment) -> SafeString:
    """The assets that are accepted after expiration, by name."""
    assets = with_chains(payment.held_open_assets or ())
    return side_by_side(asset.full_name for asset in assets.values())


class Addresses(Part):
    model = PaymentAddress
    labels: ClassVar = {"required_atomic": "Amount due"}
    verbose_name_plural = "addresses"
    fields = ["asset", "address", "required_atomic", "exchange_rate", "required_confirmations"]


class PaymentEventsInline(History):
    model = PaymentEvent
    noun = "payment"
    labels: ClassVar = {"created_at": "Time"}
    code_nouns: ClassVar = {"event_type": "payment_event"}
    fields = ["created_at", "event_type", "from_status", "to_status"]


class PaymentAdmin(ReadOnly):
    model = Payment
    noun = "payment"
    labels: ClassVar = {
        "auto_swap_status": "Auto-swap",
        "customer_pays_fee": "Customer pays the fee",
        "failed_url": "Failure URL",
        "held_open_assets": "Assets accepted after expiration",
        "held_open_until": "Accepts payments until",
        "is_card_funded": "Paid by card",
        "reconciliation_due": "Reconciliation is due",
        "refund_state": "Refunds",
        "settlement_amount_cents": "Amount",
        "settlement_currency": "Currency",
        "settlement_status": "Settlement",
        "state_reason": "Reason for the status",
    }
    code_nouns: ClassVar = {"state_reason": "reason"}
    list_display = ["number", "created", "shop", "amount", "order", "state"]
    list_filter = [
        lists.since("created_at"),
        "status",
        "mode",
        NEEDS_ATTENTION,
        "refund_state",
    ]
    list_select_related = ["store"]
    search_fields = ["id", "reference", "addresses__address", "store", "order_id"]
    search_help_text = (
        "Payment ID, reference, order ID, deposit address, or the beginning of a store’s name"
    )
    number = lists.clipped("reference", "Reference")
    amount = lists.price("settlement_amount_cents", "settlement_currency")
    order = lists.text("order_id", "Order ID")
    ordering = [BY_KEY]
    inlines = [Addresses, PaymentEventsInline]
    value_texts: ClassVar = {
        "held_open_assets": _held_open,
        "line_items": _line_items,
        "needs_attention": lambda row: dict(_ATTENTION).get(
            row.needs_attention, row.needs_attention
        ),
    }

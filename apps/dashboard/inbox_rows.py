"""How a row of the inbox is told: what happened, of what, how much, since when, and the one button
that resolves it."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import Truncator

from apps.assets.models import AcceptedAsset, Asset
from apps.billing.documents.invoices import formatted_number
from apps.billing.models import Invoice, Subscription
from apps.chain.models import HotWallet, OutgoingTransaction, UnmatchedTransfer
from apps.core import money
from apps.core.templatetags.tillgate import fiat, shorten
from apps.payments.attention import excess_cents
from apps.payments.models import LateDeposit, Payment, Refund
from apps.payments.services.hold import CARD_REFUND
from apps.payments.services.refund_quote import LOCKED
from apps.payouts.models import Destination, Payout, PayoutApproval
from apps.stores.models import Verification
from apps.webhooks.models import Endpoint

BAD = "bad"
WAIT = "wait"
INFO = "info"
NAME_LENGTH = 60


@dataclass(frozen=True)
class Notice:
    """`posts` names a button of a form with these fields; without it the button is a link."""

    title: str
    detail: str
    at: datetime
    action: str
    url: str
    amount: str = ""
    icon: str = "clock"
    tone: str = WAIT
    posts: tuple[str, str] = ("", "")


def _url(name: str, *ids: object) -> str:
    return reverse(f"dashboard:{name}", args=[str(id) for id in ids])


def _name(payment: Payment) -> str:
    """Short enough that what is said beside it stays in sight."""
    name = payment.title or (f"Order {payment.order_id}" if payment.order_id else payment.reference)
    return Truncator(name).chars(NAME_LENGTH)


def _priced(payment: Payment) -> str:
    return fiat(payment.settlement_amount_cents, payment.settlement_currency)


def _coins(amount_atomic: int, asset: Asset) -> str:
    return f"{money.decimal_from_atomic(amount_atomic, asset.atomic_decimals)} {asset.coin_symbol}"


def of_late_deposit(late: "LateDeposit") -> Notice:
    payment = late.payment
    deposit = late.deposit
    rate = getattr(late, "rate", None)
    cents = (
        None
        if rate is None
        else money.cents_for_atomic(deposit.amount_atomic, rate, deposit.asset.atomic_decimals)
    )
    return Notice(
        "Deposit arrived after the payment ended",
        f"{_name(payment)} · {_coins(deposit.amount_atomic, deposit.asset)}",
        late.created_at,
        "Accept deposit",
        _url("late_deposit", payment.pk, deposit.pk),
        "" if cents is None else fiat(cents, payment.settlement_currency),
    )


def of_flagged_payment(payment: Payment) -> Notice:
    title = (
        "Card payment needs a refund"
        if payment.needs_attention == CARD_REFUND
        else "Amount too small to refund automatically"
    )
    return _to_refund(title, payment)


def of_unreturned_payment(payment: Payment) -> Notice:
    return _to_refund("Payment failed and wasn’t refunded: unknown sender", payment)


def of_overpaid_payment(payment: Payment) -> Notice:
    """The form of a refund comes with the difference filled in, at the rate of the payment."""
    excess = excess_cents(payment)
    currency = payment.settlement_currency
    received = fiat(payment.settlement_amount_cents + excess, currency)
    query = urlencode({"unit": LOCKED, "amount": money.text_from_cents(excess)} if excess else {})
    return Notice(
        "Customer overpaid",
        f"{_name(payment)} · {received} received, {_priced(payment)} due",
        payment.completed_at or payment.updated_at,
        "Refund difference",
        f"{_url('refund', payment.pk)}?{query}",
        fiat(excess, currency),
        "arrow-uturn-left",
    )


def of_failed_refund(refund: Refund) -> Notice:
    detail = f"{_name(refund.payment)} · {_coins(refund.amount_atomic, refund.asset)}"
    url = _url("refund", refund.payment_id)
    return Notice(
        "Refund failed",
        detail,
        refund.updated_at,
        "Retry refund",
        url,
        _priced(refund.payment),
        "exclamation-triangle",
        BAD,
    )


def _to_refund(title: str, payment: Payment) -> Notice:
    detail = f"{_name(payment)} · {payment.reference}"
    url = _url("refund", payment.pk)
    return Notice(
        title,
        detail,
        payment.updated_at,
        "Issue refund",
        url,
        _priced(payment),
        "exclamation-triangle",
        BAD,
    )


def of_unmatched_transfer(transfer: UnmatchedTransfer) -> Notice:
    coins = _coins(transfer.amount_atomic, transfer.asset) if transfer.asset else "An unknown token"
    return Notice(
        "Unexpected coins arrived",
        f"{coins} at an address for another coin",
        transfer.detected_at,
        "Review transfer",
        _url("transfer", transfer.pk),
        icon="question-mark-circle",
    )


def of_sending(sending: OutgoingTransaction) -> Notice:
    is_swap = sending.purpose == OutgoingTransaction.Purpose.SWAP
    url = (
        _url("swap", sending.reference)
        if is_swap
        else f"{reverse('dashboard:search')}?q={sending.reference}"
    )
    title, action = (
        ("Swap is under review", "View swap")
        if is_swap
        else ("Refund is under review", "View refund")
    )
    return Notice(
        title,
        _coins(sending.amount_atomic, sending.asset),
        sending.requested_at,
        action,
        url,
        icon="shield-check",
        tone=INFO,
    )


def of_approval(approval: PayoutApproval) -> Notice:
    amount = "" if approval.worth_cents is None else fiat(approval.worth_cents, approval.currency)
    detail = f"Requested by {approval.made_by}"
    return Notice(
        "Payout needs your approval",
        detail,
        approval.created_at,
        "Review payout",
        _url("approval", approval.pk),
        amount,
        "check-badge",
    )


def _sent_to(payout: Payout) -> str:
    saved = payout.destination
    to = (
        (saved.label or saved.holder or shorten(saved.address))
        if saved
        else shorten(payout.destination_address or "")
    )
    return f"{_coins(payout.amount_atomic, payout.asset)} to {to}"


def of_failed_payout(payout: Payout) -> Notice:
    """One that nobody knows the end of is looked at."""
    action = "Retry payout"
    url = _url("payout_retry", payout.pk)
    posts = ("retry", "1")
    if payout.is_outcome_unknown:
        action = "View payout"
        url = _url("payout", payout.pk)
        posts = ("", "")
    detail = f"{_sent_to(payout)} · {payout.failure_reason or 'Unknown error'}"
    return Notice(
        "Payout failed",
        detail,
        payout.updated_at,
        action,
        url,
        icon="exclamation-triangle",
        tone=BAD,
        posts=posts,
    )


def of_returned_payout(payout: Payout) -> Notice:
    """The form of a payout comes with the coin and the amount filled in."""
    amount = money.decimal_from_atomic(payout.amount_atomic, payout.asset.atomic_decimals)
    query = urlencode({"asset": payout.asset_id, "amount": amount, "destination": ""})
    url = f"{reverse('dashboard:payout_create')}?{query}"
    detail = f"{_sent_to(payout)} · {payout.failure_reason or 'Unknown error'}"
    title = "Payout failed and its coins are back in your balance"
    return Notice(
        title,
        detail,
        payout.updated_at,
        "Change destination",
        url,
        icon="exclamation-triangle",
        tone=BAD,
    )


def of_delayed_wallet(wallet: HotWallet) -> Notice:
    """In the store's words: what the service holds is nobody else's affair."""
    at: datetime = wallet.since  # type: ignore[attr-defined]  # annotated by the selector
    detail = f"{wallet.chain.name} · Payouts and refunds are sent automatically as soon as possible"
    return Notice(
        "Payouts may be delayed",
        detail,
        at,
        "View payouts",
        reverse("dashboard:payouts"),
        icon="clock",
        tone=INFO,
    )


def of_payout(payout: Payout) -> Notice:
    detail = _sent_to(payout)
    return Notice(
        "Payout is under review",
        detail,
        payout.created_at,
        "View payout",
        _url("payout", payout.pk),
        icon="shield-check",
        tone=INFO,
    )


def of_bank_account(account: Destination) -> Notice:
    detail = f"{account.label or account.holder} can be paid once it is"
    return Notice(
        "Business isn’t verified",
        detail,
        account.created_at,
        "Verify business",
        reverse("dashboard:verification"),
        icon="building-library",
    )


def of_verification(verification: Verification) -> Notice:
    detail = verification.rejection_reason or verification.business_legal_name
    at = verification.reviewed_at or verification.updated_at
    return Notice(
        "Verification was rejected",
        detail,
        at,
        "Update details",
        reverse("dashboard:verification"),
        icon="identification",
        tone=BAD,
    )


def of_stopped_asset(accepted: AcceptedAsset) -> Notice:
    asset = accepted.asset
    at = accepted.suspended_at or accepted.created_at
    return Notice(
        f"{asset.full_name} is stopped for review",
        "A confirmed deposit left the chain. Payments in it wait until we have looked.",
        at,
        "View coins",
        _url("settings_assets"),
        icon="pause-circle",
        tone=BAD,
    )


def of_invoice(invoice: Invoice) -> Notice:
    was = "void" if invoice.status == Invoice.Status.VOID else "written off"
    number = formatted_number(invoice)
    customer = invoice.customer.name or invoice.customer.email
    amount = fiat(invoice.amount_paid_cents, invoice.currency)
    url = _url("invoice", invoice.pk)
    return Notice(
        f"Invoice was {was} and paid",
        f"{number} · {customer}",
        invoice.updated_at,
        "View invoice",
        url,
        amount,
        "document-text",
    )


def of_subscription(subscription: Subscription) -> Notice:
    customer = subscription.customer
    detail = f"{customer.name or customer.email} · {subscription.price.product.name}"
    url = _url("subscription", subscription.pk)
    return Notice(
        "Subscription is past due",
        detail,
        subscription.updated_at,
        "View subscription",
        url,
        icon="arrow-path",
    )


def of_endpoint(endpoint: Endpoint) -> Notice:
    if endpoint.status == Endpoint.Status.ERROR:
        at = endpoint.disabled_at or endpoint.updated_at
        url = _url("webhook_endpoint_switch", endpoint.pk)
        title = "Webhook endpoint was disabled after failures"
        return Notice(
            title,
            endpoint.url,
            at,
            "Enable",
            url,
            icon="exclamation-triangle",
            tone=BAD,
            posts=("to", "active"),
        )
    url = _url("webhook_endpoint", endpoint.pk)
    return Notice(
        "Webhook endpoint is failing",
        endpoint.url,
        endpoint.updated_at,
        "View deliveries",
        url,
        icon="bolt",
        tone=BAD,
    )

"""How a row of the inbox is told: what happened, of what, how much, since when, and the buttons
that resolve it. Those of payments are in `inbox_payments`."""

from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import Truncator

from apps.assets.models import AcceptedAsset
from apps.billing.documents.invoices import formatted_number
from apps.billing.models import Invoice, Subscription
from apps.billing.states import OVERPAID
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending.following import place_of
from apps.core import money
from apps.core.templatetags.tillgate import fiat
from apps.dashboard.inbox_notices import BAD, INFO, WAIT, Notice, coins_of, url_of
from apps.dashboard.list_cells import NAME_SHOWN, ends_of
from apps.payments.models import Payment
from apps.payouts.models import Destination, Payout, PayoutApproval
from apps.stores.models import Verification
from apps.webhooks.delivery.queue import ATTEMPTS_MAX
from apps.webhooks.models import Endpoint


def of_sending(sending: OutgoingTransaction) -> Notice:
    noun, path = place_of(sending)
    return Notice(
        f"{noun} is under review",
        coins_of(sending.amount_atomic, sending.asset),
        sending.requested_at,
        f"View {noun.lower()}",
        path,
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
        url_of("approval", approval.pk),
        amount,
        "check-badge",
    )


def of_failed_payout(payout: Payout) -> Notice:
    """One that nobody knows the end of is looked at."""
    action = "Retry payout"
    url = url_of("payout_retry", payout.pk)
    posts = ("retry", "1")
    if payout.is_outcome_unknown:
        action = "View payout"
        url = url_of("payout", payout.pk)
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


def _sent_to(payout: Payout) -> str:
    saved = payout.destination
    to = (
        (saved.label or saved.holder or ends_of(saved.address))
        if saved
        else ends_of(payout.destination_address)
    )
    return f"{coins_of(payout.amount_atomic, payout.asset)} to {to}"


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
        url_of("payout", payout.pk),
        icon="shield-check",
        tone=INFO,
    )


def of_bank_account(account: Destination) -> Notice:
    """While we look at the business, the store can't do more."""
    is_in_review: bool = account.is_in_review  # type: ignore[attr-defined]  # annotated by the inbox
    paid = Truncator(account.label or account.holder).chars(NAME_SHOWN)
    return Notice(
        "Business verification is under review" if is_in_review else "Business isn’t verified",
        f"Payouts to {paid} start once your business is verified.",
        account.created_at,
        "View verification",
        reverse("dashboard:verification"),
        icon="building-library",
        tone=INFO if is_in_review else WAIT,
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
        accepted.review_reason or _lost_deposits(accepted),
        at,
        "View coins",
        url_of("settings_assets"),
        icon="pause-circle",
        tone=BAD,
    )


def _lost_deposits(accepted: AcceptedAsset) -> str:
    """Which payments no longer have their money."""
    payments = Payment.objects.visible_to(accepted).filter(
        addresses__address__deposits__in=accepted.lost_deposit_ids
    )
    references = list(payments.order_by("-created_at").values_list("reference", flat=True)[:4])
    of = f" of payment {', '.join(references[:3])}{' and others' if references[3:] else ''}"
    return (
        f"A confirmed deposit{of if references else ''} left the chain. Payments in the coin wait"
        " for our review."
    )


def of_invoice(invoice: Invoice) -> Notice:
    if invoice.needs_attention == OVERPAID:
        title, cents = "Invoice was paid more than once", invoice.excess_cents
    else:
        was = "void" if invoice.status == Invoice.Status.VOID else "written off"
        title, cents = f"Invoice was {was} and paid", invoice.amount_paid_cents
    number = formatted_number(invoice)
    customer = invoice.customer.name or invoice.customer.email
    amount = fiat(cents, invoice.currency)
    url = url_of("invoice", invoice.pk)
    return Notice(
        title,
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
    url = url_of("subscription", subscription.pk)
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
        url = url_of("webhook_endpoint_switch", endpoint.pk)
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
    url = url_of("webhook_endpoint", endpoint.pk)
    return Notice(
        "Webhook endpoint is failing",
        _worst_delivery(endpoint),
        endpoint.updated_at,
        "View deliveries",
        url,
        icon="bolt",
        tone=BAD,
    )


def _worst_delivery(endpoint: Endpoint) -> str:
    """Which order's event is refused, and how near its last attempt is: that turns off the endpoint
    for every other order as well."""
    worst = endpoint.worst  # type: ignore[attr-defined]  # annotated by the inbox
    subject = worst["object"]
    name = next((str(subject[key]) for key in _NAMES if subject.get(key)), "")
    of = f"{worst['type']} of {Truncator(name).chars(NAME_SHOWN)}" if name else worst["type"]
    failed = f"{of} failed {worst['attempts']} of {ATTEMPTS_MAX} times"
    return f"{endpoint.url} · {failed}. After the last one the endpoint is turned off."


# What people call the subject of an event by, best first.
_NAMES = ("order_id", "reference", "number", "id")

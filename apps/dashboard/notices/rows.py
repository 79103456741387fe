"""Inbox rows: event, subject, amount, age, and the buttons that resolve it. Those of payments are
in `inbox_payments`."""

from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext

from apps.assets.models import AcceptedAsset
from apps.billing.models import Invoice, Subscription
from apps.billing.numbers import formatted_number
from apps.billing.states import OVERPAID
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending.following import place_of
from apps.core import money
from apps.core.templatetags.tillgate import fiat
from apps.core.text.wording import translated
from apps.dashboard.notices.notices import BAD, INFO, WAIT, Notice, coins_of, url_of
from apps.dashboard.tables.cells import NAME_SHOWN, ends_of
from apps.dashboard.tables.failing import worst_delivery
from apps.payments.models import Payment
from apps.payouts.models import Destination, Payout, PayoutApproval
from apps.stores.models import Verification
from apps.webhooks.models import Endpoint


def of_sending(sending: OutgoingTransaction) -> Notice:
    noun, path = place_of(sending)
    return Notice(
        translated(f"{noun} is under review"),
        coins_of(sending.amount_atomic, sending.asset),
        sending.requested_at,
        translated(f"View {noun.lower()}"),
        path,
        icon="shield-check",
        tone=INFO,
    )


def of_approval(approval: PayoutApproval) -> Notice:
    amount = "" if approval.worth_cents is None else fiat(approval.worth_cents, approval.currency)
    detail = gettext("Requested by {made_by}").format(made_by=approval.made_by)
    return Notice(
        gettext("Payout needs your approval"),
        detail,
        approval.created_at,
        gettext("Review payout"),
        url_of("approval", approval.pk),
        amount,
        "check-badge",
    )


def of_failed_payout(payout: Payout) -> Notice:
    """Row of a failed payout; one with an unknown outcome is under review."""
    action = gettext("Retry payout")
    url = url_of("payout_retry", payout.pk)
    posts = ("retry", "1")
    if payout.is_outcome_unknown:
        action = gettext("View payout")
        url = url_of("payout", payout.pk)
        posts = ("", "")
    detail = f"{_sent_to(payout)} · {translated(payout.failure_reason) or gettext('Unknown error')}"
    return Notice(
        gettext("Payout failed"),
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
    detail = f"{_sent_to(payout)} · {translated(payout.failure_reason) or gettext('Unknown error')}"
    title = gettext("Payout failed and its coins are back in your balance")
    return Notice(
        title,
        detail,
        payout.updated_at,
        gettext("Change destination"),
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
    coins = coins_of(payout.amount_atomic, payout.asset)
    return gettext("{coins} to {destination}").format(coins=coins, destination=to)


def of_delayed_wallet(wallet: HotWallet) -> Notice:
    """In the store's words: what the service holds is nobody else's affair."""
    at: datetime = wallet.since  # type: ignore[attr-defined]  # annotated by the selector
    words = gettext("Payouts and refunds are sent automatically as soon as possible")
    detail = f"{wallet.chain.name} · {words}"
    return Notice(
        gettext("Payouts may be delayed"),
        detail,
        at,
        gettext("View payouts"),
        reverse("dashboard:payouts"),
        icon="clock",
        tone=INFO,
    )


def of_payout(payout: Payout) -> Notice:
    detail = _sent_to(payout)
    return Notice(
        gettext("Payout is under review"),
        detail,
        payout.created_at,
        gettext("View payout"),
        url_of("payout", payout.pk),
        icon="shield-check",
        tone=INFO,
    )


def of_bank_account(account: Destination) -> Notice:
    """While we look at the business, the store can't do more."""
    is_in_review: bool = account.is_in_review  # type: ignore[attr-defined]  # annotated by the inbox
    paid = Truncator(account.label or account.holder).chars(NAME_SHOWN)
    return Notice(
        gettext("Business verification is under review")
        if is_in_review
        else gettext("Business isn’t verified"),
        gettext("Payouts to {paid} start once your business is verified.").format(paid=paid),
        account.created_at,
        gettext("View verification"),
        reverse("dashboard:verification"),
        icon="building-library",
        tone=INFO if is_in_review else WAIT,
    )


def of_verification(verification: Verification) -> Notice:
    detail = verification.rejection_reason or verification.business_legal_name
    at = verification.reviewed_at or verification.updated_at
    return Notice(
        gettext("Verification was rejected"),
        detail,
        at,
        gettext("Update details"),
        reverse("dashboard:verification"),
        icon="identification",
        tone=BAD,
    )


def of_stopped_asset(accepted: AcceptedAsset) -> Notice:
    asset = accepted.asset
    at = accepted.suspended_at or accepted.created_at
    return Notice(
        gettext("{full_name} is stopped for review").format(full_name=translated(asset.full_name)),
        accepted.review_reason or _lost_deposits(accepted),
        at,
        gettext("View coins"),
        url_of("settings_assets"),
        icon="pause-circle",
        tone=BAD,
    )


def _lost_deposits(accepted: AcceptedAsset) -> str:
    """Payments that no longer have their money, in words."""
    payments = Payment.objects.visible_to(accepted).filter(
        addresses__address__deposits__in=accepted.lost_deposit_ids
    )
    references = list(payments.order_by("-created_at").values_list("reference", flat=True)[:4])
    if not references:
        return gettext(
            "A confirmed deposit left the chain. Payments in the coin wait for our review."
        )
    words = (
        gettext(
            "A confirmed deposit of payment {references} and others left the chain. Payments in"
            " the coin wait for our review."
        )
        if references[3:]
        else gettext(
            "A confirmed deposit of payment {references} left the chain. Payments in the coin wait"
            " for our review."
        )
    )
    return words.format(references=", ".join(references[:3]))


def of_invoice(invoice: Invoice) -> Notice:
    if invoice.needs_attention == OVERPAID:
        title, cents = gettext("Invoice was paid more than once"), invoice.excess_cents
    else:
        title = (
            gettext("Invoice was void and paid")
            if invoice.status == Invoice.Status.VOID
            else gettext("Invoice was written off and paid")
        )
        cents = invoice.amount_paid_cents
    number = formatted_number(invoice)
    customer = invoice.customer.name or invoice.customer.email
    amount = fiat(cents, invoice.currency)
    url = url_of("invoice", invoice.pk)
    return Notice(
        title,
        f"{number} · {customer}",
        invoice.updated_at,
        gettext("View invoice"),
        url,
        amount,
        "document-text",
    )


def of_subscription(subscription: Subscription) -> Notice:
    customer = subscription.customer
    detail = f"{customer.name or customer.email} · {subscription.price.product.name}"
    url = url_of("subscription", subscription.pk)
    return Notice(
        gettext("Subscription is past due"),
        detail,
        subscription.updated_at,
        gettext("View subscription"),
        url,
        icon="arrow-path",
    )


def of_endpoint(endpoint: Endpoint) -> Notice:
    if endpoint.status == Endpoint.Status.ERROR:
        at = endpoint.disabled_at or endpoint.updated_at
        url = url_of("webhook_endpoint_switch", endpoint.pk)
        title = gettext("Webhook endpoint was disabled after failures")
        return Notice(
            title,
            endpoint.url,
            at,
            gettext("Enable"),
            url,
            icon="exclamation-triangle",
            tone=BAD,
            posts=("to", "active"),
        )
    url = url_of("webhook_endpoint", endpoint.pk)
    return Notice(
        gettext("Webhook endpoint is failing"),
        f"{endpoint.url} · {worst_delivery(endpoint)}",
        endpoint.updated_at,
        gettext("View deliveries"),
        url,
        icon="bolt",
        tone=BAD,
    )

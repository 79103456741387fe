"""Inbox rows about payments, refunds and arrived coins."""

from unicodedata import bidirectional
from urllib.parse import urlencode

from django.utils.text import Truncator
from django.utils.translation import gettext

from apps.chain.models import UnmatchedTransfer
from apps.chain.networks.families import is_burn, shown_address, stored
from apps.core import money
from apps.core.templatetags.tillgate import fiat
from apps.core.text.wording import translated
from apps.dashboard.notices.notices import BAD, INFO, Notice, RowButton, coins_of, url_of
from apps.dashboard.tables import cells as list_cells
from apps.payments.documents.parts import hosted_url
from apps.payments.documents.progress import Progress
from apps.payments.models import HeldRefund, LateDeposit, Payment, Refund
from apps.payments.services.hold import CARD_REFUND
from apps.payments.services.refund_quote import LOCKED
from apps.stores import roles

NAME_LENGTH = 60


def of_late_deposit(late: "LateDeposit") -> Notice:
    payment = late.payment
    deposit = late.deposit
    rate = getattr(late, "rate", None)
    cents = (
        None
        if rate is None
        else money.cents_for_atomic(deposit.amount_atomic, rate, deposit.asset.atomic_decimals)
    )
    coins = coins_of(deposit.amount_atomic, deposit.asset)
    worth = "" if cents is None else fiat(cents, payment.settlement_currency)
    return Notice(
        gettext("Deposit arrived after the payment ended"),
        f"{_name(payment)} · {coins}",
        late.created_at,
        gettext("Accept {amount}").format(amount=worth or coins),
        url_of("late_deposit", payment.pk, deposit.pk),
        worth,
        posts=("accept", "1"),
        page=url_of("payment", payment.pk),
        also=(
            RowButton(
                gettext("Refund"),
                f"{url_of('refund', payment.pk)}?{urlencode({'asset_id': deposit.asset_id})}",
                needs=roles.MOVE_MONEY,
            ),
        ),
    )


def of_flagged_payment(payment: Payment) -> Notice:
    title = (
        gettext("Card payment needs a refund")
        if payment.needs_attention == CARD_REFUND
        else gettext("Amount too small to refund automatically")
    )
    return _to_refund(title, payment)


def of_held_refund(held: HeldRefund) -> Notice:
    """The form of the refund comes with the coin, and with the address that was entered on the
    payment's page, if it is only one."""
    coins = coins_of(int(getattr(held, "total", held.amount_atomic)), held.asset)
    entered = getattr(held, "entered", None)
    query = {"asset_id": held.asset_id}
    if entered:
        query["destination_address"] = shown_address(entered)
    return Notice(
        gettext("Refund needs an address"),
        f"{_name(held.payment)} · {translated(HeldRefund.Why(held.why).label)}"
        + (f" · {gettext('Somebody entered an address')}" if entered else ""),
        held.updated_at,
        gettext("Refund to an address"),
        f"{url_of('refund', held.payment_id)}?{urlencode(query)}",
        coins,
        "exclamation-triangle",
        BAD,
        page=url_of("payment", held.payment_id),
    )


def of_unreturned_payment(payment: Payment) -> Notice:
    return _to_refund(gettext("Payment failed and wasn’t refunded"), payment)


def of_short_payment(payment: Payment) -> Notice:
    """The customer pays the rest at the link."""
    url = hosted_url(payment)
    end = list_cells.plain_time(payment.deadline)
    return Notice(
        gettext("Partially paid"),
        f"{_name(payment)} · {_received(payment)} · {gettext('Expires {at}').format(at=end)}",
        payment.updated_at,
        gettext("View checkout"),
        url,
        _missing(payment),
        "clock",
        copies=url,
        page=url_of("payment", payment.pk),
        also=(
            RowButton(
                gettext("Accept what arrived"),
                url_of("payment_shortfall", payment.pk),
                needs=roles.MOVE_MONEY,
            ),
            RowButton(
                gettext("Give more time"), url_of("payment_extend", payment.pk), needs=roles.PAY
            ),
        ),
    )


def of_underpaid_payment(payment: Payment) -> Notice:
    return Notice(
        gettext("Underpaid payment was accepted"),
        f"{_name(payment)} · {_received(payment)}",
        payment.completed_at or payment.updated_at,
        gettext("View payment"),
        url_of("payment", payment.pk),
        _missing(payment),
        "document-text",
        INFO,
    )


def of_overpaid_payment(payment: Payment) -> Notice:
    """The form of a refund comes with the difference filled in, at the rate of the payment."""
    progress = _progress(payment)
    excess = progress.over_cents
    currency = payment.settlement_currency
    received = fiat(progress.received_cents, currency)
    due = fiat(progress.total_cents, currency)
    words = gettext("{received} received, {due} due").format(received=received, due=due)
    query = urlencode({"unit": LOCKED, "amount": money.text_from_cents(excess)} if excess else {})
    return Notice(
        gettext("Customer overpaid"),
        f"{_name(payment)} · {words}",
        payment.completed_at or payment.updated_at,
        gettext("Refund difference"),
        f"{url_of('refund', payment.pk)}?{query}",
        gettext("{amount} over").format(amount=fiat(excess, currency)),
        "arrow-uturn-left",
        page=url_of("payment", payment.pk),
    )


def of_failed_refund(refund: Refund) -> Notice:
    detail = f"{_name(refund.payment)} · {coins_of(refund.amount_atomic, refund.asset)}"
    url = url_of("refund", refund.payment_id)
    return Notice(
        gettext("Refund failed"),
        detail,
        refund.updated_at,
        gettext("Retry refund"),
        url,
        _priced(refund.payment),
        "exclamation-triangle",
        BAD,
    )


def _to_refund(title: str, payment: Payment) -> Notice:
    detail = " · ".join(dict.fromkeys((_name(payment), payment.reference)))
    url = url_of("refund", payment.pk)
    return Notice(
        title,
        detail,
        payment.updated_at,
        gettext("Issue refund"),
        url,
        _priced(payment),
        "exclamation-triangle",
        BAD,
    )


def of_unmatched_transfer(transfer: UnmatchedTransfer) -> Notice:
    """Row of an unmatched transfer: with one possible payment, each way is a press and a code; else
    a person chooses on its page."""
    coins = (
        coins_of(transfer.amount_atomic, transfer.asset)
        if transfer.asset
        else gettext("Unknown token")
    )
    page = url_of("transfer", transfer.pk)
    reference = getattr(transfer, "own_reference", None)
    if reference is None or getattr(transfer, "has_other_fit", True):
        return Notice(
            gettext("Unexpected coins arrived"),
            gettext("{coins} at an address for another coin").format(coins=coins),
            transfer.detected_at,
            gettext("Review transfer"),
            page,
            icon="question-mark-circle",
        )
    return Notice(
        gettext("Unexpected coins arrived"),
        gettext("{coins} at an address of payment {reference} for another coin").format(
            coins=coins, reference=reference
        ),
        transfer.detected_at,
        gettext("Accept {amount}").format(amount=coins),
        url_of("transfer_accept", transfer.pk),
        icon="question-mark-circle",
        posts=("payment", reference),
        also=_return_of(transfer),
        page=page,
    )


def _return_of(transfer: UnmatchedTransfer) -> tuple[RowButton, ...]:
    if is_burn(stored(transfer.from_address)):
        return ()
    return (
        RowButton(gettext("Send back"), url_of("transfer_return", transfer.pk), ("return", "1")),
    )


def _name(payment: Payment) -> str:
    """Short enough that what is said beside it stays in sight; what runs from right to left doesn't
    turn that around."""
    name = payment.title or (
        gettext("Order {order_id}").format(order_id=payment.order_id)
        if payment.order_id
        else payment.reference
    )
    short = Truncator(name).chars(NAME_LENGTH)
    runs_left = any(bidirectional(letter) in ("R", "AL") for letter in short)
    return f"\N{FIRST STRONG ISOLATE}{short}\N{POP DIRECTIONAL ISOLATE}" if runs_left else short


def _priced(payment: Payment) -> str:
    return fiat(payment.settlement_amount_cents, payment.settlement_currency)


def _progress(payment: Payment) -> Progress:
    progress: Progress = payment.progress  # type: ignore[attr-defined]  # set by the inbox
    return progress


def _received(payment: Payment) -> str:
    progress = _progress(payment)
    currency = payment.settlement_currency
    return gettext("{part} of {total}").format(
        part=fiat(progress.received_cents, currency),
        total=fiat(progress.total_cents, currency),
    )


def _missing(payment: Payment) -> str:
    """In words: a bare sum beside those of other rows would be one that arrived."""
    return gettext("{amount} missing").format(
        amount=fiat(_progress(payment).left_cents, payment.settlement_currency)
    )

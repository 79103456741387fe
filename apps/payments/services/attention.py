"""Immediate notifications to a store's people: a payment that got less or more than was due, came
late, or needs a refund by hand; unmatched coins, and a stopped coin."""

from collections.abc import Iterable

from apps.assets.models import Asset
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.core.money import Fiat, decimal_from_atomic
from apps.core.text.regions import in_english
from apps.payments.models import HeldRefund, Payment, RefundAddress
from apps.payments.proceeds import progress_by_payment
from apps.stores.notices.kinds import (
    ASSET_STOPPED,
    PAYMENT_ATTENTION,
    UNMATCHED_TRANSFER,
)
from apps.stores.notices.notifications import NewNotification, record

_UNDER = "was underpaid"
_OVER = "was overpaid"
_FAILED = {
    "failed_underpaid": (_UNDER, "Less than the amount due arrived in time."),
    "failed_overpaid": (_OVER, "More than the amount due arrived."),
}
_ACCEPTED = {
    "completed_underpaid": (
        _UNDER,
        "Less than the amount due arrived in time and was accepted.",
    ),
    "completed_overpaid": (
        _OVER,
        "More than the amount due arrived and was accepted. You can refund the difference.",
    ),
}


def payment_accepted(payment: Payment, reason: str | None) -> None:
    """Completed with less or more than was due, as the store's settings allow; else nothing."""
    if reason in _ACCEPTED:
        words, text = _ACCEPTED[reason]
        _record_difference(payment, f"{payment.pk}:{reason}", words, text)


def transfer_unmatched(payment: Payment, transfer: UnmatchedTransfer, asset: Asset) -> None:
    """At an address of the payment, which was made for another coin."""
    amount = decimal_from_atomic(transfer.amount_atomic, asset.atomic_decimals)
    coins = f"{amount} {asset.coin_symbol}"
    record(
        NewNotification(
            payment.store_id,
            payment.mode,
            UNMATCHED_TRANSFER,
            transfer.pk,
            f"Deposit of {coins} arrived unexpectedly",
            f"/dashboard/transfers/{transfer.pk}",
            f"At an address of payment {payment.reference}, for another coin. Accept or return it.",
            coins,
        )
    )


def asset_stopped(payment: Payment, deposit: Deposit, asset: Asset) -> None:
    """Reported once for each deposit that was lost."""
    record(
        NewNotification(
            payment.store_id,
            payment.mode,
            ASSET_STOPPED,
            deposit.pk,
            f"{asset.full_name} is stopped for review",
            f"/dashboard/payments/{payment.pk}",
            f"A confirmed deposit of payment {payment.reference} ({_worth(payment)}) left the"
            " chain. Deliver nothing more for it. Payments in the coin wait for our review.",
        )
    )


def payment_failed(payment: Payment, outcome: str) -> None:
    """Reported once it is known what becomes of what arrived; `outcome` says that."""
    words, text = _FAILED.get(payment.state_reason or "", ("failed", ""))
    _record_difference(payment, payment.pk, words, f"{text} {outcome}")


def refund_held(payment: Payment, row: HeldRefund) -> None:
    """Reported once for each share."""
    amount = decimal_from_atomic(row.amount_atomic, row.asset.atomic_decimals)
    coins = f"{amount} {row.asset.coin_symbol}"
    text = f"{HeldRefund.Why(row.why).label}. Ask the customer where to send it."
    title = f"Refund of {coins} can’t be sent automatically"
    _record(payment, f"{row.pk}:held", title, text, coins)


def refund_by_hand(payment: Payment, flag: str) -> None:
    text = (
        "Its coins are in your own wallet: send them back from there."
        if flag == "own_refund"
        else "Its coins don’t go back by themselves: choose where to send them."
    )
    worth = _worth(payment)
    _record(payment, f"{payment.pk}:{flag}", f"Payment of {worth} needs a refund", text, worth)


def refund_address_entered(payment: Payment, row: RefundAddress) -> None:
    """Reported once for each address."""
    text = "Somebody entered it on the checkout. Ask your customer before you send anything there."
    worth = _worth(payment)
    title = f"Address for the refund of {worth} was entered"
    _record(payment, f"{row.pk}:entered", title, text, worth)


def coins_lost(payment: Payment, tx_hash: str, chain_name: str) -> None:
    """Reported once for each payment, since anybody who has its link can name such transactions."""
    text = (
        f"Somebody named a transaction on {chain_name} on the checkout that sent coins to the"
        f" token’s own contract. Nobody can return them, and they don’t count: {tx_hash}"
    )
    worth = _worth(payment)
    title = f"Coins for the payment of {worth} went to a token’s contract"
    _record(payment, f"{payment.pk}:lost", title, text, worth)


def came_late(payment: Payment, late: Iterable[Deposit]) -> None:
    """Reported once for each deposit."""
    text = "Coins arrived after the payment had closed. Accept or refund them."
    worth = _worth(payment)
    title = f"Late deposit for the payment of {worth}"
    record(*(_news(payment, deposit.pk, title, text, worth) for deposit in late))


def _worth(payment: Payment) -> str:
    return in_english(Fiat(payment.settlement_amount_cents, payment.settlement_currency))


def _record_difference(payment: Payment, subject: object, words: str, text: str) -> None:
    """Tell by how much more or less came, where it is a cent or more; else the payment's amount."""
    amount = _worth(payment)
    title = f"Payment of {amount} {words}"
    progress = progress_by_payment([payment])[payment.pk]
    cents = progress.over_cents or progress.left_cents
    if cents and words in (_OVER, _UNDER):
        amount = in_english(Fiat(cents, payment.settlement_currency))
        title = f"{title} by {amount}"
    _record(payment, subject, title, text, amount)


def _record(payment: Payment, subject: object, title: str, text: str, amount: str) -> None:
    record(_news(payment, subject, title, text, amount))


def _news(payment: Payment, subject: object, title: str, text: str, amount: str) -> NewNotification:
    payer = (
        f"{payment.title or payment.order_id}: {text}"
        if payment.title or payment.order_id
        else text
    )
    path = f"/dashboard/payments/{payment.pk}"
    place = payment.store_id, payment.mode, PAYMENT_ATTENTION
    return NewNotification(*place, subject, title, path, payer, amount)

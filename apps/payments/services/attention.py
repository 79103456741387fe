"""What a store's people hear of at once: a payment that got less or more than was due, came late,
or has to be refunded by hand; coins that nobody expected, and a coin that was stopped."""

from collections.abc import Iterable

from apps.assets.models import Asset
from apps.chain.models import Deposit, UnmatchedTransfer
from apps.core.money import Fiat, decimal_from_atomic
from apps.core.regions import in_english
from apps.payments.models import HeldRefund, Payment, RefundAddress
from apps.stores.notification_kinds import (
    ASSET_STOPPED,
    PAYMENT_ATTENTION,
    UNMATCHED_TRANSFER,
)
from apps.stores.notifications import News, record

_FAILED = {
    "failed_underpaid": ("was underpaid", "Less than the amount due arrived in time."),
    "failed_overpaid": ("was overpaid", "More than the amount due arrived."),
}
_ACCEPTED = {
    "completed_underpaid": (
        "was underpaid",
        "Less than the amount due arrived in time and was accepted.",
    ),
    "completed_overpaid": (
        "was overpaid",
        "More than the amount due arrived and was accepted. You can refund the difference.",
    ),
}


def payment_accepted(payment: Payment, reason: str | None) -> None:
    """Completed with less or more than was due, as the store's settings allow; else nothing."""
    if reason in _ACCEPTED:
        words, text = _ACCEPTED[reason]
        subject = f"{payment.pk}:{reason}"
        _record(payment, subject, f"Payment of {_worth(payment)} {words}", text)


def transfer_unmatched(payment: Payment, transfer: UnmatchedTransfer, asset: Asset) -> None:
    """At an address of the payment, which was made for another coin."""
    coins = decimal_from_atomic(transfer.amount_atomic, asset.atomic_decimals)
    record(
        News(
            payment.store_id,
            payment.mode,
            UNMATCHED_TRANSFER,
            transfer.pk,
            f"{coins} {asset.coin_symbol} arrived unexpectedly",
            f"/dashboard/transfers/{transfer.pk}",
            f"At an address of payment {payment.reference}, for another coin. Accept or return it.",
        )
    )


def asset_stopped(payment: Payment, deposit: Deposit, asset: Asset) -> None:
    """Told once for each deposit that was lost."""
    record(
        News(
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
    """Told once it is known what becomes of what arrived; `outcome` says that."""
    words, text = _FAILED.get(payment.state_reason or "", ("failed", ""))
    _record(payment, payment.pk, f"Payment of {_worth(payment)} {words}", f"{text} {outcome}")


def refund_held(payment: Payment, row: HeldRefund) -> None:
    """Told once for each share."""
    coins = decimal_from_atomic(row.amount_atomic, row.asset.atomic_decimals)
    text = f"{HeldRefund.Why(row.why).label}. Ask the customer where to send it."
    title = f"{coins} {row.asset.coin_symbol} can’t be refunded automatically"
    _record(payment, f"{row.pk}:held", title, text)


def refund_by_hand(payment: Payment, flag: str) -> None:
    text = "Its coins don’t go back by themselves: choose where to send them."
    _record(payment, f"{payment.pk}:{flag}", f"Payment of {_worth(payment)} needs a refund", text)


def refund_address_entered(payment: Payment, row: RefundAddress) -> None:
    """Told once for each address."""
    text = "Somebody entered it on the checkout. Ask your customer before you send anything there."
    _record(payment, f"{row.pk}:entered", f"Address for the refund of {_worth(payment)}", text)


def coins_lost(payment: Payment, tx_hash: str, chain_name: str) -> None:
    """Told once for each payment, for anybody who has its link can name such transactions."""
    text = (
        f"Somebody named a transaction on {chain_name} on the checkout that sent coins to the"
        f" token’s own contract. Nobody can return them, and they don’t count: {tx_hash}"
    )
    title = f"Coins for the payment of {_worth(payment)} went to a token’s contract"
    _record(payment, f"{payment.pk}:lost", title, text)


def came_late(payment: Payment, late: Iterable[Deposit]) -> None:
    """Told once for each deposit."""
    text = "Coins arrived after the payment had closed. Accept or refund them."
    title = f"Late deposit for the payment of {_worth(payment)}"
    record(*(_news(payment, deposit.pk, title, text) for deposit in late))


def _worth(payment: Payment) -> str:
    return in_english(Fiat(payment.settlement_amount_cents, payment.settlement_currency))


def _record(payment: Payment, subject: object, title: str, text: str) -> None:
    record(_news(payment, subject, title, text))


def _news(payment: Payment, subject: object, title: str, text: str) -> News:
    payer = (
        f"{payment.title or payment.order_id}: {text}"
        if payment.title or payment.order_id
        else text
    )
    path = f"/dashboard/payments/{payment.pk}"
    return News(payment.store_id, payment.mode, PAYMENT_ATTENTION, subject, title, path, payer)

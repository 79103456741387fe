"""What a store's people hear of at once: a payment that failed with coins in it, came late, or has
to be refunded by hand."""

from collections.abc import Iterable

from apps.chain.models import Deposit
from apps.core.money import Fiat
from apps.core.regions import in_english
from apps.payments.models import Payment, Refund
from apps.stores.notifications import PAYMENT_ATTENTION, REFUND_FAILED, News, record

_FAILED = {
    "failed_underpaid": (
        "was underpaid",
        "Less than the amount due arrived in time. It is being refunded.",
    ),
    "failed_overpaid": ("was overpaid", "More than the amount due arrived. It is being refunded."),
}


def payment_failed(payment: Payment, reason: str | None) -> None:
    words, text = _FAILED.get(reason or "", ("failed", ""))
    _record(payment, payment.pk, f"Payment of {_worth(payment)} {words}", text)


def refund_by_hand(payment: Payment, flag: str) -> None:
    text = "Its coins don’t go back by themselves: choose where to send them."
    _record(payment, f"{payment.pk}:{flag}", f"Payment of {_worth(payment)} needs a refund", text)


def came_late(payment: Payment, late: Iterable[Deposit]) -> None:
    """Told once for each deposit."""
    text = "Coins arrived after the payment had closed. Accept or refund them."
    title = f"Late deposit for the payment of {_worth(payment)}"
    record(*(_news(payment, deposit.pk, title, text) for deposit in late))


def refund_failed(payment: Payment, refund: Refund, reason: str) -> None:
    title = f"Refund of the payment of {_worth(payment)} failed"
    path = f"/dashboard/payments/{payment.pk}"
    news = News(refund.store_id, refund.mode, REFUND_FAILED, refund.pk, title, path, reason)
    record(news)


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

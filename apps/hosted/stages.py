"""Facts of a checkout's stages besides its document: late coins, and the remaining time."""

from apps.payments import states
from apps.payments.documents.checkout import CheckoutFacts, CheckoutTransaction
from apps.payments.models import Payment

ENDING_SECONDS_MAX = 300
ENDING_SHARE = 5


def is_late(document: CheckoutFacts) -> bool:
    """Coins came after the payment had ended, whatever became of them."""
    return document.status == states.EXPIRED and any(
        transaction.status != "failed" for transaction in document.transactions
    )


def waiting_for_merchant(document: CheckoutFacts) -> list[CheckoutTransaction]:
    """Deposits that came late or in another coin, on which nobody has decided yet."""
    return [transaction for transaction in document.transactions if transaction.undecided]


def failed_now(document: CheckoutFacts) -> CheckoutTransaction | None:
    """The customer's last transaction, where it failed: nothing is said of one that they have sent
    again."""
    last = document.transactions[-1] if document.transactions else None
    return last if last is not None and last.status == "failed" else None


def ending_seconds(payment: Payment) -> int:
    """From how much time left on the customer is warned: five minutes, less where there never was
    much."""
    return min(ENDING_SECONDS_MAX, lifetime_seconds(payment) // ENDING_SHARE)


def lifetime_seconds(payment: Payment) -> int:
    """Seconds for which its price was held."""
    return int((payment.expires_at - payment.created_at).total_seconds())


def is_ending(payment: Payment, document: CheckoutFacts) -> bool:
    return not document.terminal and 0 < document.seconds_left <= ending_seconds(payment)

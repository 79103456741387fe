"""Whoever changes an intent begins here: with its row, which nobody else changes meanwhile."""

from apps.core.db.prepared_reads import Columns
from apps.core.db.sql import Statement
from apps.payments.models import Payment
from apps.stores.models import Store

_PAYMENT = Columns(Payment, "p")
_STORE = Columns(Store, "s")
_LOCKED = Statement(
    f"SELECT {_PAYMENT.text}, {_STORE.text} FROM payments_payment p"  # noqa: S608  # only names of columns
    " JOIN stores_store s ON s.id = p.store_id WHERE p.id = %(payment_id)s::uuid FOR UPDATE OF p"
)


def locked_payment(payment_id: object) -> Payment:
    """The intent as it stands, with its store; it stays locked until the caller's transaction ends.
    Raises Payment.DoesNotExist."""
    rows = _LOCKED.rows(payment_id=payment_id)
    if not rows:
        raise Payment.DoesNotExist(f"no payment {payment_id}")
    payment = _PAYMENT.row(rows[0][: len(_PAYMENT)])
    payment.store = _STORE.row(rows[0][len(_PAYMENT) :])
    return payment

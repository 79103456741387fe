"""Words of a payment's timeline: of deposits, of emails, and of deliveries to endpoints."""

from enum import Enum, auto

from django.utils.translation import gettext, gettext_noop, ngettext

from apps.chain.models import Deposit
from apps.chain.networks.finality import awaits_tag
from apps.core.badges import BAD, GOOD, QUIET, WAIT
from apps.core.models import OutgoingMail
from apps.payments.documents.deposits import ReceivedDeposit
from apps.webhooks.models import Delivery


def simulated_note(is_simulated: bool) -> str:
    return f" · {gettext('simulated')}" if is_simulated else ""


def by_name(plain: str, pattern: str, name: str) -> str:
    """With the name, where there is one."""
    return gettext(pattern).format(name=name) if name else gettext(plain)


class Arrived(Enum):
    DEPOSIT = auto()
    LATE = auto()
    OTHER_COIN = auto()


ACCEPTED = {
    Arrived.DEPOSIT: gettext_noop("Deposit accepted"),
    Arrived.LATE: gettext_noop("Late deposit accepted"),
    Arrived.OTHER_COIN: gettext_noop("Deposit in another coin accepted"),
}
ACCEPTED_BY = {
    Arrived.DEPOSIT: gettext_noop("Deposit accepted by {name}"),
    Arrived.LATE: gettext_noop("Late deposit accepted by {name}"),
    Arrived.OTHER_COIN: gettext_noop("Deposit in another coin accepted by {name}"),
}
DETECTED = {
    Arrived.DEPOSIT: gettext_noop("Deposit detected"),
    Arrived.LATE: gettext_noop("Late deposit detected"),
    Arrived.OTHER_COIN: gettext_noop("Deposit in another coin detected"),
}
CONFIRMED = {
    Arrived.DEPOSIT: gettext_noop("Deposit confirmed"),
    Arrived.LATE: gettext_noop("Late deposit confirmed"),
    Arrived.OTHER_COIN: gettext_noop("Deposit in another coin confirmed"),
}
CONFIRMING = {
    Arrived.DEPOSIT: gettext_noop("Deposit confirming"),
    Arrived.LATE: gettext_noop("Late deposit confirming"),
    Arrived.OTHER_COIN: gettext_noop("Deposit in another coin confirming"),
}
FAILED = {
    Arrived.DEPOSIT: gettext_noop("Deposit failed"),
    Arrived.LATE: gettext_noop("Late deposit failed"),
    Arrived.OTHER_COIN: gettext_noop("Deposit in another coin failed"),
}


def arrived_as(arrival: ReceivedDeposit) -> Arrived:
    if arrival.is_unexpected:
        return Arrived.OTHER_COIN
    return Arrived.LATE if arrival.is_late else Arrived.DEPOSIT


def confirmations_done(deposit: Deposit) -> str:
    """Empty where nodes say what is final and nobody counts."""
    if not deposit.is_simulated and not deposit.asset.chain.counts_confirmations:
        return ""
    number = deposit.required_confirmations
    return ngettext("{number} confirmation", "{number} confirmations", number).format(number=number)


def confirmations_so_far(deposit: Deposit, number: int) -> str:
    """Of those that it needs, or that the network has the last word."""
    required = deposit.required_confirmations
    if not deposit.is_simulated and awaits_tag(deposit.asset.chain, number >= required):
        return gettext("Waiting for the network to finalize the transaction")
    return gettext("{number} of {required} confirmations").format(
        number=min(number, required), required=required
    )


_RECEIPT = "payment_receipt"
_ADDRESS = "refund_address"
_INVOICE_RECEIPT = "invoice_receipt"
_INVOICE = "invoice_open"
REMINDER = ""
EMAIL_TONES = {
    OutgoingMail.Status.QUEUED: WAIT,
    OutgoingMail.Status.SENT: GOOD,
    OutgoingMail.Status.FAILED: BAD,
    OutgoingMail.Status.DROPPED: QUIET,
    OutgoingMail.Status.SHOWN: QUIET,
}
# By template, any other being a reminder, and status.
EMAILED = {
    _RECEIPT: {
        OutgoingMail.Status.QUEUED: gettext_noop("Receipt waiting to be emailed"),
        OutgoingMail.Status.SENT: gettext_noop("Receipt emailed"),
        OutgoingMail.Status.FAILED: gettext_noop("Receipt could not be emailed"),
        OutgoingMail.Status.DROPPED: gettext_noop(
            "Receipt not emailed: too many were sent that day"
        ),
        OutgoingMail.Status.SHOWN: gettext_noop("Receipt shown under Test emails, not sent"),
    },
    _ADDRESS: {
        OutgoingMail.Status.QUEUED: gettext_noop(
            "Question for a refund address waiting to be emailed"
        ),
        OutgoingMail.Status.SENT: gettext_noop("Question for a refund address emailed"),
        OutgoingMail.Status.FAILED: gettext_noop(
            "Question for a refund address could not be emailed"
        ),
        OutgoingMail.Status.DROPPED: gettext_noop(
            "Question for a refund address not emailed: too many were sent that day"
        ),
        OutgoingMail.Status.SHOWN: gettext_noop(
            "Question for a refund address shown under Test emails, not sent"
        ),
    },
    _INVOICE_RECEIPT: {
        OutgoingMail.Status.QUEUED: gettext_noop("Invoice receipt waiting to be emailed"),
        OutgoingMail.Status.SENT: gettext_noop("Invoice receipt emailed"),
        OutgoingMail.Status.FAILED: gettext_noop("Invoice receipt could not be emailed"),
        OutgoingMail.Status.DROPPED: gettext_noop(
            "Invoice receipt not emailed: too many were sent that day"
        ),
        OutgoingMail.Status.SHOWN: gettext_noop(
            "Invoice receipt shown under Test emails, not sent"
        ),
    },
    _INVOICE: {
        OutgoingMail.Status.QUEUED: gettext_noop("Invoice waiting to be emailed"),
        OutgoingMail.Status.SENT: gettext_noop("Invoice emailed"),
        OutgoingMail.Status.FAILED: gettext_noop("Invoice could not be emailed"),
        OutgoingMail.Status.DROPPED: gettext_noop(
            "Invoice not emailed: too many were sent that day"
        ),
        OutgoingMail.Status.SHOWN: gettext_noop("Invoice shown under Test emails, not sent"),
    },
    REMINDER: {
        OutgoingMail.Status.QUEUED: gettext_noop("Reminder waiting to be emailed"),
        OutgoingMail.Status.SENT: gettext_noop("Reminder emailed"),
        OutgoingMail.Status.FAILED: gettext_noop("Reminder could not be emailed"),
        OutgoingMail.Status.DROPPED: gettext_noop(
            "Reminder not emailed: too many were sent that day"
        ),
        OutgoingMail.Status.SHOWN: gettext_noop("Reminder shown under Test emails, not sent"),
    },
}


DELIVERED = {
    Delivery.Status.DELIVERED: (GOOD, gettext_noop("Webhook delivered")),
    Delivery.Status.FAILED: (BAD, gettext_noop("Webhook failed")),
    Delivery.Status.IGNORED: (QUIET, gettext_noop("Webhook not sent")),
}

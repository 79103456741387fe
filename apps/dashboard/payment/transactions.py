"""Searches for a transaction that a customer names, for the store: the same search as "I already
paid" on the checkout. What it finds and isn't booked is booked by the watcher."""

from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, find, show
from apps.payments import selectors
from apps.payments.models import Payment
from apps.payments.services.transaction_lookup import (
    LookupResult,
    TransactionLookup,
    find_named_transaction,
)

# Tone, heading, and what follows for the store. `{chains}` are where it was found or looked for.
_WORDS: dict[LookupResult, tuple[str, str, str]] = {
    LookupResult.COUNTED: (
        "good",
        gettext_noop("It is booked"),
        gettext_noop("It is confirmed and counts for this payment."),
    ),
    LookupResult.CONFIRMING: (
        "info",
        gettext_noop("It is confirming"),
        gettext_noop("It has {confirmations} of {required} confirmations on {chains}."),
    ),
    LookupResult.LATE: (
        "wait",
        gettext_noop("It came late"),
        gettext_noop("It is held. Accept or refund it on the payment’s page."),
    ),
    LookupResult.FAILED: (
        "bad",
        gettext_noop("It failed"),
        gettext_noop("It was reverted on {chains}: no coins moved."),
    ),
    LookupResult.WRONG_COIN: (
        "wait",
        gettext_noop("It came in another coin"),
        gettext_noop(
            "It reached this payment on {chains} in a coin that the payment doesn’t accept. You"
            " find it under unmatched transfers."
        ),
    ),
    LookupResult.RETURNED: (
        "wait",
        gettext_noop("It went back"),
        gettext_noop("It was returned, or is on its way back, and doesn’t count for this payment."),
    ),
    LookupResult.ELSEWHERE: (
        "info",
        gettext_noop("It was accepted for another payment"),
        gettext_noop("It came to an address of this payment and counts for another one."),
    ),
    LookupResult.TAKEN_BACK: (
        "bad",
        gettext_noop("It was replaced or dropped"),
        gettext_noop("Another transaction took its coins, or {chains} no longer knows it."),
    ),
    LookupResult.NOT_FINAL: (
        "info",
        gettext_noop("It isn’t final yet"),
        gettext_noop("It was found on {chains}. Look again in a few minutes."),
    ),
    LookupResult.NOTED: (
        "info",
        gettext_noop("It reached this payment and isn’t booked yet"),
        gettext_noop("Its block on {chains} is read again now. Look again in a few minutes."),
    ),
    LookupResult.OTHER_ADDRESS: (
        "wait",
        gettext_noop("It went to another address"),
        gettext_noop("It is on {chains}, and nothing of it came to this payment."),
    ),
    LookupResult.TOKEN_CONTRACT: (
        "bad",
        gettext_noop("It went to the token’s own contract"),
        gettext_noop(
            "It is on {chains}. Nobody can return these coins, and they don’t count for this"
            " payment."
        ),
    ),
    LookupResult.NOT_FOUND: (
        "wait",
        gettext_noop("It wasn’t found"),
        gettext_noop("Looked for on {chains}."),
    ),
    LookupResult.NOT_ASKED: (
        "wait",
        gettext_noop("No network answered"),
        gettext_noop("Look again in a few minutes."),
    ),
}


class TransactionForm(Form):
    names = ("transaction",)
    labels = {"transaction": gettext_noop("Transaction hash")}


def find_one(request: PageRequest, id: str) -> HttpResponse:
    payment: Payment = find(selectors.payments_visible_to(request.access), id)
    if request.method == "GET":
        return _form(request, payment, TransactionForm({}))
    form = TransactionForm.from_post(request.POST)
    try:
        answer = find_named_transaction(payment, form.values["transaction"])
    except Refusals as refusal:
        return _form(request, payment, form.refuse(refusal))
    return _form(request, payment, form, answer)


def _form(
    request: PageRequest,
    payment: Payment,
    form: TransactionForm,
    answer: TransactionLookup | None = None,
) -> HttpResponse:
    context: dict[str, object] = {"payment": payment, "form": form, "errors": form.common_errors}
    if answer is not None:
        tone, heading, text = _WORDS[answer.result]
        context |= {
            "tone": tone,
            "heading": gettext(heading),
            "answer": gettext(text).format(
                chains=", ".join(answer.chains),
                confirmations=answer.confirmations,
                required=answer.required_confirmations,
            ),
        }
    return show(request, "dashboard/payments/transaction.html", context, status=form.status)

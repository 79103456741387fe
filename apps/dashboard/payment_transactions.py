"""Searches for a transaction that a customer names, for the store: the same search as "I already
paid" on the checkout. What it finds and isn't booked is booked by the watcher."""

from django.http import HttpResponse

from apps.core.web.forms import Form
from apps.dashboard.plumbing import PageRequest, Refusals, find, show
from apps.payments import selectors
from apps.payments.models import Payment
from apps.payments.services.transaction_lookup import (
    LookupResult,
    TransactionLookup,
    find_named_transaction,
)

# Tone, heading, and what follows for the store. `{chains}` are where it was found or looked for.
_WORDS: dict[LookupResult, tuple[str, str, str]] = {
    LookupResult.COUNTED: ("good", "It is booked", "It is confirmed and counts for this payment."),
    LookupResult.CONFIRMING: (
        "info",
        "It is confirming",
        "It has {confirmations} of {required} confirmations on {chains}.",
    ),
    LookupResult.LATE: (
        "wait",
        "It came late",
        "It is held. Accept or refund it on the payment’s page.",
    ),
    LookupResult.FAILED: ("bad", "It failed", "It was reverted on {chains}: no coins moved."),
    LookupResult.WRONG_COIN: (
        "wait",
        "It came in another coin",
        "It reached this payment on {chains} in a coin that the payment doesn’t accept. You find"
        " it under unmatched transfers.",
    ),
    LookupResult.NOT_FINAL: (
        "info",
        "It isn’t final yet",
        "It was found on {chains}. Look again in a few minutes.",
    ),
    LookupResult.NOTED: (
        "info",
        "It reached this payment and isn’t booked yet",
        "Its block on {chains} is read again now. Look again in a few minutes.",
    ),
    LookupResult.OTHER_ADDRESS: (
        "wait",
        "It went to another address",
        "It is on {chains}, and nothing of it came to this payment.",
    ),
    LookupResult.TOKEN_CONTRACT: (
        "bad",
        "It went to the token’s own contract",
        "It is on {chains}. Nobody can return these coins, and they don’t count for this payment.",
    ),
    LookupResult.NOT_FOUND: ("wait", "It wasn’t found", "Looked for on {chains}."),
    LookupResult.NOT_ASKED: (
        "wait",
        "No network answered",
        "Look again in a few minutes.",
    ),
}


class TransactionForm(Form):
    names = ("transaction",)
    labels = {"transaction": "Transaction hash"}


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
            "heading": heading,
            "answer": text.format(
                chains=", ".join(answer.chains),
                confirmations=answer.confirmations,
                required=answer.required_confirmations,
            ),
        }
    return show(request, "dashboard/payments/transaction.html", context, status=form.status)

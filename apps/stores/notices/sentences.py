"""THE table of the sentences of notifications, which are kept in English as they were recorded: how
each is read back, its figures and all, for the reader's language.

A part that isn't a sentence of ours, such as the title of a payment, stays as it is.
"""

import re
from functools import cache

from django.conf import settings
from django.utils.functional import lazy
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as _

# Titles, without the amount that pages show beside them.
TITLES = (
    _("Payment completed"),
    _("Payment was underpaid"),
    _("Payment was overpaid"),
    _("Payment of {amount} was underpaid"),
    _("Payment of {amount} was overpaid"),
    _("Payment failed"),
    _("Payment needs a refund"),
    _("Payment is under review"),
    _("Refund can’t be sent automatically"),
    _("Refund failed"),
    _("Refund is under review"),
    _("Swap failed"),
    _("Swap is under review"),
    _("Draw failed"),
    _("Draw is under review"),
    _("Return failed"),
    _("Return is under review"),
    _("Transfer is under review"),
    _("Payout was confirmed"),
    _("Payout failed"),
    _("Payout is under review"),
    _("Payout needs approval"),
    _("Deposit arrived unexpectedly"),
    _("Address for the refund was entered"),
    _("Coins for the payment went to a token’s contract"),
    _("Late deposit for the payment"),
    _("Invoice {number} was paid"),
    _("A subscription is past due"),
    _("A subscription is active again"),
    _("A webhook endpoint was disabled"),
    _("Your business is verified"),
    _("Your business could not be verified"),
    _("{coin} is stopped for review"),
    _("{coin} is accepted again"),
    _("{coin} stays stopped"),
    _("{currency} account ending in {digits}"),
    _("Your {account} was verified"),
    _("Your {account} couldn’t be verified"),
    _("{part} of {store} are suspended"),
    _("{part} of {store} are active again"),
    _("{platform} raises its fee to {fee}%"),
    _("Our staff changed your store’s settings"),
    _("Our staff changed the role of a team member"),
)
TEXTS = (
    _("Less than the amount due arrived in time and was accepted."),
    _("More than the amount due arrived and was accepted. You can refund the difference."),
    _("Less than the amount due arrived in time. {outcome}"),
    _("More than the amount due arrived. {outcome}"),
    _("At an address of payment {reference}, for another coin. Accept or return it."),
    _(
        "A confirmed deposit of payment {reference} ({worth}) left the chain. Deliver nothing more"
        " for it. Payments in the coin wait for our review."
    ),
    _("{why}. Ask the customer where to send it."),
    _("Its coins don’t go back by themselves: choose where to send them."),
    _("Its coins are in your own wallet: send them back from there."),
    _("Somebody entered it on the checkout. Ask your customer before you send anything there."),
    _(
        "Somebody named a transaction on {network} on the checkout that sent coins to the token’s"
        " own contract. Nobody can return them, and they don’t count: {transaction}"
    ),
    _("Coins arrived after the payment had closed. Accept or refund them."),
    _("Nothing is refunded automatically."),
    _("It is being refunded."),
    _("It is refunded once the sender is checked."),
    _("A part is being refunded; the rest needs you."),
    _("A part is being refunded; who sent the rest is being checked."),
    _("We review it before it’s sent. There’s nothing for you to do."),
    _("We check what became of it. There’s nothing for you to do."),
    _("The transaction failed"),
    _("{what}, requested by {person}"),
    _("Its invoice wasn’t paid in time."),
    _("None of its invoices is open anymore."),
    _("From {at} UTC it keeps {fee}% of each new payment, instead of {before}%."),
    _("{person} is now {role}, instead of {before}."),
    _("{effect} If you didn’t expect this, contact us."),
    _("The suspension is over."),
    _("We have finished our review."),
    _("The deposits that had left the chain have confirmed again."),
    _(
        "The deposits that had left the chain have confirmed again. Payouts that waited for it"
        " go on."
    ),
    _("Payments in it aren’t accepted."),
    _("You can pay out to it now."),
    _("You can’t pay out to it. Remove it, and add it again with other details."),
)
# Sentences in which a figure is one of these itself.
_NESTED = {"outcome", "why", "effect", "account", "part", "role", "before"}


def in_readers_language(text: str) -> str:
    """A title or text of a notification."""
    whole = gettext(text) if text else ""
    if whole != text:
        return whole
    for pattern, form in _forms():
        found = form.fullmatch(text)
        if found is not None:
            figures = {
                name: in_readers_language(value) if name in _NESTED else value
                for name, value in found.groupdict().items()
            }
            return gettext(pattern).format(**figures)
    subject, colon, rest = text.partition(": ")
    read = in_readers_language(rest) if colon else rest
    return text if read == rest else f"{subject}: {read}"


def without_amount(title: str, amount: str) -> str:
    """A title without the amount that is beside it: what it is of, or what it differs by."""
    if not amount:
        return title
    if title.endswith(f" by {amount}"):
        return title.removesuffix(f" by {amount}")
    return title.replace(f" of {amount}", "", 1)


def _title_with_amount(title: str, amount: str) -> str:
    if not amount:
        return in_readers_language(title)
    if get_language() == settings.LANGUAGE_CODE:
        return title
    return f"{in_readers_language(without_amount(title, amount))}: {amount}"


# Read when the email is written, in its reader's language.
title_of_email = lazy(_title_with_amount, str)
text_of_email = lazy(in_readers_language, str)


@cache
def _forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    with_figures = (pattern for pattern in (*TITLES, *TEXTS) if "{" in pattern)
    return tuple((pattern, _form(pattern)) for pattern in with_figures)


def _form(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", pattern)
    return re.compile(
        "".join(f"(?P<{part}>.+)" if at % 2 else re.escape(part) for at, part in enumerate(parts)),
        re.DOTALL,
    )

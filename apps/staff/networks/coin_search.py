"""A page of the staff site where coins are looked for that somebody says they have sent."""

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.assets.models import Chain
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.payments.services import coin_search
from apps.payments.services.transaction_lookup import TEXT_MAX, LookupResult
from apps.staff.pages import may, reason_field
from apps.stores import staff_roles
from apps.stores.models import User

# What a transaction is to a payment that it reached: a badge's tone, and words.
_WORDS: dict[LookupResult, tuple[str, str]] = {
    LookupResult.COUNTED: ("good", "Booked and confirmed"),
    LookupResult.CONFIRMING: ("wait", "Booked, confirming"),
    LookupResult.LATE: ("wait", "Booked as late; the store decides"),
    LookupResult.FAILED: ("bad", "Reverted: no coins moved"),
    LookupResult.WRONG_COIN: ("wait", "Came in another coin: see Unmatched transfers"),
    LookupResult.RETURNED: ("wait", "Returned, or on its way back"),
    LookupResult.ELSEWHERE: ("good", "Accepted for another payment"),
    LookupResult.NOT_FINAL: ("wait", "Not final yet, or not read yet"),
    LookupResult.TAKEN_BACK: ("bad", "Replaced by another transaction, or dropped"),
    LookupResult.NOTED: ("wait", "Not booked: its block is read again now"),
}
_OTHER = ("wait", "No network answered")


class BlocksForm(forms.Form):
    chain = forms.ChoiceField(label="Network")
    first = forms.IntegerField(label="First block", min_value=0, max_value=2**53)
    last = forms.IntegerField(
        label="Last block",
        min_value=0,
        max_value=2**53,
        help_text=f"At most {coin_search.BLOCKS_MAX} blocks.",
    )
    reason = reason_field()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        watched = [name for name, urls in settings.CHAIN_URLS.items() if urls]
        rows = Chain.objects.filter(pk__in=watched).order_by("mode", "name")
        self.fields["chain"].choices = [  # type: ignore[attr-defined]  # a choice field
            (row.pk, row.name) for row in rows
        ]


class CoinSearchForm(forms.Form):
    transaction = forms.CharField(
        label="Transaction hash",
        max_length=TEXT_MAX,
        help_text="Or the address of its page in an explorer.",
    )
    reason = reason_field()


def page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Find a transaction, or have blocks read again."""
    act = request.POST.get("act", "")
    sent = request.POST if request.method == "POST" else None
    blocks = BlocksForm(sent if act == "blocks" else None, prefix="blocks")
    finder = CoinSearchForm(sent if act == "find" else None, prefix="find")
    finding = None
    errors = list[str]()
    status = 200
    if sent is not None:
        status = 422
        try:
            if act == "blocks" and blocks.is_valid():
                messages.success(request, _ask(blocks, request))
                return HttpResponseRedirect(reverse("admin:coins"))
            if act == "find" and finder.is_valid():
                finding = coin_search.find(
                    finder.cleaned_data["transaction"],
                    finder.cleaned_data["reason"],
                    cast(User, request.user),
                )
                status = 200
        except Failure as refusal:
            errors = [typographic(refusal.text)]
    context = {
        **site.each_context(request),
        "title": "Find coins",
        "blocks": blocks,
        "finder": finder,
        "finding": finding,
        "reached_payments": [
            (item.payment, *_WORDS.get(item.result, _OTHER))
            for item in (finding.payments if finding is not None else ())
        ],
        "errors": errors,
        "may_find": may(request, staff_roles.COINS_FIND),
    }
    return TemplateResponse(request, "staff/coin_search.html", context, status=status)


def _ask(form: BlocksForm, request: HttpRequest) -> str:
    """Raises a Failure."""
    count = coin_search.ask_for_blocks(
        form.cleaned_data["chain"],
        form.cleaned_data["first"],
        form.cleaned_data["last"],
        form.cleaned_data["reason"],
        cast(User, request.user),
    )
    blocks = f"{count} block{pluralize(count)}"
    return f"The watcher reads {blocks} again. What was missing is in the list of deposits then"

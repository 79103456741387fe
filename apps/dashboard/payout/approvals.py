"""Payouts that wait for a second person: the list, one with what would leave, approving and
rejecting it, and the store's rule.

What is approved is what the page showed: a digest of it comes back with the form, and the code is
for just that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.access.factors import stepup
from apps.chain.networks.families import shown_address
from apps.core import clock, money
from apps.core.messages.fields import Invalid
from apps.core.templatetags.tillgate import fiat
from apps.core.typed_amounts import Ambiguous, cents_typed
from apps.core.web.forms import Form
from apps.dashboard.site import confirming
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, sentences, show
from apps.dashboard.tables.exports import exported
from apps.dashboard.tables.files import ListFile, cents_of, coins_of
from apps.dashboard.tables.lists import parts
from apps.dashboard.tables.paging import window
from apps.payouts.models import Payout, PayoutApproval, PayoutBatch
from apps.payouts.services import approval_decisions, approval_rules
from apps.payouts.services.approvals import ALONE_WITHIN, LIFETIME
from apps.payouts.services.batches import totals_of
from apps.payouts.services.destinations import title
from apps.stores import roles

_TABS = {"": _("Waiting"), "decided": _("Decided")}


class RejectForm(Form):
    names = ("reason",)


class RuleForm(Form):
    """Above which amount; empty is no rule."""

    names = ("above",)

    @property
    def above_cents(self) -> int | None:
        """Raises NotAnAmount."""
        text = self.values["above"]
        try:
            return cents_typed(text, "above") if text else None
        except Ambiguous:
            raise
        except Invalid:
            raise NotAnAmount("above", "money") from None


class NotAnAmount(Invalid):
    """The form's amount is no amount of money."""


def index(request: PageRequest) -> HttpResponse:
    chosen, chosen_rows = _chosen(request)
    page = window(chosen_rows, request.GET, {"show": chosen})
    payouts = _payouts_of(request, page.rows)
    context = {
        "rows": [
            {"held": approval, "payout": (payout := payouts.get(approval.pk)), "to": _to(payout)}
            for approval in page.rows
        ],
        "window": page,
        "tabs": [
            {
                "name": name,
                "query": f"?show={approval}" if approval else "",
                "is_current": approval == chosen,
            }
            for approval, name in _TABS.items()
        ],
        "export_query": f"show={chosen}" if chosen else "",
        "is_decided": bool(chosen),
        "now": request.access.now(),
        "rule": _shown_rule(request),
    }
    return show(request, "dashboard/approvals/list.html", context)


def _chosen(request: PageRequest) -> "tuple[str, QuerySet[PayoutApproval]]":
    """The tab that is looked at, and what it shows."""
    chosen = request.GET.get("show", "")
    chosen = chosen if chosen in _TABS else ""
    rows = approval_decisions.approvals_visible_to(request.access)
    waiting = PayoutApproval.Status.WAITING
    return chosen, rows.exclude(status=waiting) if chosen else rows.filter(status=waiting)


@dataclass(frozen=True)
class ApprovalLine:
    """An approval with the payout that it is for; None for a list."""

    held: PayoutApproval
    payout: Payout | None


def export(request: PageRequest) -> Answer:
    """The tab's rows as CSV, newest first."""
    return _FILE.of_each(request, _lines(request, _chosen(request)[1]))


def _lines(request: PageRequest, rows: "QuerySet[PayoutApproval]") -> Iterator[ApprovalLine]:
    for part in parts(exported(rows)):
        payouts = _payouts_of(request, part)
        yield from (ApprovalLine(approval, payouts.get(approval.pk)) for approval in part)


def _payouts_of(request: PageRequest, rows: list[PayoutApproval]) -> dict[Any, Payout]:
    """The payout that each was asked for: a schedule's first; a list's lines are looked at in the
    list."""
    own = Payout.objects.visible_to(request.access).filter(
        approval__in=[item for item in rows if not hasattr(item, "batch")]
    )
    payouts = own.select_related("asset", "destination")
    return {
        item.approval_id: item
        for item in payouts.defer("destination__account_sealed").order_by("-created_at")
    }


def _to(payout: Payout | None) -> str:
    if payout is None:
        return ""
    if payout.destination is not None and not payout.destination.is_wallet:
        return title(payout.destination)
    return shown_address(payout.destination_address or "")


_FILE = ListFile(
    "approvals",
    "approvals",
    {
        "amount": lambda line: (
            coins_of(line.payout.amount_atomic, line.payout.asset) if line.payout else ""
        ),
        "asset": lambda line: line.payout.asset_id if line.payout else "",
        "mass_payout": lambda line: line.held.batch.filename if line.payout is None else "",
        "value": lambda line: cents_of(line.held.worth_cents),
        "currency": lambda line: line.held.currency,
        "destination": lambda line: _to(line.payout),
        "requested_by": lambda line: line.held.made_by,
        "status": lambda line: line.held.status,
        "decided_by": lambda line: line.held.decided_by.email if line.held.decided_by else "",
        "reason": lambda line: line.held.reason,
        "created_at": lambda line: clock.iso(line.held.created_at),
        "decided_at": lambda line: clock.iso(line.held.decided_at),
        "mode": lambda line: line.held.mode,
        "id": lambda line: line.held.pk,
    },
)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    approval = _find(request, id)
    payout = approval_decisions.payout_of(approval)
    batch = _batch_of(approval)
    is_waiting = approval.status == PayoutApproval.Status.WAITING
    is_own = approval.maker_id == request.person.pk
    context = {
        "held": approval,
        "payout": payout,
        "to": _to(payout),
        "batch": batch,
        "totals": [] if batch is None else totals_of(batch),
        "agreed": approval_decisions.digest_of(approval),
        "is_own": is_own,
        "is_by_person": approval.made_by in (request.person.name, request.person.email),
        "facts_heading": (
            gettext("What will be sent")
            if is_waiting
            else gettext("Mass payout")
            if batch
            else gettext("Payout")
        ),
        "may_approve": is_waiting and not is_own,
        "is_waiting": is_waiting,
        "needs_second_factor": (
            is_waiting and not is_own and stepup.lacks_second_factor(request.person)
        ),
    }
    return show(request, "dashboard/approvals/detail.html", context)


def _batch_of(approval: PayoutApproval) -> PayoutBatch | None:
    return approval.batch if hasattr(approval, "batch") else None


def approve(request: PageRequest, id: str) -> HttpResponse:
    approval = _find(request, id)
    if request.method == "GET":
        return go("approval", approval.pk)
    agreed = request.POST.get("agreed", "")
    try:
        confirmation = confirming.ask_about_form(
            request,
            _rows(approval),
            lambda: approval_decisions.approve(request.access, approval, agreed),
        )
        if confirmation is not None:
            return confirmation
        approval_decisions.approve(request.access, approval, agreed)
    except Refusals as refusal:
        messages.error(request, " ".join(sentences(refusal)))
    else:
        messages.success(request, gettext("Approved. The payout is being sent."))
    return go("approval", approval.pk)


def _rows(approval: PayoutApproval) -> list[tuple[str, object]]:
    """Figures of the payout, repeated on the page that asks for the code."""
    worth = "" if approval.worth_cents is None else fiat(approval.worth_cents, approval.currency)
    payout = approval_decisions.payout_of(approval)
    batch = _batch_of(approval)
    rows: list[tuple[str, object]] = []
    if payout is not None:
        amount = money.decimal_from_atomic(payout.amount_atomic, payout.asset.atomic_decimals)
        rows = [
            (gettext("Amount"), f"{amount} {payout.asset.coin_symbol}"),
            (gettext("To"), _to(payout)),
            (gettext("On"), payout.asset.chain.name),
        ]
    elif batch is not None:
        sums = [
            f"{money.decimal_from_atomic(total.amount_atomic, total.asset.atomic_decimals)}"
            f" {total.asset.coin_symbol}"
            for total in totals_of(batch)
        ]
        rows = [(gettext("List"), batch.filename), (gettext("Amount"), ", ".join(sums))]
    return [
        *rows,
        (gettext("Value when requested"), worth),
        (gettext("Requested by"), approval.made_by),
    ]


def reject(request: PageRequest, id: str) -> HttpResponse:
    approval = _find(request, id)
    form = RejectForm({"reason": request.POST.get("reason", "")[:200]})
    if request.method == "POST":
        try:
            approval_decisions.reject(request.access, approval, form.values["reason"])
        except Refusals as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, gettext("Rejected. Nothing was sent."))
            return go("approval", approval.pk)
    payout = approval_decisions.payout_of(approval)
    context = {
        "held": approval,
        "payout": payout,
        "to": _to(payout),
        "batch": _batch_of(approval),
        "errors": form.common_errors,
        "form": form,
    }
    return show(request, "dashboard/approvals/reject.html", context, status=form.status)


def _find(request: PageRequest, id: str) -> PayoutApproval:
    approval: PayoutApproval = find(approval_decisions.approvals_visible_to(request.access), id)
    return approval


# --- the rule -------------------------------------------------------------------------------------


def rule(request: PageRequest) -> HttpResponse:
    """Above which amount payouts of this mode need a second person."""
    form = RuleForm.from_post(request.POST)
    if request.method == "POST":
        try:
            above_cents = form.above_cents

            def keep() -> object:
                return approval_rules.change_rule(request.access, above_cents)

            limit = form.values["above"] or gettext("No payout needs a second approval")
            confirmation = confirming.ask_about_form(
                request, [(gettext("Payouts above"), limit)], keep
            )
            if confirmation is not None:
                return confirmation
            keep()
            messages.success(
                request,
                gettext(
                    "Saved. In live mode, a looser rule takes effect after the waiting period."
                ),
            )
            return go("settings_approvals")
        except Refusals as refusal:
            form.refuse(refusal)
    context = {
        "form": form,
        "errors": form.common_errors,
        "may_change": roles.may(request.member.role, roles.OWN),
        "people": approval_rules.approvers(request.access.store_id).order_by("created_at"),
        "days": LIFETIME.days,
        "hours": int(ALONE_WITHIN.total_seconds()) // 3600,
        "rule": _shown_rule(request),
    }
    return show(request, "dashboard/settings/approvals.html", context, status=form.status)


@dataclass(frozen=True)
class ShownRule:
    """Above which amount, or None; and what it is from `next_from` on where a change still
    waits."""

    above: str | None
    currency: str
    next_from: datetime | None
    next: str


def _shown_rule(request: PageRequest) -> ShownRule:
    present = approval_rules.rule_of(request.access)
    at = clock.now(request.access.store, request.access.mode)
    above = approval_rules.above_of(present, at)
    is_changing = present is not None and present.next_from is not None and present.next_from > at
    next_from = present.next_from if present is not None and is_changing else None
    return ShownRule(
        above=None if above is None else money.text_from_cents(above.cents),
        currency=(
            present.currency
            if present is not None and above is not None
            else request.access.store.settlement_currency
        ),
        next_from=next_from,
        next=(
            approval_rules.told(present, present.next_above_cents)
            if present is not None and is_changing
            else ""
        ),
    )

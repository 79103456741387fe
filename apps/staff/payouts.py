"""Payouts for staff, who decide about those in review; and what they see beside one: the store's
payouts and balances, the destination, and who requested it. Each a bounded number of rows."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.assets.models import Asset
from apps.assets.selectors import price_of, with_chains
from apps.chain.models import OutgoingTransaction
from apps.core import clock, money
from apps.core.errors import Failure
from apps.core.money import Amount
from apps.core.templatetags.tillgate import badge, fiat, moment, status_words
from apps.ledger.selectors import balances
from apps.payouts import states
from apps.payouts.models import Payout
from apps.payouts.models.approvals import ApprovalRule, PayoutApproval
from apps.payouts.services.offramp import transfer_of
from apps.payouts.services.rejection import reject_payout
from apps.payouts.services.review import (
    approve_payout,
    needs_two,
    release_held,
    worth_now,
)
from apps.staff import lists
from apps.staff.decisions.queues import Queue, Section
from apps.staff.lists import about
from apps.staff.pages import ReasonForm, button, typed_reason
from apps.staff.plumbing import commands, fresh_code, times
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.times import made_text
from apps.staff.plumbing.worth import Rated
from apps.staff.store_facts import decisions, store_section
from apps.stores import staff_roles
from apps.stores.models import Member, Store

PAYOUTS_MAX = 200
STORES_MAX = 10


class CodeForm(ReasonForm):
    """With the code that money leaving takes."""

    code = forms.CharField(label="Code of your authenticator app", required=False, max_length=20)


class PayoutAdmin(Rated, Queue):
    model = Payout
    labels: ClassVar = {
        "bears_network_fee": "Store pays the network fee",
        "failed_gas_atomic": "Network fees of failed attempts",
        "failed_gas_due_atomic": "Network fees of failed attempts, unpaid",
        "funds": "Status of the funds",
        "paid_external_reference": "Bank reference",
        "paid_fee_cents": "Off-ramp fee",
        "paid_fiat_amount_cents": "Received by bank",
        "paid_fx_rate": "Exchange rate",
        "provider_tx_id": "Provider’s transaction ID",
        "retry_at": "Next retry",
        "worth_cents": "Value when created",
    }
    list_display = ["created", "shop", "amount", "to", "why", "decision"]
    list_filter = [lists.since("created_at"), "status", "mode", "rail"]
    list_select_related = ["store__platform", "asset__chain", "approval", "destination", "maker"]
    search_fields = ["id", "destination_address", "destination", "store"]
    search_help_text = "Payout ID, destination address or ID, or the beginning of a store’s name"
    ordering = [BY_KEY]
    says_nothing: ClassVar = {"submitted_real_at": lists.is_submitted_in_real_time}
    noun = "payout"
    value_texts: ClassVar = {
        "review_reason": lambda row: _reason(row),
        "status": lambda row: badge("payout", row.shown_status),
        "worth_cents": lambda row: _worth_when_created(row),
    }
    takes_code = True
    actions = ["release"]
    action_form = CodeForm
    waiting = Payout.Status.REQUIRES_REVIEW
    approving = staff_roles.PAYOUT_APPROVE
    rejecting = staff_roles.PAYOUT_REJECT

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Payout]":
        rows: models.QuerySet[Payout] = super().get_queryset(request)
        return rows.defer("destination__account_sealed")  # which web may not read

    def title_of(self, row: Payout) -> str:
        return f"of {lists.coins_text(row)}"

    @admin.display(description="Reason for review", empty_value=lists.NOTHING)
    def why(self, row: Payout) -> str | None:
        return _reason(row) or None

    @admin.display(description="To")
    def to(self, row: Payout) -> str:
        bank = row.destination
        if row.destination_address or bank is None:
            return lists.by_its_ends(row.destination_address or "")
        return format_html('<bdi class="name">{}</bdi>', bank)

    def is_waiting(self, row: Any) -> bool:
        return super().is_waiting(row) and not _is_for_the_merchant(row)

    def shown_status(self, row: Any) -> str:
        return (
            "Waiting for the store’s approval"
            if _is_for_the_merchant(row)
            else super().shown_status(row)
        )

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        decided = approve_payout(row, reason, staff)
        if isinstance(decided, Payout):
            return "approved"
        return "sent for a second approval, under Staff requests"

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        rejected = reject_payout(row, reason, staff)
        if isinstance(rejected, Payout):
            return "rejected"
        return "a worker asks the off-ramp and returns the coins, under Worker orders"

    @button(staff_roles.PAYOUT_APPROVE, "Release those that waited for a stopped coin")
    def release(self, request: HttpRequest, rows: "models.QuerySet[Payout]") -> None:
        """Each as if it was approved alone; what waits for something else is left."""
        try:
            self.take_code(request)
        except Failure as refusal:
            messages.error(request, refusal.text)
            return
        done: Counter[str] = Counter()
        for row in rows.filter(status=self.waiting):
            try:
                done[release_held(row, typed_reason(request), request.user)] += 1  # type: ignore[arg-type]  # staff are people
            except Failure:
                done["left as they were"] += 1
        messages.info(request, ", ".join(f"{count} {outcome}" for outcome, count in done.items()))

    def take_code(self, request: HttpRequest) -> None:
        fresh_code.take(request)

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [
            ("amount", lists.coins_text(row)),
            ("value now", worth_text(row)),
            ("asset", row.asset.full_name),
            ("to", _target(row)),
            ("mode", row.get_mode_display()),
            ("created", times.made_text(row, row.created_at)),
            *_review_facts(row),
        ]

    def sections(self, row: Any) -> list[Section]:
        return payout_sections(row)

    def needs_reason(self, row: Any) -> bool:
        return needs_two(row)


def _review_facts(payout: Payout) -> list[tuple[str, Any]]:
    """Reason of the review, and who decides."""
    if _is_for_the_merchant(payout) and payout.approval is not None:
        return [("store approval", f"Waiting, requested by {payout.approval.made_by}")]
    needed = "Two: this amount needs a second approval and a reason"
    return [
        ("reason for review", _reason(payout)),
        ("settled by", commands.shown("", _commands(payout))),
        ("approvals needed", needed if needs_two(payout) else "One"),
    ]


def _commands(payout: Payout) -> list[str]:
    """Commands to type before it can be decided: its transaction is in review."""
    row = transfer_of(payout)
    is_in_review = row is not None and row.status == OutgoingTransaction.Status.REVIEW
    return commands.of_outgoing(row) if row is not None and is_in_review else []


def _target(payout: Payout) -> str:
    bank = payout.destination
    if payout.destination_address or bank is None:
        return str(payout.destination_address)
    return str(bank)


def _reason(payout: Payout) -> str:
    """Why it is under review."""
    return states.REASON_WORDS.get(payout.review_reason, payout.review_reason)


def _worth_when_created(payout: Payout) -> str | None:
    """In the currency of the store's rule, which it was judged by."""
    if payout.worth_cents is None:
        return None
    rule = payout.approval or ApprovalRule.objects.get(store=payout.store_id, mode=payout.mode)
    return fiat(payout.worth_cents, rule.currency)


def _is_for_the_merchant(payout: Payout) -> bool:
    return payout.approval is not None and payout.approval.status == PayoutApproval.Status.WAITING


def payout_sections(payout: Payout) -> list[Section]:
    """As many statements for one payout as for a thousand."""
    sections = [store_section(payout.store), _earlier(payout), _destination(payout)]
    if payout.maker is not None:
        sections.append(_person(payout))
    decided = decisions(payout.store, "payout.approved", "payout.rejected")
    sections.append(
        Section(
            "Earlier decisions",
            decided,
            without="No payout of this store has been reviewed yet.",
        )
    )
    return sections


def _earlier(payout: Payout) -> Section:
    return payouts_of(payout.store, payout.mode, without=payout)


def payouts_of(store: Store, mode: str, without: Payout | None = None) -> Section:
    rows = Payout.objects.filter(store=store, mode=mode).select_related("asset")
    rows = rows if without is None else rows.exclude(pk=without.pk)
    newest = list(rows.order_by("-created_at")[:PAYOUTS_MAX])
    counts = Counter(status_words("payout", payout.shown_status) for payout in newest)
    facts: list[tuple[str, Any]] = [("Payouts", _up_to(len(newest)))]
    facts += [(status, number) for status, number in counts.most_common()]
    paid = [payout for payout in newest if payout.status == Payout.Status.CONFIRMED]
    facts += [("Total paid out", text) for text in _sums(paid, store)]
    if newest:
        facts.append(("Latest", made_text(newest[0], newest[0].created_at)))
    page = reverse("admin:payouts_payout_changelist") + f"?q={store.pk}"
    title = "Payouts of the store" if without is None else "Other payouts of the store"
    return Section(title, facts, page, "All payouts")


def balances_of(store: Store, mode: str) -> Section:
    """The store's balances, in coins and money."""
    held = [balance for balance in balances(store.pk, mode).values() if balance.total_atomic]
    assets = with_chains({balance.asset_id for balance in held})
    facts = [
        (
            assets[balance.asset_id].full_name,
            _valued(store, assets[balance.asset_id], balance.total_atomic),
        )
        for balance in held
    ]
    return Section("Balances of the store", facts, without="No balance.")


def _destination(payout: Payout) -> Section:
    rows = Payout.objects.filter(store=payout.store_id, mode=payout.mode).exclude(pk=payout.pk)
    saved = payout.destination
    address = payout.destination_address
    facts: list[tuple[str, Any]] = []
    if saved is not None:
        facts.append(("Saved as", saved.label or saved.holder or "No label"))
        facts.append(("Added", made_text(saved, saved.created_at)))
        facts.append(("Verified", moment(saved.verified_at) if saved.verified_at else "No"))
    payouts = (
        rows.filter(destination_address=address) if address else rows.filter(destination=saved)
    )
    used = list(payouts.order_by("created_at").select_related("asset")[:PAYOUTS_MAX])
    facts.append(
        ("Payouts to this destination", _up_to(len(used)) if used else "None, this is the first")
    )
    if used:
        facts.append(("First used", made_text(used[0], used[0].created_at)))
        facts += [
            ("Total paid to this destination", text)
            for text in _sums(
                (payout for payout in used if payout.status == Payout.Status.CONFIRMED),
                payout.store,
            )
        ]
    if address:
        elsewhere = Payout.objects.filter(destination_address=address).exclude(
            store=payout.store_id
        )
        facts.append(
            (
                "Other stores using it",
                len(set(elsewhere.values_list("store", flat=True)[:STORES_MAX])) or "None",
            )
        )
    page = reverse("admin:payouts_destination_change", args=[saved.pk]) if saved is not None else ""
    return Section("Destination", facts, page, "Open destination")


def _person(payout: Payout) -> Section:
    maker: Any = payout.maker
    member = Member.objects.filter(store=payout.store_id, user=maker).first()
    facts: list[tuple[str, Any]] = [
        ("Email", maker.email),
        ("Role", member.get_role_display() if member is not None else "No longer a member"),
        ("Member since", moment(member.created_at) if member is not None else ""),
        ("Last sign-in", moment(maker.last_login) if maker.last_login else "Never"),
    ]
    return Section(
        "Requested by", facts, reverse("admin:stores_user_change", args=[maker.pk]), "Open person"
    )


def worth_text(payout: Payout) -> str:
    worth = worth_now(payout)
    return "No current rate" if worth is None else about(worth.cents, worth.currency)


def worth_in(store: Store, asset: Asset, amount_atomic: int) -> str:
    price = price_of(asset, store.settlement_currency, clock.real_now())
    if price is None:
        return "no current rate"
    worth = price.worth(Amount(asset, amount_atomic))
    return about(worth.cents, worth.currency)


def _valued(store: Store, asset: Asset, amount_atomic: int) -> SafeString:
    """Coins on one line, and about what they are worth."""
    worth = worth_in(store, asset, amount_atomic)
    coins = f"{coins_text(amount_atomic, asset)}{'' if worth.startswith('≈') else ','}"
    return format_html('<span class="one-line">{}</span> {}', coins, worth)


def _sums(payouts: Iterable[Payout], store: Store) -> list[SafeString]:
    """By coin, each with what it is worth now."""
    sums: dict[str, int] = {}
    assets: dict[str, Asset] = {}
    for payout in payouts:
        assets[payout.asset_id] = payout.asset
        sums[payout.asset_id] = sums.get(payout.asset_id, 0) + payout.amount_atomic
    return [_valued(store, assets[asset_id], amount) for asset_id, amount in sorted(sums.items())]


def coins_text(amount_atomic: int, asset: Asset) -> str:
    return f"{money.amount_text(amount_atomic, asset.atomic_decimals)} {asset.coin_symbol}"


def _up_to(count: int) -> str:
    return str(count) if count < PAYOUTS_MAX else f"{PAYOUTS_MAX} or more"

"""Transfers that nobody expected, on the staff site: which payment the address belongs to, and what
a person has made of it.

No coins move here. What the books must say is asked for as a correction, which takes two.
"""

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.chain.models import UnmatchedTransfer
from apps.chain.watching import unmatched
from apps.core import clock, money
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import fiat, moment, shorten, status_words
from apps.ledger.chart import CUSTODY_DEPOSITS, HELD
from apps.payments.models import Payment, PaymentAddress
from apps.staff import lists
from apps.staff.decisions.queues import Section
from apps.staff.networks.deposits import CURRENCY_OF_ADDRESS, store_of_address
from apps.staff.pages import may, typed_reason
from apps.staff.plumbing.times import made_text
from apps.staff.plumbing.worth import Rated
from apps.stores import staff_roles
from apps.stores.models import User


class UnmatchedTransferAdmin(Rated):
    model = UnmatchedTransfer
    rated_in = CURRENCY_OF_ADDRESS
    list_display = ["detected", "shop", "amount", "to", "why", "decision"]
    list_filter = [lists.present("resolved_at", "status", "Resolved", "Open"), "chain"]
    list_select_related = ["chain", "asset"]
    search_fields = ["address", "tx_hash"]
    search_help_text = "Deposit address or transaction hash"
    ordering = ["-detected_at"]
    detected = lists.when("detected_at", "Detected")
    shop = lists.store("store_name", mode="chain__mode")
    to = lists.short("address_id", "To", chain="chain")
    why = lists.text("reason", "Reason")

    def get_queryset(self, request: HttpRequest) -> "QuerySet[UnmatchedTransfer]":
        rows: QuerySet[UnmatchedTransfer] = super().get_queryset(request)
        return rows.annotate(store_name=store_of_address("address_id"))

    def get_urls(self) -> list[URLPattern]:
        resolve = path(
            "<int:row_id>/resolve/",
            self.admin_site.admin_view(self.resolve),
            name="chain_unmatchedtransfer_resolve",
        )
        return [resolve, *super().get_urls()]

    def title_of(self, row: UnmatchedTransfer) -> str:
        """Its coin isn't always known."""
        return f"of {lists.coins_text(row)}" if row.asset else shorten(row.tx_hash)

    @admin.display(description="Outcome")
    def decision(self, row: UnmatchedTransfer) -> str:
        page = reverse("admin:chain_unmatchedtransfer_resolve", args=[row.pk])
        if row.resolved_at is None:
            return format_html('<a class="decide" href="{}">Resolve</a>', page)
        return format_html('<a href="{}">{}</a>', page, row.get_outcome_display())

    def resolve(self, request: HttpRequest, row_id: int) -> HttpResponse:
        row = self.get_object(request, str(row_id))
        if row is None:
            raise Http404
        errors = list[str]()
        if request.method == "POST":
            if not may(request, staff_roles.UNMATCHED):
                raise PermissionDenied
            try:
                staff = cast(User, request.user)
                unmatched.resolve(
                    row,
                    request.POST.get("outcome", ""),
                    typed_reason(request),
                    staff,
                    clock.real_now(),
                )
            except Failure as refusal:
                errors = [refusal.text]
            else:
                messages.success(request, "Resolved")
                return HttpResponseRedirect(reverse("admin:chain_unmatchedtransfer_changelist"))
        return self._show(request, row, errors)

    def _show(
        self, request: HttpRequest, row: UnmatchedTransfer, errors: list[str]
    ) -> HttpResponse:
        payment = _payment_at(row)
        context = {
            **self.admin_site.each_context(request),
            "title": "Unmatched transfer",
            "opts": self.opts,
            "list_name": self.list_name,
            "row": row,
            "request_facts": _asked(row),
            "sections": [_of_payment(payment)],
            "corrections": _corrections(row, payment),
            "outcomes": UnmatchedTransfer.Outcome.choices,
            "chosen": request.POST.get("outcome", ""),
            "reason": typed_reason(request),
            "errors": errors,
            "may_resolve": may(request, staff_roles.UNMATCHED),
            "may_correct": may(request, staff_roles.CORRECTION),
        }
        return render(request, "staff/transfer.html", context, status=422 if errors else 200)


def _payment_at(row: UnmatchedTransfer) -> Payment | None:
    given_out = (
        PaymentAddress.objects.filter(address=row.address_id)
        .select_related("payment__store")
        .first()
    )
    return None if given_out is None else given_out.payment


def _asked(row: UnmatchedTransfer) -> list[tuple[str, Any]]:
    amount = (
        f"{row.amount_atomic} atomic units"
        if row.asset is None
        else lists.worth(row.amount_atomic, row.asset, row)
    )
    return [
        ("Amount", amount),
        ("Token contract", _contract(row) or "None, a native coin"),
        ("Chain", row.chain.name),
        ("To", row.address_id),
        ("From", row.from_address),
        ("Transaction", row.tx_hash),
        ("Why it is unmatched", row.reason),
        ("Detected", moment(row.detected_at)),
    ]


def _contract(row: UnmatchedTransfer) -> str | None:
    return row.contract_address or (row.asset.contract_address if row.asset else None)


def _of_payment(payment: Payment | None) -> Section:
    if payment is None:
        return Section("Payment", [], without="This address doesn’t belong to a payment.")
    facts: list[tuple[str, Any]] = [
        ("Reference", payment.reference),
        ("Store", payment.store.name),
        ("Amount", fiat(payment.settlement_amount_cents, payment.settlement_currency)),
        ("Status", status_words("payment", payment.status)),
        ("Created", made_text(payment, payment.created_at)),
    ]
    return Section(
        "Payment with this address",
        facts,
        reverse("admin:payments_payment_change", args=[payment.pk]),
        "Open payment",
    )


def _corrections(row: UnmatchedTransfer, payment: Payment | None) -> list[tuple[str, str]]:
    """Movements that credit it to the payment's store: the coins into custody, and the debt for
    them; each against the treasury."""
    asset = row.asset
    if asset is None or payment is None or asset.mode != payment.mode:
        return []
    coins = money.decimal_from_atomic(row.amount_atomic, asset.atomic_decimals)
    page = reverse("admin:stores_staffrequest_ask", args=["correction"])
    why = f"Unmatched transfer {row.tx_hash}"
    taken_in = {
        "asset": asset.pk,
        "account": CUSTODY_DEPOSITS,
        "amount": f"-{coins}",
        "reason": why,
    }
    owed = {
        "asset": asset.pk,
        "account": HELD,
        "amount": coins,
        "store": str(payment.store_id),
        "payment": payment.reference,
        "reason": why,
    }
    return [
        ("1. Take the coins into custody", f"{page}?{urlencode(taken_in)}"),
        ("2. Credit the store, held for the payment", f"{page}?{urlencode(owed)}"),
    ]

"""Payments of a platform's sub-merchants: the list with its filters and columns, and the same list
as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_noop as _

from apps.core import money
from apps.core.money import Fiat
from apps.core.templatetags.tillgate import badge, fiat, percentage
from apps.dashboard.platform.platforms import ACCOUNTS_SHOWN, only_platforms
from apps.dashboard.site.views import Answer, PageRequest, show
from apps.dashboard.tables.cells import NONE
from apps.dashboard.tables.columns import Get, cents_column, id_column, text_column, time_column
from apps.dashboard.tables.files import cents_of
from apps.dashboard.tables.lists import Column, Listing, listing
from apps.dashboard.tables.paging import window
from apps.payments.models import Payment
from apps.platforms import selectors
from apps.reports.platform_fees import platform_fees_of


@dataclass(frozen=True)
class AccountPayment:
    """A payment, and what it has brought the platform; None before it is settled."""

    payment: Payment
    earned: Fiat | None


def _read(
    request: PageRequest, payments: Sequence[Payment], columns: frozenset[str]
) -> list[AccountPayment]:
    earned = {}
    if "fee" in columns:
        access = request.access
        currency = access.store.settlement_currency
        earned = platform_fees_of(access, currency, [payment.pk for payment in payments])
    return [AccountPayment(payment, earned.get(payment.pk)) for payment in payments]


def _fee(row: AccountPayment) -> str:
    fraction = row.payment.platform_fee_fraction
    return "" if fraction is None else money.percentage_text(fraction)


def _shown_fee(row: AccountPayment) -> SafeString:
    """Fee earned, and its rate."""
    fee = _fee(row)
    if row.earned is None:
        return format_html('<span class="muted">{}</span>', percentage(fee)) if fee else NONE
    sum = fiat(row.earned.cents, row.earned.currency)
    share = format_html(' <span class="small muted">({})</span>', percentage(fee)) if fee else ""
    return format_html("{}{}", sum, share)


def _name(row: AccountPayment) -> SafeString:
    return format_html(
        '<a class="row-link mono" href="{}">{}</a><br>'
        '<span class="small muted"><bdi>{}</bdi></span>',
        reverse("dashboard:platform_payment", args=[row.payment.pk]),
        row.payment.reference,
        row.payment.store.name,
    )


def _of_payment(attribute: str) -> Get:
    return lambda row: getattr(row.payment, attribute)


PLATFORM_PAYMENTS = listing(
    Listing(
        "platform_payments",
        (
            Column(
                "payment",
                _("Payment"),
                _name,
                {
                    "reference": _of_payment("reference"),
                    "sub_merchant": lambda row: row.payment.store.name,
                    "external_id": lambda row: row.payment.store.external_id or "",
                    "account_id": _of_payment("store_id"),
                },
            ),
            text_column("order_id", _("Order"), _of_payment("order_id"), is_default=False),
            text_column("title", _("Title"), _of_payment("title"), is_default=False),
            cents_column(
                "amount",
                _("Amount"),
                _of_payment("settlement_amount_cents"),
                _of_payment("settlement_currency"),
                on_phone=True,
            ),
            text_column(
                "currency", _("Currency"), _of_payment("settlement_currency"), is_default=False
            ),
            Column(
                "fee",
                _("Your fee"),
                _shown_fee,
                {
                    "platform_fee_percentage": _fee,
                    "platform_fee": lambda row: cents_of(row.earned.cents if row.earned else None),
                },
                is_number=True,
                on_phone=True,
                phone_label=_("Your fee"),
            ),
            Column(
                "status",
                _("Status"),
                lambda row: badge("payment", row.payment.status),
                {"status": _of_payment("status"), "state_reason": _of_payment("state_reason")},
                on_phone=True,
            ),
            time_column(
                "created",
                _("Created"),
                _of_payment("created_at"),
                name="created_at",
                is_default=True,
                on_phone=True,
            ),
            time_column(
                "completed", _("Completed"), _of_payment("completed_at"), name="completed_at"
            ),
            id_column(lambda row: row.payment),
        ),
        _read,
    )
)


@dataclass(frozen=True)
class AccountPaymentFilters:
    """Filters in the list's address. What it can't mean is left out."""

    status: str
    account_id: str

    @classmethod
    def of(cls, request: PageRequest) -> "AccountPaymentFilters":
        status = request.GET.get("status", "")
        account_id = request.GET.get("account_id", "")[:100]
        return cls(status if status in Payment.Status.values else "", account_id)

    @property
    def parameters(self) -> dict[str, str]:
        values = {"status": self.status, "account_id": self.account_id}
        return {name: value for name, value in values.items() if value}

    def rows(self, request: PageRequest) -> "QuerySet[Payment]":
        every = selectors.payments_of_platform(only_platforms(request))
        return selectors.filtered_payments(every, account_id=self.account_id, status=self.status)


def index(request: PageRequest) -> HttpResponse:
    access = only_platforms(request)
    filters = AccountPaymentFilters.of(request)
    page = window(filters.rows(request), request.GET, filters.parameters)
    choices = selectors.accounts_of(access).values_list("pk", "name")[:ACCOUNTS_SHOWN]
    context = {
        "table": PLATFORM_PAYMENTS.table(request, page.rows, filters.parameters),
        "window": page,
        "filters": filters,
        "statuses": Payment.Status.values,
        "choices": [(str(pk), name) for pk, name in choices],
    }
    return show(request, "dashboard/platforms/payments.html", context)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    """A payment to one of a platform's sub-merchants, as the platform sees it."""
    access = only_platforms(request)
    payment = selectors.payment_of_platform(access, id)
    (row,) = _read(request, [payment], frozenset({"fee"}))
    context = {
        "payment": payment,
        "fee": _shown_fee(row),
        "checkout_url": f"{settings.PUBLIC_URL}/pay/{payment.reference}",
        "is_open": payment.store.deleted_at is None,
    }
    return show(request, "dashboard/platforms/payment.html", context)


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    return PLATFORM_PAYMENTS.csv(request, AccountPaymentFilters.of(request).rows(request))

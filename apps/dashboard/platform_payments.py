"""Payments of a platform's sub-merchants: the list with its filters and columns, and the same list
as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core import money
from apps.core.money import Fiat
from apps.core.templatetags.tillgate import badge, fiat, percentage
from apps.dashboard.columns import Get, cents_column, id_column, text_column, time_column
from apps.dashboard.list_cells import NONE
from apps.dashboard.list_files import cents_of
from apps.dashboard.lists import Column, Listing, listing
from apps.dashboard.paging import window
from apps.dashboard.platforms import ACCOUNTS_SHOWN, only_platforms
from apps.dashboard.plumbing import Answer, PageRequest, show
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
    """What it has brought, and of which share."""
    fee = _fee(row)
    if row.earned is None:
        return format_html('<span class="muted">{}</span>', percentage(fee)) if fee else NONE
    sum = fiat(row.earned.cents, row.earned.currency)
    share = format_html(' <span class="small muted">({})</span>', percentage(fee)) if fee else ""
    return format_html("{}{}", sum, share)


def _name(row: AccountPayment) -> SafeString:
    return format_html(
        '<span class="mono">{}</span><br><span class="small muted"><bdi>{}</bdi></span>',
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
                "Payment",
                _name,
                {
                    "reference": _of_payment("reference"),
                    "sub_merchant": lambda row: row.payment.store.name,
                    "external_id": lambda row: row.payment.store.external_id or "",
                    "account_id": _of_payment("store_id"),
                },
            ),
            text_column("order_id", "Order", _of_payment("order_id"), is_default=False),
            text_column("title", "Title", _of_payment("title"), is_default=False),
            cents_column(
                "amount",
                "Amount",
                _of_payment("settlement_amount_cents"),
                _of_payment("settlement_currency"),
                on_phone=True,
            ),
            text_column(
                "currency", "Currency", _of_payment("settlement_currency"), is_default=False
            ),
            Column(
                "fee",
                "Your fee",
                _shown_fee,
                {
                    "platform_fee_percentage": _fee,
                    "platform_fee": lambda row: cents_of(row.earned.cents if row.earned else None),
                },
                is_number=True,
                on_phone=True,
                phone_label="Your fee",
            ),
            Column(
                "status",
                "Status",
                lambda row: badge("payment", row.payment.status),
                {"status": _of_payment("status"), "state_reason": _of_payment("state_reason")},
                on_phone=True,
            ),
            time_column(
                "created",
                "Created",
                _of_payment("created_at"),
                name="created_at",
                is_default=True,
                on_phone=True,
            ),
            time_column("completed", "Completed", _of_payment("completed_at"), name="completed_at"),
            id_column(lambda row: row.payment),
        ),
        _read,
    )
)


@dataclass(frozen=True)
class AccountPaymentFilters:
    """What the address of the list asks for. What it can't mean is left out."""

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


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    return PLATFORM_PAYMENTS.csv(request, AccountPaymentFilters.of(request).rows(request))

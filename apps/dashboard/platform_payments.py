"""Payments of a platform's sub-merchants: the list with its filters and columns, and the same list
as CSV."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core import money
from apps.core.templatetags.tillgate import badge, percentage
from apps.dashboard.columns import cents_column, id_column, text_column, time_column
from apps.dashboard.lists import Column, Listing, listing
from apps.dashboard.paging import window
from apps.dashboard.platforms import ACCOUNTS_SHOWN, only_platforms
from apps.dashboard.plumbing import Answer, PageRequest, show
from apps.payments.models import Payment
from apps.platforms import selectors


def _fee(payment: Payment) -> str:
    fraction = payment.platform_fee_fraction
    return "" if fraction is None else money.percentage_text(fraction)


def _shown_fee(payment: Payment) -> str:
    fee = _fee(payment)
    return percentage(fee) if fee else "–"


def _name(payment: Payment) -> SafeString:
    return format_html(
        '<span class="mono">{}</span><br><span class="small muted"><bdi>{}</bdi></span>',
        payment.reference,
        payment.store.name,
    )


PLATFORM_PAYMENTS = listing(
    Listing(
        "platform_payments",
        (
            Column(
                "payment",
                "Payment",
                _name,
                {
                    "reference": lambda row: row.reference,
                    "sub_merchant": lambda row: row.store.name,
                    "external_id": lambda row: row.store.external_id or "",
                    "account_id": lambda row: row.store_id,
                },
            ),
            text_column("order_id", "Order", lambda row: row.order_id, is_default=False),
            text_column("title", "Title", lambda row: row.title, is_default=False),
            cents_column(
                "amount",
                "Amount",
                lambda row: row.settlement_amount_cents,
                lambda row: row.settlement_currency,
                on_phone=True,
            ),
            text_column(
                "currency", "Currency", lambda row: row.settlement_currency, is_default=False
            ),
            Column(
                "fee", "Your fee", _shown_fee, {"platform_fee_percentage": _fee}, is_number=True
            ),
            Column(
                "status",
                "Status",
                lambda row: badge("payment", row.status),
                {"status": lambda row: row.status, "state_reason": lambda row: row.state_reason},
                on_phone=True,
            ),
            time_column(
                "created",
                "Created",
                lambda row: row.created_at,
                name="created_at",
                is_default=True,
                on_phone=True,
            ),
            time_column(
                "completed", "Completed", lambda row: row.completed_at, name="completed_at"
            ),
            id_column(lambda row: row),
        ),
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

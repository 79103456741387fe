"""Subscriptions: the list, one with its cycles and what comes next, the form, and what can be done
to it, each on a page of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.billing import selectors
from apps.billing.models import Customer, Price, Subscription
from apps.billing.periods import period_days
from apps.billing.requests import SubscriptionChanges, SubscriptionRequest
from apps.billing.states import ACTIVE, CANCELED, PAUSED, TRIALING
from apps.billing.subscriptions import changes as services
from apps.billing.subscriptions.upcoming import cycle_cents, upcoming_cycles
from apps.core.messages.fields import is_uuid
from apps.core.typed_amounts import whole_typed
from apps.dashboard.billing.acts import RecordAction, attempt, find_act
from apps.dashboard.billing.columns import ADDRESS, SUBSCRIPTIONS
from apps.dashboard.billing.forms import (
    ADD,
    PostalAddressForm,
    customer_named,
    discount_shown,
    discount_typed,
    email_of,
    may_add,
    parts_of,
    rates_to_choose,
)
from apps.dashboard.site import form_keys
from apps.dashboard.site.views import Answer, PageRequest, Refusals, find, go, show
from apps.dashboard.tables.paging import window

SHOWN = 12
PRICES_MAX = 500
ROWS = 3
ROWS_MAX = 21
_TABS = {
    "": gettext_noop("All"),
    "active": gettext_noop("Active"),
    "trialing": gettext_noop("On trial"),
    "past_due": gettext_noop("Past due"),
    "paused": gettext_noop("Paused"),
    "canceled": gettext_noop("Canceled"),
}


def _rows(request: PageRequest) -> "tuple[QuerySet[Subscription], dict[str, str]]":
    """Subscriptions that match the address, and the filters that its neighbors keep."""
    filters = {
        "status": request.GET.get("status", ""),
        "customer": request.GET.get("customer", "")[:100],
    }
    filters["status"] = filters["status"] if filters["status"] in _TABS else ""
    every = selectors.subscriptions_visible_to(request.access)
    return selectors.filtered_subscriptions(
        every, status=filters["status"], customer_id=filters["customer"]
    ), filters


def index(request: PageRequest) -> HttpResponse:
    rows, filters = _rows(request)
    page = window(rows, request.GET, filters)
    is_empty = not page.rows and not any(filters.values()) and "page" not in request.GET
    context = {
        "table": SUBSCRIPTIONS.table(
            request, page.rows, {name: value for name, value in filters.items() if value}
        ),
        "window": page,
        "filters": filters,
        "of": email_of(request.access, filters["customer"]) if filters["customer"] else "",
        "tabs": [
            {
                "name": gettext(name),
                "query": _query(filters, status),
                "is_current": status == filters["status"],
            }
            for status, name in _TABS.items()
        ],
        "is_empty": is_empty,
        "has_products": not is_empty or selectors.products_visible_to(request.access).exists(),
    }
    return show(request, "dashboard/subscriptions/list.html", context)


def _query(filters: Mapping[str, str], status: str) -> str:
    return urlencode(
        {name: value for name, value in {**filters, "status": status}.items() if value}
    )


def export(request: PageRequest) -> Answer:
    return SUBSCRIPTIONS.csv(request, _rows(request)[0])


def _find(request: PageRequest, id: str) -> Subscription:
    subscription: Subscription = find(selectors.subscriptions_visible_to(request.access), id)
    return subscription


def show_one(request: PageRequest, id: str) -> HttpResponse:
    row = _find(request, id)
    invoices = list(
        selectors.filtered_invoices(
            selectors.invoices_visible_to(request.access), subscription_id=str(row.pk)
        )[: SHOWN + 1]
    )
    context = {
        "subscription": row,
        "cents": cycle_cents(row),
        "coming": upcoming_cycles(row),
        "period": period_days(row.current_period_start, row.current_period_end, row.zone),
        "invoices": invoices[:SHOWN],
        "paying": selectors.being_paid(invoices),
        "has_more": len(invoices) > SHOWN,
        "changes": list(row.changes.order_by("-id")[:100]),
        "acts": [name for name, act in ACTS.items() if act.is_offered(row)]
        if row.status != CANCELED
        else [],
        "now": request.access.now(),
    }
    return show(request, "dashboard/subscriptions/detail.html", context)


@dataclass(frozen=True)
class ItemRow:
    """A price of the form with its quantity, as they were chosen and typed."""

    price: str
    quantity: str


class SubscriptionForm(PostalAddressForm):
    """`rows` are the prices, each with its quantity; the inputs of the first are `price-1` and
    `quantity-1`."""

    hidden = (form_keys.NAME,)
    inputs = {
        "customer_id": "email",
        "name": "customer_name",
        "address": "line1",
        "items": "price-1",
        "trial_period_days": "trial_days",
        "discount_value": "discount",
    }

    def __init__(self, typed: Mapping[str, str], rows: list[ItemRow]) -> None:
        self.rows = rows
        inputs = [f"{name}-{n}" for n in range(1, len(rows) + 1) for name in ("price", "quantity")]
        own = ("trial_days", "grace_cycles", "discount", "discount_type", "tax_rate_id")
        self.names = ("email", "customer_name", *ADDRESS, *inputs, *own)
        self.currency = ""
        super().__init__(typed)

    @classmethod
    def posted(cls, request: PageRequest) -> Self:
        """Posted values; rows without a chosen price are left out."""
        pairs = zip(request.POST.getlist("price"), request.POST.getlist("quantity"), strict=False)
        rows = [
            ItemRow(price[:100], quantity.strip()[:20])
            for price, quantity in list(pairs)[:ROWS_MAX]
            if price
        ]
        form = cls(request.POST.dict(), _padded(rows, ROWS if "more" in request.POST else 0))
        form.currency = _currency_of(request, rows)
        return form

    def request(self, customer: Customer) -> SubscriptionRequest:
        """Raises Invalid."""
        days = whole_typed(self.values["trial_days"] or "0", "trial_period_days")
        return SubscriptionRequest.read(
            {"customer_id": str(customer.pk), **self._fields(), "trial_period_days": days}
        )

    def changes(self) -> SubscriptionChanges:
        """Raises Invalid."""
        return SubscriptionChanges.read(self._fields())

    def _fields(self) -> dict[str, object]:
        chosen = [line for line in self.rows if line.price]
        items = [
            {
                "price_id": line.price,
                "quantity": whole_typed(line.quantity or "1", f"items[{n}].quantity"),
            }
            for n, line in enumerate(chosen)
        ]
        return {
            "items": items,
            "grace_cycles": whole_typed(self.values["grace_cycles"] or "1", "grace_cycles"),
            **discount_typed(self.values["discount_type"], self.values["discount"], self.currency),
            **self.filled("tax_rate_id"),
        }

    def input_of(self, field: str) -> str:
        name, position, inner = parts_of(field)
        if name == "items" and inner:
            return f"{'quantity' if inner == 'quantity' else 'price'}-{position + 1}"
        return super().input_of(field)

    @property
    def items(self) -> list[tuple[ItemRow, str, str]]:
        """Each row with the names of its inputs."""
        return [(line, f"price-{n}", f"quantity-{n}") for n, line in enumerate(self.rows, start=1)]


def create(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        email = email_of(request.access, request.GET.get("customer", ""))
        usual = {"email": email, "trial_days": "0", "grace_cycles": "1", **form_keys.new()}
        return _form(
            request, SubscriptionForm(usual, [ItemRow(request.GET.get("price", "")[:100], "1")])
        )
    form = SubscriptionForm.posted(request)
    if "more" in request.POST:
        return _form(request, form)
    is_adding = ADD in request.POST
    try:
        key = form_keys.of(form.values)
        customer = customer_named(request.access, form, is_adding=is_adding)
        subscription = services.create_subscription(
            request.access, form.request(customer), form_key=key
        )
    except Refusals as refusal:
        is_new = may_add(request.access, form.values["email"], refusal, is_adding=is_adding)
        return _form(request, form.refuse(refusal), is_new=is_new)
    messages.success(
        request,
        gettext("Subscription started.")
        if subscription.status == ACTIVE
        else gettext("Subscription started with a free trial."),
    )
    return go("subscription", subscription.pk)


def change(request: PageRequest, id: str) -> HttpResponse:
    """Other prices and quantities, from the next cycle on."""
    row = _find(request, id)
    if request.method == "GET":
        shown = {
            "grace_cycles": str(row.grace_cycles),
            "tax_rate_id": str(row.tax_rate_id or ""),
            **discount_shown(row.discount_type, row.discount_value),
        }
        change_form = SubscriptionForm(shown, _padded(_shown(row), 0))
        return _form(request, change_form, subscription=row)
    form = SubscriptionForm.posted(request)
    if "more" in request.POST:
        return _form(request, form, subscription=row)
    try:
        services.update_subscription(request.access, row, form.changes())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal), subscription=row)
    messages.success(
        request,
        gettext("Saved. Changes apply when you resume it.")
        if row.status == PAUSED
        else gettext("Saved. Changes apply from the next cycle."),
    )
    return go("subscription", row.pk)


def _currency_of(request: PageRequest, rows: list[ItemRow]) -> str:
    """That of the first price, in which a discount is typed; empty while none is chosen."""
    ids = [row.price for row in rows[:1] if is_uuid(row.price)]
    price = Price.objects.visible_to(request.access).filter(pk__in=ids).first()
    return "" if price is None else price.currency


def _shown(row: Subscription) -> list[ItemRow]:
    add_ons = [ItemRow(str(add_on.price_id), str(add_on.quantity)) for add_on in row.add_ons.all()]
    return [ItemRow(str(row.price_id), str(row.quantity)), *add_ons]


def _padded(rows: list[ItemRow], more: int) -> list[ItemRow]:
    """At least one row; the new ones are empty."""
    count = max(len(rows) + more, 1)
    return [*rows, *(ItemRow("", "1") for _ in range(count - len(rows)))]


def _form(
    request: PageRequest,
    form: SubscriptionForm,
    *,
    subscription: Subscription | None = None,
    is_new: bool = False,
) -> HttpResponse:
    prices = selectors.prices_on_offer(request.access, PRICES_MAX)
    prices += _archived(subscription, {price.pk for price in prices})
    context = {
        "form": form,
        "errors": form.common_errors,
        "is_new": is_new,
        "subscription": subscription,
        "prices": [(str(price.pk), price) for price in prices],
        "rates": rates_to_choose(request.access, form.values["tax_rate_id"]),
        "emails": []
        if subscription
        else list(
            selectors.active_customers(request.access).values_list("email", flat=True)[:PRICES_MAX]
        ),
        "no_prices": not prices,
        "has_products": bool(prices) or selectors.products_visible_to(request.access).exists(),
    }
    return show(request, "dashboard/subscriptions/form.html", context, status=form.status)


def _archived(subscription: Subscription | None, ids: set[Any]) -> list[Price]:
    """Prices that a subscription is on and nobody else can get."""
    if subscription is None:
        return []
    return [
        price
        for price in (subscription.price, *(item.price for item in subscription.add_ons.all()))
        if price.pk not in ids
    ]


ACTS: dict[str, RecordAction[Subscription]] = {
    "pause": RecordAction(
        gettext_noop("Pause"),
        gettext_noop("Pause subscription"),
        gettext_noop("Pause subscription"),
        lambda row: row.status == ACTIVE,
        lambda access, row, _: services.pause_subscription(access, row),
        gettext_noop("Subscription paused. Nothing is billed until you resume it."),
    ),
    "resume": RecordAction(
        gettext_noop("Resume"),
        gettext_noop("Resume subscription"),
        gettext_noop("Resume and bill now"),
        lambda row: row.status == PAUSED,
        lambda access, row, _: services.resume_subscription(access, row),
        gettext_noop("Subscription resumed. The new period has been billed."),
    ),
    "uncancel": RecordAction(
        gettext_noop("Keep"),
        gettext_noop("Keep subscription"),
        gettext_noop("Keep subscription"),
        lambda row: row.cancel_at_period_end,
        lambda access, row, _: services.uncancel_subscription(access, row),
        gettext_noop("Subscription kept. It continues after this period."),
    ),
    "cancel": RecordAction(
        gettext_noop("Cancel subscription"),
        gettext_noop("Cancel subscription"),
        gettext_noop("Cancel subscription"),
        lambda row: True,
        lambda access, row, at_end: services.cancel_subscription(access, row, at_period_end=at_end),
        gettext_noop("Cancellation saved."),
    ),
}


def act(request: PageRequest, id: str, act: str) -> HttpResponse:
    """A page that says what will happen, then the act."""
    row = _find(request, id)
    chosen = find_act(ACTS, act)
    is_at_end = request.POST.get("when") == "period_end"
    outcome = attempt(request, chosen, row, has_option=is_at_end)
    if outcome.is_done:
        messages.success(request, gettext(chosen.done))
        return go("subscription", row.pk)
    context = {
        "subscription": row,
        "cents": cycle_cents(row),
        "act": act,
        "chosen": chosen.translated,
        "errors": outcome.errors,
        "paid_until": selectors.paid_ahead_until(row, request.access.now()),
        "may_end_later": row.status in (TRIALING, ACTIVE) and not row.cancel_at_period_end,
    }
    return show(request, "dashboard/subscriptions/act.html", context, status=outcome.status)

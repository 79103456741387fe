"""Search of the staff site over all stores: an ID, reference, number, email, hash, address, amount,
or the beginning of a name, an order or a title.

Each kind of record is asked alone, by an index that knows no stores, for ten at most; what can't be
what was typed isn't asked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.admin import AdminSite
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.access.models import AgentCredential, ApiKey
from apps.agents.models import Mandate, Settlement
from apps.assets.models import Chain
from apps.billing.models import Customer, Invoice, Price, Product, Subscription
from apps.billing.numbers import series_of
from apps.chain.models import (
    Deposit,
    HotWallet,
    OutgoingTransaction,
    SignedTransaction,
    SpendRecord,
    UnexplainedBalance,
    UnknownTransaction,
    UnmatchedTransfer,
)
from apps.core import emails, searching
from apps.core.models import OutgoingMail
from apps.core.searching import SearchTerm, newest_found
from apps.core.templatetags.tillgate import fiat, shorten, status_words
from apps.core.text.words import code_words, sentence
from apps.ledger.models import Movement
from apps.links.models import PaymentLink
from apps.payments.models import Payment, PaymentAddress, Refund, Withdrawal
from apps.payouts.models import Destination, Payout
from apps.staff.lists import coins_text
from apps.staff.plumbing.paging import made_last
from apps.stores.auditing import audit
from apps.stores.models import StaffRequest, Store, User, Verification
from apps.swaps.models import Swap
from apps.webhooks.models import Endpoint, Event

EACH_MAX = 10
_RECORDS: tuple[type[Model], ...] = (
    *(
        Payment,
        Refund,
        Payout,
        Swap,
        Deposit,
        OutgoingTransaction,
        Store,
        User,
        Destination,
        Invoice,
        Subscription,
        Customer,
    ),
    *(ApiKey, Settlement, Withdrawal, Verification, StaffRequest, Endpoint, Event),
    *(PaymentLink, Product, Price, AgentCredential, Mandate),
)
# What a line of the page says of a record beside its own columns.
_TITLED_BY = {"asset", "buy_asset", "customer", "product", "source_asset", "store"}
_NUMBER_MAX = 2**31 - 1
_BEGINNING_MAX = 50  # of each spelling
_LAST_FOUR = 4


@dataclass(frozen=True)
class StaffHit:
    """`about` is what tells it from its neighbors."""

    name: str
    about: str
    is_test: bool
    url: str


@dataclass(frozen=True)
class StaffSearchGroup:
    name: str
    hits: list[StaffHit]

    @property
    def is_cut(self) -> bool:
        return len(self.hits) >= EACH_MAX


@dataclass(frozen=True)
class StaffSearchResult:
    term: SearchTerm
    groups: list[StaffSearchGroup]

    @property
    def hits(self) -> list[StaffHit]:
        return [hit for group in self.groups for hit in group.hits]


def page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Search over all stores. What was looked for is in the audit log."""
    typed = request.GET.get("q", "")
    result = find(typed)
    if result.term.text:
        counts = {group.name: len(group.hits) for group in result.groups}
        audit.record("staff.searched", name=result.term.text, details=counts)
    if len(result.hits) == 1 and result.term.is_exact:
        return HttpResponseRedirect(result.hits[0].url)
    context = {
        **site.each_context(request),
        "title": "Search",
        "result": result,
        "query": result.term.text,
        "newest_max": searching.NEWEST_MAX,
    }
    return TemplateResponse(request, "staff/search.html", context)


def find(typed: str) -> StaffSearchResult:
    """As many statements for each kind of term, whatever is found."""
    term = SearchTerm.of(typed)
    by_group: dict[str, list[StaffHit]] = {}
    keys: set[tuple[str, str]] = set()
    for row in _rows(term):
        key = (row._meta.label, str(row.pk))
        if key in keys:
            continue
        keys.add(key)
        name = _list_name(row)
        by_group.setdefault(name, []).append(_hit(row))
    return StaffSearchResult(
        term, [StaffSearchGroup(name, hits) for name, hits in by_group.items()]
    )


def _rows(term: SearchTerm) -> Iterator[Model]:
    if not term.text:
        return
    if term.id is not None:
        yield from _with_id(term)
    elif term.tx_hash:
        yield from _of_hash(term.tx_hash)
    elif term.address:
        yield from _of_address(term.address)
    elif term.email:
        yield from _of_email(term)
    else:
        yield from _of_text(term)


def _with_id(term: SearchTerm) -> Iterator[Model]:
    for model in _RECORDS:
        yield from _shown(model, Q(pk=term.id))
    yield from _shown(Movement, Q(reference=term.id))


def _of_hash(tx_hash: str) -> Iterator[Model]:
    on_any = Q(chain__in=Chain.objects.all(), tx_hash=tx_hash)
    deposits = list(_shown(Deposit, on_any))
    paid = PaymentAddress.objects.filter(address__in=[row.address_id for row in deposits]).values(
        "payment_id"
    )
    yield from _shown(Payment, Q(pk__in=paid))
    yield from deposits
    signed = SignedTransaction.objects.filter(tx_hash=tx_hash).values("outgoing_id")
    spends = list(_shown(SpendRecord, Q(candidates__tx_hash=tx_hash)))
    yield from spends
    outgoing = list(_shown(OutgoingTransaction, Q(pk__in=signed) | Q(spend__in=spends)))
    yield from outgoing
    served = [row.reference[:36] for row in outgoing]
    ids = [term.id for term in map(SearchTerm.of, served) if term.id is not None]
    for model in (Refund, Payout, Swap, Withdrawal, Settlement):
        yield from _shown(model, Q(pk__in=ids))
    yield from _shown(UnmatchedTransfer, on_any)
    yield from _shown(UnknownTransaction, Q(tx_hash=tx_hash))


def _of_address(address: str) -> Iterator[Model]:
    paid = PaymentAddress.objects.filter(address_id=address).values("payment_id")
    yield from _shown(Payment, Q(pk__in=paid))
    yield from _shown(Deposit, Q(address_id=address))
    yield from _shown(Deposit, Q(from_address=address))
    yield from _shown(UnmatchedTransfer, Q(address_id=address))
    yield from _shown(Destination, Q(address=address))
    yield from _shown(Payout, Q(destination_address=address))
    yield from _shown(Refund, Q(destination_address=address))
    yield from _shown(HotWallet, Q(address=address))
    yield from _shown(UnexplainedBalance, Q(address_id=address, settled_at=None))


def _of_email(term: SearchTerm) -> Iterator[Model]:
    keys = {term.email.lower(), emails.canonical(term.email)}
    yield from _shown(User, Q(email_key__in=keys))
    yield from _shown(Customer, Q(email__in=term.spellings))
    yield from _shown(OutgoingMail, Q(mailbox=emails.mailbox(term.email)))


def _of_text(term: SearchTerm) -> Iterator[Model]:
    yield from _shown(Payment, Q(reference=term.text.upper()))
    yield from _named(Payment, term, "order_id")
    yield from _named(Payment, term, "title")
    yield from _shown(Withdrawal, Q(reference=term.text))
    yield from _shown(Store, term.begins("name"))
    yield from _shown(User, term.begins("email_key"))
    yield from _shown(Customer, term.begins("name"))
    yield from _shown(Movement, Q(key=term.text))
    yield from _shown(PaymentLink, Q(token=term.text.rstrip("/").rsplit("/", 1)[-1].lower()))
    if len(term.text) == _LAST_FOUR:
        yield from _shown(ApiKey, Q(last_four=term.text))
    yield from _invoices(term)
    if term.amounts:
        yield from _newest_of(term.amounts)


def _invoices(term: SearchTerm) -> Iterator[Model]:
    """By the number that the store gave it, or ours."""
    yield from _named(Invoice, term, "custom_number")
    digits = term.text.upper().removeprefix("INV-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 10 and int(digits) <= _NUMBER_MAX:
        yield from _shown(Invoice, Q(number=int(digits)))
    if parsed := series_of(term.text):
        yield from _shown(Invoice, Q(series=parsed[0], series_number=parsed[1]))


def _named(model: type[Model], term: SearchTerm, column: str) -> "list[Any]":
    """Those of which the column is the text, and behind them a few that begin with it."""
    by_key = {row.pk: row for row in _shown(model, Q(**{column: term.text}))}
    if len(by_key) < EACH_MAX:
        begins = (term, (column,))
        longer = newest_found(_rows_of(model), EACH_MAX, begins=begins, most=_BEGINNING_MAX)
        by_key |= {row.pk: row for row in longer if row.pk not in by_key}
    return list(by_key.values())[:EACH_MAX]


def _newest_of(amounts: tuple[int, ...]) -> "list[Any]":
    """Payments of an amount, among the newest of all stores: too many have the same for an index
    of it to be worth what each payment would pay."""
    newest = made_last(Payment.objects.all())
    last = searching.NEWEST_MAX - 1
    for oldest in newest.values_list("pk", flat=True)[last : last + 1]:
        newest = newest.filter(pk__gte=oldest)
    rows = newest.filter(settlement_amount_cents__in=amounts).select_related("store")
    return list(rows[:EACH_MAX])


def _shown(model: type[Model], condition: Q) -> "QuerySet[Any]":
    """The newest, where the table has their age."""
    is_dated = any(field.name == "created_at" for field in model._meta.fields)
    rows = _rows_of(model).filter(condition)
    return rows.order_by("-created_at" if is_dated else "-pk")[:EACH_MAX]


def _rows_of(model: type[Model]) -> "QuerySet[Any]":
    """With what a line of the page needs."""
    related = {field.name for field in model._meta.fields} & _TITLED_BY
    rows = model._base_manager.all()
    return rows.select_related(*related) if related else rows


def _hit(row: Model) -> StaffHit:
    name = _name(row)
    about = " · ".join(text for text in _facts(row) if text and text not in name)
    record = row.product if isinstance(row, Price) else row  # whose page lists it
    page = f"admin:{record._meta.app_label}_{record._meta.model_name}_change"
    url = reverse(page, args=[record.pk])
    return StaffHit(name, about, getattr(row, "mode", "") == "test", url)


def _name(row: Any) -> str:
    """As the record's own page is headed, unless people quote something else of it."""
    if isinstance(row, (User, Customer)):
        return str(row.email)
    if isinstance(row, OutgoingMail):
        return f"{code_words(row.template)} to {row.to}"
    if isinstance(row, Movement):
        return code_words(row.kind)
    if isinstance(row, Price):
        amount = fiat(row.unit_amount_cents, row.currency)
        return f"{amount} {row.get_interval_display().lower()}, {row.product.name}"
    page: Any = admin.site.get_model_admin(type(row))
    title = str(page.title_of(row))
    return f"{sentence(page.singular())} {title}" if title.startswith("of ") else title


def _list_name(row: Model) -> str:
    page: Any = admin.site._registry.get(type(row))
    return str(page.list_name) if page is not None else sentence(str(row._meta.verbose_name_plural))


def _facts(row: Any) -> Iterator[str]:
    yield _amount(row)
    yield _state(row)
    yield str(getattr(row, "store", None) or "")
    yield row.key if isinstance(row, Movement) else shorten(getattr(row, "tx_hash", None) or "")


def _state(row: Any) -> str:
    page: Any = admin.site._registry.get(type(row))
    status = getattr(row, "status", "")
    if page is not None and page.noun and status:
        return status_words(page.noun, status)
    return code_words(str(status or getattr(row, "kind", "")))


def _amount(row: Any) -> str:
    if isinstance(row, Payment):
        return fiat(row.settlement_amount_cents, row.settlement_currency)
    has_coins = getattr(row, "asset", None) is not None and hasattr(row, "amount_atomic")
    return coins_text(row) if has_coins else ""

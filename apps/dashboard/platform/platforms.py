"""A platform's pages: becoming one, its figures and its sub-merchants. Other stores only see how to
become one."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import valued
from apps.core import clock, money
from apps.core.messages.fields import Invalid
from apps.core.money import Fiat
from apps.core.templatetags.tillgate import percentage
from apps.core.text.countries import countries, country_name
from apps.core.text.wording import translated_pairs
from apps.core.typed_amounts import percent_text
from apps.core.web.forms import Form
from apps.core.web.refusals import status_of
from apps.dashboard.site import confirming
from apps.dashboard.site.views import Answer, PageRequest, Refusals, go, sentences, show
from apps.dashboard.store.closing import OBSTACLES
from apps.dashboard.store.verification import VerificationForm, add_document, remove_document
from apps.dashboard.tables import days
from apps.dashboard.tables.exports import exported
from apps.dashboard.tables.files import ACCOUNTS
from apps.dashboard.tables.filters import searched
from apps.dashboard.tables.lists import parts
from apps.dashboard.tables.paging import window
from apps.platforms import selectors
from apps.platforms.documents import FeeEarned, link_status, link_url
from apps.platforms.models import OnboardingLink
from apps.platforms.requests import (
    LINK_REQUESTS,
    AccountChanges,
    AccountRequest,
    OnboardingLinkRequest,
    PlatformAccess,
)
from apps.platforms.services import accounts, onboarding, verifications
from apps.platforms.services.access_requests import latest_request, request_access
from apps.platforms.services.overview import days_of, overview
from apps.platforms.states import APPROVED
from apps.reports.platform_fees import platform_fees_of
from apps.stores import roles
from apps.stores.models import Store, Verification
from apps.stores.selectors import contact_of, latest_verification
from apps.stores.verifying import documents

LINKS_SHOWN = 10
ACCOUNTS_SHOWN = 200
FEES_ASKED_MAX = 1_000  # payments, whose fees a page of sub-merchants adds up
LIFETIMES = {86_400: _("1 day"), 604_800: _("7 days"), 2_592_000: _("30 days")}


class AccessForm(Form):
    names = ("reason",)


class AccountForm(Form):
    """A new sub-merchant. People type its fee in percent; a request has it as a fraction."""

    names = ("name", "external_id", "platform_fee_percentage", "country")
    labels = {"external_id": _("External ID"), "platform_fee_percentage": _("Your fee")}

    def request(self) -> AccountRequest:
        """Raises Invalid."""
        return AccountRequest.read({**self.sent, "platform_fee_percentage": _fee_typed(self)})


class AccountChangesForm(Form):
    """Form of an existing account: its name stays, the rest can be taken away."""

    names = ("name", "external_id", "platform_fee_percentage")
    labels = AccountForm.labels

    def request(self) -> AccountChanges:
        """Raises Invalid."""
        fields = {"name": self.values["name"], "platform_fee_percentage": _fee_typed(self)}
        return AccountChanges.read({**self.sent, **fields})


def _fee_typed(form: Form) -> str | None:
    """`1.5`, `1,5` or `1.5%` as the fraction 0.015; None for an empty input. Raises Invalid."""
    name = "platform_fee_percentage"
    if not form.values[name]:
        return None
    fraction = money.fraction_from_percentage(percent_text(form.values[name]))
    if fraction is None:
        raise Invalid(name, "percentage")
    return fraction


class OnboardingLinkForm(Form):
    names = ("purpose", "return_url", "expires_in")
    labels = {"return_url": _("The return URL"), "expires_in": _("The expiration")}

    def request(self, mode: str) -> OnboardingLinkRequest:
        """Raises Invalid."""
        seconds = self.values["expires_in"]
        lifetime = int(seconds) if seconds in map(str, LIFETIMES) else None
        return LINK_REQUESTS[mode].read(
            {**self.sent, "purpose": self.values["purpose"], "expires_in": lifetime}
        )


def only_platforms(request: PageRequest) -> Access:
    if not request.access.store.is_platform:
        raise Http404
    return request.access


def index(request: PageRequest) -> HttpResponse:
    """The figures of a platform; to any other store what a platform is, and how to become one."""
    access = request.access
    if not access.store.is_platform:
        return _ask(request, AccessForm({}))
    zone = timezone.get_current_timezone()
    chosen = days_of(request.GET.get("from"), request.GET.get("to"), days.today(access), zone)
    summary = overview(access, chosen)
    earned = _earned(access, summary.platform_fee_earned)
    worth = [coin.worth_cents for coin in earned]
    context = {
        "summary": summary,
        "earned": earned,
        "earned_cents": sum(cents or 0 for cents in worth),
        "is_whole": None not in worth,
        "is_empty": not (summary.sub_merchant_count or summary.completed_payments or earned),
    }
    return show(request, "dashboard/platforms/overview.html", context)


@dataclass(frozen=True)
class EarnedCoin:
    """Fees in one coin, and what they are worth now in the store's currency; None without a
    rate."""

    asset: Asset
    amount_atomic: int
    worth_cents: int | None


def _earned(access: Access, fees: Iterable[FeeEarned]) -> list[EarnedCoin]:
    amounts = {fee.asset_id: int(fee.amount_atomic) for fee in fees}
    priced = valued(amounts, access.store.settlement_currency, clock.real_now())
    coins = {asset.pk: (asset, rate) for asset, rate in priced}
    return [
        EarnedCoin(
            asset,
            amount,
            None if rate is None else money.cents_for_atomic(amount, rate, asset.atomic_decimals),
        )
        for amount, (asset, rate) in ((amount, coins[id]) for id, amount in amounts.items())
    ]


def ask(request: PageRequest) -> HttpResponse:
    form = AccessForm(request.POST.dict())
    try:
        request_access(request.access, PlatformAccess.read(form.sent))
    except Refusals as refusal:
        return _ask(request, form.refuse(refusal))
    messages.success(request, gettext("Request submitted for review."))
    return go("platform")


def _ask(request: PageRequest, form: Form) -> HttpResponse:
    context = {
        "access_request": latest_request(request.access),
        "form": form,
        "errors": form.common_errors,
    }
    return show(request, "dashboard/platforms/ask.html", context, status=form.status)


def index_accounts(request: PageRequest) -> HttpResponse:
    access = only_platforms(request)
    text = searched(request.GET)
    page = window(_accounts(access, text), request.GET, {"q": text})
    closed = (
        Store.objects.filter(platform=access.store)
        .exclude(deleted_at=None)
        .order_by("-deleted_at")[:ACCOUNTS_SHOWN]
    )
    sold = selectors.sold_lately(access, page.rows)
    earned = _earned_by(access, sold)
    found_accounts = [
        (
            account,
            _percent(account.fee),
            sold.get(account.store.pk, ()),
            earned.get(account.store.pk, ()),
        )
        for account in selectors.described(access, page.rows)
    ]
    context = {
        "accounts": found_accounts,
        "window": page,
        "closed": closed,
        "q": text,
        "export_page": "dashboard:platform_accounts_export",
        "export_query": urlencode({"q": text} if text else {}),
    }
    return show(request, "dashboard/platforms/accounts.html", context)


def _earned_by(
    access: Access, sold: Mapping[uuid.UUID, list[selectors.SoldAmount]]
) -> dict[uuid.UUID, list[Fiat]]:
    """Earnings of late by sub-merchant and currency; none of those with more payments than one page
    may ask about."""
    accounts = selectors.completed_lately(access, sold, FEES_ASKED_MAX)
    fees = platform_fees_of(access, access.store.settlement_currency, accounts)
    sums: dict[uuid.UUID, dict[str, Fiat]] = {}
    for payment_id, fee in fees.items():
        of_account = sums.setdefault(accounts[payment_id], {})
        before = of_account.get(fee.currency)
        of_account[fee.currency] = fee if before is None else before + fee
    return {
        id: sorted(amounts.values(), key=lambda amount: -amount.cents)
        for id, amounts in sums.items()
    }


def _accounts(access: Access, text: str) -> "QuerySet[Store]":
    rows = selectors.accounts_of(access)
    return rows.filter(Q(name__icontains=text) | Q(external_id=text)) if text else rows


def export_accounts(request: PageRequest) -> Answer:
    """The sub-merchants that the search finds as CSV, newest first."""
    access = only_platforms(request)
    rows = _accounts(access, searched(request.GET))
    described = (selectors.described(access, part) for part in parts(exported(rows)))
    return ACCOUNTS.of_each(request, chain.from_iterable(described))


def create_account(request: PageRequest) -> HttpResponse:
    access = only_platforms(request)
    form = AccountForm(request.POST.dict())
    if request.method == "GET":
        return _account_form(request, form)
    try:
        account, is_new = accounts.create_account(access, form.request())
    except Refusals as refusal:
        return _account_form(request, form.refuse(refusal))
    if not is_new:
        messages.warning(request, gettext("A sub-merchant with this external ID already exists."))
    return go("platform_account", account.pk)


def _account_form(request: PageRequest, form: Form) -> HttpResponse:
    default_fee = _percent(request.access.store.platform_fee_fraction)
    context = {
        "form": form,
        "errors": form.common_errors,
        "default_fee": default_fee,
        "default_points": _points(request.access.store.platform_fee_fraction),
        "countries": countries(),
    }
    return show(request, "dashboard/platforms/create.html", context, status=form.status)


def show_account(request: PageRequest, id: str) -> HttpResponse:
    """A sub-merchant's account; the form on it changes it."""
    access = only_platforms(request)
    account = selectors.find_account(access, id)
    if request.method == "GET":
        form = AccountChangesForm(
            {
                "name": account.name,
                "external_id": account.external_id or "",
                "platform_fee_percentage": _points(account.platform_fee_fraction),
            }
        )
        return _account(request, account, form)
    form = AccountChangesForm(request.POST.dict())
    try:
        accounts.update_account(access, account, form.request())
    except Refusals as refusal:
        return _account(request, selectors.find_account(access, id), form.refuse(refusal))
    messages.success(request, gettext("Saved. Existing payments keep their fees."))
    return go("platform_account", account.pk)


def _account(request: PageRequest, account: Store, form: Form) -> HttpResponse:
    access = request.access
    now = request.access.now()
    payments = selectors.filtered_payments(
        selectors.payments_of_platform(access), account_id=str(account.pk)
    )[:LINKS_SHOWN]
    summary = selectors.described_account(access, account)
    steps = _steps(summary)
    verification = Verification.objects.filter(store=account).order_by("-created_at").first()
    contact = contact_of(account)
    is_pending = verification is not None and verification.status == Verification.Status.PENDING
    context = {
        "account": summary,
        "steps": [] if all(step.is_done for step in steps) else steps,
        "needs_link": not (steps[0].is_done and steps[-1].is_done),
        "may_attest": roles.may(request.member.role, roles.MANAGE)
        and not is_pending
        and not contact,
        "form": form,
        "default_fee": _percent(access.store.platform_fee_fraction),
        "default_points": _points(access.store.platform_fee_fraction),
        "country": country_name(account.country),
        "contact": contact,
        "verification": verification,
        "links": [
            (link, link_status(link, now))
            for link in selectors.links_of(access, account)[:LINKS_SHOWN]
        ],
        "payments": payments,
        "purposes": translated_pairs(OnboardingLink.Purpose.choices),
        "lifetimes": LIFETIMES,
        "errors": form.common_errors,
    }
    return show(request, "dashboard/platforms/account.html", context, status=form.status)


@dataclass(frozen=True)
class AccountStep:
    """A step of a new sub-merchant on its way to payments."""

    title: str
    explanation: str
    is_done: bool
    is_next: bool = False


def _steps(account: selectors.AccountSummary) -> list[AccountStep]:
    """Details, their review, and where its money goes; the first that is open is the next."""
    is_verified = account.verification_status == APPROVED
    is_submitted = is_verified or account.verification_status == Verification.Status.PENDING
    steps = [
        AccountStep(
            gettext("Business details"),
            gettext("Legal name, address, representative and documents."),
            is_submitted,
        ),
        AccountStep(
            gettext("Review"),
            gettext("We check the details, usually within a business day. Payments start then.")
            if is_submitted
            else gettext("We check the details as soon as they are submitted."),
            is_verified,
        ),
        AccountStep(
            gettext("Payout destination"),
            gettext("The wallet or bank account that its payouts go to."),
            account.has_destination,
        ),
    ]
    first = next((step for step in steps if not step.is_done), None)
    return [replace(step, is_next=step is first) for step in steps]


def create_link(request: PageRequest, id: str) -> HttpResponse:
    """A form, then the link: it is shown this once."""
    access = only_platforms(request)
    account = selectors.find_account(access, id)
    if request.method == "GET":
        lifetime = int(onboarding.LIFETIME_DEFAULT.total_seconds())
        return _link_form(request, account, OnboardingLinkForm({"expires_in": str(lifetime)}))
    form = OnboardingLinkForm(request.POST.dict())
    rows = [(gettext("Account"), account.name)]

    def mint() -> tuple[OnboardingLink, str]:
        to = onboarding.account_for_link(request.access, id)
        return onboarding.mint_link(request.access, to, form.request(access.mode))

    try:
        confirmation = confirming.ask_about_form(request, rows, mint)
        if confirmation is not None:
            return confirmation
        link, token = mint()
    except Refusals as refusal:
        return _link_form(request, account, form.refuse(refusal))
    context = {"account": account, "link": link, "url": link_url(token)}
    return show(request, "dashboard/platforms/link.html", context, status=201)


def _link_form(request: PageRequest, account: Store, form: Form) -> HttpResponse:
    context = {
        "account": account,
        "form": form,
        "errors": form.common_errors,
        "lifetimes": {str(seconds): words for seconds, words in LIFETIMES.items()},
        "purposes": translated_pairs(OnboardingLink.Purpose.choices),
    }
    return show(request, "dashboard/platforms/create_link.html", context, status=form.status)


def attest(request: PageRequest, id: str) -> HttpResponse:
    """The platform tells what it knows of the business: as much as a business says of itself, with
    its documents."""
    account = selectors.find_account(only_platforms(request), id)
    if request.method == "GET":
        return _attest_form(request, account, _first_details(account))
    form = VerificationForm.from_post(request.POST)
    try:
        if "remove" in request.POST:
            remove_document(request, account)
            return _attest_form(request, account, form)
        if "add" in request.POST:
            add_document(request, account)
            return _attest_form(request, account, form)
        business = form.request()
        if "document" in request.FILES:
            add_document(request, account)
        verifications.submit_own(account, business)
    except Refusals as refusal:
        return _attest_form(request, account, form.refuse(refusal))
    messages.success(request, gettext("Details submitted for review."))
    return go("platform_account", account.pk)


def _first_details(account: Store) -> VerificationForm:
    """Details that the form begins with: those submitted before, else what is known of the account
    already."""
    before = latest_verification(account)
    defaults = {"business_legal_name": account.name, "business_country": account.country}
    names = VerificationForm.names
    previous = {name: getattr(before, name, None) for name in names}
    return VerificationForm({name: previous[name] or defaults.get(name, "") for name in names})


def _attest_form(request: PageRequest, account: Store, form: Form) -> HttpResponse:
    drafts = documents.drafts(account)
    context = {
        "account": account,
        "form": form,
        "errors": form.common_errors,
        "countries": countries(),
        "drafts": drafts,
        "has_room": len(drafts) < documents.DOCUMENTS_MAX,
    }
    return show(request, "dashboard/platforms/attest.html", context, status=form.status)


def close_account(request: PageRequest, id: str) -> HttpResponse:
    account = selectors.find_account(only_platforms(request), id)
    errors = []
    status = 200
    if request.method == "POST":
        try:
            accounts.delete_account(request.access, id)
        except Refusals as refusal:
            errors = sentences(refusal)
            status = status_of(refusal)
        else:
            messages.success(request, f"{account.name} closed.")
            return go("platform_accounts")
    context = {
        "account": account,
        "obstacles": [
            (OBSTACLES[blocker.type], blocker.count) for blocker in accounts.blockers(account)
        ],
        "errors": errors,
    }
    return show(request, "dashboard/platforms/close.html", context, status=status)


def restore_account(request: PageRequest, id: str) -> HttpResponse:
    try:
        account = accounts.restore_account(only_platforms(request), id)
    except accounts.NotDeleted:
        return go("platform_accounts")
    messages.success(
        request,
        gettext("{name} reopened. Its keys and webhook endpoints stay disabled.").format(
            name=account.name
        ),
    )
    return go("platform_account", account.pk)


def _points(fraction: Decimal | None) -> str:
    """As it is typed."""
    return "" if fraction is None else money.points_text(fraction)


def _percent(fraction: Decimal | None) -> str:
    return "" if fraction is None else percentage(money.percentage_text(fraction))

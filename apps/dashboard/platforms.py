"""A platform's pages: becoming one, its figures and its sub-merchants. Other stores only see how to
become one."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.utils import timezone

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import valued
from apps.core import clock, money
from apps.core.countries import countries, country_name
from apps.core.messages.fields import Invalid
from apps.core.templatetags.tillgate import percentage
from apps.core.web.forms import Form
from apps.core.web.refusals import status_of
from apps.dashboard import confirming, days
from apps.dashboard.exports import exported
from apps.dashboard.filters import searched
from apps.dashboard.list_files import ACCOUNTS
from apps.dashboard.lists import parts
from apps.dashboard.paging import window
from apps.dashboard.plumbing import Answer, PageRequest, Refusals, go, sentences, show
from apps.dashboard.store_closing import OBSTACLES
from apps.platforms import selectors
from apps.platforms.documents import FeeEarned, link_status, link_url
from apps.platforms.models import OnboardingLink
from apps.platforms.requests import (
    LINK_REQUESTS,
    AccountChanges,
    AccountRequest,
    OnboardingLinkRequest,
    PlatformAccess,
    VerificationRequest,
)
from apps.platforms.services import accounts, onboarding, verifications
from apps.platforms.services.access_requests import latest_request, request_access
from apps.platforms.services.overview import days_of, overview
from apps.stores.models import Store, Verification
from apps.stores.selectors import contact_of

LINKS_SHOWN = 10
ACCOUNTS_SHOWN = 200
LIFETIMES = {86_400: "1 day", 604_800: "7 days", 2_592_000: "30 days"}


class AccessForm(Form):
    names = ("reason",)


class AccountForm(Form):
    """A new sub-merchant. People type its fee in percent; a request has it as a fraction."""

    names = ("name", "external_id", "platform_fee_percentage", "country")
    labels = {"external_id": "External ID", "platform_fee_percentage": "Your fee"}

    def request(self) -> AccountRequest:
        """Raises Invalid."""
        return AccountRequest.read({**self.sent, "platform_fee_percentage": _fee_typed(self)})


class AccountChangesForm(Form):
    """One that is there: its name stays, the rest can be taken away."""

    names = ("name", "external_id", "platform_fee_percentage")
    labels = AccountForm.labels

    def request(self) -> AccountChanges:
        """Raises Invalid."""
        fields = {"name": self.values["name"], "platform_fee_percentage": _fee_typed(self)}
        return AccountChanges.read({**self.sent, **fields})


def _fee_typed(form: Form) -> str | None:
    """`1.5`, `1,5` or `1.5%` as the fraction 0.015; None for an empty input. Raises Invalid."""
    name = "platform_fee_percentage"
    text = form.values[name].removesuffix("%").strip().replace(",", ".")
    if not text:
        return None
    fraction = money.fraction_from_percentage(text)
    if fraction is None:
        raise Invalid(name, "percentage")
    return fraction


class OnboardingLinkForm(Form):
    names = ("purpose", "return_url", "expires_in")
    labels = {"return_url": "The return URL", "expires_in": "The expiration"}

    def request(self, mode: str) -> OnboardingLinkRequest:
        """Raises Invalid."""
        seconds = self.values["expires_in"]
        lifetime = int(seconds) if seconds in map(str, LIFETIMES) else None
        return LINK_REQUESTS[mode].read(
            {**self.sent, "purpose": self.values["purpose"], "expires_in": lifetime}
        )


class AccountVerificationForm(Form):
    names = VerificationRequest.__struct_fields__
    labels = {
        "business_legal_name": "Registered name",
        "business_country": "Country",
        "registration_number": "Registration number",
        "tax_id": "VAT or tax ID",
        "business_website": "Website",
        "contact_email": "Email",
        "contact_phone": "Telephone",
        "business_description": "What it sells",
    }

    def request(self) -> VerificationRequest:
        """Raises Invalid."""
        return VerificationRequest.read(self.sent)


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
    messages.success(request, "Request submitted for review.")
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
    found_accounts = [
        (account, _percent(account.fee)) for account in selectors.described(access, page.rows)
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
        messages.warning(request, "A sub-merchant with this external ID already exists.")
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
    """One account; the form on it changes it."""
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
    messages.success(request, "Saved. Existing payments keep their fees.")
    return go("platform_account", account.pk)


def _account(request: PageRequest, account: Store, form: Form) -> HttpResponse:
    access = request.access
    now = request.access.now()
    payments = selectors.filtered_payments(
        selectors.payments_of_platform(access), account_id=str(account.pk)
    )[:LINKS_SHOWN]
    context = {
        "account": selectors.described_account(access, account),
        "form": form,
        "default_fee": _percent(access.store.platform_fee_fraction),
        "default_points": _points(access.store.platform_fee_fraction),
        "country": country_name(account.country),
        "contact": contact_of(account),
        "verification": Verification.objects.filter(store=account).order_by("-created_at").first(),
        "links": [
            (link, link_status(link, now))
            for link in selectors.links_of(access, account)[:LINKS_SHOWN]
        ],
        "payments": payments,
        "purposes": OnboardingLink.Purpose.choices,
        "lifetimes": LIFETIMES,
        "errors": form.common_errors,
    }
    return show(request, "dashboard/platforms/account.html", context, status=form.status)


def create_link(request: PageRequest, id: str) -> HttpResponse:
    """A form, then the link: it is shown this once."""
    access = only_platforms(request)
    account = selectors.find_account(access, id)
    if request.method == "GET":
        lifetime = int(onboarding.LIFETIME_DEFAULT.total_seconds())
        return _link_form(request, account, OnboardingLinkForm({"expires_in": str(lifetime)}))
    form = OnboardingLinkForm(request.POST.dict())
    rows = [("Account", account.name)]

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
        "purposes": OnboardingLink.Purpose.choices,
    }
    return show(request, "dashboard/platforms/create_link.html", context, status=form.status)


def attest(request: PageRequest, id: str) -> HttpResponse:
    """The platform tells what it knows of the business."""
    account = selectors.find_account(only_platforms(request), id)
    if request.method == "GET":
        defaults = {"business_legal_name": account.name, "business_country": account.country}
        return _attest_form(request, account, AccountVerificationForm(defaults))
    form = AccountVerificationForm(request.POST.dict())
    try:
        verifications.submit_verification(account, form.request())
    except Refusals as refusal:
        return _attest_form(request, account, form.refuse(refusal))
    messages.success(request, "Details submitted for review.")
    return go("platform_account", account.pk)


def _attest_form(request: PageRequest, account: Store, form: Form) -> HttpResponse:
    context = {
        "account": account,
        "form": form,
        "errors": form.common_errors,
        "countries": countries(),
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
        request, f"{account.name} reopened. Its keys and webhook endpoints stay disabled."
    )
    return go("platform_account", account.pk)


def _points(fraction: Decimal | None) -> str:
    """As it is typed."""
    return "" if fraction is None else money.points_text(fraction)


def _percent(fraction: Decimal | None) -> str:
    return "" if fraction is None else percentage(money.percentage_text(fraction))

"""A platform's rooms: becoming one, its figures, its sub-merchants and their payments. Other stores only see how to become one."""

from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponse

from apps.access.access import Access
from apps.assets.models import Asset
from apps.core import money
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, Refusals, go, sentences, show, status_of
from apps.payments.models import Payment
from apps.platforms import selectors
from apps.platforms.documents import SUBMITTED, link_status, link_url
from apps.platforms.models import OnboardingLink
from apps.platforms.services import accounts, confirmations, onboarding, verifications
from apps.platforms.services.access_requests import latest_request, request_access
from apps.platforms.services.overview import overview
from apps.stores.models import Store, Verification

LINKS_SHOWN, ACCOUNTS_SHOWN = 10, 200
LIFETIMES = {86_400: "1 day", 604_800: "7 days", 2_592_000: "30 days"}


def _only_platforms(request: PageRequest) -> Access:
    if not request.access.store.is_platform:
        raise Http404
    return request.access


def index(request: PageRequest) -> HttpResponse:
    """The figures of a platform; to any other store what a platform is, and how to become one."""
    access = request.access
    if not access.store.is_platform:
        return _ask(request, "", [])
    told = overview(access, request.GET.get("from"), request.GET.get("to"))
    symbols = dict(Asset.objects.filter(pk__in=[one["asset_id"] for one in told["platform_fee_earned"]]).values_list("pk", "coin_symbol"))
    earned = [{**one, "symbol": symbols[one["asset_id"]]} for one in told["platform_fee_earned"]]
    context = {"told": told, "first": told["from"], "last": told["to"], "earned": earned, "tab": "overview"}
    return show(request, "dashboard/platforms/overview.html", context)


def ask(request: PageRequest) -> HttpResponse:
    reason = request.POST.get("reason", "").strip()
    try:
        request_access(request.access, {"reason": reason or None})
    except Refusals as refusal:
        return _ask(request, reason, sentences(refusal), status_of(refusal))
    messages.success(request, "Your request is in. A person looks at it.")
    return go("platform")


def _ask(request: PageRequest, reason: str, errors: list[str], status: int = 200) -> HttpResponse:
    context = {"asked": latest_request(request.access), "reason": reason, "errors": errors}
    return show(request, "dashboard/platforms/ask.html", context, status=status)


def index_accounts(request: PageRequest) -> HttpResponse:
    access = _only_platforms(request)
    wanted = request.GET.get("q", "").replace("\x00", "").strip()[:255]
    rows = selectors.accounts_of(access)
    found = rows.filter(Q(name__icontains=wanted) | Q(external_id=wanted)) if wanted else rows
    page = window(found, request.GET, {"q": wanted})
    closed = Store.objects.filter(platform=access.store).exclude(deleted_at=None).order_by("-deleted_at")[:ACCOUNTS_SHOWN]
    found_accounts = [(one, _percent(one.fee)) for one in selectors.described(access, page.rows)]
    context = {"accounts": found_accounts, "window": page, "closed": closed, "q": wanted, "tab": "accounts"}
    return show(request, "dashboard/platforms/accounts.html", context)


def create_account(request: PageRequest) -> HttpResponse:
    access = _only_platforms(request)
    if request.method == "GET":
        return _account_form(request, {}, [])
    given = {name: request.POST.get(name, "").strip() for name in ("name", "external_id", "platform_fee_percentage", "country")}
    try:
        account, is_new = accounts.create_account(access, {"account": {name: text for name, text in given.items() if text}})
    except Refusals as refusal:
        return _account_form(request, given, sentences(refusal), status_of(refusal))
    if not is_new:
        messages.warning(request, "An account with this id of yours was there already.")
    return go("platform_account", account.pk)


def _account_form(request: PageRequest, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    context = {"given": given, "errors": errors, "default_fee": _percent(request.access.store.platform_fee_fraction)}
    return show(request, "dashboard/platforms/create.html", context, status=status)


def show_account(request: PageRequest, id: str) -> HttpResponse:
    """One account; the form on it changes it."""
    access = _only_platforms(request)
    account = selectors.find_account(access, id)
    if request.method == "GET":
        return _account(request, account, [])
    body: dict[str, Any] = {name: request.POST.get(name, "").strip() for name in ("name", "external_id", "platform_fee_percentage")}
    body |= {name: body[name] or None for name in ("external_id", "platform_fee_percentage")}
    try:
        accounts.update_account(access, id, {"account": {**body, "name": body["name"] or " "}})
    except Refusals as refusal:
        return _account(request, selectors.find_account(access, id), sentences(refusal), status_of(refusal))
    messages.success(request, "Saved. Payments made before keep their fees.")
    return go("platform_account", account.pk)


def _account(request: PageRequest, account: Store, errors: list[str], status: int = 200) -> HttpResponse:
    access, now = request.access, request.access.now()
    payments = selectors.filtered_payments(selectors.payments_of_platform(access), account_id=str(account.pk))[:LINKS_SHOWN]
    context = {
        "account": selectors.described_one(access, account),
        "own_fee": "" if account.platform_fee_fraction is None else money.fraction_text(account.platform_fee_fraction),
        "default_fee": _percent(access.store.platform_fee_fraction),
        "contact": confirmations.contact_of(account),
        "verification": Verification.objects.filter(store=account).order_by("-created_at").first(),
        "links": [(link, link_status(link, now)) for link in selectors.links_of(access, account)[:LINKS_SHOWN]],
        "payments": payments,
        "purposes": OnboardingLink.Purpose.choices,
        "lifetimes": LIFETIMES,
        "errors": errors,
    }
    return show(request, "dashboard/platforms/account.html", context, status=status)


def create_link(request: PageRequest, id: str) -> HttpResponse:
    """A form, then the link: it is shown this once."""
    account = selectors.find_account(_only_platforms(request), id)
    given = {name: request.POST.get(name, "").strip() for name in ("purpose", "return_url", "expires_in")}
    if request.method == "GET":
        return _link_form(request, account, {"expires_in": str(int(onboarding.LIFETIME_DEFAULT.total_seconds()))}, [])
    seconds = int(given["expires_in"]) if given["expires_in"] in map(str, LIFETIMES) else None
    try:
        body = {"purpose": given["purpose"], "return_url": given["return_url"] or None, "expires_in": seconds}
        link, token = onboarding.mint_link(request.access, id, body)
    except Refusals as refusal:
        return _link_form(request, account, given, sentences(refusal), status_of(refusal))
    context = {"account": account, "link": link, "url": link_url(token)}
    return show(request, "dashboard/platforms/link.html", context, status=201)


def _link_form(request: PageRequest, account: Store, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    lifetimes = {str(seconds): words for seconds, words in LIFETIMES.items()}
    context = {"account": account, "given": given, "errors": errors, "lifetimes": lifetimes, "purposes": OnboardingLink.Purpose.choices}
    return show(request, "dashboard/platforms/create_link.html", context, status=status)


def attest(request: PageRequest, id: str) -> HttpResponse:
    """The platform tells what it knows of the business."""
    account = selectors.find_account(_only_platforms(request), id)
    if request.method == "GET":
        return _attest_form(request, account, {"business_legal_name": account.name, "business_country": account.country}, [])
    given = {name: text for name in SUBMITTED if (text := request.POST.get(name, "").strip().replace("\r\n", "\n"))}
    try:
        verifications.submit_verification(account, given)
    except Refusals as refusal:
        return _attest_form(request, account, given, sentences(refusal), status_of(refusal))
    messages.success(request, "The details are in. A person looks at them.")
    return go("platform_account", account.pk)


def _attest_form(request: PageRequest, account: Store, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    return show(request, "dashboard/platforms/attest.html", {"account": account, "given": given, "errors": errors}, status=status)


def close_account(request: PageRequest, id: str) -> HttpResponse:
    account, errors, status = selectors.find_account(_only_platforms(request), id), [], 200
    if request.method == "POST":
        try:
            accounts.delete_account(request.access, id)
        except Refusals as refusal:
            errors, status = sentences(refusal), status_of(refusal)
        else:
            messages.success(request, f"{account.name} is closed.")
            return go("platform_accounts")
    context = {"account": account, "blockers": accounts.blockers(account), "errors": errors}
    return show(request, "dashboard/platforms/close.html", context, status=status)


def restore_account(request: PageRequest, id: str) -> HttpResponse:
    try:
        account = accounts.restore_account(_only_platforms(request), id)
    except accounts.NotDeleted:
        return go("platform_accounts")
    messages.success(request, f"{account.name} is open again. Its keys and webhook endpoints stay off.")
    return go("platform_account", account.pk)


def index_payments(request: PageRequest) -> HttpResponse:
    access = _only_platforms(request)
    status, account_id = request.GET.get("status", ""), request.GET.get("account_id", "")
    rows = selectors.filtered_payments(selectors.payments_of_platform(access), account_id=account_id, status=status)
    page = window(rows, request.GET, {"status": status, "account_id": account_id})
    choices = selectors.accounts_of(access).values_list("pk", "name")[:ACCOUNTS_SHOWN]
    context = {
        "payments": [(row, _percent(row.platform_fee_fraction)) for row in page.rows],
        "window": page,
        "status": status,
        "account_id": account_id,
        "statuses": Payment.Status.values,
        "choices": [(str(pk), name) for pk, name in choices],
        "tab": "payments",
    }
    return show(request, "dashboard/platforms/payments.html", context)


def _percent(fraction: Decimal | None) -> str:
    return "" if fraction is None else f"{money.percentage_text(fraction)} %"

"""Hosted onboarding: a sub-merchant opens its platform's link, tells of its business and where its
money goes, and returns.

The token is the only key. Reading uses nothing up; the last step ends the link, and with it every
page below it.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.assets.selectors import active_assets
from apps.core.acting import become
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Invalid
from apps.core.redis import buckets
from apps.core.web.forms import Form, sentences
from apps.core.web.middleware import client_address
from apps.core.web.refusals import status_of
from apps.hosted.onboarding_business import (
    BusinessForm,
    add_document,
    business_context,
    change_documents,
)
from apps.hosted.plumbing import Context, host_shown, picture, refused_if_too_often
from apps.platforms.models import OnboardingLink
from apps.platforms.services import confirmations, onboarding
from apps.stores.models import Currency

Page = Callable[[HttpRequest, OnboardingLink, str], HttpResponse]
VALUE_MAX = 200
_WRITES = (("visitor_writes", True),)
INVALID_VERIFICATION = "invalid_verification"
BUSINESS = "business"
PAYOUT = "payout"
TITLES = {BUSINESS: _("Your business"), PAYOUT: _("Payout destination")}


class DestinationForm(Form):
    """A wallet, or a bank account."""

    names = ("network", "address", "currency", "holder", "account")
    hidden = ("kind",)
    inputs = {"destination_address": "address"}

    def __init__(self, typed: Mapping[str, str]) -> None:
        super().__init__(typed)
        self.values = {name: text[:VALUE_MAX] for name, text in self.values.items()}

    @property
    def is_bank(self) -> bool:
        return self.values["kind"] == "bank"

    def save(self, link: OnboardingLink) -> onboarding.NamedDestination:
        """Raises Unusable, OutOfScope or a refusal."""
        if self.is_bank:
            return onboarding.save_bank(
                link, self.values["currency"], self.values["holder"], self.values["account"]
            )
        return onboarding.save_wallet(link, self.values["network"], self.values["address"])


def _page(view: Page) -> Callable[..., HttpResponse]:
    @wraps(view)
    @private
    def guarded(request: HttpRequest, token: str) -> HttpResponse:
        return _opened(request, view, token)

    return guarded


def private(
    view: Callable[[HttpRequest, str], HttpResponse],
) -> Callable[[HttpRequest, str], HttpResponse]:
    """A page whose token is its only key: nobody keeps it or tells of it, and a client's address
    sends it only so many forms."""

    @wraps(view)
    def guarded(request: HttpRequest, token: str) -> HttpResponse:
        is_write = request.method == "POST"
        refused = refused_if_too_often(request, "", _WRITES) if is_write else None
        response = refused or view(request, token)
        response["Cache-Control"] = "no-store"
        response["X-Robots-Tag"] = "noindex"
        # Other sites never see the token; without any referrer the browser would hide the origin of
        # our own forms.
        response["Referrer-Policy"] = "same-origin"
        return response

    return guarded


def _opened(request: HttpRequest, view: Page, token: str) -> HttpResponse:
    try:
        link = onboarding.open_link(token)
    except onboarding.Unusable as refusal:
        return too_many(request) or _unusable(request, refusal)
    become("visitor", name=f"onboarding link {link.token_prefix}…")
    try:
        response = view(request, link, token)
    except (onboarding.Unusable, onboarding.OutOfScope) as refusal:
        return _unusable(request, refusal)
    if link.return_url:
        parts = urlsplit(link.return_url)
        # Browsers hold the redirect after a form to the policy of its page.
        response._csp_update = {"form-action": [f"{parts.scheme}://{parts.netloc}"]}  # type: ignore[attr-defined]  # read by the policy's middleware
    return response


def too_many(request: HttpRequest) -> HttpResponse | None:
    """Only wrong tokens count. Nobody guesses one, so without Redis the page says what it would
    have said."""
    try:
        reading = buckets.take("token_attempts", "live", client_address(request))
    except buckets.Unavailable:
        return None
    if not reading.is_limited:
        return None
    response = render(request, "429.html", status=429)
    for name, value in reading.headers().items():
        response[name] = value
    return response


def _unusable(
    request: HttpRequest, refusal: onboarding.Unusable | onboarding.OutOfScope
) -> HttpResponse:
    context = {
        # A link that has ended needs no more than its heading says.
        "sentence": sentences(refusal)[0] if isinstance(refusal, onboarding.OutOfScope) else "",
        "code": refusal.code,
        "is_expired": refusal.kind is RefusalKind.GONE,
    }
    return render(request, "hosted/unusable.html", context, status=status_of(refusal))


@require_safe
@_page
def start(request: HttpRequest, link: OnboardingLink, token: str) -> HttpResponse:
    """The first step that is still to do; a link for a destination alone always asks for one."""
    if link.has_business_step and not onboarding.has_business(link):
        return _business(request, link, token)
    if link.has_payout_step and not (link.has_business_step and onboarding.has_destination(link)):
        return _payout(request, link, token)
    return render(request, "hosted/onboarding/summary.html", _frame(link, token, "summary"))


@require_http_methods(["GET", "HEAD", "POST"])
@_page
def business(request: HttpRequest, link: OnboardingLink, token: str) -> HttpResponse:
    if not link.has_business_step:
        raise onboarding.OutOfScope
    if request.method != "POST":
        return _business(request, link, token)
    if onboarding.has_business(link):
        return _business(request, link, token)
    form = BusinessForm.from_post(request.POST)
    try:
        if change_documents(request, link.account):
            return _business(request, link, token, form)
        answers = form.request()
        if "document" in request.FILES:
            add_document(request, link.account)
        is_last = onboarding.tell_business(link, answers)
    except onboarding.Unusable:
        raise
    except Invalid as refusal:
        return _business(request, link, token, form.refuse(refusal), INVALID_VERIFICATION)
    except Failure as refusal:
        return _business(request, link, token, form.refuse(refusal), refusal.code or "")
    return _leave(request, link, token, is_last)


@require_http_methods(["GET", "HEAD", "POST"])
@_page
def payout(request: HttpRequest, link: OnboardingLink, token: str) -> HttpResponse:
    if not link.has_payout_step:
        raise onboarding.OutOfScope
    if request.method != "POST":
        return _payout(request, link, token)
    form = DestinationForm(request.POST.dict())
    try:
        outcome = form.save(link)
    except onboarding.Unusable:
        raise
    except Failure as refusal:
        return _payout(request, link, token, form.refuse(refusal))
    if outcome.is_last and outcome.confirmation is not None:
        return HttpResponseRedirect(confirmations.page_path(outcome.confirmation), status=303)
    return _leave(request, link, token, outcome.is_last)


@require_POST
@_page
def finish(request: HttpRequest, link: OnboardingLink, token: str) -> HttpResponse:
    if not onboarding.is_finished(link):
        return HttpResponseRedirect(f"/onboarding/{token}", status=303)
    onboarding.finish(link)
    return _leave(request, link, token, is_last=True)


def _leave(request: HttpRequest, link: OnboardingLink, token: str, is_last: bool) -> HttpResponse:
    """On to the next step; after the last one back to the platform."""
    if not is_last:
        return HttpResponseRedirect(f"/onboarding/{token}", status=303)
    if link.return_url:
        return HttpResponseRedirect(link.return_url, status=303)
    return render(request, "hosted/onboarding/done.html", _frame(link, token, "summary"))


def _business(
    request: HttpRequest,
    link: OnboardingLink,
    token: str,
    form: BusinessForm | None = None,
    code: str = "",
) -> HttpResponse:
    is_told = onboarding.has_business(link)
    context = business_context(link.account) | {"is_told": is_told, "code": code}
    return _show(request, link, token, BUSINESS, form or BusinessForm.of(link), context)


def _payout(
    request: HttpRequest, link: OnboardingLink, token: str, form: DestinationForm | None = None
) -> HttpResponse:
    if form is None:
        form = DestinationForm({"kind": request.GET.get("kind", ""), "holder": link.account.name})
    chains = {asset.chain_id: asset.chain.name for asset in active_assets(link.mode)}
    context = {
        "networks": sorted(chains.items()),
        "currencies": Currency.choices,
        "is_told": onboarding.has_destination(link),
        "code": "invalid_payout_destination" if form.errors else "",
    }
    return _show(request, link, token, PAYOUT, form, context)


def _show(
    request: HttpRequest, link: OnboardingLink, token: str, step: str, form: Form, context: Context
) -> HttpResponse:
    context = {**_frame(link, token, step), **context, "form": form, "errors": form.common_errors}
    return render(
        request, f"hosted/onboarding/{step}.html", context, status=422 if form.errors else 200
    )


def _frame(link: OnboardingLink, token: str, step: str) -> Context:
    steps = [
        name
        for name, is_asked in ((BUSINESS, link.has_business_step), (PAYOUT, link.has_payout_step))
        if is_asked
    ]
    is_done = {
        BUSINESS: onboarding.has_business(link),
        PAYOUT: onboarding.has_destination(link),
    }
    return {
        "link": link,
        "account": link.account,
        "platform_name": link.store.brand_name or link.store.name,
        "logo_url": picture(link.store.logo_url),
        "path": f"/onboarding/{token}",
        "step": step,
        "steps": [
            {
                "name": name,
                "title": gettext(TITLES[name]),
                "is_told": is_done[name],
                "is_current": name == step,
            }
            for name in steps
        ],
        "return_host": host_shown(link.return_url),
    }

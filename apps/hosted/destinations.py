"""After a live destination was named through an onboarding link: its page, where the contact's code
is entered, and the link that stops it.

Anyone who has the page may look and type; only the contact of the business has the code.
"""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from apps.core.acting import become
from apps.core.errors import Failure, NotFound
from apps.core.web.forms import sentences
from apps.hosted.onboarding import private, too_many
from apps.hosted.plumbing import Context, host_shown, picture
from apps.payouts.services.destinations import title
from apps.platforms.models import DestinationConfirmation
from apps.platforms.services import confirmations

CODE_LENGTH_MAX = 20
Page = Callable[[HttpRequest, str], HttpResponse]


def _page(view: Page) -> Page:
    """A page of one destination; wrong tokens count, as those of links do."""

    @wraps(view)
    @private
    def guarded(request: HttpRequest, token: str) -> HttpResponse:
        try:
            return view(request, token)
        except NotFound:
            return too_many(request) or render(
                request, "hosted/onboarding/destination/gone.html", status=404
            )

    return guarded


@require_http_methods(["GET", "HEAD", "POST"])
@_page
def show(request: HttpRequest, token: str) -> HttpResponse:
    """State of the destination; the form on it takes the code."""
    row = confirmations.of_page(token)
    if request.method != "POST":
        return _show(request, token, row)
    become("visitor", name=f"code of {row.contact}")
    try:
        confirmations.enter_code(row, request.POST.get("code", "")[:CODE_LENGTH_MAX])
    except NotFound:
        pass  # it was confirmed or stopped meanwhile: the page says so
    except Failure as refusal:
        return _show(request, token, confirmations.of_page(token), refusal)
    return HttpResponseRedirect(request.path, status=303)


@require_POST
@_page
def send_again(request: HttpRequest, token: str) -> HttpResponse:
    """A new code to the contact; the page says that it was sent."""
    row = confirmations.of_page(token)
    become("visitor", name=f"onboarding link {row.link.token_prefix}…")
    path = f"/onboarding/destination/{token}"
    try:
        was_sent = confirmations.send_again(row)
    except NotFound:
        return HttpResponseRedirect(path, status=303)
    except Failure as refusal:
        return _show(request, token, confirmations.of_page(token), refusal)
    return HttpResponseRedirect(f"{path}?sent=1" if was_sent else path, status=303)


@require_http_methods(["GET", "HEAD", "POST"])
@_page
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the link changes nothing; the button on its page does, once."""
    row, until = confirmations.of_stop(token)
    context = {**_frame(row), "path": f"/onboarding/stop/{token}", "until": until}
    if request.method == "POST":
        become("visitor", name=f"contact {row.contact}")
        context["is_done"] = confirmations.stop(row, until)
        return render(request, "hosted/onboarding/destination/stopped.html", context)
    context["is_open"] = confirmations.can_stop(row, until)
    return render(request, "hosted/onboarding/destination/stop.html", context)


def _show(
    request: HttpRequest, token: str, row: DestinationConfirmation, refusal: Failure | None = None
) -> HttpResponse:
    context = {
        **_frame(row),
        "path": f"/onboarding/destination/{token}",
        "state": confirmations.state_of(row),
        "until": row.waits_until,
        "contact": _masked(row.contact),
        "minutes": int(confirmations.CODE_LIFETIME.total_seconds()) // 60,
        "is_spent": row.tries >= confirmations.TRIES_MAX,
        "was_sent": "sent" in request.GET,
        "errors": sentences(refusal) if refusal else [],
        "return_url": row.link.return_url if row.link.completed_at is not None else None,
        "continue_host": host_shown(row.link.return_url),
    }
    return render(
        request, "hosted/onboarding/destination/page.html", context, status=422 if refusal else 200
    )


def _frame(row: DestinationConfirmation) -> Context:
    platform = row.link.store
    return {
        "link": row.link,
        "account": row.store,
        "platform_name": platform.brand_name or platform.name,
        "logo_url": picture(platform.logo_url),
        "what": title(row.destination),
        "is_bank": not row.destination.is_wallet,
    }


def _masked(email: str) -> str:
    """Enough for who knows the address to know it again."""
    local, at, domain = email.rpartition("@")
    return f"{local[:1]}•••{at}{domain}" if email else ""

"""The pages on which a member of staff asks for something: the store is picked by name, then the
form, then what would change, with the reason; nothing is sent before."""

from collections.abc import Callable
from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse

from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid
from apps.core.text.countries import country_name
from apps.core.web.forms import typographic
from apps.payments.models import Withdrawal
from apps.staff import lists
from apps.staff.decisions.forms import AskForm
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.seen import SEEN, STALE
from apps.stores.models import Member, StaffRequest, Store, User

FOUND_MAX = 20
MEMBERS_MAX = 200
PICK = "pick"
REVIEW = "review"  # in the address: straight to what would change
CONFIRMED = "confirmed"
BACK = "back"
_OF_PAGES = ("csrfmiddlewaretoken", "code", CONFIRMED, BACK, SEEN, "reason")


def form_page(
    page: ReadOnly,
    request: HttpRequest,
    kind: type[AskForm],
    *,
    done: Callable[[StaffRequest | Withdrawal | None], str],
    next_page: str,
) -> HttpResponse:
    """The form of a kind, its review, or the list of what was requested once it is."""
    preset = {name: str(value) for name, value in request.GET.items()}
    if request.method != "POST":
        if _picks(kind, preset):
            return _store_page(page, request, kind, preset)
        if kind.picks_person and _person_of(preset) is None:
            return _person_page(page, request, kind, preset)
        form = kind(None, preset=preset, initial=preset)
        if REVIEW in preset:
            form = kind(_with_seen(request.GET, form.seen_now), preset=preset, initial=preset)
            return _review_page(page, request, form) or _show(page, request, form)
        return _show(page, request, form)
    form = kind(request.POST, preset=preset, initial=preset)
    if BACK in request.POST:
        return _show(page, request, kind(None, preset=preset, initial=_typed(request.POST)))
    if form.is_stale:
        messages.error(request, STALE)
        return HttpResponseRedirect(_address(request, form), status=303)
    if form.is_reviewed and CONFIRMED not in request.POST:
        return _review_page(page, request, form) or _show(page, request, form)
    if not form.is_valid():
        return (form.is_reviewed and _review_page(page, request, form)) or _show(
            page, request, form
        )
    try:
        row = form.ask(cast(User, request.user), clock.real_now())
    except Failure as refusal:
        return _show(page, request, form, [typographic(refusal.text)])
    messages.success(request, done(row))
    store = form.chosen_store if form.is_reviewed else None
    if store is not None:
        return HttpResponseRedirect(reverse("admin:stores_store_change", args=[store.pk]))
    return HttpResponseRedirect(reverse(next_page))


def _typed(data: QueryDict) -> dict[str, object]:
    """Typed values, as a form begins with them."""
    return {name: data.get(name) for name in data if name not in _OF_PAGES or name == "reason"}


def _with_seen(data: QueryDict, seen: str) -> QueryDict:
    copy = data.copy()
    copy[SEEN] = seen
    return copy


def _address(request: HttpRequest, form: AskForm) -> str:
    """Of the page as one opens it anew."""
    query = {name: value for name, value in form.preset.items() if name != REVIEW}
    if form.chosen_store is not None:
        query["store"] = str(form.chosen_store.pk)
    return f"{request.path}?{urlencode(query)}" if query else request.path


def _show(
    page: ReadOnly, request: HttpRequest, form: AskForm, errors: list[str] | None = None
) -> HttpResponse:
    if form.is_reviewed:
        form.initial[SEEN] = form.seen_now
        if "reason" in form.fields:
            del form.fields["reason"]  # it is asked for beside what would change
    store = form.chosen_store
    context = {
        **page.admin_site.each_context(request),
        "title": form.title,
        "opts": page.opts,
        "list_name": page.list_name,
        "form": form,
        "obstacle": form.obstacle,
        "errors": errors or [],
        "submits": "Review change" if form.is_reviewed else "Submit request",
        "store_words": store_words(store) if store is not None else form.picks_store,
        "other_store": _address_of_picking(request, form),
    }
    is_refused = bool(errors) or (form.is_bound and bool(form.errors))
    return render(request, "staff/approval_form.html", context, status=422 if is_refused else 200)


def _address_of_picking(request: HttpRequest, form: AskForm) -> str:
    """Where another store is chosen; empty where the form is about none."""
    if "store" not in form.fields:
        return ""
    query = {name: value for name, value in form.preset.items() if name not in ("store", REVIEW)}
    return f"{request.path}?{urlencode({**query, PICK: '1'})}"


def _review_page(page: ReadOnly, request: HttpRequest, form: AskForm) -> HttpResponse | None:
    """Review of a change with its reason; None when the form can't be read, or would change
    nothing."""
    is_confirmed = CONFIRMED in request.POST
    form.fields["reason"].required = is_confirmed
    if not form.is_valid() and set(form.errors) != {"reason"}:
        return None
    lines = form.differences()
    if not lines:
        form.add_error(None, "Nothing would change")
        return None
    data = request.POST if request.method == "POST" else request.GET
    fields = [
        (name, value)
        for name, values in data.lists()
        for value in values
        if name not in (*_OF_PAGES, REVIEW)
    ]
    takes_two = form.takes_two
    context = {
        **page.admin_site.each_context(request),
        "title": form.title,
        "opts": page.opts,
        "list_name": page.list_name,
        "lines": lines,
        "fields": [*fields, (SEEN, data.get(SEEN) or form.seen_now)],
        "reason": data.get("reason", ""),
        "reason_help": form.fields["reason"].help_text,
        "takes_two": takes_two,
        "after": "After approval" if takes_two else "After",
        "effect": getattr(form, "effect", ""),
        "about": store_words(form.chosen_store) if form.chosen_store is not None else "",
        "action": _action(request),
        "errors": ["Give a reason"] if is_confirmed else [],
    }
    return render(request, "staff/ask_review.html", context, status=422 if is_confirmed else 200)


def _action(request: HttpRequest) -> str:
    """Where the review is sent: the same page, not straight to its review again."""
    query = {name: value for name, value in request.GET.items() if name != REVIEW}
    return f"{request.path}?{urlencode(query)}" if query else request.path


def store_words(store: Store) -> str:
    country = country_name(store.country)
    return f"{store.name}, {country}" if country else store.name


# --- which store ----------------------------------------------------------------------------------


def _picks(kind: type[AskForm], preset: dict[str, str]) -> bool:
    """Tells whether a store has to be chosen first, or is to be."""
    if "store" not in kind.base_fields:
        return False
    if PICK in preset:
        return True
    is_needed = kind.base_fields["store"].required and "credential" not in preset
    return is_needed and not Store.objects.filter(pk__in=_ids(preset), deleted_at=None).exists()


def _ids(preset: dict[str, str]) -> list[str]:
    text = preset.get("store", "")
    return [text] if is_uuid(text) else []


def _store_page(
    page: ReadOnly, request: HttpRequest, kind: type[AskForm], preset: dict[str, str]
) -> HttpResponse:
    """Stores by the beginning of their names; each leads on with what the form was opened for."""
    typed = preset.get("q", "").replace("\x00", "").strip()[:100]
    kept = {name: text for name, text in preset.items() if name not in ("q", PICK, "store")}
    stores = Store.objects.filter(deleted_at=None).order_by("name", "pk")
    found = list(lists.found_by(stores, ["id", "^name"], typed)[: FOUND_MAX + 1]) if typed else []
    context = {
        **page.admin_site.each_context(request),
        "title": kind.title,
        "opts": page.opts,
        "list_name": page.list_name,
        "typed": typed,
        "parameters": kept.items(),
        "stores": [
            (store, country_name(store.country), urlencode({**kept, "store": store.pk}))
            for store in found[:FOUND_MAX]
        ],
        "is_more": len(found) > FOUND_MAX,
        "without": kind.picks_store,
        "without_query": urlencode(kept),
    }
    return render(request, "staff/pick_store.html", context)


# --- which person ---------------------------------------------------------------------------------


def _person_of(preset: dict[str, str]) -> User | None:
    return User.objects.with_email(preset.get("email", ""))


def _person_page(
    page: ReadOnly, request: HttpRequest, kind: type[AskForm], preset: dict[str, str]
) -> HttpResponse:
    """Of a store its members, else an account by its email address: what somebody has now is seen
    before it is changed."""
    kept = {name: text for name, text in preset.items() if name != "email"}
    members = Member.objects.filter(
        store__in=Store.objects.filter(pk__in=_ids(preset))
    ).select_related("user")
    is_of_store = "store" in kind.base_fields
    context = {
        **page.admin_site.each_context(request),
        "title": kind.title,
        "opts": page.opts,
        "list_name": page.list_name,
        "parameters": kept.items(),
        "typed": preset.get("email", ""),
        "help": kind.base_fields["email"].help_text,
        "is_of_store": is_of_store,
        "members": [
            (member, urlencode({**kept, "email": member.user.email}))
            for member in members.order_by("created_at")[:MEMBERS_MAX]
            if is_of_store
        ],
    }
    return render(request, "staff/pick_person.html", context)

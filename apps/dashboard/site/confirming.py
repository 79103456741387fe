"""Confirmation of acts that move money, or open a way for it: a code or passkey of its own, on the
page that describes the act.

The answer is taken for the act that the page showed and for no other. Who has no second factor is
asked for nothing here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from django.db import transaction
from django.db.models import TextChoices
from django.http import HttpResponse, HttpResponseRedirect

from apps.access.access import ACT, RECENT
from apps.access.factors import passkeys, stepup
from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.core.text.wording import translated
from apps.core.web.forms import Form
from apps.core.web.middleware import client_address
from apps.dashboard.site.acts import act_at
from apps.dashboard.site.views import PageRequest, show

_ANSWER = ("code", "passkey", "act", "csrfmiddlewaretoken")


def label_of(choices: type[TextChoices], value: str) -> str:
    """The words that a form had for a choice; what is none stays as it was typed."""
    return translated(dict(choices.choices).get(value, value))


class LookedAtAnother(Invalid):
    """The code came with another act than the page had shown."""


class ConfirmationForm(Form):
    """Answer to a page that asks for a code: the box for the comparison, and a code or passkey.

    What is wrong about the act itself is above the page.
    """

    names = ("compared", "code")
    hidden = ("act",)
    secrets = ("passkey",)


def page_act(request: PageRequest, *parts: object) -> str:
    """Text of this page's act: this page, store and mode, with these figures and addresses."""
    access = getattr(request, "access", None)  # who has no store has none
    where = (access.store_id, access.mode) if access is not None else ()
    return stepup.act_digest(request.path, *where, *parts)


def is_open(request: PageRequest, act: str) -> bool:
    """True if the act needs no code (any more)."""
    return stepup.is_fresh(request.session, request.person, clock.real_now(), act)


def ask(request: PageRequest, act: str) -> ConfirmationForm | None:
    """None lets the act go on: nothing is asked, or the right answer came with it. Else the page is
    shown (again)."""
    if is_open(request, act):
        _open(request)
        return None
    form = ConfirmationForm.from_post(request.POST)
    at = clock.real_now()
    code = form.values["code"]
    passkey = form.secret_values["passkey"]
    if not code and not passkey:
        return form
    try:
        if form.values["act"] != act:
            raise LookedAtAnother("act", "other_act")
        stepup.take(
            request.session,
            request.person,
            code=code,
            passkey=passkey,
            address=client_address(request),
            at=at,
            act=act,
        )
    except (Failure, LookedAtAnother) as refusal:
        return form.refuse(refusal)
    stepup.note(request.session, request.person, at, act)
    _open(request)
    return None


def _open(request: PageRequest) -> None:
    """From here on the request carries the proof; whether it is enough is the operation's to
    say."""
    _carry(request, ACT)


def _carry(request: PageRequest, proof: str) -> None:
    request.proof = proof
    if hasattr(request, "access"):
        request.access = replace(request.access, proof=proof)


def proof_of(request: PageRequest) -> str:
    """The proof shown for this request, also by somebody without a store."""
    if getattr(request, "proof", ""):
        return request.proof
    return RECENT if is_open(request, "") else ""


def show_asking(
    request: PageRequest,
    template: str,
    context: Mapping[str, object],
    act: str,
    form: ConfirmationForm | None = None,
) -> HttpResponse:
    """A page with what dashboard/_code.html needs: whether a code is asked for, what for, and what
    a passkey is asked."""
    form = form or ConfirmationForm({})
    asks_code = not is_open(request, act)
    has_passkey = asks_code and passkeys.has_any(request.person)
    asking = {
        "asks_code": asks_code,
        "act": act,
        "passkey_options": passkeys.begin_asking(
            request.session, request.person, clock.real_now(), act
        )
        if has_passkey
        else "",
        "code_form": form,
        "errors": form.common_errors,
    }
    return show(request, template, {**context, **asking}, status=form.status)


def ask_first(request: PageRequest, back: str) -> HttpResponse | None:
    """The code before a page whose form can't come back a second time, because it has a password or
    a new passkey in it. None shows the page; once it has done its act, `stepup.spend` closes it."""
    act = page_act(request)
    if is_open(request, act):
        _open(request)
        return None
    form = ConfirmationForm({})
    if request.method == "POST":
        question = ask(request, act)
        if question is None:
            return HttpResponseRedirect(request.get_full_path(), status=303)
        form = question
    return _show_question(request, act, form, back=back)


def ask_about_form(
    request: PageRequest,
    rows: Sequence[tuple[str, object]],
    rehearsal: Callable[[], object] | None = None,
    *,
    back: str = "",
) -> HttpResponse | None:
    """The page between a form and its act: `rows` say once more what was filled in. None lets it go
    on, once.

    What the act would refuse is refused first, by `rehearsal`, of which nothing stays, so that no
    code is spent on it. `back` is where Cancel leads, if not to this page.
    """
    entries = sorted(
        (name, value)
        for name, values in request.POST.lists()
        if name not in _ANSWER
        for value in values
    )
    act = page_act(request, request.META.get("QUERY_STRING", ""), entries)
    stepup.spend(request.session)
    if is_open(request, act):
        _open(request)
        return None
    if rehearsal is not None:
        before = proof_of(request)
        _open(request)
        with transaction.atomic():
            rehearsal()
            transaction.set_rollback(True)
        _carry(request, before)
    form_of_code = ask(request, act)
    if form_of_code is None:
        stepup.spend(request.session)
        return None
    return _show_question(request, act, form_of_code, rows, entries, back)


def _show_question(
    request: PageRequest,
    act: str,
    form: ConfirmationForm,
    rows: Sequence[tuple[str, object]] = (),
    entries: Sequence[tuple[str, object]] = (),
    back: str = "",
) -> HttpResponse:
    title, is_of_store = act_at(request.path)
    context = {
        "title": title,
        "rows": [(name, value) for name, value in rows if value],
        "entries": entries,
        "back": back or request.path,
        "store_named": is_of_store and hasattr(request, "access"),
    }
    return show_asking(request, "dashboard/confirm.html", context, act, form)

"""The setup list of a store: how it sells, which decides the list, and what is left out of it."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext, gettext_noop

from apps.core.errors import NotFound
from apps.core.web.forms import Form
from apps.dashboard.go_live import setup_of
from apps.dashboard.site.views import PageRequest, Refusals, go, next_url, show
from apps.stores.models import WayOfSelling
from apps.stores.setup import choose_way_of_selling, restore_steps, skip_steps

WAYS = {
    WayOfSelling.LINKS: gettext_noop(
        "Send links, print QR codes, or take payments at a counter. No code."
    ),
    WayOfSelling.WEBSITE: gettext_noop(
        "With a shop plugin such as WooCommerce, or through the API."
    ),
    WayOfSelling.PLATFORM: gettext_noop(
        "Open accounts for other merchants and earn a fee on their payments."
    ),
}


def way_choices() -> list[tuple[str, str, str]]:
    """Each with its name and what it is, in the reader's language."""
    return [(way.value, gettext(str(way.label)), gettext(words)) for way, words in WAYS.items()]


class SellingForm(Form):
    names = ("way",)


def change(request: PageRequest) -> HttpResponse:
    """Answers the buttons on Home: a way of selling, one step skipped or taken back, or all that is
    left skipped."""
    store = request.access.store
    if "way" in request.POST:
        try:
            choose_way_of_selling(store, request.POST["way"])
        except Refusals:
            raise NotFound from None
        return go("home")
    setup = setup_of(request.access, request.member, request.person)
    left = [step.name for step in setup.steps if not step.is_done]
    skipped = [step.name for step in setup.skipped]
    if request.POST.get("skip") in left:
        skip_steps(store, [request.POST["skip"]])
    elif request.POST.get("restore") in skipped:
        restore_steps(store, [request.POST["restore"]])
    elif "hide" in request.POST:
        skip_steps(store, left)
        messages.success(
            request, gettext("Setup hidden. You can bring it back under Settings, Features.")
        )
    return HttpResponseRedirect(next_url(request), status=303)


def selling(request: PageRequest) -> HttpResponse:
    """How the store sells, and the steps that were skipped."""
    form = SellingForm.from_post(request.POST)
    if request.method == "POST":
        try:
            choose_way_of_selling(request.access.store, form.values["way"])
        except Refusals as refusal:
            return _selling(request, form.refuse(refusal))
        messages.success(request, gettext("Saved. Home shows the steps that fit."))
        return go("settings_selling")
    return _selling(request, form)


def _selling(request: PageRequest, form: Form) -> HttpResponse:
    setup = setup_of(request.access, request.member, request.person)
    context = {
        "form": form,
        "errors": form.common_errors,
        "setup": setup,
        "ways": way_choices(),
        "way": form.values["way"] or setup.way,
    }
    return show(request, "dashboard/settings/selling.html", context, status=form.status)

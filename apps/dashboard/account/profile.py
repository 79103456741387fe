"""A person's profile: their name, time zone, language, and form of dates and numbers, in every
store."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.core import clock
from apps.core.text import regions
from apps.core.text.moments import zone_name
from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.stores import profile


class ProfileForm(Form):
    names = ("name", "time_zone", "language", "region")
    labels = {"name": _("Your name"), "language": _("The language")}

    def request(self) -> profile.ProfileRequest:
        """Raises Invalid."""
        return profile.ProfileRequest.read(self.sent)


def edit(request: PageRequest) -> HttpResponse:
    person = request.person
    if request.method == "GET":
        chosen = {
            "time_zone": person.time_zone,
            "language": person.language,
            "region": person.region,
        }
        return _form(request, ProfileForm({"name": person.name, **chosen}))
    form = ProfileForm.from_post(request.POST)
    try:
        profile.change_profile(person, form.request())
    except Refusals as refusal:
        return _form(request, form.refuse(refusal))
    messages.success(request, gettext("Profile saved."))
    return go("profile")


def _form(request: PageRequest, form: Form) -> HttpResponse:
    here = timezone.localtime(clock.real_now(), request.zone)
    short = zone_name(here)
    context = {
        "form": form,
        "errors": form.common_errors,
        "zones": profile.zone_names(),
        "languages": settings.DASHBOARD_LANGUAGES,
        "regions": regions.REGIONS.items(),
        "example": clock.real_now(),
        "here": f"{here:%H:%M}" if short == request.zone.key else f"{here:%H:%M} {short}",
        "own_zone": request.zone.key,
    }
    return show(request, "dashboard/security/profile.html", context, status=form.status)

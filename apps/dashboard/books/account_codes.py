"""The settings page of account codes: what the lines of statements are posted to in the store's own
bookkeeping."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, go, show
from apps.reports.account_codes import CHARTS, CODE_MAX, FIELDS, Codes, codes_of, set_codes
from apps.stores import roles


class CodesForm(Form):
    names = tuple(FIELDS)
    labels = FIELDS

    @classmethod
    def of(cls, codes: Codes) -> "CodesForm":
        return cls({name: getattr(codes, name) for name in FIELDS})

    def codes(self) -> Codes:
        return Codes(**{name: self.values[name] for name in FIELDS})


def edit(request: PageRequest) -> HttpResponse:
    if request.method == "GET":
        begun = CHARTS.get(request.GET.get("chart", ""))
        return _page(
            request,
            CodesForm.of(begun or codes_of(request.access.store_id)),
            is_begun=begun is not None,
        )
    form = CodesForm.from_post(request.POST)
    try:
        set_codes(request.access, form.codes())
    except Refusals as refusal:
        return _page(request, form.refuse(refusal))
    messages.success(request, gettext("Saved. New statement exports include these codes."))
    return go("settings_account_codes")


def _page(request: PageRequest, form: CodesForm, *, is_begun: bool = False) -> HttpResponse:
    context = {
        "form": form,
        "errors": form.common_errors,
        "rows": [(name, gettext(label), form.values[name]) for name, label in FIELDS.items()],
        "is_begun": is_begun,
        "code_max": CODE_MAX,
        "may_change": roles.may(request.member.role, roles.MANAGE),
    }
    return show(request, "dashboard/settings/account_codes.html", context, status=form.status)

"""The test clock: where it is beside real time, and moving it forward. In live mode there is
none."""

from calendar import monthrange
from datetime import datetime, timedelta

from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from apps.core.errors import Failure
from apps.core.messages.invalid import Invalid
from apps.core.redis import buckets
from apps.core.typed_amounts import whole_typed
from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, next_url, show, too_fast
from apps.stores import test_clock

STEPS = {"hour": "1 hour", "day": "1 day", "month": "1 month"}
UNITS = {"hours": 3600, "days": 86_400, "weeks": 7 * 86_400}
_UNIT_WORDS = {
    "hours": gettext_noop("Hours"),
    "days": gettext_noop("Days"),
    "weeks": gettext_noop("Weeks"),
}


class ClockForm(Form):
    """A step of the table, or so many of a unit."""

    names = ("amount", "unit")
    labels = {"amount": gettext_noop("How far")}

    def seconds(self, step: str, now: datetime) -> int:
        """Raises InvalidClockMove."""
        if step in STEPS:
            return _step_seconds(step, now)
        unit = UNITS.get(self.values["unit"])
        try:
            amount = whole_typed(self.values["amount"], "amount", digits_max=4)
        except Invalid:
            raise InvalidClockMove from None
        if unit is None or not amount:
            raise InvalidClockMove
        return amount * unit


class InvalidClockMove(Failure):
    field = "amount"
    message = gettext_noop("Enter a whole number from 1 to 9,999.")


def index(request: PageRequest) -> HttpResponse:
    form = ClockForm({"amount": "", "unit": "days"})
    if request.method == "POST":
        form = ClockForm.from_post(request.POST)
        answer = _move(request, form)
        if answer is not None:
            return answer
    context = {
        "form": form,
        "errors": form.common_errors,
        "units": [(unit, gettext(words)) for unit, words in _UNIT_WORDS.items()],
    }
    return show(request, "dashboard/test_clock.html", context, status=form.status)


def _move(request: PageRequest, form: ClockForm) -> HttpResponse | None:
    """Back to where it was asked, while the job runs; None where something is wrong about it."""
    access = request.access
    try:
        seconds = form.seconds(request.POST.get("step", ""), access.now())
        reading = _taken(str(access.store_id), test_clock.cost_of(seconds))
        if reading is not None and reading.is_limited:
            return too_fast(request, reading)
        test_clock.move(access.store, access.mode, seconds)
    except Failure as refusal:
        form.refuse(refusal)
        return None
    return HttpResponse(status=303, headers={"Location": next_url(request)})


def _taken(bucket: str, cost: int) -> buckets.Allowance | None:
    """Of the bucket that the API's calls take from, too."""
    try:
        return buckets.take(test_clock.POLICY, "test", bucket, cost)
    except buckets.Unavailable:
        return None


def _step_seconds(step: str, now: datetime) -> int:
    if step != "month":
        return {"hour": 3600, "day": 86_400}[step]
    first = (now.replace(day=1) + timedelta(days=31)).replace(day=1)
    day = min(now.day, monthrange(first.year, first.month)[1])
    return int((first.replace(day=day) - now).total_seconds())

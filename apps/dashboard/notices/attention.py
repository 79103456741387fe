"""The inbox as a page: everything that needs a person, newest first."""

from django.http import HttpResponse

from apps.dashboard.notices.inbox import KIND_MAX, KINDS
from apps.dashboard.site.views import PageRequest, inbox_of, show

PER_PAGE = 25
PAGE_MAX = KIND_MAX * len(KINDS) // 25


def index(request: PageRequest) -> HttpResponse:
    text = request.GET.get("page", "")
    number = (
        min(max(int(text), 1), PAGE_MAX)
        if text.isascii() and text.isdigit() and len(text) <= 4
        else 1
    )
    lines = inbox_of(request).lines(number * PER_PAGE + 1)
    context = {
        "lines": lines[(number - 1) * PER_PAGE : number * PER_PAGE],
        "newer": number - 1,
        "older": number + 1 if len(lines) > number * PER_PAGE and number < PAGE_MAX else 0,
    }
    return show(request, "dashboard/attention/index.html", context)

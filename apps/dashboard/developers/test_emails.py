"""Emails of test mode as customers would have got them, no matter who they are for."""

from django.conf import settings
from django.http import HttpResponse

from apps.dashboard.site.views import PageRequest, find, show
from apps.dashboard.tables.paging import window
from apps.stores.models.mail import TestLetter


def index(request: PageRequest) -> HttpResponse:
    rows = TestLetter.objects.visible_to(request.access).order_by("-created_at", "-pk")
    context = {"window": window(rows, request.GET, {}), "days": settings.MAIL_KEPT_DAYS}
    return show(request, "dashboard/test_emails/list.html", context)


def show_one(request: PageRequest, id: str) -> HttpResponse:
    email = find(TestLetter.objects.visible_to(request.access), id)
    return show(request, "dashboard/test_emails/detail.html", {"email": email})

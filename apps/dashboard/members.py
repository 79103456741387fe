"""Who works in the store, and what each role may do."""

from django.http import HttpResponse

from apps.dashboard.plumbing import PageRequest, show
from apps.stores import roles
from apps.stores.models import Member, Role

_PERMISSIONS = {
    roles.VIEW: "See payments, balances and settings",
    roles.PAY: "Create payments and invoices",
    roles.DEVELOP: "Manage API keys and webhook endpoints",
    roles.MOVE_MONEY: "Refund, pay out and accept late deposits",
    roles.MANAGE: "Manage members and settings",
}


def index(request: PageRequest) -> HttpResponse:
    members = Member.objects.filter(store_id=request.access.store_id).select_related("user").order_by("created_at")
    table = [(sentence, [role in roles.TABLE[permission] for role in Role.values]) for permission, sentence in _PERMISSIONS.items()]
    return show(request, "dashboard/members.html", {"members": members, "roles": Role.choices, "table": table})

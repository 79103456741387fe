"""Refunds for staff."""

from typing import ClassVar

from apps.payments.models import Refund
from apps.staff import lists
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import Rated


class RefundAdmin(Rated):
    model = Refund
    noun = "refund"
    labels: ClassVar = {"is_from_held": "Paid from held coins"}
    list_display = ["created", "shop", "of_payment", "amount", "to", "state"]
    list_filter = [lists.since("created_at"), "status", "mode", "reason"]
    list_select_related = ["store", "asset", "payment"]
    search_fields = ["id", "payment__reference", "payment", "store"]
    search_help_text = "Refund ID, payment ID or reference, or the beginning of a store’s name"
    of_payment = lists.clipped("payment__reference", "Payment")
    to = lists.short("destination_address", "To")
    says_nothing: ClassVar = {
        "part": lambda row: not row.part,
        "submitted_real_at": lists.is_submitted_in_real_time,
    }
    ordering = [BY_KEY]

    def title_of(self, row: Refund) -> str:
        return f"of {lists.coins_text(row)}"

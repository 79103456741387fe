"""Orders of staff that a worker carries out: one member of staff stops them until then."""

from typing import Any

from apps.chain.requested_additions import ORDER as ADDITION
from apps.core.templatetags.tillgate import moment
from apps.payments.services.corrections import ORDER as CORRECTION
from apps.payouts.services.rejection import ORDER as HAND_BACK
from apps.staff import lists
from apps.staff.decisions.queues import Queue
from apps.stores import staff_roles
from apps.stores.models import WorkerOrder
from apps.stores.staff import worker_orders
from apps.stores.staff.worker_orders import OrderKind

KINDS: dict[str, OrderKind] = {kind.name: kind for kind in (CORRECTION, HAND_BACK, ADDITION)}


class WorkerOrderAdmin(Queue):
    model = WorkerOrder
    noun = "worker_order"
    list_display = ["what", "shop", "asked_by", "asked", "due", "decision"]
    list_filter = [
        lists.present("stopped_at", "stop", "Stopped", "Not stopped"),
        lists.present("ended_at", "end", "Ended", "Open"),
    ]
    list_select_related = ["store", "asked_by", "stopped_by"]
    search_fields = ["id", "target_id"]
    search_help_text = "ID of the order, the request or the payout"
    what = lists.text("name", "Order")
    shop = lists.store()
    asked = lists.when("asked_at", "Requested")
    due = lists.when("due_at", "Carried out after")
    ordering = ["-asked_at"]
    nothing = (
        "No orders yet. Corrections, returns from off-ramps, new networks and new assets wait here"
        " before a worker carries them out."
    )
    waiting = "waiting"
    approving = rejecting = staff_roles.ORDER_STOP
    has_approval = False
    heading = "What a worker will carry out"
    rejects = "Stop"
    rejection_is_told_to = "Saved in the audit log."

    def subject_of(self, row: WorkerOrder) -> str:
        return f"{row.name}"

    def decision_facts(self, row: WorkerOrder) -> list[tuple[str, Any]]:
        kind = KINDS.get(row.kind)
        return [
            ("type", kind.title if kind else row.kind),
            ("store", row.store),
            ("mode", row.mode),
            ("reason", row.reason),
            ("requested by", row.asked_by),
            ("requested", moment(row.asked_at)),
            (
                "carried out after",
                moment(row.due_at) if row.due_at else "As soon as a worker has seen it",
            ),
            ("stopped by", row.stopped_by),
            ("outcome", row.outcome),
        ]

    def reject(self, row: WorkerOrder, reason: str, staff: Any) -> str:
        worker_orders.stop(KINDS[row.kind], row, staff)
        return "stopped"

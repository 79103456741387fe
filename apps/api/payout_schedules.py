"""/payout_schedules: pay an asset's whole balance out again and again, or now."""

from collections.abc import Mapping
from typing import ClassVar

from msgspec import UNSET
from msgspec.structs import asdict
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.refusals import ErrorDocument, ErrorShape, ErrorTexts
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, NotFound
from apps.payouts import selectors
from apps.payouts.documents import (
    PayoutScheduleDocument,
    PayoutScheduleRun,
    PayoutScheduleWithPayouts,
    payout_document,
    schedule_document,
)
from apps.payouts.models import Schedule
from apps.payouts.requests import NewSchedule, ScheduleRequest
from apps.payouts.services import runs, schedules

_PAUSE = {"payout_schedule": {"active": False}}


class ScheduleView(ApiView):
    shape = ErrorTexts
    wrapper = "payout_schedule"
    refuses_unknown = True  # each is an order for payouts
    missing = NotFound("Payout schedule not found")

    def schedule(self, id: str) -> Schedule:
        return self.find(selectors.schedules_visible_to(self.access), id)

    def active_schedule(self, id: str) -> Schedule:
        """A schedule that isn't deleted."""
        return self.find(selectors.schedules_visible_to(self.access).filter(deleted_at=None), id)


class PayoutSchedules(ScheduleView):
    """Make a schedule, or list the active ones oldest first."""

    asks_for_code = is_act = True
    bodies = {"POST": NewSchedule}
    answers = {"GET": list[PayoutScheduleDocument], "POST": PayoutScheduleDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.schedules_visible_to(self.access).filter(is_active=True, deleted_at=None)
        return Response([schedule_document(schedule) for schedule in rows])

    def post(self, request: Request) -> Response:
        schedule = schedules.create_schedule(self.access, self.read(request, NewSchedule))
        return Response(schedule_document(schedule), status=201)


class PayoutScheduleById(ScheduleView):
    """One schedule with every payout it made; change it or delete it for good."""

    asks_for_code = is_act = True
    asks_on = ("PATCH",)
    bodies = {"PATCH": ScheduleRequest}
    answers = {"GET": PayoutScheduleWithPayouts, "PATCH": PayoutScheduleDocument}
    statuses = {"DELETE": 204}

    def asks(self, request: Request) -> bool:
        """To pause it takes none."""
        return not request._request.body or request.data != _PAUSE

    def get(self, request: Request, id: str) -> Response:
        schedule = self.schedule(id)
        rows = selectors.payouts_visible_to(self.access).filter(schedule=schedule)
        payouts = [payout_document(payout) for payout in rows]
        return Response(
            PayoutScheduleWithPayouts(**asdict(schedule_document(schedule)), payouts=payouts)
        )

    def patch(self, request: Request, id: str) -> Response:
        schedule = self.active_schedule(id)
        return Response(
            schedule_document(
                schedules.update_schedule(
                    self.access, schedule, self.read(request, ScheduleRequest)
                )
            )
        )

    def delete(self, request: Request, id: str) -> Response:
        schedules.delete_schedule(self.access, self.active_schedule(id))
        return Response(status=204)


class RunPayoutSchedule(ScheduleView):
    """Evaluate a schedule now, whatever is due."""

    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {runs.RunRefused: ErrorDocument}
    bodies = {"POST": None}
    answers = {"POST": PayoutScheduleRun}
    asks_for_second_factor = is_act = True

    def post(self, request: Request, id: str) -> Response:
        ran = runs.run_by_hand(self.access, self.active_schedule(id))
        if ran.skip_reason is not None:
            return Response(PayoutScheduleRun(triggered=False, skip_reason=ran.skip_reason))
        return Response(
            PayoutScheduleRun(
                triggered=True, payout=UNSET if ran.payout is None else payout_document(ran.payout)
            )
        )

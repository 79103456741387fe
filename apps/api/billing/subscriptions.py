"""/billing/subscriptions: bind a customer to prices, change it, pause it, end it."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingView, SubscriptionNotFound
from apps.api.plumbing.queries import Query, choice
from apps.billing import selectors
from apps.billing.documents.subscriptions import SubscriptionDocument, subscription_document
from apps.billing.models import Subscription
from apps.billing.requests import CancelRequest, SubscriptionChanges, SubscriptionRequest
from apps.billing.subscriptions import changes as services
from apps.core.messages.documents import Id


class SubscriptionView(BillingView):
    wrapper = "subscription"
    missing = SubscriptionNotFound()

    def subscription(self, id: str) -> Subscription:
        return self.find(selectors.subscriptions_visible_to(self.access), id)


class SubscriptionFilters(Query, frozen=True, kw_only=True):
    status: Annotated[str, choice(Subscription.Status.values)] | None = None
    customer_id: Id | None = None


class Subscriptions(SubscriptionView):
    """Subscribe a customer, or list every subscription, newest first, by `status` and
    `customer_id`."""

    query = SubscriptionFilters
    bodies = {"POST": SubscriptionRequest}
    answers = {"GET": list[SubscriptionDocument], "POST": SubscriptionDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        filters = SubscriptionFilters.read(request.query_params)
        rows = selectors.subscriptions_visible_to(self.access)
        rows = selectors.filtered_subscriptions(
            rows, status=filters.status, customer_id=filters.customer_id
        )
        return Response([subscription_document(subscription) for subscription in rows])

    def post(self, request: Request) -> Response:
        subscription = services.create_subscription(
            self.access, self.read(request, SubscriptionRequest)
        )
        return Response(subscription_document(subscription), status=201)


class SubscriptionById(SubscriptionView):
    """One subscription; swap its prices and quantities from the next cycle on."""

    bodies = {"PATCH": SubscriptionChanges}
    answers = {"GET": SubscriptionDocument, "PATCH": SubscriptionDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(subscription_document(self.subscription(id)))

    def patch(self, request: Request, id: str) -> Response:
        subscription = self.subscription(id)
        services.check_changeable(subscription)
        changes = self.read(request, SubscriptionChanges)
        changed = services.update_subscription(self.access, subscription, changes)
        return Response(subscription_document(changed))


class Cancel(SubscriptionView):
    """End it now, or with `at_period_end` when its period ends."""

    wrapper = ""
    bodies = {"POST": CancelRequest}
    answers = {"POST": SubscriptionDocument}

    def post(self, request: Request, id: str) -> Response:
        subscription = self.subscription(id)
        is_at_end = self.read(request, CancelRequest).at_period_end
        canceled = services.cancel_subscription(self.access, subscription, at_period_end=is_at_end)
        return Response(subscription_document(canceled))


class SubscriptionAction(SubscriptionView):
    bodies = {"POST": None}
    answers = {"POST": SubscriptionDocument}


class Uncancel(SubscriptionAction):
    """Take a scheduled cancellation back."""

    def post(self, request: Request, id: str) -> Response:
        return Response(
            subscription_document(
                services.uncancel_subscription(self.access, self.subscription(id))
            )
        )


class Pause(SubscriptionAction):
    """Stop billing."""

    def post(self, request: Request, id: str) -> Response:
        return Response(
            subscription_document(services.pause_subscription(self.access, self.subscription(id)))
        )


class Resume(SubscriptionAction):
    """Begin a new period now and bill it."""

    def post(self, request: Request, id: str) -> Response:
        return Response(
            subscription_document(services.resume_subscription(self.access, self.subscription(id)))
        )

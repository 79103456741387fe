"""/billing/subscriptions: bind a customer to prices, change it, pause it, end it."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.billing.plumbing import BillingDoor, SubscriptionNotFound
from apps.billing import selectors
from apps.billing.documents import subscription_document
from apps.billing.models import Subscription
from apps.billing.services import subscription as services
from apps.billing.services.fields import CANCEL, SUBSCRIPTION, SUBSCRIPTION_CHANGES
from apps.core.literal import wrapper_schema


class SubscriptionDoor(BillingDoor):
    missing = SubscriptionNotFound()

    def subscription(self, id: str) -> Subscription:
        return self.find(selectors.subscriptions_seen_by(self.access), id)


class Subscriptions(SubscriptionDoor):
    """Subscribe a customer, or list every subscription, newest first, by `status` and `customer_id`."""

    bodies = {"POST": wrapper_schema("subscription", SUBSCRIPTION)}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        asked = request.query_params
        rows = selectors.filtered_subscriptions(
            selectors.subscriptions_seen_by(self.access), status=asked.get("status"), customer_id=asked.get("customer_id")
        )
        return Response([subscription_document(one) for one in rows])

    def post(self, request: Request) -> Response:
        return Response(subscription_document(services.create_subscription(self.access, self.body(request))), status=201)


class SubscriptionById(SubscriptionDoor):
    """One subscription; swap its prices and quantities from the next cycle on."""

    bodies = {"PATCH": wrapper_schema("subscription", SUBSCRIPTION_CHANGES)}

    def get(self, request: Request, id: str) -> Response:
        return Response(subscription_document(self.subscription(id)))

    def patch(self, request: Request, id: str) -> Response:
        changed = services.update_subscription(self.access, self.subscription(id), self.body(request))
        return Response(subscription_document(changed))


class Cancel(SubscriptionDoor):
    """End it now, or with `at_period_end` when its period ends."""

    bodies = {"POST": CANCEL.schema()}

    def post(self, request: Request, id: str) -> Response:
        subscription = self.subscription(id)
        fields = CANCEL.check(self.body(request), "body")
        return Response(subscription_document(services.cancel_subscription(self.access, subscription, **fields)))


class Uncancel(SubscriptionDoor):
    """Take a scheduled cancellation back."""

    def post(self, request: Request, id: str) -> Response:
        return Response(subscription_document(services.uncancel_subscription(self.access, self.subscription(id))))


class Pause(SubscriptionDoor):
    """Stop billing."""

    def post(self, request: Request, id: str) -> Response:
        return Response(subscription_document(services.pause_subscription(self.access, self.subscription(id))))


class Resume(SubscriptionDoor):
    """Begin a new period now and bill it."""

    def post(self, request: Request, id: str) -> Response:
        return Response(subscription_document(services.resume_subscription(self.access, self.subscription(id))))

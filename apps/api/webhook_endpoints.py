"""/webhook_endpoints: where a merchant wants to hear of events, and what became of each delivery."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.views import Door
from apps.core.errors import Failure, Flat, Listed
from apps.webhooks import documents, selectors
from apps.webhooks.models import Endpoint
from apps.webhooks.services import deliveries, endpoints


class EndpointDoor(Door):
    shape: ClassVar[type[Failure]] = Listed

    def endpoint(self, id: str) -> Endpoint:
        return self.find(selectors.endpoints(self.access).select_related("store"), id)

    def fields(self, request: Request) -> dict[str, Any]:
        wrapper = self.body(request).get("webhook_endpoint")
        if wrapper is None:
            raise Listed("webhook_endpoint is required")
        if not isinstance(wrapper, dict):
            raise Listed("webhook_endpoint must be an object")
        return wrapper


class Endpoints(EndpointDoor):
    asks_for_code = True

    def get(self, request: Request) -> Response:
        rows = selectors.with_success_rates(self.access, request.query_params.get("status"))
        return Response([documents.listed(endpoint, rate) for endpoint, rate in rows])

    def post(self, request: Request) -> Response:
        made = endpoints.register_endpoint(self.access, self.fields(request))
        return Response(documents.with_secret(made.endpoint, made.secret), status=201 if made.is_new else 200)


class EndpointById(EndpointDoor):
    def get(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        return Response(documents.retrieved(endpoint, selectors.recent_deliveries(endpoint)))

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.update_endpoint(self.access, self.endpoint(id), self.fields(request))
        return Response(documents.endpoint_document(endpoint))

    def delete(self, request: Request, id: str) -> Response:
        endpoints.delete_endpoint(self.endpoint(id), self.access.now())
        return Response(status=204)


class Enable(EndpointDoor):
    def patch(self, request: Request, id: str) -> Response:
        return Response(documents.endpoint_document(endpoints.enable_endpoint(self.endpoint(id), self.access.now())))


class Disable(EndpointDoor):
    def patch(self, request: Request, id: str) -> Response:
        return Response(documents.endpoint_document(endpoints.disable_endpoint(self.endpoint(id), self.access.now())))


class RotateSecret(EndpointDoor):
    asks_for_code = True

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        secret = endpoints.rotate_secret(endpoint, self.access.now())
        return Response(documents.with_secret(endpoint, secret))


class SendTest(EndpointDoor):
    shape = Flat

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        delivery = deliveries.send_test(endpoint, self.body(request).get("event_type"), self.access.now())
        told = {"delivery_id": str(delivery.pk), "event_type": delivery.event.type, "message": "Test delivery queued"}
        return Response(told)


class Redeliver(EndpointDoor):
    shape = Flat

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        sent = self.body(request).get("delivery_id")
        delivery_id = sent if sent is not None else request.query_params.get("delivery_id")
        if delivery_id is None or delivery_id == "":
            raise Flat("delivery_id is required")
        deliveries.redeliver(endpoint, delivery_id, self.access.now())
        return Response({"message": "Redelivery queued"})

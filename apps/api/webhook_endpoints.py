"""/webhook_endpoints: where a merchant wants to hear of events, and what became of each delivery."""

from typing import Annotated, Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.queries import Query, choice
from apps.api.plumbing.views import Door
from apps.core.errors import Failure, Flat, Listed
from apps.core.literal import Schema
from apps.webhooks import documents, selectors
from apps.webhooks.catalogue import PLATFORM_ONLY, SUBSCRIBABLE
from apps.webhooks.models import Endpoint
from apps.webhooks.services import deliveries, endpoints

_TEXT: Schema = {"type": "string"}
_FIELDS: Schema = {
    "url": {"type": "string", "maxLength": 2048},
    "description": {"type": "string", "maxLength": 500},
    "subscribed_events": {"type": "array", "items": {"type": "string", "enum": [*SUBSCRIBABLE, *PLATFORM_ONLY]}},
    "metadata": {"type": "object", "additionalProperties": True},
}
_PLATFORM: Schema = {"platform": {"type": "string", "enum": Endpoint.Platform.values}, "platform_store_url": _TEXT}


def _body(fields: Schema, *required: str) -> Schema:
    inner = {"type": "object", "properties": fields, "required": list(required)}
    return {"type": "object", "properties": {"webhook_endpoint": inner}, "required": ["webhook_endpoint"]}


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


class EndpointFilters(Query, frozen=True, kw_only=True):
    status: Annotated[str, choice(Endpoint.Status.values)] | None = None


class Endpoints(EndpointDoor):
    """Register an endpoint (its secret is shown once; naming a platform adopts the store's integration), or list them."""

    asks_for_code = True
    query = EndpointFilters
    bodies = {"POST": _body({**_FIELDS, **_PLATFORM}, "url")}
    also = {"POST": {200: None}}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.with_success_rates(self.access, EndpointFilters.read(request.query_params).status)
        return Response([documents.listed(endpoint, rate) for endpoint, rate in rows])

    def post(self, request: Request) -> Response:
        made = endpoints.register_endpoint(self.access, self.fields(request))
        return Response(documents.with_secret(made.endpoint, made.secret), status=201 if made.is_new else 200)


class EndpointById(EndpointDoor):
    """One endpoint with its recent deliveries; change it, or delete it and keep what was delivered."""

    asks_for_code = True
    asks_on = ("PATCH", "DELETE")
    bodies = {"PATCH": _body(_FIELDS)}
    statuses = {"DELETE": 204}

    def get(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        return Response(documents.with_deliveries(endpoint, selectors.recent_deliveries(endpoint)))

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.update_endpoint(self.access, self.endpoint(id), self.fields(request))
        return Response(documents.endpoint_document(endpoint))

    def delete(self, request: Request, id: str) -> Response:
        endpoints.delete_endpoint(self.endpoint(id), self.access.now(), by=self.access)
        return Response(status=204)


class Enable(EndpointDoor):
    """Turn an endpoint on again."""

    bodies = {"PATCH": None}

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.enable_endpoint(self.endpoint(id), self.access.now(), by=self.access)
        return Response(documents.endpoint_document(endpoint))


class Disable(EndpointDoor):
    """Turn an endpoint off; what waits for it is not sent."""

    bodies = {"PATCH": None}

    def patch(self, request: Request, id: str) -> Response:
        endpoint = endpoints.disable_endpoint(self.endpoint(id), self.access.now(), by=self.access)
        return Response(documents.endpoint_document(endpoint))


class RotateSecret(EndpointDoor):
    """A new signing secret, shown once; the old one ends at once."""

    bodies = {"POST": None}
    asks_for_code = True

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        secret = endpoints.rotate_secret(endpoint, self.access.now(), by=self.access)
        return Response(documents.with_secret(endpoint, secret))


class SendTest(EndpointDoor):
    """Send a made-up event of a type."""

    shape = Flat
    bodies = {"POST": {"type": "object", "properties": {"event_type": _TEXT}}}

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        delivery = deliveries.send_test(endpoint, self.body(request).get("event_type"), self.access.now())
        return Response(documents.test_queued(delivery))


class Redeliver(EndpointDoor):
    """Send a failed or ignored delivery again."""

    shape = Flat
    bodies = {"POST": {"type": "object", "properties": {"delivery_id": _TEXT}}}

    def post(self, request: Request, id: str) -> Response:
        endpoint = self.endpoint(id)
        sent = self.body(request).get("delivery_id")
        delivery_id = sent if sent is not None else request.query_params.get("delivery_id")
        if delivery_id is None or delivery_id == "":
            raise Flat("delivery_id is required")
        deliveries.redeliver(endpoint, delivery_id, self.access.now())
        return Response(documents.RedeliveryQueued(message="Redelivery queued"))

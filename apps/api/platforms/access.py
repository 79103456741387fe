"""/platform/access_request: ask to be a platform, and read what became of it."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.views import Door
from apps.platforms.documents import request_document
from apps.platforms.services.access_requests import BODY, latest_request, request_access


class AccessRequests(Door):
    """Ask to be a platform, or read the latest request."""

    bodies = {"POST": BODY.schema()}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        return Response(request_document(latest_request(self.access)))

    def post(self, request: Request) -> Response:
        return Response(request_document(request_access(self.access, self.body(request))), status=201)

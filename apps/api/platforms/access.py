"""/platform/access_request: ask to be a platform, and read what became of it."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.views import ApiView
from apps.platforms.documents import LatestPlatformAccessRequest, request_document
from apps.platforms.requests import PlatformAccess
from apps.platforms.services.access_requests import latest_request, request_access


class AccessRequests(ApiView):
    """Ask to be a platform, or read the latest request."""

    bodies = {"POST": PlatformAccess}
    answers = {"GET": LatestPlatformAccessRequest, "POST": LatestPlatformAccessRequest}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        latest = latest_request(self.access)
        return Response(
            LatestPlatformAccessRequest(
                request=None if latest is None else request_document(latest)
            )
        )

    def post(self, request: Request) -> Response:
        access_request = request_access(self.access, self.read(request, PlatformAccess))
        return Response(
            LatestPlatformAccessRequest(request=request_document(access_request)), status=201
        )

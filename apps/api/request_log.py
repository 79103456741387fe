"""/request_log: the calls that a store's credentials made, for anyone who looks for the one that
failed."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import request_log
from apps.access.documents import RequestEntryDocument, entry_document
from apps.api.plumbing import lists
from apps.api.plumbing.queries import FeedQuery, choice
from apps.api.plumbing.views import ApiView
from apps.core.messages.documents import Feed

_METHODS = ("GET", "POST", "PATCH", "DELETE")


class RequestLogFilters(FeedQuery, frozen=True, kw_only=True):
    status: Annotated[str, choice(["2", "3", "4", "5"])] | None = None
    method: Annotated[str, choice(_METHODS)] | None = None


class RequestLog(ApiView):
    """The calls of the API in this mode, newest first, without what they sent and were answered.
    They come within two seconds.

    `status` chooses a class of statuses by its first digit.
    """

    is_logged = False
    query = RequestLogFilters
    answers = {"GET": Feed[RequestEntryDocument]}

    def get(self, request: Request) -> Response:
        filters = RequestLogFilters.read(request.query_params)
        method = filters.method if filters.method in _METHODS else ""
        rows = request_log.entries(self.access, status=filters.status or "", method=method or "")
        return Response(lists.feed(filters, rows, entry_document))

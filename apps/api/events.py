"""/events: what happened in a store, as webhooks tell it; for anyone who can't be called from
outside."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing import lists
from apps.api.plumbing.queries import FeedQuery
from apps.api.plumbing.views import ApiView
from apps.core.messages.documents import Feed
from apps.webhooks import selectors
from apps.webhooks.documents import WebhookEventDocument, event_document


class Events(ApiView):
    """Events, newest first, each as the body of a webhook's delivery. Events are kept for
    some weeks.

    To follow it, ask for the newest again and again and go on with `before` until an event that you
    know. Ask half a minute further back than that: what takes longer to be written is before
    what was already read.
    """

    is_logged = False
    query = FeedQuery
    answers = {"GET": Feed[WebhookEventDocument]}

    def get(self, request: Request) -> Response:
        query = FeedQuery.read(request.query_params)
        return Response(lists.feed(query, selectors.events(self.access), event_document))

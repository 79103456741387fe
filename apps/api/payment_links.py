"""/payment_links: pages that any number of customers pay at, and their buttons for websites."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, ClassVar

from django.http import QueryDict
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, Query, choice
from apps.api.plumbing.refusals import ErrorShape, ErrorText, ErrorTexts
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, NotFound
from apps.core.messages.documents import ListPage
from apps.core.messages.fields import Invalid
from apps.links import buttons, selectors
from apps.links.documents import ARCHIVED, OPEN, PAUSED, link_url
from apps.links.link_documents import (
    ButtonDocument,
    PaymentLinkDocument,
    link_document,
    link_documents,
)
from apps.links.models import PaymentLink
from apps.links.requests import FIELDS, PaymentLinkChanges, PaymentLinkRequest
from apps.links.services import links

_NAMES = {inner: name for name, (_, inner) in FIELDS.items()}


class LinkNotFound(NotFound):
    message = "Payment link not found"


class LinkFilters(PagedQuery, frozen=True, kw_only=True):
    status: Annotated[str, choice([OPEN, PAUSED, ARCHIVED])] | None = None


class ButtonQuery(Query, frozen=True, kw_only=True):
    size: Annotated[str, choice(list(buttons.SIZES))] | None = None
    color: Annotated[str, choice(list(buttons.COLORS))] | None = None
    verb: Annotated[str, choice(list(buttons.VERBS))] | None = None
    language: Annotated[str, choice(list(buttons.LANGUAGES))] | None = None


class LinkView(ApiView):
    shape = ErrorTexts
    sentence_shape = ErrorText
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {LinkNotFound: ErrorText}
    wrapper = "payment_link"
    missing = LinkNotFound()

    def refusal(self, refusal: Invalid) -> Failure:
        return self.broken_rule(refusal.text_of(_NAMES.get(refusal.field, refusal.field)))

    def link(self, id: str) -> PaymentLink:
        return self.find(selectors.links_visible_to(self.access), id)

    def answer(self, link: PaymentLink, status: int = 200) -> Response:
        return Response(link_document(link, self.access.now()), status=status)


class PaymentLinks(LinkView):
    """Create a payment link, or list them newest first, archived ones too."""

    query = LinkFilters
    bodies = {"POST": PaymentLinkRequest}
    answers = {"GET": ListPage[PaymentLinkDocument], "POST": PaymentLinkDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        query = LinkFilters.read(request.query_params)
        rows = selectors.links_visible_to(self.access)
        if query.status == ARCHIVED:
            rows = rows.filter(archived_at__isnull=False)
        elif query.status is not None:
            rows = rows.filter(archived_at=None, paused_at__isnull=query.status == OPEN)
        page = lists.page(query, rows, lambda link: link)
        documents = link_documents(page.data, self.access.now())
        return Response(ListPage(data=documents, meta=page.meta))

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        form_key = None if key is None else self._form_key(key)
        earlier = selectors.link_of_form(self.access, form_key)
        if earlier is not None:
            replay = self.answer(earlier, 201)
            replay.headers["Idempotent-Replayed"] = "true"
            return replay
        asked = self.read(request, PaymentLinkRequest).link()
        return self.answer(links.create_link(self.access, asked, form_key=form_key), 201)

    def _form_key(self, key: str) -> str:
        """One for each key of each caller."""
        return hashlib.sha256(f"{self.access.caller}:{key}".encode()).hexdigest()[:32]


class PaymentLinkById(LinkView):
    """One payment link with what it has brought; change it for anyone who pays from now on."""

    bodies = {"PATCH": PaymentLinkChanges}
    answers = {"GET": PaymentLinkDocument, "PATCH": PaymentLinkDocument}

    def get(self, request: Request, id: str) -> Response:
        return self.answer(self.link(id))

    def patch(self, request: Request, id: str) -> Response:
        link = self.link(id)
        asked = self.read(request, PaymentLinkChanges).link(link)
        return self.answer(links.update_link(self.access, link, asked))


class PausePaymentLink(LinkView):
    """Nobody begins to pay at it; who has begun may finish."""

    bodies = {"POST": None}
    answers = {"POST": PaymentLinkDocument}

    def post(self, request: Request, id: str) -> Response:
        return self.answer(links.pause_link(self.access, self.link(id)))


class ResumePaymentLink(LinkView):
    """Customers can pay at it again."""

    bodies = {"POST": None}
    answers = {"POST": PaymentLinkDocument}

    def post(self, request: Request, id: str) -> Response:
        return self.answer(links.resume_link(self.access, self.link(id)))


class ArchivePaymentLink(LinkView):
    """For good: its page says that it isn't available, and its payments stay."""

    bodies = {"POST": None}
    answers = {"POST": PaymentLinkDocument}

    def post(self, request: Request, id: str) -> Response:
        return self.answer(links.archive_link(self.access, self.link(id)))


class PaymentLinkButton(LinkView):
    """HTML of a button for a website, in one of the sizes, colors, words and languages."""

    query = ButtonQuery
    answers = {"GET": ButtonDocument}

    def get(self, request: Request, id: str) -> Response:
        link = self.link(id)
        is_open_amount = link.amount_cents is None
        asked = request.query_params
        assert isinstance(asked, QueryDict)
        button = buttons.Button.asked_by(asked, is_open_amount=is_open_amount)
        url = link_url(link)
        form = button.form(url, link.currency, link.min_cents, link.max_cents)
        return Response(
            ButtonDocument(html=button.snippet(url), form_html=form if is_open_amount else None)
        )

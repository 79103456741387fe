"""Onboarding links: minted and read by the platform, and read by anyone who holds the token."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.platforms.plumbing import PlatformView
from apps.api.plumbing.refusals import ErrorDocument, Refused
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure
from apps.platforms import selectors
from apps.platforms.documents import (
    OnboardingLinkDocument,
    OnboardingLinkWithToken,
    link_document,
    link_with_token,
)
from apps.platforms.requests import LINK_REQUESTS, OnboardingLinkRequest
from apps.platforms.services import onboarding


class InvalidLink(Failure):
    code = "invalid_onboarding_link"


class Links(PlatformView):
    """Mint a link for a sub-merchant; its token is shown once."""

    shape = ErrorDocument
    broken_rule = InvalidLink
    asks_for_code = is_act = True
    missing = selectors.AccountNotFound()
    wrapper = "onboarding_link"
    wrapper_is_optional = True
    bodies = {"POST": OnboardingLinkRequest}
    answers = {"POST": OnboardingLinkWithToken}
    statuses = {"POST": 201}

    def post(self, request: Request, id: str) -> Response:
        self.body(request)  # what can't be read is reported before an account that isn't there
        account = onboarding.account_for_link(self.access, id)
        link, token = onboarding.mint_link(
            self.access, account, self.read(request, LINK_REQUESTS[self.access.mode])
        )
        return Response(
            link_with_token(link, token), status=201, headers={"Cache-Control": "no-store"}
        )


class LinkById(PlatformView):
    """A link as the platform made it, without its token."""

    answers = {"GET": OnboardingLinkDocument}

    def get(self, request: Request, id: str, link_id: str) -> Response:
        account = selectors.find_account(self.access, id)
        link = self.find(selectors.links_of(self.access, account), link_id)
        return Response(link_document(link, self.access.now()))


class LinkByToken(ApiView):
    """A link as its holder sees it. Reading does not use it up."""

    answers = {"GET": OnboardingLinkDocument}
    further = {"GET": {410: Refused("The link has expired")}}

    def get(self, request: Request, token: str) -> Response:
        link = onboarding.open_link(token)
        return Response(
            link_document(link, onboarding.now_of(link)), headers={"Cache-Control": "no-store"}
        )

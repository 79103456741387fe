"""The platform paths of the route table. None of them can be called while acting for a
sub-merchant."""

from collections.abc import Mapping
from typing import Any

from apps.access.on_behalf import NotAPlatform
from apps.api.platforms import access, accounts, links, overview, sellers
from apps.api.plumbing.routes import ADDRESS, PUBLIC, Budget, Route

READ = "accounts:read"
WRITE = "accounts:write"


def _route(path: str, view: type[Any], scopes: Mapping[str, str | None]) -> Route:
    return Route(
        f"platform/{path}", view, scopes, closed_to_platforms=dict.fromkeys(scopes, NotAPlatform)
    )


ROUTES = [
    _route("access_request", access.AccessRequests, {"GET": None, "POST": None}),
    _route("accounts", accounts.Accounts, {"GET": READ, "POST": WRITE}),
    _route(
        "accounts/<str:id>", accounts.AccountById, {"GET": READ, "PATCH": WRITE, "DELETE": WRITE}
    ),
    _route("accounts/<str:id>/restore", accounts.Restore, {"POST": WRITE}),
    _route("accounts/<str:id>/seller", sellers.Seller, {"GET": READ, "PATCH": WRITE}),
    _route("accounts/<str:id>/verification", accounts.Verifications, {"POST": WRITE}),
    _route("accounts/<str:id>/onboarding_links", links.Links, {"POST": WRITE}),
    _route("accounts/<str:id>/onboarding_links/<str:link_id>", links.LinkById, {"GET": READ}),
    _route("overview", overview.PlatformOverviewView, {"GET": READ}),
    _route("payments", overview.PlatformPayments, {"GET": READ}),
    Route(
        "platform/onboarding_links/<str:token>",
        links.LinkByToken,
        {"GET": PUBLIC},
        budget={"GET": (Budget("token_attempts", (ADDRESS,)),)},
    ),
]

"""Answers of the API that any origin may read: those of public routes, and those to publishable
keys on theirs."""

from django.urls import Resolver404, resolve

from apps.api.plumbing.routes import PUBLIC, Route

_EXPOSED = (
    "X-Request-Id, Retry-After, Idempotent-Replayed, X-RateLimit-Limit, X-RateLimit-Remaining, "
    "X-RateLimit-Reset, RateLimit, RateLimit-Policy, Ignored-Fields"
)


def headers(route: Route, method: str, authorization: str, asked_headers: str) -> dict[str, str]:
    """Headers for an answer of this route; none when only its own origin may read it."""
    if not route.cors:
        return {}
    public_headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": _EXPOSED}
    if method == "OPTIONS":
        return {
            "Access-Control-Allow-Methods": ", ".join(sorted(route.cors)),
            "Access-Control-Allow-Headers": asked_headers or "*",
            "Access-Control-Max-Age": "86400",
            **public_headers,
        }
    is_public = PUBLIC in route.scopes.values()
    return (
        public_headers if is_public or (method in route.cors and "svc_pk_" in authorization) else {}
    )


def headers_of_path(
    path: str, method: str, authorization: str, asked_headers: str
) -> dict[str, str]:
    """Headers for a request that is refused before it has come to its route."""
    try:
        route = getattr(resolve(path).func, "view_initkwargs", {}).get("route")
    except Resolver404:
        return {}
    return headers(route, method, authorization, asked_headers) if isinstance(route, Route) else {}

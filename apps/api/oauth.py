"""/oauth: authorize, token, revoke, userinfo and agent_credentials, and the discovery document.
Every refusal is of RFC 6749's shape."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import scopes
from apps.access.authorization import apps as oauth_apps
from apps.access.authorization import server as oauth
from apps.access.documents import (
    AgentCredentialWithSecret,
    OAuthConsent,
    OAuthRedirect,
    OAuthTokens,
    UserInfo,
    agent_with_secret,
    app_named,
    store_named,
)
from apps.access.models import AccessToken
from apps.access.person.sessions import access_of
from apps.access.requests import AgentScopes
from apps.access.services import Unauthenticated, active_token, credential_from
from apps.api.plumbing.errors import TooManyFailures, WrongContentType, answer, failure_of
from apps.api.plumbing.json import parse_object
from apps.api.plumbing.queries import Query, choice, described
from apps.api.plumbing.routes import FORM
from apps.api.plumbing.views import ApiView
from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import check_storable
from apps.core.redis import buckets
from apps.core.web.middleware import client_address
from apps.stores.models import User

_CODES = {
    401: "invalid_token",
    403: "insufficient_scope",
    429: "temporarily_unavailable",
    503: "temporarily_unavailable",
}
_OWN_CODES = (
    "store_required",
    "insufficient_scope",
    "platform_cannot_issue_credentials",
    "csrf_failed",
    "login_required",
    "otp_required",
    "otp_invalid",
    "otp_check_unavailable",
    "mfa_required",
    "mfa_check_unavailable",
)


def respond_oauth(error: Exception, context: Mapping[str, object]) -> Response:
    """The API's answer to a refusal, in RFC 6749's form."""
    failure = failure_of(error, context.get("view"))
    response = answer(failure, {})
    code = failure.code
    if not isinstance(failure, oauth.OAuthFailure) and code not in _OWN_CODES:
        code = _CODES.get(
            response.status_code,
            "server_error" if response.status_code >= 500 else "invalid_request",
        )
    response.data = {"error": code, "error_description": failure.text}
    response["Cache-Control"] = "no-store"
    return response


class OAuthView(ApiView):
    """A view of the OAuth server: counted by address, JSON or form, refused in one shape."""

    takes_forms = True
    speaks_oauth = True

    def get_exception_handler(self) -> Callable[..., Any]:
        return respond_oauth

    def form(self, request: Request) -> str:
        """The body as a form."""
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        raw: bytes = request._request.body
        if kind == "application/json":
            fields = parse_object(raw)
            check_storable(fields)
            return oauth.as_form(fields)
        if kind != FORM and raw:
            raise WrongContentType(
                "Content-Type must be application/json or application/x-www-form-urlencoded"
            )
        try:
            return raw.decode("ascii")
        except UnicodeDecodeError:
            raise oauth.OAuthFailure("invalid_request", "The parameters can't be read") from None

    def person(self, request: Request) -> User:
        """The person who is signed in to the dashboard."""
        access = access_of(request._request.user, request._request.session)
        user = request._request.user
        if access is None or not isinstance(user, User):
            raise Failure(
                "A dashboard session is required",
                code="login_required",
                kind=RefusalKind.UNAUTHENTICATED,
            )
        self._check_csrf(request)
        return user

    def token(self, request: Request, scope: str) -> AccessToken:
        """The token that is presented, which holds the scope."""
        header = request.headers.get("Authorization", "")
        try:
            token = active_token(credential_from(header))
        except Unauthenticated:
            wait = buckets.count_failure(client_address(request._request)) if header else None
            if wait is not None:
                raise TooManyFailures(retry_after=wait) from None
            raise
        if scope not in token.scope.split():
            raise Failure(
                scopes.missing_message(scope), code="insufficient_scope", kind=RefusalKind.FORBIDDEN
            )
        return token


class AuthorizationQuery(Query, frozen=True, kw_only=True):
    client_id: str | None
    redirect_uri: (
        Annotated[
            str,
            described(
                "One of the application's, exactly; the port of a loopback address may be any",
                format="uri",
            ),
        ]
        | None
    )
    response_type: Annotated[str, choice(["code"])] | None
    scope: Annotated[str, described("Separated by spaces")] | None = None
    code_challenge: Annotated[str, Meta(min_length=43, max_length=128)] | None
    code_challenge_method: Annotated[str, choice(["S256"])] | None
    state: str | None = None
    livemode: (
        Annotated[
            str,
            described("`true` asks for live mode; test mode without it", enum=["true", "false"]),
        ]
        | None
    ) = None


class Decision(AuthorizationQuery, frozen=True, kw_only=True):
    store_id: (
        Annotated[str, described("Left out when only the profile is asked for", format="uuid")]
        | None
    ) = None
    decision: Annotated[str, choice(["allow", "deny"])]


class Client(Query, frozen=True, kw_only=True):
    client_id: str | None = None
    client_secret: (
        Annotated[str, described("Of a confidential client, unless it comes by HTTP Basic")] | None
    ) = None


class CodeExchange(Client, frozen=True, kw_only=True):
    grant_type: Annotated[str, choice(["authorization_code"])]
    code: str
    redirect_uri: Annotated[str, Meta(extra_json_schema={"format": "uri"})]
    code_verifier: Annotated[str, Meta(min_length=43, max_length=128)]


class RefreshExchange(Client, frozen=True, kw_only=True):
    grant_type: Annotated[str, choice(["refresh_token"])]
    refresh_token: str


class Revocation(Client, frozen=True, kw_only=True):
    token: Annotated[str, described("The bearer token itself when left out")] | None = None


class Authorize(OAuthView):
    """The request of an app (a browser is sent to the consent page), and the person's decision."""

    query = AuthorizationQuery
    bodies = {"POST": Decision}
    answers = {"GET": OAuthConsent, "POST": OAuthRedirect}

    def get(self, request: Request) -> Any:
        query = request._request.META.get("QUERY_STRING", "")
        if "text/html" in request.headers.get("Accept", ""):
            return HttpResponseRedirect(
                f"{settings.DASHBOARD_URL}/oauth/authorize" + (f"?{query}" if query else "")
            )
        consent = oauth.ask(query)
        user = self.person(request)
        consent_document = OAuthConsent(
            application=app_named(consent.application),
            scopes=list(consent.scopes),
            livemode=consent.mode == "live",
            stores=[store_named(store) for store in oauth.stores_for(user, consent.scopes)],
        )
        return Response(consent_document)

    def post(self, request: Request) -> Response:
        form = self.form(request)
        _, parameters = oauth.read_parameters(form)
        user = self.person(request)
        self._step_up(request, user)
        chosen = parameters.get("store_id", ""), parameters.get("decision", "")
        address = oauth.decide(user, form, *chosen, proof=self.proof)
        return Response(OAuthRedirect(redirect_to=address))


class Token(OAuthView):
    """Exchange a code or a refresh token for tokens."""

    bodies = {"POST": CodeExchange | RefreshExchange}
    answers = {"POST": OAuthTokens}

    def post(self, request: Request) -> Response:
        body, status, headers = oauth.exchange(
            self.form(request), request.headers.get("Authorization", "")
        )
        return Response(
            body,
            status=status,
            headers={**headers, "Cache-Control": "no-store", "Pragma": "no-cache"},
        )


class Revoke(OAuthView):
    """End a token, and all that its consent led to."""

    answers = {"POST": None}
    bodies = {"POST": Revocation}

    def post(self, request: Request) -> Response:
        oauth.revoke(self.form(request), request.headers.get("Authorization", ""))
        return Response(status=200)


class CurrentUser(OAuthView):
    """The person who let the app in."""

    takes_token = True
    answers = {"GET": UserInfo}

    def get(self, request: Request) -> Response:
        user = self.token(request, scopes.PROFILE).user
        document = UserInfo(sub=str(user.pk), name=user.name, email=user.email)
        return Response(document, headers={"Cache-Control": "no-store"})


class AgentCredentials(OAuthView):
    """The app's agent credential, with a new secret at each call."""

    takes_token = True
    takes_forms = False
    bodies = {"POST": AgentScopes}
    answers = {"POST": AgentCredentialWithSecret}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        token = self.token(request, scopes.AGENTS)
        raw = request._request.body
        body = parse_object(raw) if raw else {}
        self.check_fields(body, body, AgentScopes)
        order = AgentScopes.read(body)
        row, secret = oauth_apps.agent_credential(token, order.scopes, clock.real_now())
        return Response(
            agent_with_secret(row, secret), status=201, headers={"Cache-Control": "no-store"}
        )


def discovery(request: HttpRequest) -> JsonResponse:
    """RFC 8414: where everything is and what is supported."""
    base = f"{settings.API_URL}/api/v2/oauth"
    methods = ["client_secret_basic", "client_secret_post", "none"]
    return JsonResponse(
        {
            "issuer": settings.PUBLIC_URL,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "revocation_endpoint": f"{base}/revoke",
            "userinfo_endpoint": f"{base}/userinfo",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "authorization_response_iss_parameter_supported": True,
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_methods_supported": methods,
            "scopes_supported": list(scopes.OAUTH),
            "service_documentation": f"{settings.API_URL}/docs",
        }
    )

"""`ApiView`: what every API view does before and after its one call of a service or selector.

Authenticate, keep publishable keys out, check method and scope, take a token, parse literally; the
route line says which.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, TypeVar

from django.db import InterfaceError, OperationalError, models
from django.http import HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from msgspec import Struct
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import on_behalf
from apps.access.access import ACT, PUBLISHABLE, RECENT, SECRET, Access, who
from apps.access.factors import stepup
from apps.access.operations import RoleForbids
from apps.access.person.sessions import access_of
from apps.access.scopes import missing_message
from apps.access.services import Unauthenticated, authenticate, credential_from
from apps.api.plumbing import cors, request_log, routes, unknown_fields
from apps.api.plumbing.errors import Throttled, TooManyFailures, csrf_failed
from apps.api.plumbing.queries import Query
from apps.api.plumbing.refusals import ErrorShape, ErrorText, Refused
from apps.api.plumbing.routes import PUBLIC, Route
from apps.core import clock
from apps.core.acting import become
from apps.core.documents import drawings
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.idempotency import check_key
from apps.core.messages.fields import Invalid, check_storable, is_uuid
from apps.core.messages.requests import Request as Body
from apps.core.models import Mode
from apps.core.redis import buckets
from apps.core.web.middleware import client_address
from apps.stores import roles
from apps.stores.models import User
from apps.stores.test_data import refuse_closed

Row = TypeVar("Row", bound=models.Model)
Asked = TypeVar("Asked", bound=Body)


class _Described:
    """Attributes that the API description reads from a view; drf-spectacular, half of what REST
    framework weighs, is loaded when it is drawn up."""

    def __get__(self, view: Any, owner: type[Any]) -> Any:
        return _schema().__get__(view, owner)


@cache
def _schema() -> Any:
    from apps.api.plumbing.description import ViewSchema

    return ViewSchema()


class ApiView(APIView):
    """A view of the API."""

    schema = _Described()
    route: Route = None  # type: ignore[assignment]  # given by the route table
    # How it tells that a rule of the body was broken, and as what; how it tells any other sentence
    # without a code (None: in the same way), and single failures (apps.api.plumbing.refusals).
    shape: ClassVar[ErrorShape] = ErrorText
    broken_rule: ClassVar[type[Failure]] = Failure
    sentence_shape: ClassVar[ErrorShape | None] = None
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {}
    missing: ClassVar[Failure] = NotFound()
    # What the API description says of each method: its body (a class, a JSON schema, or None where
    # the path alone asks), its answer (a document, a list or a choice of them, Pdf, or None where
    # there is nothing to tell), the answers of further statuses (None: the same), and refusals that
    # only it has.
    bodies: ClassVar[Mapping[str, Any]] = {}
    answers: ClassVar[Mapping[str, Any]] = {}
    also: ClassVar[Mapping[str, Mapping[int, Any]]] = {}
    further: ClassVar[Mapping[str, Mapping[int, Refused]]] = {}
    query: ClassVar[type[Query] | None] = None  # what a GET is asked in its address
    wrapper: ClassVar[str] = ""  # the key that the fields of a body are sent under
    wrapper_is_optional: ClassVar[bool] = False  # whether they may be at the top as well
    # Whether a body may also be a form, for the API description.
    takes_forms: ClassVar[bool] = False
    statuses: ClassVar[Mapping[str, int]] = {}  # method -> status of a success, 200 when left out
    # Whether its refusals have the shape of RFC 6749, for the API description.
    speaks_oauth: ClassVar[bool] = False
    for_agents: ClassVar[bool] = False
    credential_header: ClassVar[str] = "Authorization"  # the header that a credential comes in
    # Whether a public route reads an app's token itself, for the API description.
    takes_token: ClassVar[bool] = False
    asks_for_code: ClassVar[bool] = False  # whether a session of the dashboard needs a fresh code
    asks_on: ClassVar[tuple[str, ...]] = ("POST",)  # the methods for which it does
    asks_for_second_factor: ClassVar[bool] = False  # whether it also must have a second factor
    # Whether the request log notes its calls; of what is asked every second it doesn't.
    is_logged: ClassVar[bool] = True
    proof = ""  # what the session's person has shown for this call
    # Whether the code opens this one call alone: what moves money or opens a way for it.
    is_act: ClassVar[bool] = False
    body_is_of_others: ClassVar[bool] = False  # whether a protocol or a provider says what is in it
    # Whether its bodies move money: an unknown field is refused, not ignored.
    refuses_unknown: ClassVar[bool] = False
    ignored: Sequence[str] = ()  # the unknown fields of this call's body
    access: Access
    _taken: buckets.Allowance | None = None

    def refusal(self, refusal: Invalid) -> Failure:
        """Failure for a broken rule of a body."""
        return self.broken_rule(refusal.text)

    def label_of(self, field: str) -> str:
        """Name of a field in a list of broken rules."""
        return field

    @property
    def allowed_methods(self) -> list[str]:
        """Methods of the route line; the API description also asks a class that has no line yet."""
        return list(self.route.scopes) if self.route is not None else super().allowed_methods

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self._began = time.perf_counter()
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method == "OPTIONS" and self.route.cors:
            return
        is_public = PUBLIC in self.route.scopes.values()
        if method not in self.route.scopes and (is_public or method in ("OPTIONS", "TRACE")):
            raise MethodNotAllowed(method)
        if not is_public:
            self.access = self._on_behalf(request, self._authenticate(request))
            become(*who(self.access))
            refuse_closed(self.access.store, self.access.mode)
        if on_behalf.HEADER in request.headers and method in self.route.closed_to_platforms:
            raise self.route.closed_to_platforms[method]
        if not is_public:
            self._check_key_type(method)
            self._check_scope(method)
            if method in self.asks_on and self.asks(request):
                self._check_session(request)
        self._take_token(request, method)
        if method in self.bodies and self.bodies[method] is None:
            body = unknown_fields.object_in(request._request.body)
            self.check_fields(body, body, None)

    def _authenticate(self, request: Request) -> Access:
        header = request.headers.get(self.credential_header, "")
        if not header and not self.for_agents:
            session = self._session_of(request)
            if session is not None:
                self._check_csrf(request)
                return session
        try:
            return self.access_of(request, self.credential_in(header))
        except Unauthenticated as refusal:
            wait = buckets.count_failure(client_address(request._request)) if header else None
            if wait is not None:
                raise TooManyFailures(retry_after=wait) from None
            raise self._unauthenticated(refusal) from None

    def credential_in(self, header: str) -> str:
        """The credential of an Authorization header. Raises Unauthenticated."""
        return credential_from(header)

    def access_of(self, request: Request, credential: str) -> Access:
        """Raises Unauthenticated."""
        return authenticate(credential, for_agents=self.for_agents)

    def _session_of(self, request: Request) -> Access | None:
        """The access of a session. What it reads has the second factor in it: where one is asked
        for, an outage means that nobody can tell. Raises FactorCheckUnavailable there."""
        try:
            return access_of(request._request.user, request._request.session)
        except (OperationalError, InterfaceError):
            if self.asks_for_second_factor:
                raise stepup.FactorCheckUnavailable(retry_after=stepup.RETRY_SECONDS) from None
            raise

    @staticmethod
    def _on_behalf(request: Request, access: Access) -> Access:
        """The access itself, or that of the sub-merchant whom the header names."""
        account_id = request.headers.get(on_behalf.HEADER)
        return access if account_id is None else on_behalf.act_for(access, account_id)

    def _unauthenticated(self, refusal: Unauthenticated) -> Unauthenticated:
        return refusal

    @staticmethod
    def _check_csrf(request: Request) -> None:
        check = CsrfViewMiddleware(lambda _: HttpResponse())
        check.process_request(request._request)
        if check.process_view(request._request, None, (), {}) is not None:  # type: ignore[arg-type]  # it looks at no view
            raise csrf_failed()

    def _check_key_type(self, method: str) -> None:
        if self.access.kind == PUBLISHABLE and method not in self.route.publishable:
            raise Failure(
                "Publishable keys can only create payments",
                code="publishable_key_forbidden",
                kind=RefusalKind.FORBIDDEN,
            )

    def asks(self, request: Request) -> bool:
        """Tells whether this very call needs a code, before anything of it is read."""
        return True

    def _check_session(self, request: Request) -> None:
        if self.asks_for_second_factor:
            self.demand_second_factor(request)
        elif self.asks_for_code and self.access.user is not None:
            self._step_up(request, self.access.user)

    def _step_up(self, request: Request, user: User) -> None:
        """A code in `X-OTP-Code` proves this very call, and unless the call is an act also the
        session for five minutes. Keys and tokens are never asked."""
        session = request._request.session
        now = clock.real_now()
        code = request.headers.get("X-OTP-Code", "")
        act = self._act(request) if self.is_act else ""
        if code:
            stepup.prove_by_header(session, user, code, client_address(request._request), now, act)
        stepup.require(session, user, now, act)
        self._note_proof(ACT if act or code else RECENT)
        if act and "Idempotency-Key" not in request.headers:
            stepup.spend(session)  # the same call again would do it again

    def _note_proof(self, proof: str) -> None:
        """Keeps the proof that was given; whether it is enough is the operation's to say."""
        self.proof = proof
        if hasattr(self, "access"):
            self.access = replace(self.access, proof=proof)

    def _act(self, request: Request) -> str:
        """This call, to the byte: the same one again needs no second code."""
        digest = hashlib.sha256(request._request.body).hexdigest()
        key = request.headers.get("Idempotency-Key", "")
        return stepup.act_digest(
            request.path, request.method, self.access.store_id, self.access.mode, key, digest
        )

    def demand_second_factor(self, request: Request) -> None:
        """For what sends money away: a session needs a second factor and a fresh code of it. Keys
        and tokens are never asked."""
        if self.access.user is not None:
            stepup.require_second_factor(self.access.user)
            self._step_up(request, self.access.user)

    def _check_scope(self, method: str) -> None:
        if method not in self.route.scopes:
            raise MethodNotAllowed(method)
        scope = self.route.scopes[method]
        if self.access.role is not None and not roles.may(self.access.role, roles.VIEW):
            raise RoleForbids  # anyone who sees nothing of the store has no use for its API
        if (
            scope is not None
            and scope not in self.access.scopes
            and self.access.kind != PUBLISHABLE
        ):
            raise Failure(
                missing_message(scope), code="insufficient_scope", kind=RefusalKind.FORBIDDEN
            )

    def cost(self, request: Request) -> int:
        """How many tokens this request takes of each bucket."""
        if self.query is None or request.method not in ("GET", "HEAD"):
            return 1
        return self.query.read(request.query_params).cost()

    def _take_token(self, request: Request, method: str) -> None:
        """The cost, of each bucket of the route line; without Redis the request passes."""
        lines = [line for line in self.route.budgets(method) if self._is_for_me(line)]
        default_line = next((line for line in lines if not line.kinds), None)
        cost = self.cost(request) if lines else 0
        for line in sorted(lines, key=lambda limit: not limit.kinds):
            bucket = ":".join(self._counted_by(request, by) for by in line.by)
            try:
                # Reads are many: a Redis that is silent must not hold up each of them.
                reading = buckets.take(
                    line.policy, self._bucket_mode(), bucket, cost, waits=method != "GET"
                )
            except buckets.Unavailable:
                return
            if reading.is_limited or (self._taken is None and line is default_line):
                policy = default_line.policy if default_line is not None else line.policy
                self._taken = replace(reading, policy=policy)
            if reading.is_limited:
                raise Throttled

    @contextmanager
    def charged_for_drawing(self, request: Request) -> Iterator[None]:
        """Drawings in here take more of the route's bucket than a file that is there."""
        (line,) = self.route.budget[str(request.method)]
        bucket = ":".join(self._counted_by(request, by) for by in line.by)
        try:
            with drawings.charged_to(line.policy, self._bucket_mode(), bucket):
                yield
        except drawings.TooManyDrawings as refusal:
            self._taken = refusal.taken
            raise Throttled from None

    def _is_for_me(self, line: routes.Budget) -> bool:
        return not line.kinds or self.access.kind in line.kinds

    def _bucket_mode(self) -> str:
        return Mode.LIVE.value if PUBLIC in self.route.scopes.values() else self.access.mode

    def _counted_by(self, request: Request, by: str) -> str:
        match by:
            case routes.ADDRESS:
                return client_address(request._request)
            case routes.REFERENCE:
                return str(self.kwargs.get("reference") or self.kwargs.get("token"))[:64]
            case routes.CREDENTIAL:
                person = self.access.user
                return str(self.access.credential_id if person is None else person.pk)
        store_id = str(self.access.store_id)
        kind = self.access.kind
        return store_id if kind == SECRET else f"{store_id}:{kind}"

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self._taken is not None:
            for name, value in self._taken.headers().items():
                response.setdefault(name, value)
        requested_headers = request.headers.get("Access-Control-Request-Headers", "")
        for name, value in cors.headers(
            self.route,
            str(request.method),
            request.headers.get("Authorization", ""),
            requested_headers,
        ).items():
            response[name] = value
        if self.ignored:
            response[unknown_fields.HEADER] = unknown_fields.header_of(self.ignored)
        if self.is_logged and hasattr(self, "access"):
            request_log.note(
                request,
                response,
                self.access,
                self.route,
                self.kwargs,
                self._began,
                ignored=self.ignored,
            )
        return response

    # --- what views use ---------------------------------------------------------------------------

    def body(self, request: Request) -> dict[str, object]:
        """The parsed body, free of NUL and lone surrogates."""
        data: dict[str, object] = request.data if isinstance(request.data, dict) else {}
        check_storable(data)
        return data

    def given(self, request: Request, name: str) -> object:
        """A field of a body that was refused, as it was sent, where something is answered by it."""
        return request.data.get(name) if isinstance(request.data, dict) else None

    def read(self, request: Request, document: type[Asked]) -> Asked:
        """The body, or what it has under the wrapper, as what it asks for. Raises Invalid."""
        body = self.body(request)
        fields = self._fields(body)
        self.check_fields(body, fields, document, self.wrapper)
        return document.read(fields, self.wrapper or "body")

    def check_fields(
        self,
        body: Mapping[str, object],
        fields: object,
        document: type[Struct] | None,
        wrapper: str = "",
    ) -> None:
        """Note the fields that the document (None: one without fields) doesn't have; raises Invalid
        with the first where they are refused."""
        unknown = unknown_fields.unknown_in(body, fields, document, wrapper)
        if unknown and self.refuses_unknown:
            is_beside = unknown[0] in unknown_fields.fields_beside(body, fields, wrapper)
            raise unknown_fields.refusal_of(unknown[0], document, wrapper if is_beside else "")
        self.ignored = unknown

    def _fields(self, body: dict[str, object]) -> object:
        """Value of the body under the wrapper, which may not be an object. Raises Invalid without
        it."""
        inner = body.get(self.wrapper) if self.wrapper else body
        if inner is None and not self.wrapper_is_optional:
            raise Invalid(self.wrapper, "required")
        return body if inner is None else inner

    def idempotency_key(self, request: Request) -> str | None:
        rule = self.route.keys[str(request.method)]
        return check_key(request.headers.get("Idempotency-Key"), required=rule == "required")

    def find(self, rows: "models.QuerySet[Row]", id: str) -> Row:
        """The row with this id among `rows`, else the view's one 404."""
        row = rows.filter(pk=id).first() if is_uuid(id) else None
        if row is None:
            raise self.missing
        return row

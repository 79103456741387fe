"""`GreenfieldView`: a view that speaks as BTCPay Server does. Credentials, scopes, budgets and
idempotency keys are those of our API; refusals have the shapes that Greenfield documents.

Source: docs.btcpayserver.org/API/Greenfield/v1.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.access.access import Access
from apps.access.compatible_apis import require_compatible_apis
from apps.access.services import authenticate, credential_from
from apps.api.plumbing.errors import answer, failure_of
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.messages.fields import Schema
from apps.core.messages.invalid import Invalid, InvalidFields

# What BTCPay calls the permission of a scope.
PERMISSIONS: Mapping[str, tuple[str, ...]] = {
    "payments:read": ("btcpay.store.canviewinvoices", "btcpay.store.canviewstoresettings"),
    "payments:write": ("btcpay.store.cancreateinvoice", "btcpay.store.canmodifyinvoices"),
    "refunds:write": ("btcpay.store.cancreatenonapprovedpullpayments",),
    "webhooks:read": (),
    "webhooks:write": ("btcpay.store.webhooks.canmodifywebhooks",),
}
_CODES: Mapping[RefusalKind, str] = {
    RefusalKind.MALFORMED: "json-invalid",
    RefusalKind.UNAUTHENTICATED: "unauthenticated",
    RefusalKind.FORBIDDEN: "forbidden",
    RefusalKind.TOO_MANY: "too-many-requests",
    RefusalKind.UNAVAILABLE: "unavailable",
}


class MissingRecord(NotFound):
    """A 404 in Greenfield's words: its code names the kind of record."""

    def __init__(self, noun: str) -> None:
        super().__init__(f"The {noun} was not found", code=f"{noun}-not-found")


class NotOnTheseTerms(Failure):
    """Something that BTCPay does and this service doesn't, at the field that asks for it."""


class GreenfieldView(ApiView):
    """A view below /compat/btcpay. A store is named in its path, and is the key's."""

    schema = None  # BTCPay describes it; our document leaves it out
    # Names of our fields, where Greenfield has others.
    names: ClassVar[Mapping[str, str]] = {}

    def access_of(self, request: Request, credential: str) -> Access:
        access = authenticate(credential)
        require_compatible_apis(access.store)
        return access

    def credential_in(self, header: str) -> str:
        scheme, _, rest = header.partition(" ")
        return credential_from(f"Bearer {rest}" if scheme.lower() == "token" else header)

    def _session_of(self, request: Request) -> None:
        """None: a key alone is taken, and no session of the dashboard."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        named = kwargs.get("store_id")
        if named is not None and named != str(self.access.store_id):
            raise MissingRecord("store")

    def get_exception_handler(self) -> Callable[..., Response]:
        return self._refuse

    def _refuse(self, error: Exception, context: Mapping[str, object]) -> Response:
        """The refusal in one of Greenfield's two shapes: a list of fields, or a code."""
        if isinstance(error, InvalidFields):
            rules = [(self._path_of(rule.field), rule.text_of(rule.field)) for rule in error.broken]
            return Response(_problems(rules), status=422)
        if isinstance(error, Invalid):
            rules = [(self._path_of(error.field), error.text)]
            return Response(_problems(rules), status=422)
        failure = failure_of(error, self)
        if failure.kind == RefusalKind.INVALID and failure.field:
            return Response(_problems([(self._path_of(failure.field), failure.text)]), status=422)
        body = self.told(failure)
        response = answer(failure, body)
        if response.status_code == 422:
            response.status_code = 400
        return response

    def told(self, failure: Failure) -> Schema:
        """The body of a refusal that no field is at fault for."""
        code = (failure.code or _CODES.get(failure.kind, "generic-error")).replace("_", "-")
        body: Schema = {"code": code, "message": failure.text}
        if failure.code == "insufficient_scope":
            scope = self.route.scopes.get(str(self.request.method)) or ""
            permission = next(iter(PERMISSIONS.get(scope, ())), scope)
            body |= {"code": "missing-permission", "missingPermission": permission}
        return body

    def _path_of(self, field: str) -> str:
        return self.names.get(field, field)

    def refusal(self, refusal: Invalid) -> Failure:
        return Failure(refusal.text, field=refusal.field)


def _problems(rules: Sequence[tuple[str, str]]) -> list[Schema]:
    return [{"path": path, "message": message} for path, message in rules]

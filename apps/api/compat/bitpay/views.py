"""`BitPayView`: a view that speaks as BitPay does. Clients sign each call with a key of their own;
scopes, budgets and the request log are those of our API.

Source: developer.bitpay.com/reference.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from apps.access import pairing
from apps.access.access import Access
from apps.api.plumbing.errors import answer, failure_of
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.messages.fields import Schema
from apps.core.messages.invalid import Invalid, InvalidFields

# The first two digits of BitPay's codes of errors, and the last two; between them is the resource.
_METHODS: Mapping[str, str] = {"POST": "01", "GET": "02", "PUT": "03", "DELETE": "04"}
NOT_FOUND, INVALID, MISSING, WRONG_STATE = "01", "02", "03", "07"
_KINDS: Mapping[RefusalKind, str] = {
    RefusalKind.NOT_FOUND: NOT_FOUND,
    RefusalKind.MALFORMED: INVALID,
    RefusalKind.INVALID: INVALID,
    RefusalKind.CONFLICT: WRONG_STATE,
}


class MissingRecord(NotFound):
    """A 404 that names the kind of record."""

    def __init__(self, noun: str) -> None:
        super().__init__(f"{noun} not found")


class BitPayView(ApiView):
    """A view below /compat/bitpay."""

    schema = None  # BitPay describes it; our document leaves it out
    credential_header = "X-Identity"
    # The two digits of its resource in codes of errors.
    resource: ClassVar[str] = "00"
    # Names of our fields, where BitPay has others.
    names: ClassVar[Mapping[str, str]] = {}
    # Text of the client's token, which BitPay's documents repeat.
    token: str = ""
    call: pairing.SignedCall

    def credential_in(self, header: str) -> str:
        return header

    def access_of(self, request: Request, credential: str) -> Access:
        sent = request._request
        address = f"{settings.API_URL}{sent.get_full_path()}"
        signature = request.headers.get("X-Signature", "")
        self.call = pairing.SignedCall(credential, signature, address.encode() + sent.body)
        has_body = str(request.method) in ("POST", "PUT")
        token = self.given(request, "token") if has_body else sent.GET.get("token")
        self.token = token if isinstance(token, str) else ""
        return pairing.authenticate(self.token, self.call)

    def _session_of(self, request: Request) -> None:
        """None: no session of the dashboard is taken."""

    def key_for(self, guid: str | None) -> str:
        """The idempotency key of a call: its guid, and of one without a guid its signature, so that
        a call that is sent again does nothing new."""
        return f"bitpay-guid-{guid}" if guid else f"bitpay-{self.call.number()}"

    def told(self, document: Any, facade: str = "merchant/invoice") -> Response:
        return Response({"facade": facade, "data": document})

    def get_exception_handler(self) -> Callable[..., Response]:
        return self._refuse

    def _refuse(self, error: Exception, context: Mapping[str, object]) -> Response:
        """The refusal in BitPay's shape, with a code of six digits."""
        if isinstance(error, InvalidFields):
            texts = [rule.text_of(self._name_of(rule.field)) for rule in error.broken]
            return Response(self._problem("; ".join(texts), INVALID), status=400)
        if isinstance(error, Invalid):
            kind = MISSING if error.rule == "required" else INVALID
            text = error.text_of(self._name_of(error.field))
            return Response(self._problem(text, kind), status=400)
        failure = failure_of(error, self)
        response = answer(failure, self._problem(failure.text, self._kind_of(failure)))
        if response.status_code == 422:
            response.status_code = 400
        return response

    def _kind_of(self, failure: Failure) -> str:
        return _KINDS.get(failure.kind, "00")

    def _problem(self, text: str, kind: str) -> Schema:
        method = _METHODS.get(str(self.request.method), "00")
        code = f"{method}{self.resource}{kind}"
        return {"status": "error", "code": code, "data": None, "error": text}

    def _name_of(self, field: str) -> str:
        return self.names.get(field, field)

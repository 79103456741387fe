"""A Peppol access point with the REST interface of phoss-ap: documents go in with an ID of ours,
and their state is asked for by it. AS4, and who receives what, are the access point's.

It sends while it answers, and again by itself for hours: what a submission answers says less than
the state, which is asked for after it. An ID that it has is not sent again.
"""

from typing import Any
from urllib.parse import quote

from apps.billing.providers.base import Parcel, ParcelAnswer, ParcelState
from apps.core.errors import ErrorCode, ProviderError
from apps.core.outbound.net import NotThere, get_json, post_xml

_TIMEOUT_SECONDS = 30.0
_PARTICIPANT = "iso6523-actorid-upis"
_UBL = "urn:oasis:names:specification:ubl:schema:xsd"
_BILLING = "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
_PROCESS = "cenbii-procid-ubl::urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
_STATES = {
    "pending": ParcelState.ON_ITS_WAY,
    "sending": ParcelState.ON_ITS_WAY,
    "failed": ParcelState.ON_ITS_WAY,  # which it tries again
    "sent": ParcelState.DELIVERED,
    "rejected": ParcelState.REFUSED,
    "permanently_failed": ParcelState.REFUSED,
}
_MESSAGE_MAX = 500


class AccessPoint:
    def __init__(self, base_url: str, token: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._token = token

    def send(self, parcel: Parcel) -> ParcelAnswer:
        parts = (
            f"{_PARTICIPANT}::{parcel.sender}",
            f"{_PARTICIPANT}::{parcel.receiver}",
            document_type(is_credit_note=parcel.is_credit_note),
            _PROCESS,
            parcel.country,
        )
        path = "/".join(quote(part, safe="") for part in parts)
        try:
            post_xml(
                f"{self.base_url}/api/outbound/submit/{path}",
                parcel.content,
                {"sbdhInstanceID": parcel.id},
                self._headers,
                _TIMEOUT_SECONDS,
            )
        except ProviderError as error:
            if error.code is not ErrorCode.REFUSED:
                raise
            found = self.look(parcel)
            if found.state is ParcelState.UNKNOWN:
                return ParcelAnswer(
                    ParcelState.REFUSED, f"The access point didn’t take it ({error})"
                )
            return found
        return self.look(parcel)

    def look(self, parcel: Parcel) -> ParcelAnswer:
        try:
            answer = get_json(
                f"{self.base_url}/api/outbound/status/{quote(parcel.id, safe='')}",
                headers=self._headers,
                timeout=_TIMEOUT_SECONDS,
            )
        except NotThere:
            return ParcelAnswer(ParcelState.UNKNOWN)
        return _read(answer, parcel.id)

    @property
    def _headers(self) -> dict[str, str]:
        return {"X-Token": self._token}


def document_type(*, is_credit_note: bool) -> str:
    kind = "CreditNote" if is_credit_note else "Invoice"
    return f"busdox-docid-qns::{_UBL}:{kind}-2::{kind}##{_BILLING}::2.1"


def _read(answer: Any, id: str) -> ParcelAnswer:
    if not isinstance(answer, dict) or answer.get("sbdhInstanceID") != id:
        raise ProviderError(ErrorCode.MALFORMED, "The access point described another document")
    state = _STATES.get(str(answer.get("status")))
    if state is None:
        raise ProviderError(ErrorCode.MALFORMED, "The access point gave no state that is known")
    told = answer.get("errorDetails")
    message = told.replace("\x00", "")[:_MESSAGE_MAX] if isinstance(told, str) else ""
    return ParcelAnswer(state, message)

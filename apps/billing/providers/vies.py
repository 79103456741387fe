"""VIES, the European Commission's registry of VAT numbers (REST).

It passes a question on to the buyer's country, whose register may be away while all others answer;
then it says so in `errorWrappers`, with the status 200 as well as others.
"""

from typing import Any

from apps.billing.providers.base import RegistryAnswer
from apps.core.errors import ErrorCode, ProviderError
from apps.core.outbound.net import post_json

TIMEOUT_SECONDS = 6.0  # a merchant waits for it while an invoice is finalized
_BUSY = {
    "GLOBAL_MAX_CONCURRENT_REQ",
    "GLOBAL_MAX_CONCURRENT_REQ_TIME",
    "MS_MAX_CONCURRENT_REQ",
    "MS_MAX_CONCURRENT_REQ_TIME",
}
_REFUSED = {"INVALID_INPUT", "INVALID_REQUESTER_INFO", "VAT_BLOCKED", "IP_BLOCKED"}
# What it answers where a country tells no names.
_NOTHING = "---"


class Vies:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")

    def check(self, number: str, requester_number: str) -> RegistryAnswer:
        body = {"countryCode": number[:2], "vatNumber": number[2:]}
        if requester_number:
            body["requesterMemberStateCode"] = requester_number[:2]
            body["requesterNumber"] = requester_number[2:]
        answer = post_json(f"{self.base_url}/check-vat-number", body, timeout=TIMEOUT_SECONDS)
        return _read(answer, number)


def _read(answer: Any, number: str) -> RegistryAnswer:
    if not isinstance(answer, dict):
        raise ProviderError(ErrorCode.MALFORMED, "VIES answered no object")
    errors = answer.get("errorWrappers")
    if errors:
        first = errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {}
        word = str(first.get("error", ""))[:60]
        code = (
            ErrorCode.THROTTLED
            if word in _BUSY
            else ErrorCode.REFUSED
            if word in _REFUSED
            else ErrorCode.UNREACHABLE
        )
        raise ProviderError(code, word or "an error without a word")
    is_valid = answer.get("valid")
    asked = f"{answer.get('countryCode')}{answer.get('vatNumber')}"
    if not isinstance(is_valid, bool) or asked != number:
        raise ProviderError(ErrorCode.MALFORMED, "VIES answered about another number, or nothing")
    return RegistryAnswer(
        is_valid,
        name=_text(answer.get("name"), 300),
        address=_text(answer.get("address"), 500),
        consultation_number=_text(answer.get("requestIdentifier"), 50),
        answer=answer,
    )


def _text(value: Any, longest: int) -> str:
    text = value.replace("\x00", "").strip() if isinstance(value, str) else ""
    return "" if text == _NOTHING else text[:longest]

"""A stand-in that speaks as VIES does (REST): answers, refusals and outages in its own words, with
the status 200 as well as others, and a country's register that is away while others answer."""

import json
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

REQUEST_IDENTIFIER = "WAPIAAAAY8d2kMpQ"


@dataclass
class Registry:
    """`valid`: numbers that somebody has, with the name; `away`: countries whose register doesn't
    answer; `error` for everybody; `status` of errors."""

    server: HTTPServer
    valid: dict[str, str] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    error: str = ""
    status: int = 200
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.expect_request("/check-vat-number", method="POST").respond_with_handler(
            self._answer
        )

    def _answer(self, request: Request) -> Response:
        body = request.get_json()
        self.asked.append(body)
        country, number = body["countryCode"], body["vatNumber"]
        error = self.error or ("MS_UNAVAILABLE" if country in self.away else "")
        if error:
            wrapped = {"actionSucceed": False, "errorWrappers": [{"error": error, "message": ""}]}
            return _json(wrapped, self.status)
        name = self.valid.get(f"{country}{number}")
        is_told = bool(name) and "requesterNumber" in body
        return _json(
            {
                "countryCode": country,
                "vatNumber": number,
                "requestDate": "2026-11-29T22:00:00.000Z",
                "valid": name is not None,
                "requestIdentifier": REQUEST_IDENTIFIER if is_told else "",
                "name": name or "---",
                "address": "---",
                "traderName": "---",
                "traderStreet": "---",
            }
        )


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")

"""A stand-in for a Peppol access point that speaks as phoss-ap does, and refuses what that and the
network refuse: a wrong token, identifiers that aren't any, a document that breaks EN 16931, an ID
that it has already, a receiver whom no SMP knows."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from lxml import etree
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.e_invoices.checking import UBL
from tests.e_invoices.rules import broken

TOKEN = "access-point-token"
_PARTICIPANT = "iso6523-actorid-upis::"


@dataclass
class Peppol:
    """`registered`: receivers that an SMP knows; `delivered`: the documents that went out, by ID;
    `is_away` answers nobody; `is_cut` carries out a request, and its answer is lost."""

    server: HTTPServer
    registered: set[str] = field(default_factory=set)
    delivered: list[str] = field(default_factory=list)
    states: dict[str, tuple[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_away: bool = False
    is_cut: bool = False

    def __post_init__(self) -> None:
        def on(prefix: str, answer: Callable[[Request], Response]) -> None:
            self.server.expect_request(re.compile(prefix)).respond_with_handler(answer)

        on("^/api/outbound/submit/.*", self._submit)
        on("^/api/outbound/status/.*", self._status)

    def _submit(self, request: Request) -> Response:
        self.asked.append("submit")
        if self.is_away:
            return Response("Service Unavailable", 503)
        if request.headers.get("X-Token") != TOKEN:
            return Response(status=403)
        raw = request.environ["RAW_URI"].partition("?")[0].split("/submit/")[1]
        _, receiver, document, _, country = (unquote(part) for part in raw.split("/"))
        if not receiver.startswith(_PARTICIPANT) or len(country) != 2:
            return _json(f"Failed to parse the receiving participant ID '{receiver}'", 400)
        id = request.args["sbdhInstanceID"]
        if id in self.states:
            return _json("Failed to submit outbound transaction", 422)
        self.states[id] = self._outcome(request.data, receiver, document)
        if self.states[id][0] == "sent":
            self.delivered.append(id)
        if self.is_cut:
            return Response("Gateway Timeout", 504)
        is_sent = self.states[id][0] == "sent"
        told = {"overallSuccess": is_sent, "sbdhInstanceIdentifier": id}
        return _json(told, 200 if is_sent else 422)

    def _outcome(self, xml: bytes, receiver: str, document: str) -> tuple[str, str]:
        kind = etree.QName(etree.fromstring(xml)).localname
        wrong = [row.rule for row in broken(xml, UBL) if row.is_refused]
        if wrong or f"::{kind}##" not in document:
            return "rejected", f"The document breaks {', '.join(wrong) or 'its type'}"
        if receiver.removeprefix(_PARTICIPANT) not in self.registered:
            return "permanently_failed", f"The participant {receiver} is not registered in the SML"
        return "sent", ""

    def _status(self, request: Request) -> Response:
        self.asked.append("status")
        if self.is_away:
            return Response("Service Unavailable", 503)
        id = request.path.rpartition("/")[2]
        if id not in self.states:
            return Response(status=404)
        status, details = self.states[id]
        return _json({"sbdhInstanceID": id, "status": status, "errorDetails": details or None})


def _json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")

"""The Model Context Protocol's messages (JSON-RPC 2.0), without sessions: each request is complete
in itself, and tools are its only capability.

Source: modelcontextprotocol.io/specification, revisions 2025-03-26 to 2025-11-25.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from apps.core.messages.fields import Schema
from apps.core.messages.requests import NAME_MAX, nearest
from apps.mcp.tools import BY_NAME, KEY, Tool, arguments_of, listed

REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26")  # newest first
API_VERSION = "2"
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMETERS = -32602
NOT_LET_IN = -32000  # who asks isn't known to be an agent: too many attempts, or an outage
ERROR = "tillgate/error"  # the key in _meta of what the API said
INSTRUCTIONS = "Take, send and refund crypto payments within the limits of one agent credential."


@dataclass(frozen=True)
class ApiCall:
    """A call of the agent API: `path` is below /api/v2/agentic."""

    method: str
    path: str
    query: Mapping[str, object]
    body: Mapping[str, object] | None = None
    key: str | None = None


@dataclass(frozen=True)
class ApiAnswer:
    """`body` is the parsed JSON; `retry_after` is in seconds, empty without one."""

    status: int
    body: Any
    retry_after: str = ""


@dataclass(frozen=True)
class BadCredential(Exception):
    """The credential is unknown (401), or lacks the scope of agents (403)."""

    status: int
    error: str  # RFC 6750
    message: str


UNKNOWN = BadCredential(401, "invalid_token", "The credential is unknown, revoked or expired")
TOO_NARROW = BadCredential(403, "insufficient_scope", "The token lacks the scope agents:write")


Ask = Callable[[ApiCall], ApiAnswer]


def answer(message: object, ask: Ask) -> Schema | None:
    """The answer to a message, None for a notification. Raises BadCredential."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, INVALID_REQUEST, "A message is one JSON-RPC 2.0 object")
    number = message.get("id")
    method = message.get("method")
    if not isinstance(method, str) or "id" not in message:
        return None  # a notification, or an answer to a question that is never asked
    parameters = message.get("params") or {}
    if not isinstance(parameters, dict):
        return _error(number, INVALID_PARAMETERS, "params must be an object")
    if method in ("initialize", "tools/list"):
        account = _answered(ask(ApiCall("GET", "account", {})))
        if account.status == 403:
            raise TOO_NARROW
        if account.status >= 400:
            return _error(number, NOT_LET_IN, _sentence(account))
        return _result(
            number, _welcome(parameters) if method == "initialize" else {"tools": listed()}
        )
    if method == "ping":
        return _result(number, {})
    if method == "tools/call":
        tool = BY_NAME.get(str(parameters.get("name")))
        if tool is None:
            name = str(parameters.get("name"))[:NAME_MAX]
            return _error(number, INVALID_PARAMETERS, f"Unknown tool: {name}")
        arguments = parameters.get("arguments") or {}
        if not isinstance(arguments, dict):
            return _error(number, INVALID_PARAMETERS, "arguments must be an object")
        return _result(number, call(tool, arguments, ask))
    return _error(number, UNKNOWN_METHOD, f"Unknown method: {method[:NAME_MAX]}")


def call(tool: Tool, arguments: Mapping[str, Any], ask: Ask) -> Schema:
    """The result of a tool: the record, or an error with its sentence and code."""
    refusal = _refusal(tool, arguments)
    if refusal:
        return _refused(refusal)
    reply = _answered(ask(_call_of(tool, arguments)))
    if reply.status >= 400:
        return _refused(_sentence(reply), reply.body)
    text = json.dumps(reply.body, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": reply.body,
        "isError": False,
    }


def _refusal(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """A misspelled argument may be the amount, and a missing key a second bill."""
    known = arguments_of(tool.name)
    unknown = next((name for name in arguments if name not in known), None)
    if unknown is not None:
        near = nearest(unknown, list(known))
        hint = f" (the nearest that it takes is {near})" if near else ""
        return f"Unknown field: {unknown[:NAME_MAX]}{hint}"
    for name in [*_in_path(tool), *([KEY] if tool.takes_key else [])]:
        value = arguments.get(name)
        if not isinstance(value, str) or not value.strip():
            return f"{name} is required"
    return ""


def _in_path(tool: Tool) -> list[str]:
    return [part[1:-1] for part in tool.path.split("/") if part.startswith("{")]


def _call_of(tool: Tool, arguments: Mapping[str, Any]) -> ApiCall:
    """A model's text in a path stays one part of it."""
    named = _in_path(tool)
    path = "/".join(
        _part(arguments[part[1:-1]]) if part.startswith("{") else part
        for part in tool.path.split("/")
    )
    rest = {
        name: value
        for name, value in arguments.items()
        if name not in (*named, KEY) and value is not None
    }
    if tool.reads:
        return ApiCall(tool.method, path, query=rest)
    body = {tool.wrapper: rest} if tool.wrapper else rest
    return ApiCall(tool.method, path, {}, body, arguments.get(KEY) if tool.takes_key else None)


def _part(text: str) -> str:
    """Half a surrogate pair, which JSON can say, is the name of nothing."""
    return quote(text, safe="", errors="surrogatepass")


def _answered(reply: ApiAnswer) -> ApiAnswer:
    if reply.status == 401:
        raise UNKNOWN
    return reply


def _sentence(reply: ApiAnswer) -> str:
    error = reply.body.get("error") if isinstance(reply.body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    code = error.get("code") if isinstance(error, dict) else None
    parts = [str(message or "The call was refused").rstrip(".")]
    parts.append(f" ({code})." if code else ".")
    if reply.retry_after:
        parts.append(f" Try again in {reply.retry_after} seconds.")
    return "".join(parts)


def _refused(sentence: str, body: Any = None) -> Schema:
    """Hosts compare structuredContent with the schema of the record, errors too: the API's body is
    beside the result."""
    beside = {"_meta": {ERROR: body}} if isinstance(body, dict) else {}
    return {"content": [{"type": "text", "text": sentence}], **beside, "isError": True}


def _welcome(parameters: Mapping[str, Any]) -> Schema:
    requested = parameters.get("protocolVersion")
    return {
        "protocolVersion": requested if requested in REVISIONS else REVISIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "tillgate", "title": "Tillgate", "version": API_VERSION},
        "instructions": INSTRUCTIONS,
    }


def _result(number: object, result: Schema) -> Schema:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: object, code: int, message: str) -> Schema:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}

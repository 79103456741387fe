"""mcp: the service's tools for a language model, over standard input and output.

Each line is a message of the Model Context Protocol, sent on to the service's /mcp, which has the
tools.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import click
import httpx

from tillgate.version import VERSION

SECONDS = 60.0
AT_ONCE = 4
AGENT_PREFIXES = ("svca_live_", "svca_test_", "svco_")
_SERVER_ERROR = -32000
_PARSE_ERROR = -32700


@click.command()
@click.option(
    "--credential",
    envvar="TILLGATE_AGENT_CREDENTIAL",
    required=True,
    show_envvar=True,
    help="The agent's credential. Set the variable: other programs see what is typed here.",
)
@click.pass_obj
def mcp(session: Any, credential: str) -> None:
    """Serve the agent's tools to a language model (MCP) on standard input and output."""
    if session.url is None:
        raise click.UsageError("No address: set TILLGATE_URL, or pass --url")
    if not credential.startswith(AGENT_PREFIXES):
        raise click.UsageError("TILLGATE_AGENT_CREDENTIAL must contain an agent credential")
    headers = {
        "Authorization": f"Bearer {credential}",
        "Accept": "application/json, text/event-stream",
        "User-Agent": f"tillgate-python/{VERSION} mcp",
    }
    with (
        httpx.Client(timeout=SECONDS, headers=headers) as client,
        ThreadPoolExecutor(AT_ONCE) as threads,
    ):
        bridge = Bridge(client, f"{session.url.rstrip('/')}/mcp")
        for line in sys.stdin:
            if line.strip():
                threads.submit(bridge.forward, line)


class Bridge:
    """Sends each message on and prints its answer, one line each."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client = client
        self._url = url
        self._turn = Lock()

    def forward(self, line: str) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self._print(_failed({"id": None}, "The line isn't JSON", _PARSE_ERROR))
            return
        answer = self._answer(message)
        if answer is not None and isinstance(message, dict) and "id" in message:
            self._print(answer)

    def _answer(self, message: Any) -> dict[str, Any] | None:
        try:
            response = self._client.post(self._url, json=message)
        except httpx.HTTPError as error:
            sentence = f"The service can't be reached ({type(error).__name__})"
            return _failed(message, sentence, is_known=False)
        if response.status_code == httpx.codes.ACCEPTED:
            return None
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if response.is_success and isinstance(answer, dict):
            return answer
        sentence = _sentence(answer) or f"HTTP {response.status_code}"
        return _failed(message, sentence, is_known=response.is_client_error)

    def _print(self, answer: dict[str, Any]) -> None:
        with self._turn:
            sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
            sys.stdout.flush()


def _sentence(answer: Any) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    return str(error.get("message") or "") if isinstance(error, dict) else ""


def _failed(
    message: Any, sentence: str, code: int = _SERVER_ERROR, *, is_known: bool = True
) -> dict[str, Any]:
    """The error of a message. A call that the service refused did nothing; of one that got no
    answer, or broke there, nobody knows."""
    id = message.get("id") if isinstance(message, dict) else None
    if isinstance(message, dict) and message.get("method") == "tools/call":
        hint = "" if is_known else " The outcome is unknown: call again with the same arguments."
        result = {"content": [{"type": "text", "text": f"{sentence}.{hint}"}], "isError": True}
        return {"jsonrpc": "2.0", "id": id, "result": result}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": sentence}}

"""A language model's tools, asked by the official client over standard input and output."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver.exceptions import ToolError

from apps.api.agentic.urls import ROUTES
from apps.mcp.providers.agent_api import AgentApi
from apps.mcp.tools import server

ROOT = Path(__file__).resolve().parents[2]


def test_every_operation_of_agents_is_a_tool() -> None:
    tools = anyio.run(server(AgentApi("http://localhost:9", "svca_test_x")).list_tools)
    assert len(tools) == sum(len(route.scopes) for route in ROUTES)


def test_the_official_client_lists_and_calls_the_tools_of_a_running_server(httpserver: Any) -> None:
    httpserver.expect_request(
        "/api/v2/agentic/payments",
        method="POST",
        headers={"Authorization": "Bearer svca_test_secret"},
        json={"payment_intent": {"amount": "12.50", "currency": "EUR"}},
    ).respond_with_json(
        {"error": {"message": "Too many requests", "code": "rate_limited"}}, status=429
    )

    async def play() -> tuple[set[str], Any]:
        environment = {
            **os.environ,
            "TILLGATE_AGENT_CREDENTIAL": "svca_test_secret",
            "PUBLIC_URL": httpserver.url_for("").rstrip("/"),
        }
        command = StdioServerParameters(
            command=sys.executable,
            args=[str(ROOT / "manage.py"), "mcp"],
            env=environment,
            cwd=str(ROOT),
        )
        async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            names = {tool.name for tool in (await session.list_tools()).tools}
            return names, await session.call_tool(
                "create_payment", {"amount": "12.50", "currency": "EUR"}
            )

    names, answer = anyio.run(play)
    assert {"create_payment", "send_payout", "create_settlement", "get_balances"} <= names
    told = json.loads(answer.content[0].text)
    assert (told["status"], told["body"]["error"]["code"]) == (429, "rate_limited")


SENT: list[tuple[str, dict[str, Any], str, dict[str, Any], str | None]] = [
    (
        "refund_payment",
        {"payment_id": "a/b", "idempotency_key": "k", "amount": "1.5"},
        "payments/a%2Fb/refunds",
        {"amount": "1.5"},
        "k",
    ),
    ("cancel_payment", {"payment_id": "a"}, "payments/a/cancel", {}, None),
    (
        "send_payout",
        {
            "asset_id": "SETH",
            "amount_atomic": "1",
            "destination_address": "0xa",
            "idempotency_key": "k",
        },
        "payouts",
        {"asset_id": "SETH", "amount_atomic": "1", "destination_address": "0xa"},
        "k",
    ),
    ("set_token", {"asset_id": "SETH", "active": False}, "tokens/SETH", {"active": False}, None),
    (
        "create_mandate",
        {
            "asset_id": "SETH",
            "total_cap_atomic": "9",
            "mandate_ref": "books",
            "expires_in_seconds": 60,
        },
        "mandates",
        {
            "asset_id": "SETH",
            "total_cap_atomic": "9",
            "mandate_ref": "books",
            "scope": "x402",
            "expires_in_seconds": 60,
        },
        None,
    ),
    (
        "create_settlement",
        {
            "asset_id": "SETH",
            "amount_atomic": "1",
            "mandate_ref": "books",
            "idempotency_key": "k",
            "requirements": {"a": 1},
        },
        "x402/settlements",
        {
            "asset_id": "SETH",
            "amount_atomic": "1",
            "mandate_ref": "books",
            "requirements": {"a": 1},
        },
        "k",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "path", "body", "key"), SENT)
def test_a_tool_sends_what_was_given_and_no_more(
    tool: str,
    arguments: dict[str, Any],
    path: str,
    body: dict[str, Any],
    key: str | None,
    httpserver: Any,
) -> None:
    httpserver.expect_request(re.compile(".*")).respond_with_json({"done": True}, status=201)
    api = AgentApi(httpserver.url_for("").rstrip("/"), "svca_test_x")
    answer = anyio.run(server(api).call_tool, tool, arguments)
    ((request, _),) = httpserver.log
    assert (
        request.environ["REQUEST_URI"] == f"/api/v2/agentic/{path}"
        and request.headers.get("Idempotency-Key") == key
    )
    assert json.loads(request.data or b"{}") == body
    assert json.loads(answer.content[0].text) == {"status": 201, "body": {"done": True}}


def test_no_tool_takes_an_argument_that_it_does_not_list(httpserver: Any) -> None:
    api = AgentApi(httpserver.url_for("").rstrip("/"), "svca_test_x")
    tools = anyio.run(server(api).list_tools)
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    for tool in tools:
        arguments = dict.fromkeys(tool.input_schema.get("required", []), "1")
        with pytest.raises(ToolError, match="Unknown field: colour"):
            anyio.run(server(api).call_tool, tool.name, {**arguments, "colour": "red"})
    refund = {"payment_id": "a", "idempotency_key": "k", "amount_atomic": "5"}
    with pytest.raises(ToolError, match=r"amount_atomic \(the nearest .* is amount\)"):
        anyio.run(server(api).call_tool, "refund_payment", refund)
    assert not httpserver.log


@pytest.mark.parametrize("credential", ["", "svc_sk_test_0000"])
def test_only_an_agents_credential_is_taken(
    credential: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.core.management import CommandError, call_command

    monkeypatch.setenv("TILLGATE_AGENT_CREDENTIAL", credential)
    with pytest.raises(CommandError):
        call_command("mcp")

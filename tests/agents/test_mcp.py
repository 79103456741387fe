"""A language model's tools, asked by the official client over standard input and output."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from apps.api.agentic.urls import ROUTES
from apps.console.mcp import server
from apps.console.providers.agent_api import AgentApi

ROOT = Path(__file__).resolve().parents[2]


def test_every_operation_of_agents_is_a_tool() -> None:
    tools = anyio.run(server(AgentApi("http://localhost:9", "svca_test_x")).list_tools)
    assert len(tools) == sum(len(route.scopes) for route in ROUTES)


def test_the_official_client_lists_and_calls_the_tools_of_a_running_server(httpserver: Any) -> None:
    httpserver.expect_request(
        "/api/v2/agentic/payments", method="POST", headers={"Authorization": "Bearer svca_test_secret"},
        json={"payment_intent": {"amount": "12.50", "currency": "EUR"}},
    ).respond_with_json({"error": {"message": "Too many requests", "code": "rate_limited"}}, status=429)  # fmt: skip

    async def play() -> tuple[set[str], Any]:
        environment = {**os.environ, "TILLGATE_AGENT_CREDENTIAL": "svca_test_secret", "PUBLIC_URL": httpserver.url_for("").rstrip("/")}
        command = StdioServerParameters(command=sys.executable, args=[str(ROOT / "manage.py"), "mcp"], env=environment, cwd=str(ROOT))
        async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            names = {tool.name for tool in (await session.list_tools()).tools}
            return names, await session.call_tool("create_payment", {"amount": "12.50", "currency": "EUR"})

    names, answer = anyio.run(play)
    assert {"create_payment", "send_payout", "create_settlement", "get_balances"} <= names
    told = json.loads(answer.content[0].text)
    assert (told["status"], told["body"]["error"]["code"]) == (429, "rate_limited")


@pytest.mark.parametrize("credential", ["", "svc_sk_test_0000"])
def test_only_an_agents_credential_is_taken(credential: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.core.management import CommandError, call_command

    monkeypatch.setenv("TILLGATE_AGENT_CREDENTIAL", credential)
    with pytest.raises(CommandError):
        call_command("mcp")

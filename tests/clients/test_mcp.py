"""Language models' hosts against a running service: the official client over HTTP, and over
standard input and output by `tillgate mcp` from the wheel; fastmcp and the inspector, which hold
every answer against the schema of its tool."""

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pytest_httpserver import HTTPServer

from apps.mcp.tools import TOOLS
from tests.clients import hosts, wheel
from tests.stack import Demo

Connect = Callable[[], AbstractAsyncContextManager[Any]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.install(tmp_path_factory.mktemp("mcp"), "[cli]").parent / "tillgate"


@pytest.fixture(scope="module")
def agent(demo: Demo) -> str:
    return str(demo.info["store"]["agents"]["test"])


async def story(connect: Connect) -> tuple[set[str], list[Any]]:
    """A payment made twice with one key, and a refused payout."""
    async with connect() as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        order = {"amount": "12.50", "currency": "EUR", "idempotency_key": os.urandom(8).hex()}
        payout = {
            "asset_id": "SETH",
            "amount_atomic": "1",
            "destination_address": "nowhere",
            "idempotency_key": "k",
        }
        results = [
            await session.call_tool("create_payment", order),
            await session.call_tool("create_payment", order),
            await session.call_tool("send_payout", payout),
        ]
        return tools, results


def check(tools: set[str], results: list[Any]) -> None:
    assert tools == {tool.name for tool in TOOLS}
    first, second, payout = results
    assert (first.is_error, second.is_error, payout.is_error) == (False, False, True)
    assert first.structured_content["id"] == second.structured_content["id"]
    assert first.structured_content["settlement_amount"] == "12.50"
    assert payout.content[0].text.endswith(").")


def test_the_official_client_pays_over_http(demo: Demo, agent: str) -> None:
    async def play() -> Any:
        headers = {"Authorization": f"Bearer {agent}"}
        async with httpx2.AsyncClient(headers=headers) as client:
            return await story(
                lambda: streamable_http_client(f"{demo.info['base_url']}/mcp", http_client=client)
            )

    check(*anyio.run(play))


def test_the_official_client_pays_by_the_command_line_of_the_wheel(
    demo: Demo, agent: str, program: Path, tmp_path: Path
) -> None:
    command = StdioServerParameters(
        command=str(program),
        args=["mcp"],
        env={
            "TILLGATE_URL": demo.info["base_url"],
            "TILLGATE_AGENT_CREDENTIAL": agent,
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
        },
    )
    check(*anyio.run(story, lambda: stdio_client(command)))


@pytest.mark.whole
def test_fastmcp_gets_a_typed_record_and_raises_what_is_refused(demo: Demo, agent: str) -> None:
    done = subprocess.run(
        [hosts.fastmcp(), "-c", hosts.FASTMCP_STORY, f"{demo.info['base_url']}/mcp", agent],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout)
    assert told["tools"] == len(TOOLS)
    assert told["amount"] == "12.50" and told["first"] == told["second"]
    assert told["refused"].endswith(").") and told["unknown"].startswith("Unknown field: colour")


@pytest.mark.whole
def test_the_inspector_shows_a_record_and_ends_with_an_error_for_a_refusal(
    demo: Demo, agent: str
) -> None:
    def inspect(*arguments: str) -> tuple[int, Any]:
        headers = ("--header", f"Authorization: Bearer {agent}")
        where = (f"{demo.info['base_url']}/mcp", "--transport", "http", *headers)
        done = subprocess.run(
            [*hosts.inspector(), "--cli", *where, "--method", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, json.loads(done.stdout or "null")

    def call(tool: str, **arguments: str) -> tuple[int, Any]:
        # In quotes: digits alone would be sent as a number.
        pairs = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
        each = [part for pair in pairs for part in ("--tool-arg", pair)]
        return inspect("tools/call", "--tool-name", tool, *each)

    code, listed = inspect("tools/list")
    assert code == 0 and {tool["name"] for tool in listed["tools"]} == {tool.name for tool in TOOLS}
    code, made = call("create_payment", amount="12.50", currency="EUR", idempotency_key="inspected")
    assert code == 0 and made["structuredContent"]["settlement_amount"] == "12.50"
    code, refused = call(
        "send_payout",
        asset_id="SETH",
        amount_atomic="1",
        destination_address="nowhere",
        idempotency_key="k",
    )
    assert code != 0
    assert refused["isError"] is True and refused["content"][0]["text"].endswith(").")


def test_a_service_that_is_away_is_an_error_of_the_tool(program: Path, tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=str(program),
        args=["mcp"],
        env={
            "TILLGATE_URL": "http://127.0.0.1:9",
            "TILLGATE_AGENT_CREDENTIAL": "svca_test_x",
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
        },
    )

    async def play() -> str:
        async with stdio_client(command) as streams, ClientSession(*streams) as session:
            with pytest.raises(Exception, match="can't be reached") as refusal:
                await session.initialize()
            return str(refusal.value)

    assert "svca_" not in anyio.run(play)


@pytest.mark.parametrize(
    ("status", "is_known"), [(401, True), (403, True), (429, True), (500, False), (503, False)]
)
def test_a_call_that_was_refused_is_not_said_to_have_an_unknown_outcome(
    httpserver: HTTPServer, program: Path, tmp_path: Path, status: int, is_known: bool
) -> None:
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Not now"}}
    httpserver.expect_request("/mcp").respond_with_json(refused, status=status)
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "send_payout"}}
    run = subprocess.run(
        [str(program), "mcp"],
        input=json.dumps(call) + "\n",
        env={
            "TILLGATE_URL": httpserver.url_for(""),
            "TILLGATE_AGENT_CREDENTIAL": "svca_test_x",
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    answer = json.loads(run.stdout)
    text = answer["result"]["content"][0]["text"]
    assert (answer["id"], answer["result"]["isError"]) == (7, True)
    assert text.startswith("Not now.")
    assert ("outcome is unknown" not in text) is is_known

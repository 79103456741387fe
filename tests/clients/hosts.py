"""Foreign programs of agents, each in a folder of its own that all workers of a run share: fastmcp
from PyPI, the inspector from npm with a Node of its own, and npm's client of x402."""

import fcntl
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from dev import embedded
from tests.clients import npm

FASTMCP = "fastmcp==4.2.3"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
NODE = "node@22"  # which the inspector asks for
SECONDS = 300
Command = Sequence[str | Path]
FASTMCP_STORY = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError

address, agent = sys.argv[1:]
order = {"amount": "12.50", "currency": "EUR", "idempotency_key": "fastmcp"}
payout = {"asset_id": "SETH", "amount_atomic": "1", "destination_address": "nowhere"}


async def refused(client, tool, arguments):
    try:
        await client.call_tool(tool, arguments)
    except ToolError as error:
        return str(error)
    return ""


async def story():
    transport = StreamableHttpTransport(address, headers={"Authorization": f"Bearer {agent}"})
    async with Client(transport) as client:
        first, second = [await client.call_tool("create_payment", order) for _ in range(2)]
        return {
            "tools": len(await client.list_tools()),
            "first": str(first.data.id),
            "second": str(second.data.id),
            "amount": first.data.settlement_amount,
            "refused": await refused(client, "send_payout", {**payout, "idempotency_key": "k"}),
            "unknown": await refused(client, "create_payment", {**order, "colour": "red"}),
        }


print(json.dumps(asyncio.run(story())))
"""


@cache
def fastmcp() -> Path:
    """The Python of an environment that has it."""

    def make(place: Path) -> list[Command]:
        uv = Path(sys.executable).parent / "uv"
        return [
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, place / "environment"],
            [uv, "pip", "install", "--quiet", "--python", place / "environment", FASTMCP],
        ]

    return _folder("fastmcp", FASTMCP, make) / "environment" / "bin" / "python"


@cache
def inspector() -> tuple[Path, Path]:
    """Node, and the program."""
    npm.require_node()

    def make(place: Path) -> list[Command]:
        (place / "package.json").write_text('{"private": true}')
        install: list[str | Path] = [
            "npm",
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--prefix",
            place,
        ]
        return [[*install, NODE], [*install, "--ignore-scripts", INSPECTOR]]

    programs = _folder("inspector", f"{NODE} {INSPECTOR}", make) / "node_modules" / ".bin"
    return programs / "node", programs / "mcp-inspector"


X402 = ("@x402/fetch@2.27.0", "@x402/evm@2.27.0", "viem@2.57.20")
X402_STORY = """
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { registerExactEvmScheme } from "@x402/evm/exact/client";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [address, allowed] = process.argv.slice(2);
const client = new x402Client();
registerExactEvmScheme(client, { signer: privateKeyToAccount(generatePrivateKey()) });
if (allowed) client.setSpendControls({ allowedAssets: true, maxAmountPerPayment: "$5" });
const answer = await wrapFetchWithPayment(fetch, client)(address);
console.log(JSON.stringify({ status: answer.status, body: await answer.json() }));
"""


@cache
def x402_fetch() -> Path:
    """A folder with pay.mjs, which pays what an address asks for."""
    npm.require_node()

    def make(place: Path) -> list[Command]:
        (place / "package.json").write_text('{"private": true, "type": "module"}')
        quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
        return [["npm", "install", *quiet, "--prefix", place, *X402]]

    place = _folder("x402", " ".join(X402), make)
    (place / "pay.mjs").write_text(X402_STORY)
    return place


def _folder(name: str, version: str, make: Callable[[Path], Sequence[Command]]) -> Path:
    place = embedded.var_folder(embedded.TEST).parent / f"clients-{name}"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = place / ".installed"
        if not stamp.exists() or stamp.read_text() != version:
            for command in make(place):
                _fetch(command)
            stamp.write_text(version)
    return place


def _fetch(command: Command) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    told = done.stdout + done.stderr
    if done.returncode and any(word in told for word in npm.UNREACHABLE):
        pytest.skip("no package can be fetched here")
    assert done.returncode == 0, told[-4000:]

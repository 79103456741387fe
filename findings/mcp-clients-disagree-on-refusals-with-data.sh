#!/usr/bin/env bash
# MCP clients: mcp 2.3.0 (PyPI), @modelcontextprotocol/sdk 1.32.2 and inspector 2.12.0 (npm).
#
# Seen: a tool with an output schema refuses (isError) with a sentence and, as data, the code of the
# refusal. The Python client hands both over. The TypeScript client and the inspector hold the data of
# the refusal against the schema of successes and raise an error of their own; the sentence is gone.
#
# Most expect: the output schema to be that of results, and isError to be passed on, as in Python.
#
# Why it matters: an agent that is told why a payment was refused can mend it; one that reads that a
# property is missing tries again. A server's refusals should have no structured content.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/inspector@2.12.0 \
    @modelcontextprotocol/sdk@1.32.2 >/dev/null
npm ls --depth=0 | grep modelcontextprotocol
python3 -m venv venv
./venv/bin/pip install --quiet mcp==2.3.0 2>/dev/null
./venv/bin/pip list 2>/dev/null | grep '^mcp '
cat >server.mjs <<'JS'
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "shop", version: "1" }, { capabilities: { tools: {} } });
const buy = {
  name: "buy",
  description: "Buy one",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [buy] }));
server.setRequestHandler(CallToolRequestSchema, async () => ({
  isError: true,
  content: [{ type: "text", text: "The daily limit is reached" }],
  structuredContent: { code: "limit_reached" },
}));
await server.connect(new StdioServerTransport());
JS
cat >client.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "agent", version: "1" });
await client.connect(new StdioClientTransport({ command: "node", args: ["server.mjs"] }));
await client.listTools();
try {
  const result = await client.callTool({ name: "buy", arguments: {} });
  console.log("TypeScript:", result.isError, result.content[0].text);
} catch (error) {
  console.log("TypeScript:", error.message.split(": ").pop());
}
await client.close();
JS
cat >client.py <<'PY'
import asyncio

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command="node", args=["server.mjs"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await session.list_tools()
        result = await session.call_tool("buy", {})
        print("Python:", result.is_error, result.content[0].text)


asyncio.run(main())
PY
seen=$(
    ./venv/bin/python client.py
    node client.mjs
    npx mcp-inspector --cli node server.mjs --method tools/call --tool-name buy 2>&1 |
        grep -o "data must have required property 'id'" | head -1 | sed 's/^/inspector: /' || true
)
echo "$seen"
[ "$seen" = "Python: True The daily limit is reached
TypeScript: data must have required property 'id'
inspector: data must have required property 'id'" ] || { echo "no longer as described"; exit 1; }
echo "as described"

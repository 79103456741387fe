"""BTCPay Server's clients, unmodified from their registries, against a running service.

    python -m tests.clients.greenfield http://localhost:8000 KEY STORE_ID

Each is installed in a folder of its own and sells once: it creates an invoice, reads and lists it,
registers a webhook where it can, and marks the invoice invalid. KEY is a test key of a store whose
BTCPay API is on.
"""

import json
import os
import subprocess  # nosec
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

SECONDS = 300
# The client of an MCP server for BTCPay: kept up in 2026.
MCP = "btcpay-mcp==0.3.0"
MCP_STORY = """
import json, sys
from btcpay_mcp.client import BTCPayClient, BTCPayAPIError

base, key, store = sys.argv[1:]
client = BTCPayClient(base, key, store)
made = client.create_invoice("12.50", "EUR", order_id="mcp-1", item_desc="Two loaves")
read = client.get_invoice(made["id"])
methods = client.get_invoice_payment_methods(made["id"])
listed = client.list_invoices(status="New")
try:
    client.create_invoice("0", "EUR")
    refused = ""
except BTCPayAPIError as error:
    refused = str(error)
print(json.dumps({
    "id": made["id"], "status": read["status"], "order": read["metadata"]["orderId"],
    "amount": read["amount"], "methods": len(methods), "refused": "422" in refused,
    "is_listed": made["id"] in [row["id"] for row in listed],
    "store": client.get_store_info()["id"] == store,
}))
"""
SDK = "btcpay-python-sdk==0.1.0"
SDK_STORY = """
import json, sys
import btcpay

base, key, store = sys.argv[1:]
btcpay.api_key, btcpay.host_url, btcpay.store_id = key, base + "/", store
from btcpay.resources.invoices import Invoices

made = Invoices.create_invoice(amount="12.50", currency="EUR", metadata={"orderId": "sdk-1"})
read = Invoices.get_invoice(made["id"])
marked = Invoices.mark_invoice_status(made["id"], "invalid")
print(json.dumps({
    "id": made["id"], "status": read["status"], "order": read["metadata"]["orderId"],
    "amount": read["amount"], "marked": marked["status"],
    "is_listed": made["id"] in [row["id"] for row in Invoices.get_invoices()],
}))
"""
NODE = "btcpay-greenfield-node-client@1.7.0"
NODE_STORY = """
const api = require("btcpay-greenfield-node-client");
const [base, key, storeId] = process.argv.slice(2);
api.OpenAPI.BASE = base;
api.OpenAPI.TOKEN = key;

(async () => {
  const { InvoicesService, WebhooksService } = api;
  const requestBody = { amount: "12.50", currency: "EUR", metadata: { orderId: "node-1" } };
  const made = await InvoicesService.invoicesCreateInvoice({ storeId, requestBody });
  const at = { storeId, invoiceId: made.id };
  const read = await InvoicesService.invoicesGetInvoice(at);
  const methods = await InvoicesService.invoicesGetInvoicePaymentMethods(at);
  const listed = await InvoicesService.invoicesGetInvoices({ storeId });
  const marked = await InvoicesService.invoicesMarkInvoiceStatus({
    ...at, requestBody: { status: "Invalid" },
  });
  console.log(JSON.stringify({
    id: made.id, status: read.status, order: read.metadata.orderId, amount: read.amount,
    methods: methods.length, is_listed: listed.some((row) => row.id === made.id),
    marked: marked.status,
  }));
})().catch((error) => { console.error(error); process.exit(1); });
"""


def python_client(package: str, story: str, *further: str) -> Callable[..., str]:
    """A client with what it asks for, and the versions of that which it runs with."""

    def run(place: Path, arguments: list[str]) -> str:
        uv = Path(sys.executable).parent / "uv"
        target = place / "packages"
        _run([uv, "pip", "install", "--quiet", "--target", target, package, *further])
        (place / "story.py").write_text(story)
        return _run([sys.executable, place / "story.py", *arguments], PYTHONPATH=str(target))

    return run


def node_client(place: Path, arguments: list[str]) -> str:
    (place / "package.json").write_text('{"private": true}')
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
    _run(["npm", "install", *quiet, "--prefix", place, NODE])
    (place / "story.js").write_text(NODE_STORY)
    return _run(["node", place / "story.js", *arguments])


CLIENTS: Mapping[str, Callable[..., str]] = {
    # It imports what mcp 2 has renamed, and asks for 1.0 or later.
    MCP: python_client(MCP, MCP_STORY, "mcp<2"),
    SDK: python_client(SDK, SDK_STORY, "requests"),
    NODE: node_client,
}
EXPECTED = {"status": "New", "amount": "12.50", "is_listed": True}


def _run(command: list[str | Path], **environment: str) -> str:
    """Output of the program. Raises CalledProcessError."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **environment},
    )
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr[-2000:]}")
    return done.stdout


def main() -> None:
    server, key, store_id = sys.argv[1:]
    for name, client in CLIENTS.items():
        with tempfile.TemporaryDirectory() as folder:
            base = f"{server.rstrip('/')}/compat/btcpay"
            told = json.loads(client(Path(folder), [base, key, store_id]))
        print(name, json.dumps(told))
        wrong = {key: told.get(key) for key, value in EXPECTED.items() if told.get(key) != value}
        if wrong or told.get("marked", "Invalid") != "Invalid" or told.get("refused") is False:
            sys.exit(f"{name} found something else: {wrong or told}")


if __name__ == "__main__":
    main()

"""Clients of BitPay's API, unmodified from their registries, against a demo of the service.

    python -m tests.clients.bitpay [what `demo --json` of a running one printed]

Each is installed in a folder of its own, asks to be paired, is approved in the dashboard in a real
browser, and sells once: it creates an invoice, reads and lists it, sees it paid, has it refunded,
and cancels another, as far as it can.
"""

import json
import subprocess  # nosec
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, sync_playwright

from dev import machine
from tests.browser.judging import FLAGS
from tests.shops.owner import DashboardOwner
from tests.shops.parts import Service
from tests.stack import Demo

# A story prints its pairing code, waits for a line, prints the id of its invoice, waits until it is
# paid, and prints what it found.
BTCPAY = "btcpay-python==1.3.0"
BTCPAY_STORY = """
import json, sys
import requests
from btcpay import BTCPayClient, crypto

base = sys.argv[1]
pem = crypto.generate_privkey()
asked = requests.post(base + "/tokens", json={
    "id": crypto.get_sin_from_pem(pem), "label": "btcpay-python", "facade": "merchant",
}).json()["data"][0]
print(asked["pairingCode"], flush=True); input()
client = BTCPayClient(host=base, pem=pem, tokens={"merchant": asked["token"]})
made = client.create_invoice({"price": 12.5, "currency": "EUR", "orderId": "python-1"})
print(made["id"], flush=True); input()
read = client.get_invoice(made["id"])
try:
    client.create_invoice({"price": 0, "currency": "EUR"})
    refused = ""
except requests.HTTPError as error:
    refused = str(error)
print(json.dumps({
    "new": made["status"], "paid": read["status"], "order": read["orderId"],
    "price": read["price"], "refused": "010102" in refused,
    "is_listed": made["id"] in [row["id"] for row in client.get_invoices(order_id="python-1")],
}))
"""
PYTHON = "bitpay==8.0.3"
PYTHON_STORY = """
import json, sys
import requests
from bitpay.client import Client
from bitpay.clients.bitpay_client import BitPayClient
from bitpay.exceptions.bitpay_api_exception import BitPayApiException
from bitpay.models.invoice.invoice import Invoice
from bitpay.utils import key_utils
from bitpay.utils.token_container import TokenContainer

base = sys.argv[1]
pem = key_utils.generate_pem()
asked = requests.post(base + "/tokens", json={
    "id": key_utils.get_sin_from_pem(pem), "label": "bitpay", "facade": "merchant",
}).json()["data"][0]
print(asked["pairingCode"], flush=True); input()
tokens = TokenContainer()
tokens.add_merchant(asked["token"])
client = Client(BitPayClient(base + "/", pem), tokens)
order = Invoice(price=12.5, currency="EUR")
order.order_id = "python-2"
made = client.create_invoice(order)
print(made.id, flush=True); input()
read = client.get_invoice(made.id)
by_guid = client.get_invoice_by_guid(made.guid)
refund = client.create_refund(made.id, 5.0)
known = client.get_refund(refund.id)
canceled = client.cancel_invoice(client.create_invoice(Invoice(price=3.0, currency="EUR")).id)
listed = client.get_invoices("2020-01-01", "2099-01-01", order_id="python-2")
try:
    client.create_invoice(Invoice(price=0.001, currency="EUR"))
    refused = ""
except BitPayApiException as error:
    refused = error.get_code()
print(json.dumps({
    "new": made.status, "paid": read.status, "order": read.order_id, "price": read.price,
    "is_same": by_guid.id == made.id, "refund": [known.amount, known.currency],
    "canceled": canceled.status, "refused": refused == "010102",
    "is_listed": made.id in [row.id for row in listed],
}))
"""
NODE = "bitpay-sdk@8.0.4"
NODE_STORY = """
const readline = require("node:readline");
const { Client, TokenContainer, Facade, KeyUtils } = require("bitpay-sdk");
const { BitPayClient } = require("bitpay-sdk/client");

const base = process.argv[2];
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

(async () => {
  const utils = new KeyUtils();
  const key = utils.generate_keypair();
  const identity = key.getPublic().encodeCompressed("hex");
  const id = utils.get_sin_from_key(key);
  const told = await fetch(`${base}/tokens`, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, label: "bitpay-sdk", facade: "merchant" }),
  });
  const asked = (await told.json()).data[0];
  console.log(asked.pairingCode); await lines.next();
  const tokens = new TokenContainer();
  tokens.add(Facade.Merchant, asked.token);
  const door = new BitPayClient(`${base}/`, key, identity);
  const client = new Client(null, null, tokens, null, undefined, undefined, door);
  const made = await client.createInvoice({ price: 12.5, currency: "EUR", orderId: "node-1" });
  console.log(made.id); await lines.next();
  const read = await client.getInvoice(made.id);
  const byGuid = await client.getInvoiceByGuid(made.guid);
  const refund = await client.createRefund({ invoice: made.id, amount: 5, currency: "EUR" });
  const known = await client.getRefund(refund.id);
  const other = await client.createInvoice({ price: 3, currency: "EUR" });
  const canceled = await client.cancelInvoice(other.id);
  const listed = await client.getInvoices({
    dateStart: "2020-01-01", dateEnd: "2099-01-01", orderId: "node-1",
  });
  let refused = "";
  try { await client.createInvoice({ price: 0.001, currency: "EUR" }); }
  catch (error) { refused = error.code; }
  console.log(JSON.stringify({
    new: made.status, paid: read.status, order: read.orderId, price: read.price,
    is_same: byGuid.id === made.id, refund: [known.amount, known.currency],
    canceled: canceled.status, refused: refused === "010102",
    is_listed: listed.some((row) => row.id === made.id),
  }));
  process.exit(0);
})().catch((error) => { console.error(error); process.exit(1); });
"""
STORIES: Mapping[str, str] = {BTCPAY: BTCPAY_STORY, PYTHON: PYTHON_STORY, NODE: NODE_STORY}
EXPECTED = {"new": "new", "paid": "complete", "price": 12.5, "is_listed": True, "refused": True}
FURTHER = {"is_same": True, "refund": [5.0, "EUR"], "canceled": "invalid"}
ALONE = (BTCPAY,)  # of which nothing further is expected


def installed(name: str, place: Path) -> list[str | Path]:
    """The command that tells the story of a client."""
    if name == NODE:
        (place / "package.json").write_text('{"private": true}')
        quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
        subprocess.run(["npm", "install", *quiet, "--prefix", place, name], check=True)
        (place / "story.js").write_text(STORIES[name])
        return ["node", place / "story.js"]
    python = place / "environment" / "bin" / "python"
    uv = Path(sys.executable).parent / "uv"
    subprocess.run([uv, "venv", "--quiet", place / "environment"], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, name], check=True)
    (place / "story.py").write_text(STORIES[name])
    return [python, place / "story.py"]


def tell(name: str, service: Service, owner: DashboardOwner, context: BrowserContext) -> bool:
    """Tell whether the client found what was expected."""
    base = f"{service.url}/compat/bitpay"
    with tempfile.TemporaryDirectory() as folder:
        story = subprocess.Popen(
            [*installed(name, Path(folder)), base],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert story.stdin is not None
        assert story.stdout is not None
        page = context.new_page()
        query = urlencode({"pairingCode": story.stdout.readline().strip()})
        page.goto(f"{base}/api-access-request?{query}")
        owner.approve(page)
        page.close()
        _go_on(story.stdin)
        service.pay(story.stdout.readline().strip(), confirmations=100)
        _go_on(story.stdin)
        said = story.stdout.readline()
        story.wait(60)
    print(name, said.strip(), flush=True)
    found = json.loads(said or "{}")
    expected = EXPECTED if name in ALONE else EXPECTED | FURTHER
    return expected == {word: found.get(word) for word in expected}


def _go_on(stdin: IO[str]) -> None:
    stdin.write("\n")
    stdin.flush()


def main() -> int:
    if sys.argv[1:]:
        return tell_all(Service(json.loads(Path(sys.argv[1]).read_text())))
    demo = Demo()
    try:
        return tell_all(Service(demo.info))
    finally:
        demo.stop()


def tell_all(service: Service) -> int:
    owner = DashboardOwner(service)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.chromium(), args=FLAGS)
        context = browser.new_context()
        page = context.new_page()
        owner.sign_in(page)
        owner.turn_on_compatible_apis(page)
        results = {name: tell(name, service, owner, context) for name in STORIES}
        browser.close()
    wrong = [name for name, is_right in results.items() if not is_right]
    print(f"{len(results) - len(wrong)} as expected; otherwise: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

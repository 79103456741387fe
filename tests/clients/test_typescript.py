"""The TypeScript client: generated from the description as it is, and used from its tarball against
a running Tillgate."""

import json
import re
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from apps.api.description import _document
from apps.webhooks import signing
from dev.ports import free_port
from tests import snippets
from tests.clients import npm
from tests.stack import Demo

SECRETS = [f"whsec_{character * 64}" for character in "0af"]
BODIES = [
    '{"id":"%s","type":"payment_intent.completed","data":{"object":{"id":"K2J9"}}}',
    '{"id":"%s","type":"invoice.paid","data":{"object":{"notes":"Ä ☕ مرحبا \\u0000"}}}',
    '{"id":"%s","type":"store.deleted","data":{"object":{}}}',
]
# Sent once by the client's own methods, or by call(): the price of a generated table is that nobody
# forgets a line of it.
METHOD = re.compile(r'api\.(?:call|download)\(\s*"(\w+)"')


def vectors() -> list[dict[str, Any]]:
    """Deliveries as the service signs them at this moment."""
    made = []
    for secret, template in zip(SECRETS, BODIES, strict=True):
        event = uuid.uuid4()
        body = template % event
        made.append(
            {
                "secret": secret,
                "body": body,
                "headers": signing.signatures(secret, event, body.encode(), int(time.time())),
            }
        )
    return made


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    return npm.install(tmp_path)


def test_what_is_committed_is_what_the_description_gives(tmp_path: Path) -> None:
    description = tmp_path / "openapi.json"
    description.write_bytes(_document())
    npm.run(["node", "scripts/generate.mjs", str(description), str(tmp_path)], npm.package())
    for name in ("openapi.ts", "operations.ts"):
        assert (npm.SOURCES / "src" / name).read_text() == (tmp_path / name).read_text(), (
            f"run `npm run generate`: {name}"
        )


def test_every_operation_has_a_method() -> None:
    table = (npm.SOURCES / "src" / "operations.ts").read_text()
    operations = set(re.findall(r"^  (\w+): \{", table, re.MULTILINE))
    called = {
        name
        for path in (npm.SOURCES / "src").glob("*.ts")
        for name in METHOD.findall(path.read_text())
    }
    assert called == operations


def test_the_lock_names_no_host() -> None:
    lock = json.loads((npm.SOURCES / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages and not [name for name, package in packages.items() if "resolved" in package]
    assert all("integrity" in package for package in packages.values())


def test_the_package_has_no_dependencies_and_holds_its_types(installed: Path) -> None:
    assert [
        path.name
        for path in (installed / "node_modules").iterdir()
        if not path.name.startswith(".")
    ] == ["tillgate"]
    names = {path.name for path in (installed / "node_modules" / "tillgate" / "dist").iterdir()}
    assert {"index.js", "index.d.ts", "openapi.d.ts"} <= names


def test_it_verifies_deliveries_and_says_what_a_wrong_call_lacks(installed: Path) -> None:
    told = installed / "vectors.json"
    told.write_text(json.dumps(vectors()))
    name = "webhooks.test.mjs"
    (installed / name).write_text((npm.package() / "test" / name).read_text())
    environment = {"TILLGATE_TOOLS": str(npm.package()), "TILLGATE_VECTORS": str(told)}
    done = npm.run(["node", "--test", "--test-reporter=tap", name], installed, environment)
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


COMMONJS = """
import { Tillgate, TillgateError, verifyWebhook } from "tillgate";
const tillgate: Tillgate = new Tillgate({ apiKey: "x", baseUrl: "http://localhost" });
verifyWebhook("{}", "t=1,v1=00", "whsec_00").catch((error: Error) => {
  console.log(typeof tillgate.payments.cancel, TillgateError.name, error.name);
});
"""


def test_a_commonjs_project_requires_it_and_compiles_against_it(installed: Path) -> None:
    (installed / "package.json").write_text('{"private": true, "type": "commonjs"}')
    (installed / "shop.ts").write_text(COMMONJS)
    npm.compile_typescript(installed, "shop.ts")
    compiled = (installed / "shop.js").read_text()
    assert 'require("tillgate")' in compiled
    done = npm.run(["node", "shop.js"], installed)
    assert done.stdout.split() == ["function", "TillgateError", "WebhookVerificationError"]


@pytest.mark.whole  # in the suite the quickstart in TypeScript pays a payment there
def test_it_works_against_a_running_service(demo: Demo, installed: Path) -> None:
    told = installed / "vectors.json"
    told.write_text(json.dumps(vectors()))
    for path in sorted((npm.package() / "test").glob("*.test.mjs")):
        (installed / path.name).write_text(path.read_text())
    environment = {
        "TILLGATE_URL": demo.info["base_url"],
        "TILLGATE_KEY": demo.info["store"]["keys"]["test"]["secret"],
        "TILLGATE_TOOLS": str(npm.package()),
        "TILLGATE_VECTORS": str(told),
    }
    names = sorted(path.name for path in installed.glob("*.test.mjs"))
    done = npm.run(["node", "--test", "--test-reporter=tap", *names], installed, environment)
    assert (
        re.search(r"^# pass [1-9]\d+$", done.stdout, re.MULTILINE) and "# skipped 0" in done.stdout
    )


WRONG = """
import { Tillgate } from "tillgate";
const tillgate = new Tillgate({ apiKey: "x", baseUrl: "http://localhost" });
await tillgate.payments.create({ amount: 10, currency: "EUR" });
await tillgate.payments.create({ amount: "10.00" });
await tillgate.payments.list({ status: "paid", sort: "up" });
(await tillgate.payments.retrieve("one")).totel;
await tillgate.payments.simulate("one", { scenario: "nothing" });
"""


def test_types_refuse_what_the_api_would(installed: Path) -> None:
    (installed / "wrong.ts").write_text(WRONG)
    with pytest.raises(AssertionError) as refused:
        npm.compile_typescript(installed, "wrong.ts")
    lines = set(map(int, re.findall(r"wrong\.ts\((\d+),", str(refused.value))))
    assert lines == {4, 5, 6, 7, 8}


@pytest.mark.whole  # in the suite those of the quickstart
def test_the_examples_of_its_readme_run(demo: Demo, installed: Path) -> None:
    reader = snippets.Reader(
        demo.info["base_url"], demo.info["store"]["keys"]["test"]["secret"], free_port(), installed
    )
    blocks = [
        snippet
        for snippet in snippets.snippets(npm.SOURCES / "README.md")
        if snippet.language == "ts"
    ]
    told = snippets.run(blocks, reader)
    assert "completed" in told and "invalid_request 422 null amount" in told

"""Every example of the guide is run word for word, in order, against a running Tillgate, or says
why it can't be."""

import json
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from apps.webhooks import signing
from dev.ports import free_port
from tests import snippets
from tests.clients import npm
from tests.snippets import Delivery, Reader, Snippet
from tests.stack import ROOT, Demo, Remote

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
RUN = {"sh": "bash", "python": "python3", "ts": "node", "php": "php", "ruby": "ruby", "go": "go"}
# What is read, not run.
SHOWN = {"text", "json", "html", "csv"}
SECRET = f"whsec_{'0a' * 32}"
WEBHOOKS, QUICKSTART, KEYS = (
    ROOT / "docs" / "guide" / f"{name}.md" for name in ("webhooks", "quickstart", "keys")
)


def blocks(path: Path, language: str) -> list[Snippet]:
    return [
        snippet
        for snippet in snippets.snippets(path)
        if snippet.language == language and not snippet.skip
    ]


# Compiling the examples in TypeScript takes seconds: the suite runs those of the quickstart.
CASES = [
    pytest.param(path, language, marks=pytest.mark.whole if language == "ts" else ())
    for path in PAGES
    for language in RUN
    if language != "go" and path not in (QUICKSTART, KEYS) and blocks(path, language)
]


@pytest.fixture(scope="module")
def prepared(demo: Demo) -> Demo:
    """The reader's store as the guide expects it: agents may draw on mandates, and nothing is
    scheduled yet."""
    store = demo.info["store"]
    set_up = demo.manage(
        "set_store", "--store", store["store"]["id"], "authorization_provider=policy"
    )
    assert set_up.returncode == 0, set_up.stderr
    api = Remote(demo.info["base_url"], store["keys"]["test"]["secret"])
    for schedule in api("GET", "/payout_schedules"):
        api("DELETE", f"/payout_schedules/{schedule['id']}")
    return demo


@pytest.fixture
def reader(prepared: Demo, tmp_path: Path) -> Reader:
    (tmp_path / "var").symlink_to(prepared.folder.name)
    store = prepared.info["store"]
    agent = {"TILLGATE_AGENT_CREDENTIAL": store["agents"]["test"]}
    return Reader(
        prepared.info["base_url"], store["keys"]["test"]["secret"], free_port(), tmp_path, agent
    )


def delivery(secret: str = SECRET, age: int = 0) -> Delivery:
    event = uuid.uuid4()
    body = json.dumps(
        {
            "id": str(event),
            "type": "payment_intent.completed",
            "data": {
                "object": {
                    "id": "K2J9",
                    "order_id": "A-1001",
                    "settlement_amount_cents": 1000,
                    "settlement_currency": "EUR",
                }
            },
        }
    )
    return Delivery(
        body, signing.signatures(secret, event, body.encode(), int(time.time()) - age), secret
    )


def need(language: str, folder: Path) -> None:
    """Skip the test unless the programs of the language are there."""
    if shutil.which(RUN[language]) is None:
        pytest.skip(f"{RUN[language]} isn't installed")
    if (
        language == "php"
        and "curl"
        not in subprocess.run(["php", "-m"], capture_output=True, text=True, check=True).stdout
    ):
        pytest.skip("php has no curl (Debian: php-curl)")
    if language == "ts":
        npm.install(folder)
        for name in ("stripe", "standardwebhooks", "@stablelib", "fast-sha256"):
            if (source := npm.package() / "node_modules" / name).exists():
                (folder / "node_modules" / name).symlink_to(source)


def test_every_example_is_run_or_says_why_not() -> None:
    for path in PAGES:
        for snippet in snippets.snippets(path):
            assert snippet.language in {*RUN, *SHOWN} or snippet.skip, snippet.place
            assert not snippet.skip or len(snippet.skip.split()) >= 4, snippet.place


@pytest.mark.parametrize(
    ("path", "language"), CASES, ids=lambda one: one.stem if isinstance(one, Path) else one
)
def test_the_examples_of_a_page_run(
    path: Path, language: str, reader: Reader, tmp_path: Path
) -> None:
    need(language, tmp_path)
    snippets.run(blocks(path, language), reader, delivery())


@pytest.mark.parametrize("language", ["sh", "python", "ts", "php"])
def test_the_quickstart_pays_a_payment(language: str, reader: Reader, tmp_path: Path) -> None:
    need(language, tmp_path)
    told = snippets.run(blocks(QUICKSTART, language), reader)
    assert "completed" in told
    assert language == "sh" or "payment_intent.completed" in told, "its receiver has heard of it"


@pytest.mark.parametrize(
    "languages",
    [
        ("python", "python", "sh", "python"),
        ("sh", "sh"),
        pytest.param(("ts", "python", "ts", "sh"), marks=pytest.mark.whole),
        ("php", "python", "php"),
    ],
    ids="-".join,
)
def test_the_quickstart_runs_again_and_in_another_language(
    languages: tuple[str, ...], reader: Reader, tmp_path: Path
) -> None:
    """In one store, at one receiver, with a key of no more scopes than the page names."""
    api = Remote(reader.base_url, reader.key)
    payments = set()
    for number, language in enumerate(languages):
        folder = tmp_path / str(number)
        folder.mkdir()
        need(language, folder)
        run = replace(reader, folder=folder, variables={}, ids={})
        told = snippets.run(blocks(QUICKSTART, language), run)
        assert "completed" in told, language
        assert language == "sh" or "payment_intent.completed" in told, language
        payments.add(run.ids.get("PAYMENT_ID") or told)
        url = f"http://localhost:{reader.port}"
        mine = [row for row in api("GET", "/webhook_endpoints") if row["url"] == url]
        assert len(mine) == 1, language
    assert len(payments) == len(languages), "each run paid a payment of its own"


@pytest.mark.parametrize("language", ["python", pytest.param("ts", marks=pytest.mark.whole), "php"])
def test_the_service_takes_an_amount_that_each_language_signs(
    language: str, reader: Reader, demo: Demo, tmp_path: Path
) -> None:
    need(language, tmp_path)
    told = snippets.run(blocks(KEYS, language), reader)
    (signature,) = re.findall(r"\b[0-9a-f]{64}\b", told)
    page = Remote(reader.base_url, demo.info["store"]["keys"]["test"]["publishable"])
    order = {"amount": "49.00", "currency": "EUR", "order_id": "A-1001"}
    made = page("POST", "/payments", {"payment_intent": {**order, "amount_signature": signature}})
    assert made["created_with"] == "signed_amount"


# How each language asks its function about a delivery: body and secret in files, the header as an
# argument.
ASKED: dict[str, str] = {
    "python": (
        "import sys\nprint(is_genuine(open('body', 'rb').read(), sys.argv[1],"
        " open('secret').read()))"
    ),
    "ts": (
        'import { readFileSync } from "node:fs";\nconsole.log(isGenuine(readFileSync("body"),'
        ' process.argv[2] ?? "", readFileSync("secret", "utf8")) ? "True" : "False");'
    ),
    "php": (
        "echo is_genuine(file_get_contents('body'), $argv[1], file_get_contents('secret')) ? 'True'"
        " : 'False';"
    ),
    "ruby": "puts genuine?(File.binread('body'), ARGV[0], File.read('secret')) ? 'True' : 'False'",
    "go": (
        'func main() { body, _ := os.ReadFile("body"); secret, _ :='
        ' os.ReadFile("secret"); if isGenuine(body, os.Args[1], string(secret)) {'
        ' fmt.Println("True") } else { fmt.Println("False") } }'
    ),
    "sh": 'is_genuine body "$1" "$(cat secret)" && echo True || echo False',
}
FILES = {"python": "ask.py", "ts": "ask.ts", "php": "ask.php", "ruby": "ask.rb", "sh": "ask.sh"} | {
    "go": "ask.go"
}
ASK: dict[str, Callable[[str], list[str]]] = {
    "python": lambda header: ["python3", "ask.py", header],
    "ts": lambda header: ["node", "ask.js", header],
    "php": lambda header: ["php", "ask.php", header],
    "ruby": lambda header: ["ruby", "ask.rb", header],
    "go": lambda header: ["./ask", header],
    "sh": lambda header: ["bash", "ask.sh", header],
}
# Headers that nobody signed; a sample answers no, without a word on its standard error.
HOSTILE = (
    "",
    "v1",
    "t",
    "=",
    ",",
    "t=",
    "t=,v1=",
    "t=1,,v1=2",
    "t[]=1,v1[]=2",
    "t=\u00b2,v1=00",
    "t=-1,v1=00",
    "t=1e9,v1=00",
    "t=" + "9" * 40 + ",v1=00",
    "v1=zz,t=0",
    "a=b=c,__proto__=1,constructor=2",
)


@pytest.mark.parametrize("language", list(ASKED))
def test_each_language_tells_genuine_deliveries_from_others(language: str, tmp_path: Path) -> None:
    need(language, tmp_path)
    (function,) = (block for block in blocks(WEBHOOKS, language) if "genuine" in block.code.lower())
    first = {"php": "<?php\n", "go": 'package main\n\nimport ("fmt"; "os")\n'}.get(language, "")
    (tmp_path / FILES[language]).write_text(f"{first}{function.code}\n{ASKED[language]}\n")
    if language == "ts":
        npm.strip_types(tmp_path, "ask.ts")  # the page's examples are checked where they run
    if language == "go":
        subprocess.run(["go", "build", "-o", "ask", "ask.go"], cwd=tmp_path, check=True)
    genuine = delivery()
    old = delivery(age=301)
    header = genuine.headers["Service-Signature"]
    time_of, _, signature = header.partition(",v1=")
    cases = [
        (genuine, header, "True"),
        (replace(genuine, body=genuine.body + " "), header, "False"),
        (genuine, f"{time_of},v1={'0' * 64}", "False"),
        (genuine, f"{time_of},v1={signature[:-2]}", "False"),
        (genuine, f"t={int(time_of[2:]) - 1},v1={signature}", "False"),
        (genuine, delivery(secret=f"whsec_{'0b' * 32}").headers["Service-Signature"], "False"),
        (old, old.headers["Service-Signature"], "False"),
        *((genuine, hostile, "False") for hostile in HOSTILE),
    ]
    for case, given, expected in cases:
        (tmp_path / "body").write_text(case.body)
        (tmp_path / "secret").write_text(case.secret)
        done = subprocess.run(
            ASK[language](given), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.stdout.strip(), done.stderr) == (expected, ""), (given, case.body)

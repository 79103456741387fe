"""The command line as a newcomer has it: the wheel in an empty folder, a key, and a receiver on
their own computer."""

import json
import re
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import stripe
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook
from werkzeug import Request, Response

from tests.clients import wheel
from tests.clients.commands import SECONDS, Commands
from tests.clients.loaded import Loaded
from tests.clients.terminal import Terminal
from tests.stack import Demo
from tests.whole import usually


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel.install(tmp_path_factory.mktemp("cli"), "[cli]").parent / "tillgate"


@pytest.fixture(scope="module")
def loaded(program: Path) -> Iterator[Loaded]:
    running = Loaded(program)
    yield running
    running.end()


@pytest.fixture
def key(demo: Demo) -> str:
    return str(demo.info["store"]["keys"]["test"]["secret"])


@pytest.fixture
def stranger(commands: Commands, program: Path, loaded: Loaded, tmp_path: Path) -> Terminal:
    """Has signed in nowhere."""
    return Terminal(commands, program, tmp_path, loaded)


@pytest.fixture(scope="module")
def signed_in(program: Path, demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of somebody who has signed in and done nothing else."""
    home = tmp_path_factory.mktemp("home")
    key = demo.info["store"]["keys"]["test"]["secret"]
    Terminal(Commands(), program, home)("--url", demo.info["base_url"], "login", input=f"{key}\n")
    return home


@pytest.fixture
def terminal(stranger: Terminal, signed_in: Path) -> Terminal:
    """A home of its own like that one, with the permissions of its files."""
    shutil.copytree(signed_in, stranger.home, dirs_exist_ok=True)
    return stranger


@pytest.fixture
def receiver() -> Iterator[HTTPServer]:
    with HTTPServer(host="127.0.0.1") as server:
        yield server


def listening(terminal: Terminal, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """`listen` once it is ready, and its secret."""
    process = terminal.start("listen", "--interval", "0.3", *arguments)
    assert process.stderr is not None
    ready = process.stderr.readline()
    found = re.search(r"Ready\. Your webhook signing secret is (whsec_[0-9a-f]{64})", ready)
    assert found, ready
    return process, found[1]


def test_from_an_empty_folder_to_a_verified_webhook(
    terminal: Terminal, receiver: HTTPServer
) -> None:
    terminal.loaded = None
    got: list[Request] = []

    def take(request: Request) -> Response:
        got.append(request)
        return Response(status=204)

    receiver.expect_request("/hooks").respond_with_handler(take)
    wanted = "payment_intent.created,payment_intent.completed"
    process, secret = listening(
        terminal, "--forward-to", receiver.url_for("/hooks"), "--events", wanted, "--count", "2"
    )

    made = terminal.json("payments", "create", "12.50", "EUR", "--title", "Coffee")
    assert "completed" in terminal("pay", made["reference"], "--scenario", "exact").stdout

    told, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert re.findall(r"(payment_intent\.\w+)  (\w+)  -> (\d+)", told) == [
        ("payment_intent.created", made["reference"], "204"),
        ("payment_intent.completed", made["reference"], "204"),
    ]
    assert [json.loads(item.data)["type"] for item in got] == wanted.split(",")
    for item in got:
        stripe.WebhookSignature.verify_header(
            item.data.decode(), item.headers["Service-Signature"], secret, 300
        )
        event = Webhook(secret).verify(item.data, dict(item.headers.items()))
        assert event["data"]["object"]["id"] == made["reference"]
    assert terminal("listen", "--print-secret").stdout.strip() == secret


def test_what_was_there_before_is_not_forwarded_and_a_dead_receiver_stops_nothing(
    terminal: Terminal, receiver: HTTPServer
) -> None:
    terminal("trigger", "payment_intent.created")
    # What earlier payments of the store still bring about isn't counted.
    wanted = ("--events", "payment_intent.created", "--count", "2", "--json")
    process, _ = listening(terminal, "--forward-to", "http://127.0.0.1:9/hooks", *wanted)
    first = terminal.json("trigger", "payment_intent.created")["id"]
    second = terminal.json("trigger", "payment_intent.created")["id"]
    told, _ = process.communicate(timeout=SECONDS)
    lines = [json.loads(line) for line in told.splitlines()]
    assert [line["event"]["data"]["object"]["payment_intent_id"] for line in lines] == [
        first,
        second,
    ]
    assert all("refused" in line["answer"] for line in lines)


def test_the_credential_is_saved_for_its_owner_alone(terminal: Terminal, key: str) -> None:
    file = terminal.home / ".config" / "tillgate" / "profiles.json"
    assert (
        stat.S_IMODE(file.stat().st_mode) == 0o600
        and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    )
    assert key in file.read_text()
    shown = terminal("status").stdout
    assert "test" in shown and key not in shown and key[-4:] in shown
    terminal(
        "--profile", "other", "login", input=f"{key}\n", TILLGATE_URL=terminal.json("status")["url"]
    )
    assert terminal.json("status")["profiles"] == ["default", "other"]
    terminal("logout")
    assert terminal.json("--profile", "other", "status")["profiles"] == ["other"]
    assert "tillgate login" in terminal("status", code=3).stderr


def test_a_second_sign_in_keeps_the_signing_secret_and_a_broken_file_is_told(
    terminal: Terminal, demo: Demo, key: str
) -> None:
    secret = terminal("listen", "--print-secret").stdout
    terminal("--url", demo.info["base_url"], "login", input=f"{key}\n")
    assert terminal("listen", "--print-secret").stdout == secret
    (terminal.home / ".config" / "tillgate" / "profiles.json").write_text("{")
    told = terminal("status", code=1).stderr
    assert "profiles.json" in told and "Traceback" not in told
    told = terminal(
        "payments", "list", code=1, TILLGATE_API_KEY=key, TILLGATE_URL="http://till.example:x"
    ).stderr
    assert "Traceback" not in told


def test_ci_needs_no_file(stranger: Terminal, demo: Demo, key: str) -> None:
    environment = {"TILLGATE_API_KEY": key, "TILLGATE_URL": demo.info["base_url"]}
    assert json.loads(stranger("payments", "list", "--limit", "1", "--json", **environment).stdout)
    assert not (stranger.home / ".config").exists()
    assert "TILLGATE_URL" in stranger("payments", "list", code=3, TILLGATE_API_KEY=key).stderr


def test_the_shell_is_told_what_became_of_it(terminal: Terminal, demo: Demo, key: str) -> None:
    assert "login" in terminal("--profile", "nobody", "status", code=3).stderr
    wrong = terminal("status", code=3, TILLGATE_API_KEY=key[:-1] + ("a" if key[-1] != "a" else "b"))
    assert key[:-1] not in wrong.stdout + wrong.stderr and "request " in wrong.stderr
    assert "NOWHERE" in terminal("payments", "get", "NOWHERE", code=4).stderr
    assert "amount" in terminal("payments", "create", "0", "EUR", code=1).stderr
    terminal("pay", "x", "--scenario", "nothing", code=2)
    terminal("--url", "http://127.0.0.1:9", "payments", "list", code=5, TILLGATE_API_KEY=key)
    live = demo.info["store"]["keys"]["live"]["secret"]
    assert "test key" in terminal("pay", "x", code=1, TILLGATE_API_KEY=live).stderr
    assert "--live" in terminal("listen", code=1, TILLGATE_API_KEY=live).stderr
    publishable = demo.info["store"]["keys"]["test"].get("publishable", "svc_pk_test_x")
    assert (
        "secret key"
        in terminal(
            "login", input=f"{publishable}\n", code=1, TILLGATE_URL=demo.info["base_url"]
        ).stderr
    )


def test_payments_are_listed_and_looked_up_by_reference(terminal: Terminal) -> None:
    title = "\x1b[31mRed \N{HOT BEVERAGE} 日本語 " + "x" * 80
    made = terminal.json(
        "payments", "create", "7.00", "EUR", "--title", title, "--idempotency-key", "cli-7"
    )
    again = terminal.json(
        "payments", "create", "7.00", "EUR", "--title", title, "--idempotency-key", "cli-7"
    )
    assert made["id"] == again["id"]
    table = terminal("payments", "list", "--limit", "3").stdout
    assert made["reference"] in table and "\x1b" not in table and len(table.splitlines()) == 4
    assert terminal.json("payments", "get", made["reference"])["title"] == title
    assert terminal("open", made["reference"], "--print").stdout.strip() == made["hosted_url"]
    assert terminal("open", "docs", "--print").stdout.strip().endswith("/docs")


def test_the_request_log_is_shown(terminal: Terminal) -> None:
    terminal("payments", "create", "0", "EUR", code=1)
    process = terminal.start(
        "logs", "tail", "--interval", "0.5", "--last", "0", "--status", "4", "--json"
    )
    assert process.stdout is not None
    lines: list[str] = []
    reading = threading.Thread(
        target=lambda: lines.append(process.stdout.readline() if process.stdout else "")
    )
    reading.start()
    while reading.is_alive():
        terminal("payments", "create", "0", "EUR", code=1)
        reading.join(2)
    process.terminate()
    process.wait(SECONDS)
    entry = json.loads(lines[0])
    assert (entry["status"], entry["path"], entry["error_message"]) == (
        422,
        "/payments",
        "amount must be greater than zero",
    )
    shown = terminal("logs", "tail", "--no-follow", "--last", "5").stdout
    assert "422  POST    /payments" in shown


TRIGGERED = [
    "payment_intent.created",
    "payment_intent.processing",
    "payment_intent.completed",
    "payment_intent.refunded",
    "transaction.confirming",
    "transaction.confirmed",
    "transaction.failed",
    "invoice.finalized",
    "invoice.paid",
    "invoice.voided",
    "subscription.created",
    "subscription.updated",
    "subscription.canceled",
]
# Of each kind the one whose way is the longest.
ONE_OF_EACH_KIND = [
    "payment_intent.refunded",
    "transaction.failed",
    "invoice.voided",
    "subscription.canceled",
]


def test_every_event_that_can_be_triggered_comes(terminal: Terminal) -> None:
    refusal = terminal("trigger", "nothing", code=2).stderr
    assert re.findall(r"^  (\w+\.\w+)$", refusal, re.MULTILINE) == TRIGGERED
    process, _ = listening(terminal, "--json")
    triggered = usually(short=ONE_OF_EACH_KIND, whole=TRIGGERED)
    for event in triggered:
        assert terminal.json("trigger", event)["event"] == event
    assert process.stdout is not None
    missing = set(triggered)
    while missing:
        line = process.stdout.readline()
        assert line, missing
        missing.discard(json.loads(line)["event"]["type"])
    process.terminate()
    process.wait(SECONDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_it(stranger: Terminal, shell: str) -> None:
    script = stranger("completion", shell).stdout
    assert "_TILLGATE_COMPLETE" in script and "tillgate" in script


def test_a_shell_asks_it_what_may_follow(stranger: Terminal) -> None:
    told = stranger(
        _TILLGATE_COMPLETE="bash_complete", COMP_WORDS="tillgate pay", COMP_CWORD="1"
    ).stdout
    assert "payments" in told and "pay" in told


def test_its_commands_load_no_class_of_a_document(stranger: Terminal) -> None:
    """They take longer to make than all else that it loads."""
    python = stranger.program.parent / "python"
    asked = "import sys, tillgate.cli.app; print('tillgate.generated.models' in sys.modules)"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.whole  # in the suite everything is beside the sources
def test_without_the_extra_it_says_what_is_missing(demo: Demo, tmp_path: Path) -> None:
    program = wheel.install(tmp_path).parent / "tillgate"
    done = subprocess.run([program], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1 and "pip install 'tillgate[cli]'" in done.stderr

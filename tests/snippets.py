"""Code of the documentation, run in order as a reader would: with their own key, on a server of
their own.

In a fence after its language: `tab=` is how it is shown, `program=receiver.py` a program of its own
that goes on beside what follows, `given=delivery` what it finds there already, and `skip="reason"`
why it isn't run.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from tests.clients import npm
from tests.stack import ROOT, wait_for

KEY = "svc_sk_test_YOUR_KEY"
URL = "http://localhost:8000"
PORT = "4242"
# The value of one: readers of one store have keys of their own.
IDEMPOTENCY = re.compile(r"(?i)idempotency[-_]?key['\"]?[:=] ?['\"]?[\w-]+(?=['\"])")
SECONDS = 60
STEP = "@@ done @@"
PYTHON = f"""
import json, sys
names = {{"__name__": "__main__"}}
for place, code in json.load(open(sys.argv[1])):
    exec(compile(code, place, "exec"), names)
    print("{STEP}", flush=True)
    sys.stdin.readline()
"""
TYPESCRIPT = f"""
import {{ createInterface }} from "node:readline";
const _lines = createInterface({{ input: process.stdin }})[Symbol.asyncIterator]();
async function _step(): Promise<void> {{
  console.log("{STEP}");
  await _lines.next();
}}
"""


class Snippet(NamedTuple):
    path: Path
    line: int
    language: str
    code: str
    tab: str
    program: str
    given: str
    skip: str

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}"


def snippets(path: Path) -> Iterator[Snippet]:
    for token in MarkdownIt("commonmark").parse(path.read_text()):
        if token.type != "fence":
            continue
        language, _, rest = token.info.partition(" ")
        assert token.map is not None
        named = {name: value.strip('"') for name, value in re.findall(r'(\w+)=("[^"]*"|\S+)', rest)}
        assert set(named) <= {"tab", "program", "given", "skip"}, token.info
        kept = (named.get(name, "") for name in ("tab", "program", "given", "skip"))
        yield Snippet(path, token.map[0] + 1, language, token.content, *kept)


@dataclass
class Reader:
    """The reader's key, server and receiver, and the values that they keep of what they see."""

    base_url: str
    key: str
    port: int
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def own(self, code: str) -> str:
        code = code.replace(KEY, self.key).replace(URL, self.base_url).replace(PORT, str(self.port))
        code = IDEMPOTENCY.sub(rf"\g<0>-{self.port}", code)
        return re.sub(r"\b[A-Z_]+_ID\b", lambda found: self.ids.get(found[0], found[0]), code)

    def environment(self) -> dict[str, str]:
        """Without proxies: everything is on this machine. curl fails where the API refuses, and
        says what it said."""
        (self.folder / ".curlrc").write_text("fail-with-body\n")
        kept = {
            name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
        }
        own = {
            "TILLGATE_URL": self.base_url,
            "TILLGATE_API_KEY": self.key,
            "HOME": str(self.folder),
            "CURL_HOME": str(self.folder),
        }
        return {**kept, **own, "PYTHONUNBUFFERED": "1", **self.variables}

    def keep(self, code: str, told: str) -> None:
        """The secret that was shown, and the id of what was made, by the last word of the address
        it was made at."""
        if shown := re.search(r"whsec_[0-9a-f]{64}", told):
            self.variables["WEBHOOK_SECRET"] = shown[0]
        made = re.search(r"/api/v2\S*/(\w+)s(?=[\s'\"])", code)
        identity = re.search(r'"id": ?"([0-9a-f-]{36})"', told)
        if made and identity:
            self.ids[f"{made[1].upper()}_ID"] = identity[1]


@dataclass(frozen=True)
class Delivery:
    """A delivery for a snippet with `given=delivery`: one that the service signed a moment ago."""

    body: str
    headers: dict[str, str]
    secret: str

    def of(self, language: str) -> str:
        headers = {**self.headers, **{name.lower(): value for name, value in self.headers.items()}}
        body, given, secret = map(json.dumps, (self.body, headers, self.secret))
        return {
            "python": f"raw_body, headers, signing_secret = {body}.encode(), {given}, {secret}\n",
            "ts": (
                f"const rawBody: string = {body};\nconst headers: Record<string, string> ="
                f" {given};\nconst signingSecret = {secret};\n"
            ),
        }[language]


class Program:
    """A process whose output is read as it comes. It is ended with its block."""

    def __init__(self, command: list[str], reader: Reader) -> None:
        self.lines: list[str] = []
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command,
            cwd=reader.folder,
            env=reader.environment(),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *unused: object) -> None:
        self.process.kill()
        self.process.wait()
        self.thread.join()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(self.process.stdout)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def step(self, number: int, place: str) -> None:
        """Wait until the block with this number is through."""
        wait_for(lambda: self.text.count(STEP) >= number or self.has_ended, bool, SECONDS)
        if self.text.count(STEP) < number:
            self.thread.join()
        assert self.text.count(STEP) >= number, f"{place}\n{self.text}"

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def run(blocks: Sequence[Snippet], reader: Reader, delivery: Delivery | None = None) -> str:
    """All of one language of one page, in order; what was printed. A block that fails fails it."""
    if blocks[0].language == "sh":
        return "".join(_shell(block, reader) for block in blocks)
    with ExitStack() as running:
        return _run_steps(blocks, reader, running, delivery)


def _shell(block: Snippet, reader: Reader) -> str:
    """Variables and functions of the blocks before it are there, as in the reader's terminal."""
    code = reader.own(block.code)
    script = (
        f"set -euo pipefail\ntouch state\n. ./state\n{code}\n{{ declare -p TO KEY; declare -f; }} >"
        " state 2>/dev/null || true"
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=reader.folder,
        env=reader.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{block.place}\n{code}\n{done.stdout}\n{done.stderr}"
    reader.variables.update(re.findall(r"^export (\w+)=(\S+)$", code, re.MULTILINE))
    reader.keep(code, done.stdout)
    return done.stdout


def _run_steps(
    blocks: Sequence[Snippet], reader: Reader, running: ExitStack, delivery: Delivery | None
) -> str:
    """The page's own code is one process, which waits after each block: programs between its blocks
    are started meanwhile."""
    own = [block for block in blocks if not block.program]
    for block in blocks:
        if block.program:  # so that it is compiled with the page's own code
            (reader.folder / block.program).write_text(reader.own(block.code))
    main = running.enter_context(Program(_command(own, reader, delivery), reader))
    receivers: list[Program] = []
    number = 0
    for block in blocks:
        if block.program:
            receivers.append(running.enter_context(_started(block, reader)))
            continue
        if number:
            main.go_on()
        number += 1
        main.step(number, block.place)
        reader.keep(block.code, main.text)
    if receivers:
        wait_for(
            lambda: receivers[-1].text, lambda text: "payment_intent.completed" in text, SECONDS
        )
    return "".join(item.text for item in (main, *receivers))


def _started(block: Snippet, reader: Reader) -> Program:
    """A receiver, once it listens."""
    name = block.program
    file = reader.folder / name
    if file.read_text() != (code := reader.own(block.code)):  # with what the page has made since
        file.write_text(code)
        if block.language == "ts":
            npm.strip_types(reader.folder, name)
    commands = {
        "python": [sys.executable, name],
        "ts": ["node", name.replace(".ts", ".js")],
        "php": ["php", "-S", f"127.0.0.1:{reader.port}", name],
    }
    program = Program(commands[block.language], reader)
    wait_for(lambda: _listens(reader.port) or program.has_ended, bool, SECONDS)
    assert not program.has_ended, f"{block.place}\n{program.text}"
    return program


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _command(blocks: Sequence[Snippet], reader: Reader, delivery: Delivery | None) -> list[str]:
    """How the blocks are run as one process that prints STEP after each and waits for a line."""
    language = blocks[0].language
    is_given = any(block.given == "delivery" for block in blocks)
    first = delivery.of(language) if is_given and delivery is not None else ""
    return {"python": _python, "ts": _typescript, "php": _php, "ruby": _ruby}[language](
        blocks, reader, first
    )


def _python(blocks: Sequence[Snippet], reader: Reader, first: str) -> list[str]:
    (reader.folder / "blocks.json").write_text(
        json.dumps(
            [
                (block.place, (first if index == 0 else "") + reader.own(block.code))
                for index, block in enumerate(blocks)
            ]
        )
    )
    reader.variables["PYTHONPATH"] = str(ROOT / "clients" / "python" / "src")
    return [sys.executable, "-c", PYTHON, "blocks.json"]


def _typescript(blocks: Sequence[Snippet], reader: Reader, first: str) -> list[str]:
    parts = [TYPESCRIPT, first]
    for block in blocks:
        parts += [f"// {block.place}", reader.own(block.code), "await _step();"]
    (reader.folder / "page.ts").write_text("\n".join([*parts, "process.exit(0);"]))
    npm.compile_typescript(reader.folder, *(path.name for path in reader.folder.glob("*.ts")))
    return ["node", "page.js"]


def _php(blocks: Sequence[Snippet], reader: Reader, first: str) -> list[str]:
    steps = "".join(
        f"{reader.own(block.code).removeprefix('<?php')}\necho '\n{STEP}\n'; fgets(STDIN);\n"
        for block in blocks
    )
    (reader.folder / "page.php").write_text(f"<?php\n{first}{steps}")
    return ["php", "page.php"]


def _ruby(blocks: Sequence[Snippet], reader: Reader, first: str) -> list[str]:
    steps = "".join(
        f"{reader.own(block.code)}\nputs '{STEP}'; $stdout.flush; $stdin.gets\n" for block in blocks
    )
    (reader.folder / "page.rb").write_text(first + steps)
    return ["ruby", "page.rb"]

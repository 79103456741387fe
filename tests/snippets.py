"""Code of the documentation, run in order as a reader would: with their own key, on a server of their own.

What stands in a fence after its language: `tab=` is how it is shown, `program=hook.py` a program of its own that runs on
beside what follows, and `skip="reason"` says why it isn't run.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from tests.clients import npm

KEY, URL, PORT = "svc_sk_test_YOUR_KEY", "http://localhost:8000", "4242"
SECONDS = 120


class Snippet(NamedTuple):
    path: Path
    line: int
    language: str
    code: str
    program: str
    skip: str

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}"


@dataclass
class Reader:
    """Whose key is put in, and where their server and their receiver of webhooks are."""

    base_url: str
    key: str
    port: int
    environment: dict[str, str] = field(default_factory=dict)

    def own(self, code: str) -> str:
        return code.replace(KEY, self.key).replace(URL, self.base_url).replace(PORT, str(self.port))

    def variables(self) -> dict[str, str]:
        return {**os.environ, "TILLGATE_URL": self.base_url, "TILLGATE_KEY": self.key, **self.environment}


def page(path: Path) -> list[Snippet]:
    return list(_snippets(path))


def _snippets(path: Path) -> Iterator[Snippet]:
    for token in MarkdownIt("commonmark").parse(path.read_text()):
        if token.type != "fence":
            continue
        language, _, rest = token.info.partition(" ")
        assert token.map is not None
        named = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', rest))
        yield Snippet(path, token.map[0] + 1, language, token.content, named.get("program", ""), named.get("skip", "").strip('"'))


def run_typescript(blocks: Sequence[Snippet], reader: Reader, folder: Path) -> str:
    """As one module, compiled strictly; what it printed. It ends itself, for a receiver would listen for ever."""
    code = "\n".join([*(reader.own(one.code) for one in blocks), "process.exit(0);"])
    (folder / "readme.ts").write_text(code)
    npm.compile_typescript(folder, "readme.ts")
    command = ["node", "readme.js"]
    run = subprocess.run(command, cwd=folder, env=reader.variables(), capture_output=True, text=True, timeout=SECONDS, check=False)
    assert run.returncode == 0, f"{blocks[0].path.name}\n{run.stdout}\n{run.stderr}"
    return run.stdout

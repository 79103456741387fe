"""The command line as somebody has it who has a home of their own."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.clients.commands import SECONDS, Commands
from tests.clients.loaded import Loaded


class Terminal:
    """A home of its own. Without what is loaded each call starts the program."""

    def __init__(
        self,
        commands: Commands,
        program: Path,
        home: Path,
        loaded: Loaded | None = None,
        **environment: str,
    ) -> None:
        self.commands = commands
        self.program = program
        self.home = home
        self.loaded = loaded
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {**kept, "HOME": str(home), "BROWSER": "true", **environment}

    def __call__(
        self, *arguments: str, input: str = "", code: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        call = self.loaded.call if self.loaded else self._start
        done = call(arguments, {**self.environment, **environment}, input)
        assert done.returncode == code, (
            f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return done

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], text: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.program, *arguments],
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json").stdout)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return self.commands.start([self.program, *arguments], self.environment)

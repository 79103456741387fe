"""Environments of their own below .tools, for what only some tests need: what is in them is locked
like everything else, and a test that finds none is skipped."""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from dev.running import last_line, run, say

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Apart:
    """An environment with what `requirements/<name>.txt` has; `without` says what its absence
    means."""

    name: str
    without: str

    @property
    def lock(self) -> Path:
        return ROOT / "requirements" / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        return ROOT / ".tools" / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def is_installed(self) -> bool:
        return self._stamp.exists() and self._stamp.read_text() == self._digest()

    @property
    def _stamp(self) -> Path:
        return self.folder / ".requirements"

    def _digest(self) -> str:
        return hashlib.sha256(self.lock.read_bytes()).hexdigest()

    def install(self, index: dict[str, str]) -> None:
        """Never fatal. `index` tells uv which package index this machine uses."""
        uv = Path(sys.prefix) / "bin" / "uv"
        if not uv.exists():
            uv = ROOT / ".venv" / "bin" / "uv"
        python = str(uv.with_name("python"))
        run(str(uv), "venv", "--quiet", "--clear", "--python", python, str(self.folder))
        finished = run(
            *(str(uv), "pip", "install", "--quiet", "--require-hashes"),
            *("--python", str(self.python), "-r", str(self.lock)),
            env=index,
        )
        if finished.returncode:
            say(f"{self.without} ({last_line(finished)})")
            return
        self._stamp.write_text(self._digest())

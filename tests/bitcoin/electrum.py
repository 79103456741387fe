"""Electrum, Debian's package: somebody else's wallet. `python -m tests.bitcoin.electrum` unpacks it
below .tools without its windows, so that nothing is installed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dev import machine
from dev.running import last_line, run

PACKAGE = "python3-electrum"
UNPACKED = machine.ROOT / ".tools" / "electrum"
# Packages of Debian's Python work with Debian's Python alone.
PYTHON = "/usr/bin/python3"
_PROGRAM = Path(__file__).with_name("electrum_accounts.py")  # beside a module of Electrum's name
_TIMEOUT_SECONDS = 60


def is_installed() -> bool:
    """Tell whether accounts can be asked for."""
    command = [PYTHON, "-c", "import electrum.keystore"]
    try:
        return not subprocess.run(command, env=_environment(), capture_output=True).returncode
    except FileNotFoundError:
        return False


def accounts(questions: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Electrum's answers, in the order of the questions."""
    answered = subprocess.run(
        [PYTHON, "-P", str(_PROGRAM)],
        input=json.dumps(questions),
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
    )
    assert not answered.returncode, answered.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(answered.stdout)
    return found


def _environment() -> dict[str, str]:
    folders = [str(path.parent) for path in UNPACKED.glob("usr/lib/*/*.so.*")]
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": tempfile.gettempdir(),
        "PYTHONPATH": str(UNPACKED / "usr/lib/python3/dist-packages"),
        "LD_LIBRARY_PATH": ":".join(dict.fromkeys(folders)),
    }


def unpack() -> str:
    """Fetch the package and those it needs; why not, empty when they are there."""
    wanted = run("apt-get", "-s", "--no-install-recommends", "install", PACKAGE)
    names = [text.split()[1] for text in wanted.stdout.splitlines() if text.startswith("Inst ")]
    if wanted.returncode or not names:
        return last_line(wanted)
    with tempfile.TemporaryDirectory() as folder:
        fetched = run("apt-get", "-q", "download", *names, cwd=Path(folder))
        if fetched.returncode:
            return last_line(fetched)
        for file in sorted(Path(folder).glob("*.deb")):
            unpacked = run("dpkg-deb", "-x", str(file), str(UNPACKED))
            if unpacked.returncode:
                return last_line(unpacked)
    return ""


if __name__ == "__main__":
    problem = "" if is_installed() else unpack()
    sys.exit(problem or (None if is_installed() else "Electrum doesn't start"))

"""A node that nobody here wrote and that publishes over ZeroMQ: bcoin 1.0.2 with bzmq 0.2.3, from
npm. `python -m tests.bitcoin.publishing_node` installs them in a folder of their own, and hears
three blocks of the node.

Its messages have two parts where Bitcoin Core's have three.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from apps.chain.rpc.notifications import Notifications
from dev.running import last_line, run

# The old leveldown has to be compiled; the newer one brings its program, and nothing is stored.
PACKAGES = {
    "private": True,
    "dependencies": {"bcoin": "1.0.2", "bzmq": "0.2.3", "zeromq": "6.8.0"},
    "overrides": {"leveldown": "6.1.1"},
}
_PROGRAM = Path(__file__).with_suffix(".js")
BLOCKS = 3
SECONDS_MAX = 60.0


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def main() -> str:
    """Why it isn't heard; empty when it is."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "package.json").write_text(json.dumps(PACKAGES))
        # What they would compile isn't needed: bcoin has it in JavaScript as well.
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        asked = run(*command, cwd=Path(folder))
        if asked.returncode:
            return last_line(asked)
        shutil.copy(_PROGRAM, folder)
        url = f"tcp://127.0.0.1:{_free_port()}"
        command = ["node", _PROGRAM.name, url, str(_free_port()), str(_free_port())]
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, "NODE_BACKEND": "js"})
        try:
            with closing(Notifications("bitcoin", [url])) as heard:
                return _blocks(heard, process)
        finally:
            process.kill()
            process.wait()


def _blocks(heard: Notifications, process: "subprocess.Popen[bytes]") -> str:
    until = time.monotonic() + SECONDS_MAX
    found = -1  # the connection is news, too
    while found < BLOCKS:
        if process.poll() is not None or time.monotonic() > until:
            return f"{max(found, 0)} blocks of {BLOCKS} were heard"
        heard.wait(1.0)
        if heard.has_block:
            found += 1
            heard.forget_block()
    print(f"{BLOCKS} blocks of bcoin were heard", flush=True)
    return ""


if __name__ == "__main__":
    sys.exit(main() or None)

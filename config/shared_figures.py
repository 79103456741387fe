"""Several processes of one server count together: each has files in a folder that
belongs to their server, and the one that is scraped adds them up.

Must come before prometheus_client is loaded, which decides then where it counts.
"""

import contextlib
import shutil
import sys
from pathlib import Path

from config.environment import METRICS_FOLDER

_STARTED_AT = 19  # of the fields of /proc/<id>/stat behind the command's name


def shared_by(server: int) -> dict[str, str]:
    """Environment in which we count together with the other processes of this server, by its
    process ID."""
    if "prometheus_client" in sys.modules:
        return {}
    folder = METRICS_FOLDER / _name_of(server)
    folder.mkdir(parents=True, exist_ok=True)
    for other in METRICS_FOLDER.iterdir():
        process, _, began = other.name.partition("-")
        is_ours = process.isdecimal() and began.isdecimal()
        if is_ours and other.name != _name_of(int(process)):
            shutil.rmtree(other, ignore_errors=True)
    return {"PROMETHEUS_MULTIPROC_DIR": str(folder)}


def _name_of(process: int) -> str:
    """Of a process while it lives: its ID may be another's later, so when it began belongs to
    it."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{process}/stat").read_text()
        return f"{process}-{stat.rpartition(')')[2].split()[_STARTED_AT]}"
    return f"{process}-"

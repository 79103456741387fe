"""Asks whether the loop of the process beside it turned lately: exit 0 or 1. Standard library only,
for a container's health check."""

import os
import sys
import time
from pathlib import Path

# A batch that is signed, or a database that answers late, takes less.
AGE_SECONDS_MAX = 120.0


def main() -> int:
    file = Path(os.environ.get("ALIVE_FILE", ""))
    try:
        age = time.time() - file.stat().st_mtime
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if age > AGE_SECONDS_MAX:
        sys.stderr.write(f"its loop turned {age:.0f} s ago\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

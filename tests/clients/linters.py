"""What others' checks say of the API's description: redocly and spectral find no error in it.

    python -m tests.clients.linters

npx fetches both, which takes minutes; they read it in seconds.
"""

import subprocess  # nosec
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REDOCLY = "@redocly/cli@2.77.0"
SPECTRAL = "@stoplight/spectral-cli@6.16.3"
RULES = 'extends: ["spectral:oas"]\n'
SECONDS = 600


def main() -> None:
    described = subprocess.run(
        [sys.executable, "manage.py", "openapi"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "openapi.json"
        path.write_bytes(described)
        rules = Path(place) / "spectral.yaml"
        rules.write_text(RULES)
        codes = [
            _run(REDOCLY, "lint", str(path), "--format=stylish"),
            _run(SPECTRAL, "lint", str(path), "--ruleset", str(rules)),
        ]
    sys.exit(max(codes))


def _run(package: str, *arguments: str) -> int:
    """How it ended: 0 without an error."""
    command = ["npx", "--yes", package, *arguments]
    return subprocess.run(command, timeout=SECONDS, check=False).returncode


if __name__ == "__main__":
    main()

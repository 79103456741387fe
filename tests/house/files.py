"""The files of the repository that its rules are asked of."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def sources(*folders: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


PYTHON = [
    path
    for path in sources("apps", "config", "dev", "tests", "manage.py")
    if path.suffix == ".py" and "migrations" not in path.parts
]

"""The files of the repository that its rules are asked of."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def sources(*folders: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


def trees(pattern: str, *folders: str) -> Iterator[tuple[Path, ast.AST]]:
    """The Python sources that contain it, parsed: parsing all takes a second."""
    searched = re.compile(pattern)
    for path in sources(*folders):
        if path.suffix == ".py" and searched.search(text := path.read_text()):
            yield path, ast.parse(text)


PYTHON = [
    path
    for path in sources("apps", "config", "dev", "tests", "manage.py")
    if path.suffix == ".py" and "migrations" not in path.parts
]

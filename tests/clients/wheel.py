"""The Python package as others get it: built, and installed into an environment that has nothing
else. The suite runs its sources in an environment of their own instead, which is made at once."""

import os
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from dev import embedded
from tests.whole import IS_WHOLE

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "clients" / "python"
SECONDS = 300
# What pip says when no index answers.
UNREACHABLE = (
    "Temporary failure in name resolution",
    "NewConnectionError",
    "Network is unreachable",
    "Connection refused",
    "timed out",
)


@cache
def wheel() -> Path:
    place = embedded.var_folder(embedded.TEST) / "clients-python"
    run(
        [
            Path(sys.executable).parent / "uv",
            "build",
            "--quiet",
            "--wheel",
            "--offline",
            SOURCES,
            "--out-dir",
            place,
        ]
    )
    return next(place.glob("tillgate-*.whl"))


def install(folder: Path, extra: str = "") -> Path:
    """The Python of a new environment that has the wheel, from an empty folder."""
    if not IS_WHOLE:
        return _install_sources(folder)
    run([sys.executable, "-m", "venv", folder / "environment"])
    python = folder / "environment" / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", f"{wheel()}{extra}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode and any(word in done.stderr for word in UNREACHABLE):
        pytest.skip("no package index is reachable")
    assert done.returncode == 0, done.stderr[-4000:]
    return python


def _install_sources(folder: Path) -> Path:
    """The sources, unbuilt, beside the packages that they need: nothing is built or fetched."""
    run([sys.executable, "-m", "venv", "--without-pip", folder / "environment"])
    python = folder / "environment" / "bin" / "python"
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    (packages / "tillgate.pth").write_text(f"{SOURCES / 'src'}\n")
    for name in sorted(_asked_for("httpx") | _asked_for("click")):
        _link(metadata.distribution(name), packages)

    program = python.parent / "tillgate"
    program.write_text(f"#!{python}\nfrom tillgate.cli import main\n\nmain()\n")
    program.chmod(0o755)
    return python


def _asked_for(name: str) -> set[str]:
    """A package of the tests, and those without which it doesn't work here."""
    requirements = map(Requirement, metadata.requires(name) or ())
    needed = {
        item.name
        for item in requirements
        if item.marker is None or item.marker.evaluate({"extra": ""})
    }
    return {name}.union(*map(_asked_for, needed))


def _link(package: metadata.Distribution, packages: Path) -> None:
    names = {file.parts[0] for file in package.files or () if ".." not in file.parts}
    for name in names:
        (packages / name).symlink_to(str(package.locate_file(name)))


def run(
    command: list[Path | str], folder: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """It must succeed. Nothing of ours is on its path."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "TILLGATE_", "DJANGO_"))
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (
        f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}\n{done.stderr[-4000:]}"
    )
    return done

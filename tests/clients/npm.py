"""The TypeScript package as npm makes it: built and packed in a folder of its own, so that the
repository stays as it is. All workers of a run share it."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from dev import embedded

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "clients" / "typescript"
SECONDS = 300
OWN = (
    "package.json",
    "package-lock.json",
    ".npmrc",
    "tsconfig.json",
    "tsconfig.commonjs.json",
    "README.md",
    "LICENSE",
    "src",
    "scripts",
    "test",
)
# What npm says when no registry answers.
UNREACHABLE = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "ENOTCACHED",
    "network",
)


@cache
def package() -> Path:
    """A copy of the package with the packages of its lock, built and packed."""
    require_node()
    place = embedded.var_folder(embedded.TEST).parent / "clients-typescript"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = place / ".packed"
        made_of = _digest()
        if not stamp.exists() or stamp.read_text() != made_of:
            stamp.unlink(missing_ok=True)
            _pack(place)
            stamp.write_text(made_of)
    return place


def _digest() -> str:
    """Of everything that the package is made of."""
    files = [path for name in OWN for path in _files(SOURCES / name)]
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(SOURCES)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    return sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]


def _pack(place: Path) -> None:
    for name in OWN:
        _copy(SOURCES / name, place / name)
    _fetch_locked(place)
    for old in place.glob("*.tgz"):
        old.unlink()
    run(["npm", "pack", "--silent"], place)  # which builds it first
    _install(place)


def locked(name: str, sources: Path) -> Path:
    """A folder that all workers share, with the packages of the lock file in `sources`."""
    require_node()
    place = embedded.var_folder(embedded.TEST).parent / name
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for file in ("package.json", "package-lock.json", ".npmrc"):
            _copy(sources / file, place / file)
        _fetch_locked(place)
    return place


def _fetch_locked(place: Path) -> None:
    """The packages of the lock file, unless they are there."""
    digest = hashlib.sha256((place / "package-lock.json").read_bytes()).hexdigest()
    stamp = place / "node_modules" / ".locked"
    if not stamp.exists() or stamp.read_text() != digest:
        fetch(place)
        stamp.write_text(digest)


def _install(place: Path) -> None:
    """Install the tarball in an empty folder, as another person would. It has no dependencies, so
    this asks no registry."""
    folder = place / "installed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "empty", "private": true, "type": "module"}')
    (tarball,) = place.glob("*.tgz")
    run(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", tarball], folder)


def install(folder: Path) -> Path:
    """A folder of one's own in which npm installed the tarball."""
    shutil.copytree(package() / "installed", folder, symlinks=True, dirs_exist_ok=True)
    return folder


def run(
    command: Sequence[str | Path],
    folder: Path,
    environment: dict[str, str] | None = None,
    seconds: int = SECONDS,
) -> subprocess.CompletedProcess[str]:
    """It must succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, (
        f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}\n{done.stderr[-4000:]}"
    )
    return done


def require_node() -> None:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} isn't installed")
    version = subprocess.run(
        ["node", "--version"], capture_output=True, text=True, check=True
    ).stdout
    if tuple(map(int, version.strip().lstrip("v").split(".")[:2])) < (20, 3):
        pytest.skip(f"node {version.strip()} is older than 20.3")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


def fetch(place: Path) -> None:
    command = ["npm", "ci", "--prefer-offline", "--ignore-scripts"]
    done = subprocess.run(
        command, cwd=place, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode and any(word in done.stderr for word in UNREACHABLE):
        pytest.skip("npm packages can't be fetched here")
    assert done.returncode == 0, done.stderr[-4000:]


TARGET = ("--target", "ES2022", "--module", "NodeNext", "--moduleResolution", "NodeNext")
# What reads no other file: neither a library nor what is imported.
ALONE = ("--noCheck", "--noResolve", "--lib", "ES5")


def compile_typescript(folder: Path, *names: str) -> None:
    """Type-check files as strictly as the package itself, and write the JavaScript beside them."""
    types = str(package() / "node_modules" / "@types")
    known = ("--lib", "ES2023,DOM", "--types", "node", "--typeRoots", types, "--skipLibCheck")
    _tsc(folder, "--strict", *known, *names)


def strip_types(folder: Path, *names: str) -> None:
    """Write the JavaScript of files whose types another test checks, in a fifth of the time."""
    _tsc(folder, *ALONE, *names)


def _tsc(folder: Path, *arguments: str) -> None:
    run([str(package() / "node_modules" / ".bin" / "tsc"), *TARGET, *arguments], folder)

"""What the set-up works out before it installs anything."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dev import bootstrap, package_index


def test_one_requirement_is_read_with_all_its_hashes_and_nothing_else() -> None:
    lines = bootstrap._requirement("uv").splitlines()
    assert lines[0].startswith("uv==")
    assert all(
        line.strip().startswith("--hash=sha256:")
        for line in lines[1:]
        if not line.strip().startswith("#")
    )
    assert sum(1 for line in lines if "==" in line) == 1


# What pip says of the file of the test below. No file of ours names the option as pip does.
PRINTED = r"""
:env:.disable-pip-version-check='1'
:env:.find-links='/wheels'
global.extra-index_url='\nhttps://two.invalid/simple\nhttps://three.invalid/simple'
global.index_url='https://one.invalid/simple'
""".replace("_url", "-url")
INDEXES = {
    "UV_DEFAULT_INDEX": "https://one.invalid/simple",
    "UV_INDEX": "https://two.invalid/simple https://three.invalid/simple",
}


def test_uv_is_told_the_index_that_pip_prints() -> None:
    found = package_index.for_uv(PRINTED)
    assert found.items() >= {**INDEXES, "UV_FIND_LINKS": "/wheels"}.items()


@pytest.mark.whole
def test_uv_is_told_the_index_that_pip_is_configured_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex_url = https://one.invalid/simple\nextra_index_url ="
        " https://two.invalid/simple\n  https://three.invalid/simple\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    found = bootstrap._uv_index()
    assert found.items() >= {**INDEXES, "UV_FIND_LINKS": str(tmp_path)}.items()


def test_the_committed_files_name_no_package_index() -> None:
    for name in (
        "requirements/base.txt",
        "requirements/dev.txt",
        "requirements/charts.txt",
        "dev/charts.py",
        "dev/bootstrap.py",
        "Dockerfile",
        ".ci/run",
    ):
        text = (bootstrap.ROOT / name).read_text()
        assert "--index" not in text
        assert "--extra-index" not in text
        assert "://" not in text.replace("postgresql://build", "").replace(
            "redis://build", ""
        ).replace("https://build.invalid", "")


def test_what_a_command_imports_is_compiled_for_the_next_one_whatever_the_shell_says(
    tmp_path: Path,
) -> None:
    # It ends where the environment is read: all that is imported is compiled here.
    told = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    command = [sys.executable, str(bootstrap.ROOT / "manage.py"), "version"]
    wrong = {"TILLGATE_ENV": "nowhere"}
    run = subprocess.run(
        command, env={**os.environ, **told, **wrong}, capture_output=True, text=True, check=False
    )
    assert "TILLGATE_ENV must be" in run.stderr
    assert list(tmp_path.rglob("environment.*.pyc")), (
        "config/environment.py is compiled anew at every start"
    )


def python_that_says(folder: Path, name: str, answer: str) -> str:
    """A program in the place of an interpreter: what it says of how it was built."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """The Python that is chosen when these are there: the one that runs, the one on the path, and
    Debian's."""

    def choose(runs: str, on_path: str, debian: str) -> str:
        monkeypatch.setattr(sys, "executable", runs)
        monkeypatch.setattr(shutil, "which", lambda _: on_path)
        monkeypatch.setattr(bootstrap, "DEBIAN_PYTHON", debian)
        bootstrap._python.cache_clear()
        return bootstrap._python()

    yield choose
    bootstrap._python.cache_clear()


def test_the_environment_is_made_from_a_python_that_was_built_to_be_fast(
    tmp_path: Path, found: Callable[..., str]
) -> None:
    slow = python_that_says(tmp_path, "slow", "echo False")
    fast = python_that_says(tmp_path, "fast", "echo True")
    without_venv = python_that_says(tmp_path, "without", "echo True; exit 1")
    missing = str(tmp_path / "nothing")
    assert found(fast, slow, slow) == fast
    assert found(slow, slow, fast) == fast
    assert found(slow, without_venv, missing) == slow

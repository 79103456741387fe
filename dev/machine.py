"""Libraries, fonts and programs of Debian's packages. Standard library only.

Where this user may, they are installed. Else they are unpacked below .tools, which takes no root
and starts nothing: that serves the demo and the tests as well.
"""

import ctypes
import functools
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from dev import pythons
from dev.running import last_line, run

ROOT = Path(__file__).resolve().parent.parent
UNPACKED = ROOT / ".tools" / "system"
_LISTS = ROOT / ".tools" / "apt"
_POSTGRES = Path("/usr/lib/postgresql")
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", str(UNPACKED / "usr/share/fonts"))
_OWN_FONTS_FILE = UNPACKED / "fonts.conf"
_SYSTEM_FONTS_FILE = Path("/etc/fonts/fonts.conf")
PDF_LIBRARIES = {
    "libpango-1.0.so.0": "libpango-1.0-0",
    "libpangoft2-1.0.so.0": "libpangoft2-1.0-0",
    "libharfbuzz-subset.so.0": "libharfbuzz-subset0",
    "libfontconfig.so.1": "libfontconfig1",
    "libseccomp.so.2": "libseccomp2",
}
FONT_PACKAGE = "fonts-dejavu-core"
# Chinese, Japanese and Korean in PDF documents, and emoji. Seventy megabytes: a demo does without.
FURTHER_FONTS = {
    "fonts-noto-cjk": "*CJK*.[ot]t[cf]",
    "fonts-noto-color-emoji": "NotoColorEmoji.ttf",
}


# Anyone who has no network isn't kept waiting.
_BRIEF = ["-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=15"]


class Need(NamedTuple):
    """Packages for one purpose, and which of them are missing now. `can_unpack` says that they work
    without being installed."""

    purpose: str
    missing: Callable[[], list[str]]
    can_unpack: bool = True


def needs(command: str) -> list[Need]:
    """The command's needs of the system; all but the first are optional."""
    purposes = [
        Need("a Python environment", missing_for_environment),
        Need("PDF documents", missing_for_pdf),
    ]
    if command in ("demo", "test"):
        purposes.append(Need("the local Litecoin", lambda: [] if litecoind() else ["litecoind"]))
    if command == "test":
        purposes += [
            Need("drawing Japanese and emoji", missing_fonts),
            Need(
                "the browser tests",
                lambda: [] if chromium() else ["chromium-headless-shell"],
                False,
            ),
            Need("the tests behind a pooler", lambda: [] if pgbouncer() else ["pgbouncer"], False),
            Need("the tests with a token", lambda: [] if softhsm() else ["softhsm2"], False),
            Need("the tests of a router", lambda: [] if nginx() else ["nginx"]),
            Need("the tests of the books", missing_for_books),
        ]
    return purposes


def packages(needs_now: Iterable[Need]) -> list[str]:
    return list(dict.fromkeys(name for need in needs_now for name in need.missing()))


def line(names: Iterable[str]) -> str:
    """Line for a person to paste."""
    return f"sudo apt-get install -y --no-install-recommends {' '.join(names)}"


# --- how packages come ---------------------------------------------------------------------------


@functools.cache
def _root() -> list[str] | None:
    """Command by which a command runs as root, without a password; None when nothing does."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    has_sudo = shutil.which("sudo") is not None and not run("sudo", "-n", "true").returncode
    return ["sudo", "-n"] if has_sudo else None


def may_install() -> bool:
    return _root() is not None


def install(needs_now: list[Need]) -> None:
    """Everything at once; one by one where a system doesn't know all. What stayed missing is seen
    afterwards. A router would run from then on: it is only unpacked."""
    needs_now = [need for need in needs_now if "nginx" not in need.missing()]
    root = _root()
    assert root is not None
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    command = [*root, "apt-get", "install", "-y", "-q", "--no-install-recommends"]
    if not (names := packages(needs_now)) or not run(*command, *names, env=env).returncode:
        return
    run(*root, "apt-get", "update", "-q", env=env)
    if run(*command, *names, env=env).returncode:
        for need in needs_now:
            if names := need.missing():
                run(*command, *names, env=env)


def unpack(names: list[str]) -> str:
    """Packages and those they need, without installing them; why not, empty when they are there."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "there is no apt-get"
    with tempfile.TemporaryDirectory(dir=_fresh(ROOT / ".tools" / "download")) as folder:
        refused = _download(names, Path(folder), [])
        if refused:
            refused = _download(names, Path(folder), _own_lists())
        files = sorted(str(path) for path in Path(folder).glob("*.deb"))
        if refused or not files:
            return refused or "nothing came"
        for file in files:
            unpacked = run("dpkg-deb", "-x", file, str(UNPACKED))
            if unpacked.returncode:
                return last_line(unpacked)
    _OWN_FONTS_FILE.write_text(_fonts_file())
    return ""


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _download(names: list[str], folder: Path, options: list[str]) -> str:
    """Into the folder; why not, empty when they came."""
    simulated = run(
        "apt-get", *_BRIEF, *options, "-s", "--no-install-recommends", "install", *names
    )
    missing = [
        text.split()[1] for text in simulated.stdout.splitlines() if text.startswith("Inst ")
    ]
    if simulated.returncode or not missing:
        return last_line(simulated)
    fetched = run("apt-get", *_BRIEF, *options, "-q", "download", *missing, cwd=folder)
    return last_line(fetched) if fetched.returncode else ""


def _own_lists() -> list[str]:
    """Lists of what there is, of our own: a machine without any, or with old ones, has those."""
    (_LISTS / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (_LISTS / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    options = [
        "-o",
        f"Dir::State::Lists={_LISTS / 'lists'}",
        "-o",
        f"Dir::Cache={_LISTS / 'cache'}",
    ]
    run("apt-get", *_BRIEF, *options, "-q", "update")
    return options


def environment() -> dict[str, str]:
    """Environment by which a process finds unpacked packages; empty without any."""
    folders = sorted(str(path.parent) for path in UNPACKED.glob("*/lib/*/*.so.*"))
    folders += sorted(str(path.parent) for path in UNPACKED.glob("lib/*/*.so.*"))
    if not folders:
        return {}
    before = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
    names = {"LD_LIBRARY_PATH": ":".join(dict.fromkeys([*before, *folders]))}
    if not _SYSTEM_FONTS_FILE.exists() or not _has_font("*.[ot]tf", _FONTS[:2]):
        names["FONTCONFIG_FILE"] = str(_OWN_FONTS_FILE)
    return names


def _fonts_file() -> str:
    from xml.sax.saxutils import escape

    folders = "".join(f"<dir>{escape(folder)}</dir>" for folder in _FONTS)
    cache = escape(str(UNPACKED / "cache"))
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">\n'
        f"<fontconfig>{folders}<cachedir>{cache}</cachedir></fontconfig>\n"
    )


# --- what is there -------------------------------------------------------------------------------


def pip_wheel(python: str) -> Path | None:
    """The pip that Python brings for new environments, or Debian's, unpacked; it runs without being
    installed."""
    lines = (
        "import sysconfig; print(sysconfig.get_config_var('WHEEL_PKG_DIR') or '');"
        " import ensurepip; print(ensurepip.__path__[0] + '/_bundled')"
    )
    folders = run(python, "-I", "-c", lines).stdout.split("\n")
    folders = [folder for folder in folders if folder]
    folders.append(str(UNPACKED / "usr/share/python-wheels"))
    for folder in folders:
        if wheels := sorted(Path(folder).glob("pip-*.whl")):
            return wheels[-1]
    return None


def missing_for_books() -> list[str]:
    return [name for name in ("hledger", "ledger") if accounting(name) is None]


def accounting(name: str) -> str | None:
    """A program that reads journals: hledger or Ledger."""
    unpacked = UNPACKED / "usr" / "bin" / name
    return shutil.which(name) or (str(unpacked) if unpacked.exists() else None)


def missing_for_environment() -> list[str]:
    """Debian keeps apart what makes an environment."""
    programs = []
    for program in pythons.candidates():
        if pythons.described(program)[0] in pythons.SUPPORTED:
            if pip_wheel(program):
                return []
            programs.append(program)
    own = programs and Path(programs[0]).resolve().parent == Path(pythons.SYSTEM)
    name = Path(programs[0]).resolve().name if own else "python3"
    return [f"{name}-venv"]


def missing_for_pdf() -> list[str]:
    """Nothing on systems that have no Debian packages."""
    if not sys.platform.startswith("linux"):
        return []
    missing = [package for name, package in PDF_LIBRARIES.items() if not _has_library(name)]
    return missing if _has_font("*.[ot]tf") else [*missing, FONT_PACKAGE]


def _has_library(name: str) -> bool:
    if any(UNPACKED.glob(f"usr/lib/*/{name}")):
        return True
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _has_font(name: str, folders: Iterable[str] = _FONTS) -> bool:
    return any(glob.glob(f"{folder}/**/{name}", recursive=True) for folder in folders)


def missing_fonts() -> list[str]:
    return [package for package, name in FURTHER_FONTS.items() if not _has_font(name)]


def chromium() -> str | None:
    """The browser of the tests. Without windows to draw it needs two thirds of the processor's
    time."""
    return (
        os.environ.get("CHROMIUM")
        or shutil.which("chromium-headless-shell")
        or shutil.which("chromium")
    )


def pgbouncer() -> str | None:
    """The pooler's program, which Debian puts where only root looks."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def softhsm() -> str | None:
    """The library of a PKCS#11 token in software, where Debian puts it, once the program that makes
    tokens is there too."""
    path = "/usr/lib/softhsm/libsofthsm2.so"
    return path if shutil.which("softhsm2-util") and Path(path).exists() else None


def nginx() -> str | None:
    """The router before several servers, which Debian puts where only root looks."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:{UNPACKED / 'usr/sbin'}"
    return shutil.which("nginx", path=path)


def postgres_with_fdw() -> Path | None:
    """The programs of the newest PostgreSQL that reads other servers; the embedded one can't."""
    libraries = _POSTGRES.glob("*/lib/postgres_fdw.so")
    folders = [path.parent.parent / "bin" for path in libraries]
    whole = [folder for folder in folders if (folder / "initdb").exists()]
    return max(whole, key=lambda folder: int(folder.parent.name), default=None)


def litecoind() -> str | None:
    """Litecoin's node. Debian's command of that name is a script that writes into the home folder:
    what it starts is taken."""
    program = "usr/lib/litecoin/litecoind"
    found = (str(path) for path in (Path("/") / program, UNPACKED / program) if path.exists())
    return os.environ.get("TILLGATE_LITECOIND") or next(found, None)

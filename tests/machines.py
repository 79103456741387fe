"""`python -m tests.machines`: the first command of the README on machines where nothing was
installed by hand, as a user without sudo, up to the first payment.

Needs root, debootstrap, unshare and the package registries of this machine; a machine takes one to
three minutes. Bare systems are kept in var/machines. With `--python FOLDER` a machine has the
Python that was built into that folder, and no other.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from dev.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "var" / "machines"
USER = "ada"
START_SECONDS = 900.0
STOP_SECONDS = 6.0
USERS_PATH = "/opt/python/bin:/usr/local/bin:/usr/bin:/bin"
MEMORY_BYTES = 2 * 2**30
CGROUPS = Path("/sys/fs/cgroup")
# How this machine reaches its registries; nothing of it is the project's.
REGISTRIES = (
    "PIP_CERT",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "NPM_CONFIG_REGISTRY",
)
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
UBUNTU = "http://archive.ubuntu.com/ubuntu"
UBUNTU_SCRIPT = "/usr/share/debootstrap/scripts/gutsy"  # of every release since
HEAD = """| machine | first payment after | at the next start | Ctrl-C | disk |
|---|---|---|---|---|"""
DEAD_PROXY = dict.fromkeys(
    ("http_proxy", "https_proxy", "ALL_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
)
OF_ANOTHER_PROJECT = {
    "DATABASE_URL": "postgresql://dev:dev@127.0.0.1:9/shop",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "DJANGO_SETTINGS_MODULE": "mysite.settings",
    "ALLOWED_HOSTS": "foo",
}


@dataclass(frozen=True)
class Machine:
    """A system with these packages besides the bare one, and the folder that the project lies in.
    The later starts have more in their environment."""

    name: str
    suite: str
    packages: tuple[str, ...] = ("python3",)
    folder: str = "tillgate"
    later: dict[str, str] = field(default_factory=dict)
    is_small: bool = False
    is_ubuntu: bool = False


MACHINES = (
    Machine("Debian 12, Python 3.11", "bookworm", later=OF_ANOTHER_PROJECT),
    Machine("Debian 13, Python 3.13", "trixie", later=DEAD_PROXY, is_small=True),
    Machine(
        "Debian 13, a path with signs", "trixie", folder="my projects/Zähler & Söhne (1) 'x' #2%"
    ),
    Machine("Debian sid, Python 3.14", "sid", later=DEAD_PROXY),
    Machine("Ubuntu 24.04, Python 3.12", "noble", later=OF_ANOTHER_PROJECT, is_ubuntu=True),
)


class Failed(Exception):
    """The machine doesn't do what the README says; the message is the reason, and what was said."""


def bare(machine: Machine) -> Path:
    """The system with the packages, made once."""
    made = KEPT / "-".join((machine.suite, *machine.packages))
    if made.exists():
        return made
    KEPT.mkdir(parents=True, exist_ok=True)
    aside = made.with_suffix(".new")
    shutil.rmtree(aside, ignore_errors=True)
    options, source = [], []
    if machine.is_ubuntu:  # whose keys Debian doesn't bring
        options = ["--no-check-gpg", "--components=main,universe"]
        source = [UBUNTU, UBUNTU_SCRIPT]
    _run("debootstrap", "--variant=minbase", *options, machine.suite, str(aside), *source)
    shutil.copy("/etc/resolv.conf", aside / "etc/resolv.conf")
    if machine.packages:
        install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *machine.packages]
        _run("chroot", str(aside), *install, env={"DEBIAN_FRONTEND": "noninteractive"})
    _run("chroot", str(aside), "useradd", "--create-home", "--shell", "/bin/bash", USER)
    aside.rename(made)
    return made


def _run(*command: str, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Failed(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


@contextlib.contextmanager
def system(machine: Machine, python: Path | None) -> Iterator[Path]:
    """A copy of the bare system with the project as it lies here, gone afterwards."""
    made = bare(machine)
    with tempfile.TemporaryDirectory(dir=KEPT, prefix="run-") as folder:
        place = Path(folder) / "system"
        _run("cp", "-a", "--reflink=auto", str(made), str(place))
        project = place / "home" / USER / machine.folder
        project.mkdir(parents=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        names = [
            name
            for name in listed.stdout.split(b"\0")
            if name and (ROOT / os.fsdecode(name)).exists()
        ]
        packed = subprocess.run(
            ["tar", "-c", "--null", "--files-from=-"],
            cwd=ROOT,
            input=b"\0".join(names),
            capture_output=True,
            check=True,
        )
        subprocess.run(["tar", "-x", "-C", str(project)], input=packed.stdout, check=True)
        if CERTIFICATES.exists():
            (place / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
            shutil.copy(CERTIFICATES, place / str(CERTIFICATES)[1:])
        if python is not None:
            (place / "opt/python").mkdir(parents=True)
            _run("cp", "-a", f"{python}/.", str(place / "opt/python"))
        _run("chroot", str(place), "chown", "-R", f"{USER}:", f"/home/{USER}")
        yield place


class Started:
    """`manage.py demo` on it, in name spaces of its own."""

    def __init__(
        self, place: Path, machine: Machine, more: dict[str, str], limit: Path | None
    ) -> None:
        self.place = place
        self.port = free_port()
        self.log = place.parent / "said"
        environment = {
            **{name: os.environ[name] for name in REGISTRIES if name in os.environ},
            "HOME": f"/home/{USER}",
            "PATH": f"{USERS_PATH}:/usr/sbin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **({"LD_LIBRARY_PATH": "/opt/python/lib"} if (place / "opt/python").exists() else {}),
            **more,
        }
        demo = f"python3 manage.py demo --json --days 1 --port {self.port}"
        line = f'PATH={USERS_PATH}; cd "/home/{USER}/$FOLDER" && exec {demo}'
        command = [
            "unshare",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount",
            "sh",
            "-c",
            _MOUNTS,
            str(place),
            line,
        ]
        self.began = time.monotonic()
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command,
                env={**environment, "FOLDER": machine.folder},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                preexec_fn=(lambda: _enter(limit)) if limit else None,
            )

    def document(self) -> dict[str, Any]:
        killer = _after(START_SECONDS, self.process)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        killer.kill()
        if not said:
            raise Failed(f"it didn't start:\n{self.said()[-4000:]}")
        found: dict[str, Any] = json.loads(said)
        return found

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def pay(self, document: dict[str, Any]) -> float:
        """Seconds from the start until the first payment of the README is completed."""
        session = requests.Session()
        session.trust_env = False
        session.auth = (document["store"]["keys"]["test"]["secret"], "")
        api = f"http://127.0.0.1:{self.port}/api/v2/payments"
        order = {"payment_intent": {"amount": "10.00", "currency": "EUR", "title": "One coffee"}}
        made = session.post(api, json=order, timeout=30).json()
        session.post(
            f"{api}/{made['id']}/simulated_payments", json={}, timeout=30
        ).raise_for_status()
        deadline = time.monotonic() + 120
        while (
            status := session.get(f"{api}/{made['id']}", timeout=30).json()["status"]
        ) != "completed":
            if time.monotonic() > deadline:
                raise Failed(f"the payment is still {status}:\n{self.said()[-4000:]}")
            time.sleep(0.2)
        seconds = time.monotonic() - self.began
        invoice = session.get(f"{api}/{made['id']}/invoice", timeout=90)
        while invoice.status_code == 503 and time.monotonic() < deadline:  # others are drawn
            time.sleep(1)
            invoice = session.get(f"{api}/{made['id']}/invoice", timeout=90)
        if not invoice.content.startswith(b"%PDF"):
            reason = f"{invoice.status_code} {invoice.text[:300]}"
            raise Failed(f"no PDF: {reason}\n{self.said()[-4000:]}")
        return seconds

    def stop(self) -> float:
        """Ctrl-C; the seconds until nothing runs."""
        began = time.monotonic()
        (shell,) = _children(self.process.pid)
        # What services were left to the shell is beside it.
        (demo,) = (pid for pid in _children(shell) if "manage.py" in _command_of(pid))
        os.kill(demo, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        took = time.monotonic() - began
        left = [path.name for path in (self.place / "tmp").iterdir()]
        left += [
            name
            for name in (self.place.parent / "left").read_text().split()
            if name not in ("sh", "cat", "unshare")
        ]
        # An invoice that was asked for before it was drawn was answered so, and asked for again.
        lines = self.said().splitlines(keepends=True)
        said = "".join(line for line in lines if "Service Unavailable: " not in line)
        if took > STOP_SECONDS or left:
            raise Failed(f"stopped after {took:.1f} s, left: {left}\n{said[-2000:]}")
        for word in ("Traceback", '"level": "error"', "Error:"):
            if word in said:
                raise Failed(f"it said {word}:\n{said[-6000:]}")
        return took


# $0 is the system's folder, $1 the line that the user runs.
_MOUNTS = f"""
set -e
mount -t proc proc "$0/proc"
mount -t tmpfs tmpfs "$0/dev"
mkdir "$0/dev/shm"
chmod 1777 "$0/dev/shm"
for name in null zero random urandom tty; do
    touch "$0/dev/$name"
    mount --bind "/dev/$name" "$0/dev/$name"
done
ln -s /proc/self/fd "$0/dev/fd"
chroot "$0" setpriv --reuid={USER} --regid={USER} --init-groups bash -c "$1" || true
cat "$0"/proc/[0-9]*/comm > "$0/../left"
"""


def _enter(limit: Path | None) -> None:
    if limit is not None:
        (limit / "cgroup.procs").write_text(str(os.getpid()))


def _after(seconds: float, process: "subprocess.Popen[str]") -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -9 {process.pid}"])


def _command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def _children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextlib.contextmanager
def memory(is_small: bool) -> Iterator[Path | None]:
    """A group of processes that has two GiB of memory together, where the kernel allows it."""
    is_second = (CGROUPS / "cgroup.controllers").exists()
    group = CGROUPS / ("" if is_second else "memory") / f"tillgate-machines-{os.getpid()}"
    if not is_small:
        yield None
        return
    group.mkdir()
    (group / ("memory.max" if is_second else "memory.limit_in_bytes")).write_text(str(MEMORY_BYTES))
    try:
        yield group
    finally:
        group.rmdir()


def tried(machine: Machine, python: Path | None) -> str:
    """A row of the table."""
    with system(machine, python) as place:
        seconds = []
        for more, is_small in (({}, False), (machine.later, machine.is_small)):
            with memory(is_small) as limit:
                started = Started(place, machine, more, limit)
                try:
                    seconds.append(started.pay(started.document()))
                    stopped = started.stop()
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(started.process.pid, signal.SIGKILL)
                    started.process.wait()
        size = subprocess.run(
            ["du", "-sm", str(place / "home")], capture_output=True, text=True, check=True
        )
    megabytes = size.stdout.split()[0]
    times = f"{seconds[0]:.0f} s | {seconds[1]:.0f} s | {stopped:.1f} s"
    return f"| {machine.name} | {times} | {megabytes} MB |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*", help="words of their names; all when there are none")
    parser.add_argument("--python", type=Path, help="a Python to put into the first of them")
    options = parser.parse_args()
    chosen = [
        machine
        for machine in MACHINES
        if not options.machines or any(word in machine.name for word in options.machines)
    ]
    if options.python:
        chosen = [
            Machine(
                f"Debian 13, Python of {options.python.name}",
                "trixie",
                packages=("libexpat1", "libsqlite3-0", "libssl3", "libffi8"),
            )
        ]
    failed = 0
    print(HEAD)
    for machine in chosen:
        try:
            print(tried(machine, options.python), flush=True)
        except Failed as reason:
            failed += 1
            print(f"| {machine.name} | FAILED |\n{reason}", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

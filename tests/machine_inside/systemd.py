#!/usr/bin/python3
"""A stand-in for systemd in a folder: `systemctl` and `systemd-run`, as far as the guide asks.

A unit runs with its user, its files of variables, its credentials and its folders. Its sandbox is
for systemd-analyze and for a real machine.
"""

import os
import pwd
import re
import shlex
import subprocess
import sys
from pathlib import Path

UNITS = Path("/etc/systemd/system")
LOGS = Path("/var/log/tillgate")
HOST = "machine"


def main() -> int:
    if Path(sys.argv[0]).name == "systemd-run":
        return run_as(sys.argv[1:])
    verb, *names = [word for word in sys.argv[1:] if word != "--now"]
    if verb == "daemon-reload":
        return 0
    return max((begin(verb, name.removesuffix(".service")) for name in names), default=0)


def begin(verb: str, name: str) -> int:
    if name.endswith(".timer"):
        return 0 if service(name.removesuffix(".timer")).exists() else 1
    if name.endswith(".target"):
        wants = re.findall(r"^Wants=(.+)\.service$", (UNITS / name).read_text(), re.MULTILINE)
        return max(start(want) for want in wants)
    if service(name).exists():
        return start(name)
    return subprocess.run(["service", name, verb], check=False).returncode


def service(name: str) -> Path:
    return UNITS / f"{name}.service"


def lines(name: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.+)$", service(name).read_text(), re.MULTILINE)


def variables(path: str) -> dict[str, str]:
    rows = Path(path).read_text().splitlines()
    return dict(row.partition("=")[::2] for row in rows if row and not row.startswith("#"))


def owned(path: Path, user: str, mode: int) -> None:
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, entry.pw_gid)
    path.chmod(mode)


def start(name: str) -> int:
    (user,) = lines(name, "User")
    credentials = Path("/run/credentials") / name
    credentials.mkdir(parents=True, exist_ok=True)
    owned(credentials, user, 0o700)
    for line in lines(name, "LoadCredential"):
        file, _, source = line.partition(":")
        (credentials / file).write_bytes(Path(source).read_bytes())
        owned(credentials / file, user, 0o400)
    for folder in lines(name, "RuntimeDirectory"):
        Path("/run", folder).mkdir(exist_ok=True)
        owned(Path("/run", folder), user, 0o755)
    environment = {"HOME": "/", "LANG": "C.UTF-8", "CREDENTIALS_DIRECTORY": str(credentials)}
    for line in lines(name, "Environment"):
        pairs = shlex.split(line.replace("%d", str(credentials)))
        environment |= dict(pair.partition("=")[::2] for pair in pairs)
    for path in lines(name, "EnvironmentFile"):
        environment |= variables(path)
    LOGS.mkdir(exist_ok=True)
    for line in lines(name, "ExecStart"):
        line = line.replace("%H", HOST).replace("${CREDENTIALS_DIRECTORY}", str(credentials))
        command = [*as_user(user), *shlex.split(line)]
        with (LOGS / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=lines(name, "WorkingDirectory")[0],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        if lines(name, "Type") != ["oneshot"]:
            return 0
        if process.wait():
            print((LOGS / f"{name}.log").read_text()[-6000:], file=sys.stderr)
            return 1
    return 0


def as_user(user: str) -> list[str]:
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs"]


def run_as(arguments: list[str]) -> int:
    environment = {"HOME": "/", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    user, folder = "root", "/"
    while arguments and arguments[0].startswith("--"):
        name, _, value = arguments.pop(0).partition("=")
        if name == "--uid":
            user = value
        elif name == "--working-directory":
            folder = value
        elif name == "--setenv":
            key, _, text = value.partition("=")
            environment[key] = text
        elif value.startswith("EnvironmentFile="):
            environment |= variables(value.partition("=")[2])
    command = [*as_user(user), *arguments]
    return subprocess.run(command, env=environment, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

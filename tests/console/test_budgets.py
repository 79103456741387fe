"""Budgets of what a process may load and ask for before its work begins: a change that makes every
start dearer fails here, by name."""

import json
import os
import re
import subprocess
import sys
from typing import Any, NamedTuple

import pytest

from dev import bootstrap

# Each is for few requests, one provider or one kind of process, and is imported where that is
# served.
HEAVY = {
    *(
        "aiohttp",
        "boto3",
        "storages",
        "anymail",
        "dns",
        "requests_toolbelt",
    ),  # talking to strangers, buckets, mail services
    "weasyprint",
    "pypdf",
    "PIL",
    "fontTools",
    "segno",  # documents and pictures
    *(
        "drf_spectacular.generators",
        "drf_spectacular.openapi",
        "rest_framework.test",
        "jinja2",
        "markdown_it",
    ),  # the description and docs
    "mcp",
    "pydantic",
    *(
        "webauthn",
        "OpenSSL",
        "pyasn1_modules",
        "cbor2",
        "cryptography",
        "jwcrypto",
    ),  # passkeys, signed tokens, some of the keystores
    *(
        "eth_account",
        "eth_utils",
        "eth_abi",
        "bip_utils",
        "web3",
        "py_ecc",
    ),  # tests compare with them
    "pytest",
    "hypothesis",
    "django.test",
}
CELERY = {"celery", "kombu"}
REDIS = {"redis", "throttled"}
DOORS = {
    "rest_framework.views",
    "apps.api.urls",
    "apps.dashboard.urls",
    "apps.hosted.urls",
    "config.urls",
    "apps.staff.front.site",
}

# What opens and holds keys: the signer's alone, once it works.
KEYS = {"apps.chain.keys.keystores", "apps.chain.keys.seeds", "apps.chain.sending.signer"}
OWN = {"apps", "config", "dev"}
# What libraries load where it is installed, as in production it isn't.
OF_DEVELOPERS = {"rich", "pygments", "greenlet", "markdown_it", "mdurl"}
_MIGRATION = re.compile(r"apps\.\w+\.migrations\.")


class Start(NamedTuple):
    """A process until its work begins: modules that it must not have loaded by then, and how many
    there may be: of libraries, and with our own."""

    lines: str
    unwanted: set[str]
    library_modules_max: int
    modules_max: int


STARTS = {
    "web": Start(
        "import config.asgi; from django.urls import get_resolver; get_resolver().url_patterns",
        HEAVY | CELERY | KEYS,
        1181,
        2275,
    ),
    "worker": Start(
        "from config.celery import app; app.loader.import_default_modules(); app.finalize()",
        (HEAVY - {"aiohttp"}) | DOORS,
        1140,
        1750,
    ),
    "watcher": Start(
        "from apps.console.management.commands import watch_chains",
        HEAVY | CELERY | REDIS | DOORS | KEYS,
        858,
        1110,
    ),
    "signer": Start(
        "from apps.console.management.commands import signer",
        HEAVY | CELERY | REDIS | DOORS,
        856,
        1133,
    ),
    "check": Start(
        "from django.core.management import call_command; call_command('check')",
        HEAVY | CELERY | REDIS | KEYS,
        1209,
        2309,
    ),
    "migrate": Start(
        (
            "from django.core.management import call_command; call_command('showmigrations',"
            " '--plan', stdout=open('/dev/null', 'w'))"
        ),
        HEAVY | CELERY | REDIS | DOORS,
        1000,
        1069,
    ),
}
# What a worker does before it makes a child.
FORKS = (
    "from celery.signals import worker_before_create_process as forks; forks.send(sender=None)\n"
)
# What the collector looks through, and how many heaps the threads have.
HEAPS = """
import gc
figures = {"frozen": gc.get_freeze_count(), "seen": len(gc.get_objects())}
import ctypes, os, threading
libc, met = ctypes.CDLL(None), threading.Barrier(8)
libc.fopen.restype = libc.malloc.restype = ctypes.c_void_p
def allocate():
    met.wait()
    libc.malloc(ctypes.c_size_t(10_000))
    met.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
file = os.memfd_create("heaps")
told = ctypes.c_void_p(libc.fopen(f"/proc/self/fd/{file}".encode(), b"w"))
libc.malloc_info(0, told), libc.fclose(told)
figures["heaps"] = os.read(file, 2**20).count(b"<heap nr=")
"""
# A page and the explorer of the documentation, asked of a web server.
DOCUMENTATION = """
import sys
from apps.docs.views import explorer, show
from django.http import HttpRequest
page = HttpRequest()
page.method = "GET"
explorer(page), show(page)
figures["with the documentation"] = sorted(sys.modules)
"""
BEFORE_IT_SERVES = {"web": HEAPS + DOCUMENTATION, "worker": FORKS + HEAPS}
# What is asked of a process that has begun.
AFTERWARD = {
    "a passkey of strangers": (
        "from apps.access.factors import passkeys; from datetime import datetime;"
        " passkeys.begin_asking({}, None, datetime.now())"
    ),
    "a passkey of a device": (
        "from apps.access.factors import ceremonies; ceremonies.Ceremonies(None)"
    ),
    "the check of a passkey": (
        "from apps.access.factors import ceremonies; ceremonies._load_verifiers()"
    ),
}
# Every one begins as Django does, which is done once: each goes on in a fork.
CHILDREN = """
import django, json, os, sys
from django.db.backends.utils import CursorWrapper
asked, whole = [], CursorWrapper.execute
def execute(self, sql, params=None):
    asked.append(str(sql))
    return whole(self, sql, params)
CursorWrapper.execute = execute
django.setup()
for name, (lines, last) in json.loads(sys.argv[1]).items():
    sys.stdout.flush()
    child = os.fork()
    if not child:
        exec(lines, {})
        report, found = {"modules": sorted(sys.modules), "queries": asked[:]}, {}
        exec(last, found)
        print(json.dumps([name, report | found.get("figures", {})]), flush=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, name
"""


@pytest.fixture(scope="module")
def started() -> dict[str, dict[str, Any]]:
    """Modules that each process holds and statements that it has sent when its work begins, or
    after one request."""
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "EMAIL_BACKEND": "apps.core.mailbox.Folder",
    }
    asked = {name: (start.lines, BEFORE_IT_SERVES.get(name, "")) for name, start in STARTS.items()}
    asked |= {name: (lines, "") for name, lines in AFTERWARD.items()}
    said = subprocess.run(
        [sys.executable, "-c", CHILDREN, json.dumps(asked)],
        cwd=bootstrap.ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    # What a command prints is told before.
    return dict(json.loads(line) for line in said.stdout.splitlines() if line.startswith('["'))


@pytest.mark.parametrize("name", STARTS)
def test_a_process_loads_nothing_that_it_may_never_need(
    name: str, started: dict[str, dict[str, Any]]
) -> None:
    assert STARTS[name].unwanted & set(started[name]["modules"]) == set()


@pytest.mark.parametrize("name", STARTS)
def test_a_process_stays_within_its_number_of_modules(
    name: str, started: dict[str, dict[str, Any]]
) -> None:
    # Each release adds migrations; what they load is held by the same budget.
    modules = [
        module
        for module in started[name]["modules"]
        if not _MIGRATION.match(module) and module.split(".")[0] not in OF_DEVELOPERS
    ]
    libraries = [module for module in modules if module.split(".")[0] not in OWN]
    assert len(libraries) <= STARTS[name].library_modules_max
    assert len(modules) <= STARTS[name].modules_max


@pytest.mark.parametrize("name", sorted(set(STARTS) - {"migrate", "check"}))
def test_a_process_asks_the_database_nothing_before_its_work(
    name: str, started: dict[str, dict[str, Any]]
) -> None:
    assert started[name]["queries"] == []


@pytest.fixture(scope="module")
def loaded(started: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    """The modules of a process that has begun and was asked for one thing."""
    return {name: set(started[name]["modules"]) for name in AFTERWARD}


def test_asking_strangers_for_a_passkey_loads_nothing_that_verifies_one(
    loaded: dict[str, set[str]],
) -> None:
    assert HEAVY & loaded["a passkey of strangers"] == set()


def test_asking_a_device_for_a_passkey_loads_no_cryptography(loaded: dict[str, set[str]]) -> None:
    modules = loaded["a passkey of a device"]
    assert "webauthn" in modules
    assert {"cryptography", "OpenSSL", "pyasn1", "pyasn1_modules"} & modules == set()


def test_checking_a_passkey_loads_nothing_that_reads_statements_of_makers(
    loaded: dict[str, set[str]],
) -> None:
    modules = loaded["the check of a passkey"]
    assert {
        "webauthn.registration.verify_registration_response",
        "webauthn.authentication.verify_authentication_response",
    } <= modules
    assert {"OpenSSL", "pyasn1", "pyasn1_modules"} & modules == set()


def test_the_documentation_loads_nothing_that_draws_it(started: dict[str, dict[str, Any]]) -> None:
    assert HEAVY & set(started["web"]["with the documentation"]) == set()


@pytest.mark.parametrize("name", BEFORE_IT_SERVES)
def test_the_threads_of_a_process_share_two_heaps(
    name: str, started: dict[str, dict[str, Any]]
) -> None:
    assert 0 < started[name]["heaps"] <= 2


@pytest.mark.parametrize("name", BEFORE_IT_SERVES)
def test_what_is_loaded_is_out_of_the_collectors_sight(
    name: str, started: dict[str, dict[str, Any]]
) -> None:
    assert started[name]["frozen"] > 90_000 and started[name]["seen"] < 1_000


def test_a_command_ends_without_looking_through_all_that_it_has_loaded() -> None:
    begins = "import atexit, gc, sys; sys.argv = ['manage.py', 'version']; import manage"
    tells = (
        "atexit.register(lambda: print(gc.isenabled(), gc.get_freeze_count() > 100_000,"
        " len(gc.get_objects()) < 1_000))"
    )
    said = subprocess.run(
        [sys.executable, "-c", f"{begins}; {tells}; manage.main()"],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.splitlines()[-1] == "False True True"

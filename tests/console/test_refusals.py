"""A production start that no operator should get away with is refused by name and cure: every row
of the table, and all at once."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from apps.core.process.published_secrets import PUBLISHED, SIGNER_PASSPHRASE
from config.refusals import MENDING, RULES
from tests.console.test_deployment import PRODUCTION, ROOT

KEPT = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
ZERO_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
GOOD_KEY = PRODUCTION["ENCRYPTION_KEYS"].partition(":")[2]
SMTP = {"EMAIL_USE_TLS": "false"}

# The rule, what is changed of a right environment (None: left out), and how its refusal begins.
REDIS_PASSWORD = "cG9ydHVndWVzZS1zYXJkaW5l"
ROWS: list[tuple[str, dict[str, str | None], str]] = [
    *[
        ("missing", {name: None}, f"{name} is missing: set it")
        for name in sorted(set(PRODUCTION) - {"TILLGATE_ENV", "EMAIL_HOST", *SMTP})
    ],
    ("unreadable", {"SIGNER_MAX_FEE_GWEI": "many"}, "SIGNER_MAX_FEE_GWEI can't be read"),
    ("unreadable", {"ANYMAIL": "{"}, "ANYMAIL can't be read"),
    ("unreadable", {"ADMIN_NETWORKS": "10.0.0.0/99"}, "ADMIN_NETWORKS needs networks such as"),
    ("unreadable", {"API_HOST": "https://api.example.com"}, "API_HOST must be a host name only"),
    *[
        ("published_secret", {name: value}, f"{name} contains the published demo value")
        for name, value in sorted(PUBLISHED.items())
    ],
    (
        "published_secret",
        {"SIGNER_PASSPHRASE": SIGNER_PASSPHRASE},
        "SIGNER_PASSPHRASE contains the published demo value",
    ),
    ("short_secret", {"SECRET_KEY": "x"}, "SECRET_KEY is shorter than 50 characters"),
    ("short_secret", {"SECRET_KEY": "k" * 60}, "SECRET_KEY repeats the same few characters"),
    ("short_secret", {"METRICS_TOKEN": "m"}, "METRICS_TOKEN is shorter than 20 characters"),
    ("short_secret", {"OFFRAMP_CALLBACK_SECRET": "abcdefgh"}, "OFFRAMP_CALLBACK_SECRET is shorter"),
    (
        "short_secret",
        {"SIGNER_PASSPHRASE": "0" * 20},
        "SIGNER_PASSPHRASE repeats the same few characters",
    ),
    (
        "repeated_secret",
        {"METRICS_TOKEN": PRODUCTION["SECRET_KEY"]},
        "SECRET_KEY is the same secret as METRICS_TOKEN",
    ),
    (
        "repeated_secret",
        {"OFFRAMP_CALLBACK_SECRET": PRODUCTION["METRICS_TOKEN"]},
        "OFFRAMP_CALLBACK_SECRET is the same secret as",
    ),
    (
        "encryption_key",
        {"ENCRYPTION_KEYS": f"one:{ZERO_KEY}"},
        "ENCRYPTION_KEYS: the key one is not random",
    ),
    (
        "encryption_key",
        {"ENCRYPTION_KEYS": f"new:{GOOD_KEY},old:{ZERO_KEY}"},
        "ENCRYPTION_KEYS: the key old is not random",
    ),
    ("encryption_key", {"ENCRYPTION_KEYS": "one:c2hvcnQ="}, "ENCRYPTION_KEYS: one is not name:key"),
    (
        "encryption_key",
        {"ENCRYPTION_KEYS": GOOD_KEY},
        f"ENCRYPTION_KEYS: {GOOD_KEY} is not name:key",
    ),
    (
        "encryption_key",
        {"ENCRYPTION_KEYS": f"one:{GOOD_KEY},two:{GOOD_KEY}"},
        "ENCRYPTION_KEYS contains a name or a key twice",
    ),
    (
        "approval_key",
        {"APPROVAL_KEYS": f"one:{ZERO_KEY}"},
        "APPROVAL_KEYS: the key one is not random",
    ),
    ("approval_key", {"APPROVAL_KEYS": GOOD_KEY}, f"APPROVAL_KEYS: {GOOD_KEY} is not name:key"),
    (
        "published_secret",
        {"APPROVAL_KEYS": f"one:{GOOD_KEY},{PUBLISHED['APPROVAL_KEYS']}"},
        "APPROVAL_KEYS contains the published demo value",
    ),
    (
        "one_xpub_for_both_modes",
        {"DEPOSIT_XPUB_TEST": PRODUCTION["DEPOSIT_XPUB_LIVE"]},
        "DEPOSIT_XPUB_LIVE is the same as DEPOSIT_XPUB_TEST",
    ),
    ("any_host", {"ALLOWED_HOSTS": "pay.example.com,*"}, "ALLOWED_HOSTS contains *"),
    (
        "plain_http",
        {"PUBLIC_URL": "http://pay.example.com"},
        "PUBLIC_URL is not an https:// address",
    ),
    ("plain_http", {"PUBLIC_URL": "https://"}, "PUBLIC_URL is not an https:// address"),
    *[
        (
            "private_webhook_host",
            {"WEBHOOK_ALLOW_HOSTS": f"hooks.example.com,{host}"},
            f"WEBHOOK_ALLOW_HOSTS contains {host}, which is private",
        )
        for host in (
            "169.254.169.254",
            "10.1.2.3",
            "::1",
            "[fd00::1]",
            "::ffff:127.0.0.1",
            "localhost",
            "redis",
            "db.internal",
            "nas.LOCAL",
        )
    ],
    (
        "mail_without_tls",
        {"EMAIL_USE_TLS": None},
        "EMAIL_USE_TLS is off: emails with sign-in links are sent to smtp.example.com",
    ),
    (
        "mail_without_tls",
        {"EMAIL_USE_TLS": "false", "EMAIL_HOST": None},
        "EMAIL_HOST is missing, and EMAIL_USE_TLS is off",
    ),
    (
        "mail_without_tls",
        {"EMAIL_USE_SSL": "true"},
        "EMAIL_USE_TLS and EMAIL_USE_SSL are both true",
    ),
    (
        "mail_to_nobody",
        {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"},
        "EMAIL_BACKEND doesn't deliver email",
    ),
    (
        "mail_to_nobody",
        {"EMAIL_BACKEND": "apps.core.mailbox.Folder"},
        "EMAIL_BACKEND doesn't deliver email",
    ),
    ("made_up_rates", {"RATE_PROVIDERS": "kraken,fixed"}, "RATE_PROVIDERS contains fixed"),
    ("made_up_rates", {"RATE_PROVIDERS": ""}, "RATE_PROVIDERS is empty"),
    (
        "old_rates",
        {"RATE_MAX_AGE_SECONDS": "3601"},
        "RATE_MAX_AGE_SECONDS is not between 1 and 3600",
    ),
    ("old_rates", {"RATE_MAX_AGE_SECONDS": "0"}, "RATE_MAX_AGE_SECONDS is not between 1 and 3600"),
    (
        "primary_as_replica",
        {"DATABASE_REPLICA_URL": "postgresql://u:p@db/t", "DATABASE_URL": "postgresql://u:p@db/t"},
        "DATABASE_REPLICA_URL is the address of the primary",
    ),
    (
        "unbounded_lag",
        {"DATABASE_REPLICA_LAG_SECONDS": "301"},
        "DATABASE_REPLICA_LAG_SECONDS is not between 0 and 300",
    ),
    (
        "unbounded_lag",
        {"DATABASE_REPLICA_LAG_SECONDS": "0"},
        "DATABASE_REPLICA_LAG_SECONDS is not between 0 and 300",
    ),
    ("sandbox_in_live_mode", {"OFFRAMP_PROVIDER": "sandbox"}, "OFFRAMP_PROVIDER is sandbox"),
    (
        "sandbox_in_live_mode",
        {"CARD_NETWORKS_LIVE": "onramper,sandbox"},
        "CARD_NETWORKS_LIVE contains sandbox",
    ),
    (
        "unknown_choice",
        {"SWAP_PROVIDER": "simulated"},
        "SWAP_PROVIDER contains simulated, which is not one of treasury, uniswap",
    ),
    ("unknown_choice", {"RATE_PROVIDERS": "coingeko"}, "RATE_PROVIDERS contains coingeko"),
    (
        "unknown_choice",
        {"SIGNER_KEYSTORE": "paper"},
        "SIGNER_KEYSTORE contains paper, which is not one of file, pkcs11, kms",
    ),
    (
        "keystore_without_keys",
        {"SIGNER_KEYSTORE": "kms"},
        "SIGNER_HOT_KEYS is missing for SIGNER_KEYSTORE=kms",
    ),
    (
        "keystore_without_keys",
        {
            "SIGNER_KEYSTORE": "pkcs11",
            "SIGNER_HOT_KEYS": "live=a,test=b",
            "SIGNER_WRAPPING_KEY": "c",
            "PKCS11_TOKEN": "d",
        },
        "PKCS11_MODULE is missing for SIGNER_KEYSTORE=pkcs11",
    ),
    ("unreadable", {"SIGNER_HOT_KEYS": "hot"}, "SIGNER_HOT_KEYS needs pairs such as"),
    ("unreadable", {"SIGNER_LANES": "ethereum=0"}, "SIGNER_LANES needs numbers from 1 to 16"),
    ("unreadable", {"SIGNER_LANES": "ethereum=many"}, "SIGNER_LANES needs numbers from 1 to 16"),
    *[
        ("unreadable", {"SHARD": shard}, "SHARD needs two characters of 0 to 9 and A to Z")
        for shard in ("1", "1z", "0I", "0l", "0O", "000", "012")
    ],
    ("open_redis", {"REDIS_URL": "redis://redis:6379/0"}, "REDIS_URL has no password"),
    ("open_redis", {"REDIS_URL": "rediss://user@redis:6379/0"}, "REDIS_URL has no password"),
    ("open_redis", {"REDIS_URL": "sentinel://a,b:26379/main"}, "REDIS_URL has no password"),
    (
        "unreadable",
        {"REDIS_URL": f"sentinel://:{REDIS_PASSWORD}@a:26379,b:26379"},
        "REDIS_URL doesn't name the master",
    ),
    (
        "unreadable",
        {"REDIS_URL": f"redis+sentinel://:{REDIS_PASSWORD}@a:26379,b:first/main"},
        "REDIS_URL has the sentinel 'b:first', which is no host with a port",
    ),
    (
        "unreadable",
        {"REDIS_URL": f"sentinel://:{REDIS_PASSWORD}@a,,b/main"},
        "REDIS_URL has the sentinel '', which is no host with a port",
    ),
    (
        "unreadable",
        {"REDIS_URL": f"sentinel://:{REDIS_PASSWORD}@a/main/live"},
        "REDIS_URL ends with 'live', which is no number of a database",
    ),
    (
        "unreadable",
        {"REDIS_URL": f"sentinel://:{REDIS_PASSWORD}@a/main?master=b"},
        "REDIS_URL has master, and only sentinel_password is known",
    ),
    (
        "unknown_variable",
        {"SWAP_PROVIDR": "uniswap"},
        "SWAP_PROVIDR is no variable of Tillgate (did you mean SWAP_PROVIDER?)",
    ),
    (
        "unknown_variable",
        {"ALOWED_HOSTS": "a"},
        "ALOWED_HOSTS is no variable of Tillgate (did you mean ALLOWED_HOSTS?)",
    ),
    (
        "unknown_variable",
        {"metrics_token": "a"},
        "metrics_token is no variable of Tillgate (did you mean METRICS_TOKEN?)",
    ),
    ("unknown_variable", {"TILLGATE_COLOR": "red"}, "TILLGATE_COLOR is no variable of Tillgate"),
]
# What is right, although it looks like a row above.
RIGHT: list[dict[str, str]] = [
    {"APPROVAL_KEYS": "none"},
    {"REDIS_URL": "unix:///run/redis/redis.sock"},
    {"REDIS_URL": "redis://redis:6379/0?password=cG9ydHVndWVzZS1zYXJkaW5l"},
    {"REDIS_URL": f"redis+sentinel://:{REDIS_PASSWORD}@a,[::1]:26379/main/1"},
    {"EMAIL_HOST": "localhost", "EMAIL_USE_TLS": "false"},
    {"EMAIL_USE_TLS": "false", "EMAIL_USE_SSL": "true", "EMAIL_PORT": "465"},
    {
        "EMAIL_BACKEND": "anymail.backends.postmark.EmailBackend",
        "EMAIL_USE_TLS": "false",
        "ANYMAIL": '{"POSTMARK_SERVER_TOKEN": "x"}',
    },
    {"WEBHOOK_ALLOW_HOSTS": "hooks.example.com,1.1.1.1"},
    {"RATE_PROVIDERS": "kraken", "RATE_MAX_AGE_SECONDS": "3600", "SWAP_PROVIDER": "uniswap"},
    {"DATABASE_REPLICA_URL": "postgresql://u:p@replica/t", "DATABASE_REPLICA_LAG_SECONDS": "0.5"},
    {"IGNORED_VARIABLES": "TILLGATE_COLOR,APP_HOST", "TILLGATE_COLOR": "red", "APP_HOST": "x"},
    # Kubernetes, Docker's own and a base image's.
    {
        "TILLGATE_WEB_SERVICE_HOST": "10.0.0.1",
        "TILLGATE_WEB_PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "SIGNER_PORT": "tcp://10.0.0.1:1",
    },
    {
        "HOSTNAME": "a",
        "GPG_KEY": "a",
        "PYTHON_VERSION": "3.11",
        "PYTHON_SHA256": "a",
        "MAIL": "/var/mail/a",
        "POSTGRES_DB": "tillgate",
    },
]


Start = Callable[[Mapping[str, str | None]], "subprocess.CompletedProcess[str]"]


def production(changes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in {**PRODUCTION, **changes}.items() if value is not None}


def started(changes: Mapping[str, str | None], *command: str) -> "subprocess.CompletedProcess[str]":
    """Python with this environment and nothing else of ours."""
    told = production(changes)
    run = [sys.executable, *(command or ("-c", "import config.environment"))]
    return subprocess.run(
        run, env=KEPT | told, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


# One process loads what every start loads, and nothing of ours; each start is a fork of it.
STARTS = """
import base64, dataclasses, difflib, json, os, sys
import django.core.exceptions, environ
for told in sys.stdin:
    read, write = os.pipe()
    if os.fork() == 0:
        os.dup2(write, sys.stderr.fileno())
        os.environ.clear()
        os.environ.update(json.loads(told))
        import config.environment
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stderr:
        said = stderr.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.wait()[1]), said]), flush=True)
"""


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    """As `started` without a command, but Python and the libraries are loaded once for all."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", STARTS], env=KEPT, cwd=ROOT, **pipes) as process:  # type: ignore[call-overload]

        def one(changes: Mapping[str, str | None]) -> "subprocess.CompletedProcess[str]":
            process.stdin.write(json.dumps(KEPT | production(changes)) + "\n")
            process.stdin.flush()
            status, said = json.loads(process.stdout.readline())
            return subprocess.CompletedProcess((), status, "", said)

        yield one


def refusals(run: "subprocess.CompletedProcess[str]") -> list[str]:
    return re.findall(r"^  (\S.*: .*)$", run.stderr.partition("to fix):")[2], re.MULTILINE)


@pytest.mark.parametrize(("rule", "changes", "begins"), ROWS, ids=lambda one: str(one)[:60])
def test_production_refuses_it_by_name_with_its_cure(
    start: Start, rule: str, changes: dict[str, str | None], begins: str
) -> None:
    run = start(changes)
    cure = next(item.cure for item in RULES if item.name == rule)
    mine = [line for line in refusals(run) if line.startswith(begins)]
    assert run.returncode != 0 and mine, run.stderr
    assert mine[0].endswith(f": {cure}")


@pytest.mark.parametrize("changes", [{}, *RIGHT], ids=str)
def test_production_accepts_what_is_right(start: Start, changes: dict[str, str]) -> None:
    run = start(changes)
    assert run.returncode == 0, run.stderr


def test_a_fork_is_told_what_a_process_of_its_own_is_told(start: Start) -> None:
    for changes in ({}, {"SECRET_KEY": "x", "PUBLIC_URL": None}):
        one = start(changes)
        other = started(changes)
        assert one.returncode == other.returncode
        assert refusals(one) == refusals(other) and bool(refusals(one)) is bool(changes)


def test_every_rule_of_the_table_is_tried() -> None:
    assert {rule.name for rule in RULES} == {rule for rule, _, _ in ROWS}


def test_everything_that_is_wrong_is_told_at_once_and_the_demo_bears_it(start: Start) -> None:
    wrong = {
        "PUBLIC_URL": "http://localhost:8000",
        "SECRET_KEY": "x",
        "METRICS_TOKEN": "m",
        "ENCRYPTION_KEYS": f"one:{ZERO_KEY}",
        "ALLOWED_HOSTS": "*",
        "RATE_MAX_AGE_SECONDS": "999999999",
        "RATE_PROVIDERS": "fixed",
        "WEBHOOK_ALLOW_HOSTS": "169.254.169.254,localhost",
        "EMAIL_USE_TLS": "false",
        "OFFRAMP_PROVIDER": "sandbox",
        "DEPOSIT_XPUB_TEST": PRODUCTION["DEPOSIT_XPUB_LIVE"],
        "REDIS_URL": "redis://localhost:1/0",
        "SWAP_PROVIDR": "uniswap",
    }
    assert len(refusals(start(wrong))) == len(wrong) + 1  # two hosts
    assert start({**wrong, "TILLGATE_ENV": "demo"}).returncode == 0


@pytest.mark.parametrize(
    "command",
    [("manage.py", "verify_ledger"), ("-c", "import config.celery"), ("-c", "import config.asgi")],
    ids=str,
)
def test_no_process_gets_past_it(command: tuple[str, ...]) -> None:
    """The database of this environment isn't there: a process that went on would say so."""
    run = started({"SECRET_KEY": "x"}, *command)
    assert run.returncode != 0
    assert [line.partition(":")[0] for line in refusals(run)] == [
        "SECRET_KEY is shorter than 50 characters"
    ]


def test_what_makes_the_keys_runs_without_them(tmp_path: Path) -> None:
    assert "create_wallet" in MENDING
    without = {
        "DEPOSIT_XPUB_LIVE": None,
        "DEPOSIT_XPUB_TEST": None,
        "SIGNER_PASSPHRASE": "correct horse battery staple",
    }
    run = started(
        {**without, "SIGNER_KEY_FILE": str(tmp_path / "signer.key")}, "manage.py", "create_wallet"
    )
    assert run.returncode == 0 and "xpub" in run.stdout, run.stderr


def test_the_check_of_a_deployment_has_nothing_to_say() -> None:
    run = started({}, "manage.py", "check", "--deploy", "--fail-level", "INFO")
    assert run.returncode == 0, run.stderr
    assert "no issues" in run.stdout + run.stderr

"""THE table of what production refuses to start with. Every problem is reported at once, with its
fix, before anything connects.

A rule reads the environment alone. The commands in MENDING run nevertheless: they fix what is
refused.
"""

import base64
import binascii
import ipaddress
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured

from apps.core.process.published_secrets import COIN_XPUBS, PUBLISHED, SIGNER_PASSPHRASE
from config import reader

# create_wallet makes the extended public keys, rotate_encryption_key replaces a weak key, sending
# stops what leaves; an image is built without secrets.
MENDING = (
    "create_wallet",
    "rotate_encryption_key",
    "sending",
    "collectstatic",
    "help",
    "version",
    "--help",
    "--version",
)
REQUIRED = (
    *(
        "PUBLIC_URL",
        "SECRET_KEY",
        "ENCRYPTION_KEYS",
        "DEPOSIT_XPUB_LIVE",
        "DEPOSIT_XPUB_TEST",
        "METRICS_TOKEN",
    ),
    "DATABASE_URL",
    "REDIS_URL",
)
# The least length of secrets that an operator makes up.
LENGTHS = {
    "SECRET_KEY": 50,
    "METRICS_TOKEN": 20,
    "OFFRAMP_CALLBACK_SECRET": 20,
    "SIGNER_PASSPHRASE": 12,
    "REDIS_PASSWORD": 16,
}
CHARACTERS_MIN = 8  # different ones
KEY_BYTES = 32
KEY_BYTES_DIFFERENT_MIN = 16
RATE_AGE_SECONDS_MAX = 3600
REPLICA_LAG_SECONDS_MAX = 300
CHOICES = {
    "SIGN_UP": ("open", "invitation", "closed"),
    "RATE_PROVIDERS": ("coingecko", "kraken", "coinbase", "fixed"),
    "SWAP_PROVIDER": ("treasury", "uniswap"),
    "OFFRAMP_PROVIDER": ("http", "sandbox"),
    "SIGNER_KEYSTORE": ("file", "pkcs11", "kms"),
    "CARD_NETWORKS_LIVE": ("onramper", "sandbox"),
    "CARD_NETWORKS_TEST": ("onramper", "sandbox"),
}
# What each keystore needs besides.
KEYSTORES = {
    "pkcs11": ("SIGNER_HOT_KEYS", "SIGNER_WRAPPING_KEY", "PKCS11_MODULE", "PKCS11_TOKEN"),
    "kms": ("SIGNER_HOT_KEYS", "SIGNER_WRAPPING_KEY"),
}
# Labels, whatever they sound like.
_NO_SECRETS = frozenset({"PKCS11_TOKEN", "SIGNER_WRAPPING_KEY"})
_SECRET_NAME = re.compile(r"SECRET|TOKEN|PASSWORD|PASSPHRASE|_KEY$")
_PRIVATE_NAME = re.compile(
    r"[^.]+|.*\.(local|localhost|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)",
    re.IGNORECASE,
)
_MAIL_TO_NOBODY = re.compile(
    r"django\.core\.mail\.backends\.(console|dummy|filebased|locmem)\.|apps\.core\.mailbox\."
)
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
SMTP = "django.core.mail.backends.smtp.EmailBackend"
MAKE_ONE = "generate it with python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
MAKE_KEY = (
    "generate it with python3 -c"
    " 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())'"
)


class ConfigurationRefused(ImproperlyConfigured):
    """Tillgate refuses to start with this configuration."""


@dataclass(frozen=True)
class Configuration:
    """The environment as it is, the names that are read of it, and the settings that were made of
    it."""

    variables: Mapping[str, str]
    names: frozenset[str]
    unreadable: Sequence[str]
    settings: Mapping[str, Any]

    def text(self, name: str) -> str:
        return self.variables.get(name, "").strip()


@dataclass(frozen=True)
class Rule:
    """`finds` tells what is wrong, each beginning with the variable."""

    name: str
    finds: Callable[[Configuration], Iterable[str]]
    cure: str


def _missing(configuration: Configuration) -> Iterator[str]:
    yield from (f"{name} is missing" for name in REQUIRED if not configuration.text(name))


def _published(configuration: Configuration) -> Iterator[str]:
    published = {**PUBLISHED, **COIN_XPUBS, "SIGNER_PASSPHRASE": SIGNER_PASSPHRASE}
    yield from (
        f"{name} contains the published demo value"
        for name, value in published.items()
        if value in configuration.text(name).split(",")
    )


def _short(configuration: Configuration) -> Iterator[str]:
    for name, length in LENGTHS.items():
        value = configuration.text(name)
        if value and len(value) < length:
            yield f"{name} is shorter than {length} characters"
        elif value and len(set(value)) < CHARACTERS_MIN:
            yield f"{name} repeats the same few characters"


def _repeated(configuration: Configuration) -> Iterator[str]:
    names = (configuration.names | reader.OTHERS) - _NO_SECRETS
    secrets: dict[str, str] = {}
    for name in sorted(candidate for candidate in names if _SECRET_NAME.search(candidate)):
        value = configuration.text(name)
        if value and secrets.setdefault(value, name) != name:
            yield f"{name} is the same secret as {secrets[value]}"


def _encryption_keys(configuration: Configuration) -> Iterator[str]:
    yield from _keys("ENCRYPTION_KEYS", configuration)


def _approval_keys(configuration: Configuration) -> Iterator[str]:
    """Keys of approval; a process that only serves people has none."""
    if configuration.text("APPROVAL_KEYS") != "none":
        yield from _keys("APPROVAL_KEYS", configuration)


def _keys(variable: str, configuration: Configuration) -> Iterator[str]:
    keys = configuration.text(variable)
    pairs = [entry.strip().partition(":")[::2] for entry in keys.split(",")] if keys else []
    for name, text in pairs:
        try:
            key = base64.b64decode(text, altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not name or len(key) != KEY_BYTES:
            yield (
                f"{variable}: {name or 'an entry'} is not name:key with a key of {KEY_BYTES} bytes"
                " in base64"
            )
        elif len(set(key)) < KEY_BYTES_DIFFERENT_MIN:
            yield f"{variable}: the key {name} is not random"
    if len({name for name, _ in pairs}) < len(pairs) or len({key for _, key in pairs}) < len(pairs):
        yield f"{variable} contains a name or a key twice"


def _one_xpub(configuration: Configuration) -> Iterator[str]:
    if configuration.text("DEPOSIT_XPUB_LIVE") and configuration.text(
        "DEPOSIT_XPUB_LIVE"
    ) == configuration.text("DEPOSIT_XPUB_TEST"):
        yield "DEPOSIT_XPUB_LIVE is the same as DEPOSIT_XPUB_TEST"


def _any_host(configuration: Configuration) -> Iterator[str]:
    if "*" in configuration.settings["ALLOWED_HOSTS"]:
        yield "ALLOWED_HOSTS contains *"


def _plain_http(configuration: Configuration) -> Iterator[str]:
    url = urlsplit(configuration.text("PUBLIC_URL"))
    if configuration.text("PUBLIC_URL") and (url.scheme != "https" or not url.hostname):
        yield "PUBLIC_URL is not an https:// address"


def _private_hosts(configuration: Configuration) -> Iterator[str]:
    private = (host for host in configuration.settings["WEBHOOK_ALLOW_HOSTS"] if _is_private(host))
    yield from (f"WEBHOOK_ALLOW_HOSTS contains {host}, which is private" for host in private)


def _is_private(host: str) -> bool:
    host = host.strip().strip("[]").rstrip(".")
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return bool(_PRIVATE_NAME.fullmatch(host))


def _plain_mail(configuration: Configuration) -> Iterator[str]:
    is_tls = configuration.settings["EMAIL_USE_TLS"]
    is_ssl = configuration.settings["EMAIL_USE_SSL"]
    if is_tls and is_ssl:
        yield "EMAIL_USE_TLS and EMAIL_USE_SSL are both true"
    if configuration.settings["EMAIL_BACKEND"] != SMTP or is_tls or is_ssl:
        return
    host = configuration.text("EMAIL_HOST")
    if not host:
        yield "EMAIL_HOST is missing, and EMAIL_USE_TLS is off"
    elif host not in _THIS_MACHINE:
        yield (f"EMAIL_USE_TLS is off: emails with sign-in links are sent to {host} in plain text")


def _mail_to_nobody(configuration: Configuration) -> Iterator[str]:
    if _MAIL_TO_NOBODY.match(configuration.settings["EMAIL_BACKEND"]):
        yield "EMAIL_BACKEND doesn't deliver email"


def _made_up_rates(configuration: Configuration) -> Iterator[str]:
    if "fixed" in configuration.settings["RATE_PROVIDERS"]:
        yield "RATE_PROVIDERS contains fixed, whose rates are invented"
    if not configuration.settings["RATE_PROVIDERS"]:
        yield "RATE_PROVIDERS is empty"


def _old_rates(configuration: Configuration) -> Iterator[str]:
    if not 0 < configuration.settings["RATE_MAX_AGE_SECONDS"] <= RATE_AGE_SECONDS_MAX:
        yield f"RATE_MAX_AGE_SECONDS is not between 1 and {RATE_AGE_SECONDS_MAX}"


def _sandboxes(configuration: Configuration) -> Iterator[str]:
    if configuration.settings["OFFRAMP_PROVIDER"] == "sandbox":
        yield "OFFRAMP_PROVIDER is sandbox, which takes live coins and pays nobody"
    if "sandbox" in configuration.settings["CARD_NETWORKS"]["live"]:
        yield "CARD_NETWORKS_LIVE contains sandbox, which charges nobody"


def _unknown_choices(configuration: Configuration) -> Iterator[str]:
    for name, choices in CHOICES.items():
        for choice in (
            text.strip() for text in configuration.text(name).split(",") if text.strip()
        ):
            if choice not in choices:
                yield f"{name} contains {choice}, which is not one of {', '.join(choices)}"


def _keystore_without_keys(configuration: Configuration) -> Iterator[str]:
    keystore = configuration.text("SIGNER_KEYSTORE")
    missing = (name for name in KEYSTORES.get(keystore, ()) if not configuration.text(name))
    yield from (f"{name} is missing for SIGNER_KEYSTORE={keystore}" for name in missing)


def _open_redis(configuration: Configuration) -> Iterator[str]:
    text = configuration.text("REDIS_URL")
    if "sentinel://" in text:
        credentials, at, _ = text.partition("://")[2].rpartition("@")
        has_password = bool(at and credentials.partition(":")[2])
    else:
        url = urlsplit(text)
        is_open = url.scheme in ("redis", "rediss")
        has_password = not is_open or bool(url.password or parse_qs(url.query).get("password"))
    if not has_password:
        yield "REDIS_URL has no password"


def _primary_as_replica(configuration: Configuration) -> Iterator[str]:
    replica = configuration.text("DATABASE_REPLICA_URL")
    addresses = (configuration.text("DATABASE_URL"), configuration.text("DATABASE_DIRECT_URL"))
    if replica and replica in addresses:
        yield "DATABASE_REPLICA_URL is the address of the primary"


def _unbounded_lag(configuration: Configuration) -> Iterator[str]:
    if not 0 < configuration.settings["DATABASE_REPLICA_LAG_SECONDS"] <= REPLICA_LAG_SECONDS_MAX:
        yield f"DATABASE_REPLICA_LAG_SECONDS is not between 0 and {REPLICA_LAG_SECONDS_MAX}"


def _unknown(configuration: Configuration) -> Iterable[str]:
    return reader.unknown(configuration.variables, configuration.names)


RULES = (
    Rule("missing", _missing, "set it in the environment"),
    Rule(
        "unreadable", lambda configuration: configuration.unreadable, "use the form in .env.example"
    ),
    Rule("published_secret", _published, "generate your own value"),
    Rule("short_secret", _short, MAKE_ONE),
    Rule(
        "repeated_secret",
        _repeated,
        "give each its own value, so that a leak of one doesn't reveal the other",
    ),
    Rule(
        "encryption_key",
        _encryption_keys,
        f"{MAKE_KEY}; put it first, then run manage.py rotate_encryption_key",
    ),
    Rule(
        "approval_key",
        _approval_keys,
        f"{MAKE_KEY}; put it first, and remove the others once nothing older is open",
    ),
    Rule(
        "one_xpub_for_both_modes",
        _one_xpub,
        "set both to the values that manage.py create_wallet prints",
    ),
    Rule(
        "any_host",
        _any_host,
        "list the host names to serve, or leave it out for that of PUBLIC_URL",
    ),
    Rule(
        "plain_http",
        _plain_http,
        "set it to the https:// address of your TLS proxy",
    ),
    Rule(
        "private_webhook_host",
        _private_hosts,
        "remove it: merchants' webhooks could reach your network",
    ),
    Rule(
        "mail_without_tls",
        _plain_mail,
        "set EMAIL_HOST and EMAIL_USE_TLS=true (port 587) or EMAIL_USE_SSL=true (port 465)",
    ),
    Rule(
        "mail_to_nobody", _mail_to_nobody, "leave it out for SMTP, or set one of anymail's backends"
    ),
    Rule("made_up_rates", _made_up_rates, "set RATE_PROVIDERS=coingecko,kraken"),
    Rule("old_rates", _old_rates, "the default is 300; older rates no longer match the market"),
    Rule("sandbox_in_live_mode", _sandboxes, "remove it from live mode; test mode always has it"),
    Rule("unknown_choice", _unknown_choices, "use one of these values"),
    Rule(
        "keystore_without_keys",
        _keystore_without_keys,
        "set it to its name in the keystore, as in .env.example",
    ),
    Rule(
        "open_redis",
        _open_redis,
        "set a Redis password (requirepass) and use redis://:password@host:6379/0",
    ),
    Rule(
        "primary_as_replica",
        _primary_as_replica,
        "set it to a streaming replica, or leave it out",
    ),
    Rule(
        "unbounded_lag",
        _unbounded_lag,
        "the default is 10; staff and reports would read old figures",
    ),
    Rule(
        "unknown_variable",
        _unknown,
        "correct or remove it, or list it in IGNORED_VARIABLES if it is not for Tillgate",
    ),
)


def violations(configuration: Configuration) -> list[tuple[Rule, str]]:
    """All that is wrong, in the order of the table."""
    return [(rule, finding) for rule in RULES for finding in rule.finds(configuration)]


def is_mending(arguments: Sequence[str]) -> bool:
    """True if this process is one of the commands that put right what is refused."""
    return len(arguments) > 1 and Path(arguments[0]).name == "manage.py" and arguments[1] in MENDING


def enforce(configuration: Configuration) -> None:
    """Raises ConfigurationRefused with everything that is wrong."""
    wrong = [] if is_mending(sys.argv) else violations(configuration)
    if wrong:
        lines = [f"  {finding}: {rule.cure}" for rule, finding in wrong]
        raise ConfigurationRefused(
            "\n".join(
                [
                    f"Tillgate refuses to start in production ({len(wrong)} to fix):",
                    *lines,
                ]
            )
        )

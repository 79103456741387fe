"""The demo and the tests run on services and settings of their own: what a shell has for other
programs neither steers nor breaks them. Standard library only.

A flag names another database or Redis: `--database URL`, `--redis URL`.
"""

import os

from dev.running import say

SERVICES = {"--database": "DATABASE_URL", "--redis": "REDIS_URL"}
# Names that other programs use as well.
GENERIC = (
    "ALLOWED_HOSTS",
    "DEFAULT_FROM_EMAIL",
    "DJANGO_SETTINGS_MODULE",
    "PUBLIC_URL",
    "SECRET_KEY",
)
GENERIC_BEGINNINGS = ("DATABASE_", "EMAIL_", "POSTGRES_", "REDIS_", "S3_")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class FlagWithoutAddress(Exception):
    """A flag without its value; the message is the line for the person."""


def leave_behind(arguments: list[str]) -> list[str]:
    """Take the shell's variables out of the environment, put in what flags name, and return the
    other arguments. Raises FlagWithoutAddress."""
    ignored = sorted(name for name in os.environ if _is_generic(name))
    for name in ignored:
        del os.environ[name]
    rest, addresses = _addresses_of(arguments)
    os.environ.update(addresses)
    if ignored:
        verb = "is" if len(ignored) == 1 else "are"
        say(
            f"{', '.join(ignored)} of your shell {verb} ignored; --database and --redis name others"
        )
    return rest


def _is_generic(name: str) -> bool:
    if name == "LOG_LEVEL":
        return os.environ[name] not in LOG_LEVELS
    return name in GENERIC or name.startswith(GENERIC_BEGINNINGS)


def _addresses_of(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """Everything but the flags of services, and the variables that these set."""
    rest: list[str] = []
    addresses: dict[str, str] = {}
    waiting = iter(arguments)
    for argument in waiting:
        flag, has_value, value = argument.partition("=")
        if flag not in SERVICES:
            rest.append(argument)
            continue
        address = value if has_value else next(waiting, "")
        if "://" not in address:
            raise FlagWithoutAddress(
                f"{flag} needs an address, for example {flag} {_EXAMPLES[flag]}"
            )
        addresses[SERVICES[flag]] = address
    return rest, addresses


_EXAMPLES = {
    "--database": "postgresql://me@localhost/tillgate",
    "--redis": "redis://localhost:6379/0",
}

"""THE table of what Tillgate runs on, and how new each must be at least."""

import platform
from collections.abc import Callable
from typing import NamedTuple

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError, connection

from apps.core.redis import buckets

Version = tuple[int, ...]


class Minimum(NamedTuple):
    """`asked` is the version that is there, None where nobody may ask; `remedy` says what helps
    when it is older."""

    name: str
    version: Version
    asked: Callable[[], Version | None]
    remedy: str


class VersionTooOld(Exception):
    """The service can't run on it; the message is one sentence for the operator."""


def postgresql() -> Version:
    """(major, minor) of the server that the database lies on. Raises DatabaseError."""
    connection.ensure_connection()
    return divmod(int(connection.connection.info.server_version), 10_000)


def _redis() -> Version | None:
    """Redis counts INFO among the commands that an operator may forbid."""
    from apps.core.redis.client import redis

    try:
        return _numbers(buckets.client().info("server")["redis_version"])
    except redis.exceptions.NoPermissionError:
        buckets.client().ping()
        return None


def _python() -> Version:
    return _numbers(platform.python_version())


def _numbers(text: str) -> Version:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


POSTGRESQL = Minimum(
    "PostgreSQL",
    (16,),
    postgresql,
    "Install a newer server (https://www.postgresql.org/download), bring the data there with"
    " pg_upgrade or `manage.py backup` and `restore`, and name it in DATABASE_URL.",
)
REDIS = Minimum(
    "Redis", (6, 2), _redis, "Install a newer server and name it in REDIS_URL; nothing is lost."
)
PYTHON = Minimum("Python", (3, 11), _python, "Make the virtual environment from a newer Python.")
MINIMUMS = (POSTGRESQL, REDIS, PYTHON)
# The library that keys are used with (coincurve) has no release of its own from here on
# (decision 630).
PYTHON_WITHOUT_KEYS: Version = (3, 14)


def require(minimum: Minimum) -> None:
    """Raises VersionTooOld with one sentence, or what asking raises."""
    version = minimum.asked()
    if version is not None and version < minimum.version:
        raise VersionTooOld(
            f"{minimum.name} {_text(minimum.version)} or newer is needed, this is {_text(version)}"
        )


def refusals(*minimums: Minimum) -> list[CheckMessage]:
    """A message for each that is too old. What can't be asked is for others to say."""
    messages: list[CheckMessage] = []
    for minimum in minimums:
        try:
            require(minimum)
        except VersionTooOld as error:
            messages.append(Error(str(error), hint=minimum.remedy, id="core.E002"))
        except Exception as error:
            if not isinstance(error, (DatabaseError, *buckets.unreachable())):
                raise
    return messages


def too_new() -> list[CheckMessage]:
    """A message when keys must not be used with this Python."""
    version = _python()
    if version < PYTHON_WITHOUT_KEYS:
        return []
    message = f"Python {_text(version)} is for demos and tests: coincurve has no release for it"
    return [Error(message, hint="Make the environment from Python 3.11 to 3.13.", id="core.E003")]


def _text(version: Version) -> str:
    return ".".join(map(str, version))

"""Saved credentials: one file that its owner alone can read, in ~/.config/tillgate."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import click

DEFAULT = "default"


@dataclass(frozen=True)
class Profile:
    """An API key, or what an OAuth grant gave. `webhook_secret` signs what `listen` forwards."""

    url: str
    api_key: str | None = None
    client_id: str | None = None
    refresh_token: str | None = None
    expires_at: float | None = None
    is_live: bool = False
    webhook_secret: str | None = None


def path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "tillgate" / "profiles.json"


def load() -> dict[str, Profile]:
    try:
        told = json.loads(path().read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise click.ClickException(
            f"{path()} can't be read; remove it and sign in again"
        ) from error
    known = {one.name for one in fields(Profile)}
    return {
        name: Profile(**{key: value for key, value in row.items() if key in known})
        for name, row in told.items()
    }


def save(name: str, profile: Profile | None) -> None:
    """None removes it. The file is replaced at once, and never readable by others on the way."""
    rows = load()
    if profile is None:
        rows.pop(name, None)
    else:
        rows[name] = profile
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, made = tempfile.mkstemp(dir=target.parent)  # mode 0600
    try:
        with os.fdopen(handle, "w") as file:
            json.dump({key: asdict(row) for key, row in rows.items()}, file, indent=2)
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


def new_webhook_secret() -> str:
    return f"whsec_{secrets.token_hex(32)}"


def masked(key: str) -> str:
    """Enough to tell keys apart."""
    return f"{key[:12]}…{key[-4:]}" if len(key) > 24 else "…"

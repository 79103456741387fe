"""login, logout and status."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

import tillgate

from . import oauth, profiles
from .output import json_option, print_fields, print_json
from .session import LIVE_PREFIXES, Session

LOCAL = "http://localhost:8000"
SCOPES = (
    "payments:read payments:write refunds:write balances:read webhooks:read webhooks:write"
    " billing:read billing:write stores:read offline_access"
)


@click.command()
@click.option("--oauth", "by_oauth", is_flag=True, help="Sign in with a browser instead of a key.")
@click.option(
    "--client-id", help="With --oauth: a public app that has the address http://127.0.0.1/callback."
)
@click.option("--scope", default=SCOPES, show_default=False, help="With --oauth: what to ask for.")
@click.option("--live", is_flag=True, help="With --oauth: for live mode.")
@click.pass_obj
def login(session: Session, by_oauth: bool, client_id: str | None, scope: str, live: bool) -> None:
    """Save a credential.

    Asks for the address of the service and for an API key, or reads the key from standard input.
    Several are kept apart by --profile.
    """
    saved = session.saved()
    url = session.url or _asked_address(saved.url if saved is not None else LOCAL)
    try:
        url = tillgate.calls.root_of(url)
    except ValueError as error:
        raise click.UsageError("The address must begin with http:// or https://") from error
    if by_oauth:
        if client_id is None:
            raise click.UsageError("--oauth needs --client-id")
        profile = oauth.sign_in(url, client_id, scope, is_live=live, show=_show)
    else:
        key = session.api_key or _asked_key(url)
        if key.startswith("svc_pk_"):
            raise click.ClickException(
                "A publishable key can only create payments; use a secret key"
            )
        profile = profiles.Profile(url, api_key=key, is_live=key.startswith(LIVE_PREFIXES))
    with tillgate.Client(str(profile.api_key), url) as client:
        client.request("GET", "/payment_currencies")
    if saved is not None:
        profile = replace(profile, webhook_secret=saved.webhook_secret)
    profiles.save(session.name, profile)
    mode = "live" if profile.is_live else "test"
    click.echo(f"Signed in to {url} ({mode} mode), saved as {session.name}.")


def _asked_address(usual: str) -> str:
    return str(click.prompt("Address", default=usual)) if sys.stdin.isatty() else usual


def _asked_key(url: str) -> str:
    if not sys.stdin.isatty():
        key = sys.stdin.readline().strip()
    else:
        click.echo(f"Create a secret key at {url}/dashboard/api-keys")
        key = str(click.prompt("API key", hide_input=True)).strip()
    if not key:
        raise click.UsageError("No key was given")
    return key


def _show(address: str) -> None:
    click.echo(f"Sign in here:\n{address}", err=True)
    click.launch(address)


@click.command()
@click.pass_obj
def logout(session: Session) -> None:
    """Forget the saved credential. A grant by OAuth is revoked, a key in the dashboard."""
    saved = session.saved()
    if saved is None:
        raise click.ClickException(f"There is no profile {session.name}")
    if saved.client_id is not None:
        oauth.revoke(saved)
    profiles.save(session.name, None)
    click.echo(f"Removed {session.name}.")


@click.command()
@json_option
@click.pass_obj
def status(session: Session, as_json: bool) -> None:
    """Say which credential is used, and whether it works."""
    current = session.current()
    with session.client() as client:
        client.request("GET", "/payment_currencies")
    told: dict[str, object] = {
        "profile": session.name if session.api_key is None else None,
        "url": current.url,
        "mode": "live" if current.is_live else "test",
        "credential": profiles.masked(str(current.api_key)),
        "profiles": sorted(profiles.load()),
    }
    if as_json:
        print_json(told)
    else:
        print_fields({**told, "profiles": ", ".join(sorted(profiles.load()))})

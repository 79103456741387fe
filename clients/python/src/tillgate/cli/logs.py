"""logs: the calls of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from .following import Follower
from .output import json_option, plain, print_json
from .session import Session


@click.group()
def logs() -> None:
    """The request log: which calls were made, and what became of them."""


@logs.command()
@click.option(
    "--status", type=click.Choice(["2", "3", "4", "5"]), help="First digit of the status."
)
@click.option("--method", type=click.Choice(["GET", "POST", "PATCH", "DELETE"]))
@click.option(
    "--last", type=click.IntRange(0, 100), default=10, show_default=True, help="Begin with so many."
)
@click.option("--no-follow", is_flag=True, help="Print what there is and stop.")
@click.option(
    "--interval", type=click.FloatRange(0.5, 60), default=2.0, show_default=True, help="Seconds."
)
@json_option
@click.pass_obj
def tail(
    session: Session,
    status: str | None,
    method: str | None,
    last: int,
    no_follow: bool,
    interval: float,
    as_json: bool,
) -> None:
    """Print calls as they are made."""
    query = {"status": status, "method": method}
    with session.client() as client:
        follower = Follower(client, "/request_log", _moment, query)
        follower.begin()
        if last:
            page = client.request("GET", "/request_log", query={**query, "per_page": last})
            for entry in page["data"][::-1]:
                _tell(entry, as_json)
        if no_follow:
            return
        for entry in follower.follow(interval):
            _tell(entry, as_json)


def _moment(entry: dict[str, Any]) -> float:
    return datetime.fromisoformat(entry["created_at"].replace("Z", "+00:00")).timestamp()


def _tell(entry: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(entry, on_one_line=True)
        return
    parts = [
        entry["created_at"][11:19],
        str(entry["status"]),
        entry["method"].ljust(6),
        entry["path"],
    ]
    parts.append(f"{entry['duration_ms']} ms")
    if entry["is_replay"]:
        parts.append("replay with another body" if entry["is_body_different"] else "replay")
    if entry["error_message"] or entry["error_code"]:
        parts.append(entry["error_message"] or entry["error_code"])
    click.echo("  ".join(plain(part) for part in parts))

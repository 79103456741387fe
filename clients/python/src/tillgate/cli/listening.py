"""listen: events as they happen, signed and sent to a receiver on this computer."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any

import click
import httpx

from .. import webhooks
from .following import Follower
from .output import json_option, plain, print_json
from .session import Session

FORWARD_SECONDS = 30


@click.command()
@click.option(
    "--forward-to", metavar="URL", help="Where your receiver is; without it events are shown."
)
@click.option("--events", metavar="NAMES", help="These alone, separated by commas.")
@click.option("--count", type=click.IntRange(1), help="Stop after so many events.")
@click.option(
    "--interval", type=click.FloatRange(0.2, 60), default=1.0, show_default=True, help="Seconds."
)
@click.option("--print-secret", is_flag=True, help="Print the signing secret and stop.")
@click.option("--live", is_flag=True, help="Follow real events.")
@json_option
@click.pass_obj
def listen(
    session: Session,
    forward_to: str | None,
    events: str | None,
    count: int | None,
    interval: float,
    print_secret: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Forward webhook events to your computer.

    Asks the service for new events and sends each on, signed with the secret that is printed at
    the start. The service needs no way to your computer, and no endpoint is registered.
    """
    secret = session.webhook_secret()
    if print_secret:
        click.echo(secret)
        return
    if session.current().is_live and not live:
        raise click.ClickException(
            "The credential is for live mode; add --live to follow real events"
        )
    wanted = {one.strip() for one in (events or "").split(",") if one.strip()}
    with session.client() as client, httpx.Client(timeout=FORWARD_SECONDS) as http:
        follower = Follower(client, "/events", lambda event: float(event["created"]))
        follower.begin()
        click.echo(f"Ready. Your webhook signing secret is {secret} (Ctrl-C stops)", err=True)
        left = count
        for event in follower.follow(interval):
            if wanted and event["type"] not in wanted:
                continue
            answer = _forward(http, forward_to, event, secret) if forward_to else None
            _tell(event, answer, as_json)
            left = None if left is None else left - 1
            if left == 0:
                return


def _forward(http: httpx.Client, url: str, event: dict[str, Any], secret: str) -> str:
    """The receiver's answer."""
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    try:
        return str(
            http.post(url, content=body, headers=signed(body, event["id"], secret)).status_code
        )
    except httpx.TimeoutException:
        return "no answer in time"
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return str(error) or type(error).__name__


def signed(body: bytes, event_id: str, secret: str) -> dict[str, str]:
    """The headers of a delivery, as the service sends them."""
    moment = int(time.time())
    key = base64.b64decode(secret.removeprefix("whsec_"))
    ours = hmac.digest(key, f"{event_id}.{moment}.".encode() + body, "sha256")
    return {
        "Content-Type": "application/json",
        "User-Agent": "Tillgate-Webhooks/1.0",
        "Service-Signature": webhooks.sign(body, secret, moment),
        "webhook-id": event_id,
        "webhook-timestamp": str(moment),
        "webhook-signature": f"v1,{base64.b64encode(ours).decode()}",
    }


def _tell(event: dict[str, Any], answer: str | None, as_json: bool) -> None:
    if as_json:
        print_json({"event": event, "answer": answer}, on_one_line=True)
        return
    moment = time.strftime("%H:%M:%S")
    subject = plain(event["data"]["object"].get("id"))
    arrow = "" if answer is None else f"  -> {plain(answer)}"
    click.echo(f"{moment}  {plain(event['type'])}  {subject}{arrow}")

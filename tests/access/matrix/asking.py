"""An attempt at an operation, and the refusal of rights that comes back."""

from typing import Any

from django.contrib.messages import get_messages
from django.db import transaction
from django.test import Client

from apps.access.person import sessions
from apps.core import clock
from tests.access.matrix.lines import Line
from tests.access.matrix.world import World
from tests.dashboard.browse import text
from tests.stage import empty_buckets

REFUSALS = {
    "authentication_required",
    "login_required",
    "insufficient_scope",
    "role_forbidden",
    "credential_forbidden",
    "mfa_required",
    "otp_required",
    "platform_cannot_issue_credentials",
    "not_a_platform",
    "invalid_api_key",
}


def outcome(answer: Any) -> str:
    """The refusal of rights that came back, or that it went past them."""
    if answer.headers.get("HX-Redirect") == "/dashboard/":
        notes = " ".join(str(note) for note in get_messages(answer.wsgi_request))
        return "role_forbidden" if "Your role does not allow this" in notes else "passed"
    if answer.status_code in (301, 302, 303):
        where = answer["Location"]
        if "/dashboard/confirm?" in where:
            return "otp_required"
        if "/dashboard/sign-in" in where:
            return "authentication_required"
        notes = " ".join(str(note) for note in get_messages(answer.wsgi_request))
        return "mfa_required" if "Set up two-factor authentication first" in notes else "passed"
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        shown = text(answer)
        if "Set up two-factor authentication first" in shown:
            return "mfa_required"
        if answer.status_code == 403:
            return "role_forbidden"
        return "otp_required" if answer.context and answer.context.get("asks_code") else "passed"
    error = (
        answer.json().get("error") if answer.content and isinstance(answer.json(), dict) else None
    )
    code = error.get("code") if isinstance(error, dict) else error
    if code == "invalid_scope" or (
        code == "invalid_request" and "must be a store of yours" in str(answer.json())
    ):
        return "role_forbidden"
    return code if code in REFUSALS else "passed"


def ask(
    world: World, line: Line, mode: str, client: Client, *, as_part: bool = False, **headers: str
) -> str:
    """One attempt, of which nothing stays. Who asks for a part of a page is refused without one
    being drawn."""
    empty_buckets()
    client.cookies.pop("messages", None)  # of the attempt before
    path = world.fill(line.path, mode)
    body = world.fill(line.body, mode)
    with transaction.atomic():
        if line.door == "page":
            headers |= {"HX-Request": "true"} if as_part else {}
            answer = client.post(f"/dashboard/{path}", body or {}, headers=headers)
        else:
            sent = {**headers, **({"Idempotency-Key": "one"} if line.method == "POST" else {})}
            options = {} if body is None else {"data": body, "content_type": "application/json"}
            answer = getattr(client, line.method.lower())(
                f"/api/v2/{path}", headers=sent, **options
            )
        transaction.set_rollback(True)
    return outcome(answer)


def signed_in(world: World, role: str, mode: str, *, has_factor: bool, is_recent: bool) -> Client:
    """The one session of that person, in the world's store and this mode, with a code that was
    taken just now or with none."""
    browser = world.browsers[role, has_factor].again()
    session = browser.client.session
    session[sessions.STORE_KEY] = str(world.store.pk)
    session[sessions.MODE_KEY] = mode
    session.pop(sessions.PROOF_KEY, None)
    if is_recent:
        session[sessions.PROOF_KEY] = {
            "at": clock.real_now().isoformat(),
            "store_id": str(world.store.pk),
        }
    session.save()
    return browser.client


def told(line: Line, *how: object) -> str:
    return f"{line.row.name} at {line.door} {line.method} {line.path}: {', '.join(map(str, how))}"

"""Every answer that a test gets is held against the API description: its status is described, and
its body has the described shape."""

import json
from typing import Any

from django.urls import Resolver404
from jsonschema_rs import Draft202012Validator

from apps.api.plumbing.description import answers, refusals
from apps.api.plumbing.routes import Route
from apps.core.messages.documents import schema_of

# What a guard answers before any door: bodies that are too large or compressed, unknown methods and
# paths.
_BEFORE_THE_DOOR = (405, 413, 415)


class Undescribed(AssertionError):
    """The description doesn't tell of this."""


def check(method: str, answer: Any) -> None:
    """Raises Undescribed. Answers of no door (unknown paths) and without JSON aren't described."""
    match = answer.wsgi_request.resolver_match
    if match is None:  # it was answered before it came to a door
        try:
            match = answer.resolver_match
            match = match if match is not None and match.func else None
        except Resolver404:
            return
    route = getattr(match.func, "view_initkwargs", {}).get("route") if match is not None else None
    if (
        match is None
        or route is None
        or method not in route.scopes
        or answer.status_code in _BEFORE_THE_DOOR
    ):
        return
    if not answer.headers.get("Content-Type", "").startswith("application/json"):
        return
    door = match.func.view_class
    status = answer.status_code
    if status not in (
        answers(door, route, method) if status < 300 else _statuses(route, method, door)
    ):
        raise Undescribed(f"{method} {route.path} answered {status}: {answer.content[:200]!r}")
    error = next(
        _validator(route, method, door, status).iter_errors(json.loads(answer.content or b"null")),
        None,
    )
    if error is not None:
        where = "/".join(map(str, error.instance_path))
        raise Undescribed(f"{method} {route.path} {status}: {where}: {error.message[:300]}")


_told: dict[tuple[str, str], frozenset[int]] = {}


def _statuses(route: Route, method: str, door: Any) -> frozenset[int]:
    key = (route.path, method)
    if key not in _told:
        _told[key] = frozenset(_refusals(route, method, door))
    return _told[key]


_made: dict[tuple[str, str, int], Draft202012Validator] = {}


def _validator(route: Route, method: str, door: Any, status: int) -> Draft202012Validator:
    key = (route.path, method, status)
    if key not in _made:
        is_done = status < 300
        told = (
            answers(door, route, method)[status]
            if is_done
            else _refusals(route, method, door)[status]
        )
        whole = told if isinstance(told, dict) else schema_of(told)
        _made[key] = Draft202012Validator(closed(whole))
    return _made[key]


def closed(schema: Any) -> Any:
    """The schema whose objects have the described properties and no others: every field of an
    answer is described."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(value) for name, value in schema.items()}
    if "properties" in schema:
        made.setdefault("additionalProperties", False)
    return made


def _refusals(route: Route, method: str, door: Any) -> dict[int, Any]:
    return {status: refusal.shape for status, refusal in refusals(door, route, method)}

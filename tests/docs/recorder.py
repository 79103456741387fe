"""Writes down what a story says to the API and what it is answered: the examples of the
documentation's reference."""

import json
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import Client

from apps.docs.samples import ITEMS_MAX
from tests import described
from tests.cast import Api

FILE: Path = settings.BASE_DIR / "docs" / "reference" / "examples.json"
FILES = {"application/pdf": 1, "application/xml": 8}  # content type: lines that are shown
BYTES_MAX = 800
_SHOWN = (
    (re.compile(r"\b(svc[a-z]?_(?:sk|pk)?_?(?:test|live)_)[A-Za-z0-9_-]{8,}"), r"\1…"),
    (re.compile(r"//1\.1\.1\.1/"), "//shop.example/"),
    (re.compile(r"\bwhsec_[0-9a-f]{16,}"), "whsec_…"),
)


class Recorder:
    """Call it as one would call the API: the template of the path, what fills it in, the body.
    `code` proves this very call of a person. A success `beside` the usual one is kept with its
    status. `headers` are those of another service, which has signed the body's bytes."""

    def __init__(self) -> None:
        self.told: dict[str, dict[str, Any]] = {}
        self.answer: Any = None  # the last one

    def __call__(
        self,
        asker: Api | Client,
        method: str,
        template: str,
        body: Any = None,
        *,
        query: str = "",
        key: str = "",
        code: str = "",
        beside: bool = False,
        headers: dict[str, Any] | None = None,
        **ids: str,
    ) -> Any:
        path = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], template) + query
        if isinstance(asker, Api):
            answer = asker(method, path, body, key=key or None, **(headers or {}))
        else:
            content = {} if body is None else {"data": body, "content_type": "application/json"}
            proofs = {"Idempotency-Key": key, "X-OTP-Code": code}
            answer = getattr(asker, method.lower())(
                f"/api/v2{path}",
                headers={name: value for name, value in proofs.items() if value},
                **content,
            )
            described.check(method, answer)
        self.answer = answer
        assert answer.status_code < 300, (method, path, answer.status_code, answer.content)
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        is_json = kind == "application/json"
        told = answer.json() if is_json and getattr(answer, "content", b"") else None
        self.told.setdefault(
            f"{method} {template}" + (f" {answer.status_code}" if beside else ""),
            {
                "path": path,
                "key": key,
                "request": short(json.loads(body) if isinstance(body, bytes) else body),
                "status": answer.status_code,
                "type": kind,
                "response": short(told),
                **({"file": beginning(answer.content, kind)} if kind in FILES else {}),
            },
        )
        return told


def beginning(content: bytes, kind: str) -> str:
    """Of a file: its first lines as far as they are text."""
    lines = content[:BYTES_MAX].decode("latin-1").splitlines()
    return "\n".join(lines[: FILES[kind]]) + "\n…"


def short(value: Any) -> Any:
    """As it is shown: lists cut, secrets left out."""
    if isinstance(value, dict):
        return {
            name: SECRETS_SHOWN.get(name, "…") if name in SECRET_FIELDS and item else short(item)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [short(item) for item in value[:ITEMS_MAX]]
    if isinstance(value, str):
        for pattern, shown in _SHOWN:
            value = pattern.sub(shown, value)
    return value


# Where the form of a secret matters: the verifier of RFC 7636, appendix B.
SECRETS_SHOWN = {"code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}
SECRET_FIELDS = {"access_token", "refresh_token", "client_secret", "code", "code_verifier", "token"}


def shape(value: Any) -> Any:
    """The shape of an answer, which stays equal when a story is run again."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in sorted(value.items())}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


def kept() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return found


def write(told: dict[str, dict[str, Any]]) -> None:
    whole = {**(kept() if FILE.exists() else {}), **told}
    FILE.write_text(json.dumps(dict(sorted(whole.items())), indent=1, ensure_ascii=False) + "\n")

"""A person at the dashboard: Django's client, and what an authenticator app shows."""

from binascii import unhexlify
from typing import Any

from django.test import Client
from django_otp.oath import totp

from apps.access import sessions
from apps.access.models import SecondFactor
from apps.core import clock
from apps.stores.models import User


class Browser:
    """A person who has signed in, or a visitor. (How one signs in is told in test_sign_in.)"""

    def __init__(self, user: User | None = None) -> None:
        self.client = Client()
        if user is not None:
            self.client.force_login(user)
            session = self.client.session
            sessions.begin(session, clock.real_now())
            session.save()

    def get(self, path: str = "", **options: Any) -> Any:
        return self.client.get(address(path), **options)

    def post(self, path: str, **fields: Any) -> Any:
        headers = fields.pop("headers", None)
        return self.client.post(address(path), fields, headers=headers)

    def code(self, code: str) -> Any:
        return self.post("sign-in/code", code=code)

    def switch(self, mode: str) -> None:
        assert self.post("mode", mode=mode).status_code == 302


def address(path: str) -> str:
    return path if path.startswith("/") else f"/dashboard/{path}"


def code_of(factor: SecondFactor) -> str:
    """What the app shows now."""
    return f"{totp(unhexlify(factor.key)):06d}"


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())

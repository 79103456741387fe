"""A person at the dashboard: Django's client, signed in the way people sign in."""

from binascii import unhexlify
from typing import Any

from django.test import Client
from django_otp.oath import totp

from apps.access.models import SecondFactor
from apps.stores.models import User
from tests.cast import PASSWORD


class Browser:
    def __init__(self, user: User | None = None) -> None:
        self.client = Client()
        if user is not None:
            answer = self.post("sign-in", email=user.email, password=PASSWORD)
            assert answer.status_code == 302, answer.content

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

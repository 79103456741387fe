"""A person at the dashboard: Django's client, and what an authenticator app shows."""

import re
from binascii import unhexlify
from html import unescape
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django_otp import DEVICE_ID_SESSION_KEY
from django_otp.oath import totp

from apps.access.factors import second_factor, stepup
from apps.access.models import SecondFactor
from apps.access.person import sessions
from apps.core import clock
from apps.stores.models import User


class Browser:
    """A person who has signed in, or a visitor. (Signing in is tested in test_sign_in.)"""

    def __init__(self, user: User | None = None, *, answers: bool = False) -> None:
        self.client = Client()
        self.user = user
        self.answers = answers
        if user is not None:
            self._begin(user)

    def _begin(self, user: User) -> None:
        """The session that a form would have left, in a third of the statements."""
        at = clock.real_now()
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        sessions.begin(session, at)
        session.save()
        User.objects.filter(pk=user.pk).update(last_login=at)
        self.client.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)

    def known(self) -> "Browser":
        """It has opened a page before: its session is in the person's list, and its next pages
        write nothing of it. For sessions from which many tests begin."""
        assert self.user is not None
        session = self.client.session
        sessions.keep(session, self.user, clock.real_now(), address="127.0.0.1", browser="")
        member = sessions.member_of(self.user, session)
        if member is not None:
            sessions.settle(session, self.user, member, sessions.mode_of(member, session) or "test")
        session.save()
        return self

    def again(self) -> "Browser":
        """Somebody else's tab of the same session, for one of several tests that begin from it."""
        found = Browser()
        found.user = self.user
        found.answers = self.answers
        found.client.cookies.update(self.client.cookies)
        return found

    def get(self, path: str = "", **options: Any) -> Any:
        return held_to_the_rules(self.client.get(address(path), **options))

    def post(self, path: str, **fields: Any) -> Any:
        headers = fields.pop("headers", None)
        answer = held_to_the_rules(self.client.post(address(path), fields, headers=headers))
        if self.answers and answer.status_code == 200 and answer.context.get("asks_code"):
            is_shown_first = b'name="agreed"' in answer.content and "agreed" not in fields
            return answer if is_shown_first else self.confirm(answer, path, **fields)
        return answer

    def confirm(self, asked: Any, path: str, **fields: Any) -> Any:
        """Send the page's form with a code that works."""
        assert self.user is not None
        sent = {**fields, "act": asked.context["act"], "code": next_code(self.user)}
        return self.client.post(address(path), sent)

    def prove(self) -> "Browser":
        """Enter a code of the person's app, which they set up when they have none; it holds for
        five minutes. (Its form is tested in test_sign_in.)"""
        assert self.user is not None
        factor = second_factor.confirmed(self.user)
        if factor is None:
            factor = second_factor.switch_on(self.user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        session = self.client.session
        session[DEVICE_ID_SESSION_KEY] = factor.persistent_id
        stepup.note(session, self.user, clock.real_now())
        session.save()
        return self

    def code(self, code: str) -> Any:
        return self.post("sign-in/code", code=code)

    def switch(self, mode: str) -> None:
        assert self.post("mode", mode=mode).status_code == 302


def held_to_the_rules(answer: Any) -> Any:
    """An answer of the dashboard, which no cache may keep and which runs no foreign script; what
    isn't one as it is."""
    if not answer.wsgi_request.path.startswith("/dashboard/"):
        return answer

    assert answer.headers["Cache-Control"] == "no-store, private"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    if answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming:
        for forbidden in (b"<script>", b"<style", b' style="', b" onclick="):
            assert forbidden not in answer.content

    return answer


def address(path: str) -> str:
    return path if path.startswith("/") else f"/dashboard/{path}"


def code_of(factor: SecondFactor) -> str:
    """The code that the app shows now."""
    return f"{totp(unhexlify(factor.key)):06d}"


def next_code(user: User) -> str:
    """A code of the person's app that works, as if half a minute had passed since the last one."""
    factor = SecondFactor.objects.get(user=user)
    SecondFactor.objects.filter(pk=factor.pk).update(last_step=-1)
    return code_of(factor)


def hidden_fields(answer: Any) -> dict[str, str]:
    """Hidden fields that the form of a page brings back by itself."""
    found = re.findall(
        r'<input type="hidden" name="([\w.]+)" value="([^"]*)"', answer.content.decode()
    )
    return {
        name: unescape(value)
        for name, value in found
        if name not in ("csrfmiddlewaretoken", "next")
    }


def unbroken(html: str) -> str:
    """Where a line may break is no part of the words."""
    return re.sub('<span class="whole hash">([^<]*)</span>', r"\1", html.replace("<wbr>", ""))


def text(answer: Any) -> str:
    return " ".join(unbroken(answer.content.decode()).split())


def field_errors(answer: Any) -> dict[str, str]:
    """Errors of a page at its inputs, by input; each input is marked as wrong and names its
    sentence."""
    page = answer.content.decode()
    told = {
        name: unescape(sentence)
        for name, sentence in re.findall(
            r'<span class="error" id="(\w+)-error" role="alert">([^<]+)</span>', page
        )
    }
    marked = re.findall(
        r'<(?:input|select|textarea) id="(\w+)"[^>]*aria-invalid="true" aria-describedby="(?:[\w-]+'
        r' )?(\w+)-error"',
        page,
    )
    assert marked == [(name, name) for name in told]
    return told

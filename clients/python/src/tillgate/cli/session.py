"""The caller: an option, a variable of the environment or a saved profile, in this order."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import click

import tillgate

from . import oauth, profiles
from .profiles import Profile

LIVE_PREFIXES = ("svc_sk_live_", "svc_pk_live_")
REFRESH_SECONDS = 60


class NotSignedIn(Exception):
    pass


@dataclass
class Session:
    profile: str | None
    api_key: str | None
    url: str | None

    @property
    def name(self) -> str:
        return self.profile or profiles.DEFAULT

    def saved(self) -> Profile | None:
        return profiles.load().get(self.name)

    def current(self) -> Profile:
        """Raises NotSignedIn."""
        saved = self.saved()
        if self.profile is not None and saved is None:
            raise NotSignedIn(f"There is no profile {self.profile}; run: tillgate login")
        if self.api_key is not None:
            url = self.url or (saved.url if saved is not None else None)
            if url is None:
                raise NotSignedIn("No address: set TILLGATE_URL, or pass --url")
            is_live = self.api_key.startswith(LIVE_PREFIXES)
            secret = saved.webhook_secret if saved is not None else None
            return Profile(url, api_key=self.api_key, is_live=is_live, webhook_secret=secret)
        if saved is None:
            raise NotSignedIn("No credential: run tillgate login, or set TILLGATE_API_KEY")
        if self.url is not None and self.url.rstrip("/") != saved.url:
            raise NotSignedIn("The profile is for another address; sign in there first")
        return saved

    def client(self) -> tillgate.Client:
        current = self.current()
        if current.expires_at is not None and current.expires_at < time.time() + REFRESH_SECONDS:
            current = self._refreshed(current)
        if current.api_key is None:
            raise NotSignedIn("The profile is incomplete; run: tillgate login")
        return tillgate.Client(current.api_key, current.url)

    def test_client(self) -> tillgate.Client:
        """For what exists in test mode alone."""
        if self.current().is_live:
            raise click.ClickException("This works in test mode only; use a test key")
        return self.client()

    def webhook_secret(self) -> str:
        """A secret that stays at every start, so that a receiver keeps it."""
        saved = self.saved()
        secret = self.current().webhook_secret
        if secret is None:
            secret = profiles.new_webhook_secret()
            if saved is not None:
                profiles.save(self.name, replace(saved, webhook_secret=secret))
        return secret

    def _refreshed(self, current: Profile) -> Profile:
        if current.refresh_token is None or current.client_id is None:
            raise NotSignedIn("The sign-in has expired; run: tillgate login")
        try:
            fresh = oauth.refresh(current)
        except tillgate.InvalidRequestError as error:
            raise NotSignedIn("The sign-in has ended; run: tillgate login") from error
        profiles.save(self.name, fresh)
        return fresh

"""Requests about API keys, OAuth apps and an app's agent: the same classes for every interface."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from apps.access.models import KeyType
from apps.core.messages.fields import Field, List, Text, Url
from apps.core.messages.requests import Edits, Request, by
from apps.core.models import Mode

Name = Annotated[str, by(Text(100, shortest=1, trim=True))]
Scope = Annotated[str, by(Text(20))]
Link = Annotated[str, by(Url())]
RedirectUris = Annotated[
    list[Annotated[str, by(Url(plain_http="loopback"))]], by(List(Field(), 10, default=None))
]
Scopes = Annotated[list[Scope], by(List(Field(), 50, default=None))]


class KeyRequest(Request, frozen=True, kw_only=True):
    """Without scopes it has the usual ones that its maker holds."""

    name: Name
    mode: Annotated[str, by(Text(4, choices=Mode.values))]
    key_type: Annotated[str, by(Text(11, choices=KeyType.values))] = KeyType.SECRET.value
    scopes: Scopes | None = None


class AppRequest(Request, frozen=True, kw_only=True):
    name: Name
    confidential: bool = True
    website_url: Link | None = None
    logo_url: Link | None = None
    redirect_uris: RedirectUris
    scopes: Scopes


class AppChanges(Edits, frozen=True, kw_only=True):
    """Changes of an app: whether it is confidential stays as it was made."""

    name: Name | UnsetType = UNSET
    website_url: Link | UnsetType | None = UNSET
    logo_url: Link | UnsetType | None = UNSET
    redirect_uris: RedirectUris | UnsetType = UNSET
    scopes: Scopes | UnsetType = UNSET


class AgentScopes(Request, frozen=True, kw_only=True):
    """Scopes that an app wants its agent to hold: all that the person may give unless scopes are
    named."""

    scopes: Scopes | None = None

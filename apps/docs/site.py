"""The drawn documentation as a web process keeps it: each page packed, a fifth of its size, and
unpacked for who asks."""

import subprocess
import sys
import threading
import zlib
from functools import cache

import msgspec
from django.conf import settings
from msgspec import Struct

SECONDS = 120
_one_at_a_time = threading.Lock()


class DocsLink(Struct, frozen=True, kw_only=True):
    """To a page, or to a heading of one."""

    slug: str
    title: str


class DocsMenu(Struct, frozen=True, kw_only=True):
    title: str
    links: tuple[DocsLink, ...]


class DocsPage(Struct, frozen=True, kw_only=True):
    slug: str
    title: str
    section: str
    html: str
    markdown: str
    headings: tuple[DocsLink, ...]

    @property
    def has_key(self) -> bool:
        """Tells whether its code has a place for the reader's own key."""
        return "data-key" in self.html


class DocsHit(Struct, frozen=True, array_like=True):
    """A search result: a page or a part of one, its address, and the words by which it is found."""

    address: str
    title: str
    place: str
    words: str


class Site(Struct, frozen=True, kw_only=True):
    menu: tuple[DocsMenu, ...]
    pages: tuple[DocsPage, ...]
    hits: tuple[DocsHit, ...]


class DrawnSite(Struct, frozen=True, kw_only=True):
    menu: tuple[DocsMenu, ...]
    pages: dict[str, bytes]
    index: bytes


def site() -> DrawnSite:
    """The drawn site: the first caller draws it, the others wait."""
    with _one_at_a_time:
        return _kept()


def page(slug: str) -> DocsPage | None:
    packed = site().pages.get(slug)
    return (
        msgspec.json.decode(zlib.decompress(packed), type=DocsPage) if packed is not None else None
    )


def index_file() -> bytes:
    return zlib.decompress(site().index)


@cache
def _kept() -> DrawnSite:
    """By a process that ends: the Markdown library and the API's description stay out of this
    one."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "docs"]
    run = subprocess.run(  # noqa: S603  our own
        command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, check=True, timeout=SECONDS
    )
    drawn = msgspec.json.decode(run.stdout, type=Site)
    return DrawnSite(
        menu=drawn.menu,
        pages={page.slug: zlib.compress(msgspec.json.encode(page), 9) for page in drawn.pages},
        index=zlib.compress(msgspec.json.encode(drawn.hits), 9),
    )

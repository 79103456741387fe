"""Draws the whole documentation: every page with its HTML, its Markdown and its headings, and the
index of the search.

`manage.py docs` runs it in a process that ends; a web process imports nothing of
this.
"""

import re
from collections.abc import Callable, Iterator

from django.conf import settings
from drf_spectacular.generators import SchemaGenerator
from msgspec import Struct

from apps.docs import tree
from apps.docs.catalogs import errors, events
from apps.docs.markdown import Heading, address_of, render
from apps.docs.reference import groups, objects, page_of, usual
from apps.docs.site import DocsHit, DocsLink, DocsMenu, DocsPage, Site

FOLDER = settings.BASE_DIR / "docs" / "guide"
# The address that the files name: a demo's, so that what they say can be tried from a checkout.
# Pages name the service's own.
WORDS_MAX = 200
# Where a page of the guide has a catalog that is drawn.
CATALOGS: dict[str, Callable[[], str]] = {"errors": errors, "events": events}
_CATALOG = re.compile(r"\[\[(\w+)\]\]")
# A link of the changelog to a file that isn't served.
_ELSEWHERE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
_VERSION = re.compile(r"^## \[([^\]]+)\]", re.MULTILINE)
_NOTHING_NEW = re.compile(r"^## \[Unreleased\]\s+(?=## |\Z)", re.MULTILINE)
DEMO = "http://localhost:8000"


class Source(Struct, frozen=True, kw_only=True):
    """A page before it is drawn. `markdown` is whole: what is generated is written as Markdown
    first, for people and models alike."""

    section: str
    slug: str
    title: str
    markdown: str


def draw() -> Site:
    sources = list(_sources())
    menus: dict[str, list[DocsLink]] = {}
    for source in sources:
        menus.setdefault(source.section, []).append(DocsLink(slug=source.slug, title=source.title))
    pages = tuple(_page(source) for source in sources)
    menu = tuple(DocsMenu(title=title, links=tuple(links)) for title, links in menus.items())
    return Site(menu=menu, pages=pages, hits=tuple(hit for page in pages for hit in _hits(page)))


def _sources() -> Iterator[Source]:
    # Loads every route, and with them every refusal.
    description = SchemaGenerator().get_schema(request=None, public=True)
    for section in tree.GUIDE:
        for entry in section.entries:
            text = (FOLDER / f"{entry.slug}.md").read_text()
            yield _source(
                section.title, entry, _CATALOG.sub(lambda match: CATALOGS[match[1]](), text)
            )
    every = usual(description)
    for group in groups():
        entry = tree.DocsEntry(f"reference/{group.slug}", group.title)
        yield _source("API reference", entry, page_of(group, description, every))
    yield _source("API reference", tree.OBJECTS, objects(description))
    changelog = (settings.BASE_DIR / "CHANGELOG.md").read_text()
    yield _source("Look up", tree.CHANGELOG, changes_of(changelog))


def changes_of(changelog: str) -> str:
    """The file as it is served: versions are named without brackets, and what isn't released yet
    is left out while there is nothing."""
    served = _ELSEWHERE.sub(r"\1", changelog)
    return _VERSION.sub(r"## \1", _NOTHING_NEW.sub("", served))


def _source(section: str, entry: tree.DocsEntry, markdown: str) -> Source:
    return Source(
        section=section,
        slug=entry.slug,
        title=entry.title,
        markdown=markdown.replace(DEMO, settings.API_URL),
    )


def _page(source: Source) -> DocsPage:
    rendered = render(source.markdown, source.slug)
    return DocsPage(
        slug=source.slug,
        title=source.title,
        section=source.section,
        html=rendered.html,
        markdown=source.markdown,
        headings=tuple(
            DocsLink(slug=heading.anchor, title=heading.title)
            for heading in rendered.headings
            if _is_listed(heading)
        ),
    )


def _hits(page: DocsPage) -> Iterator[DocsHit]:
    """The page and each of its parts, with the words of the part that are found nowhere in its
    title."""
    parts = re.split(r"(?m)^## +", page.markdown)
    address = address_of(f"{page.slug}.md")
    yield DocsHit(address, page.title, page.section, _words(parts[0]))
    for heading, text in zip(page.headings, parts[1:], strict=False):
        yield DocsHit(f"{address}#{heading.slug}", heading.title, page.title, _words(text))


def _words(text: str) -> str:
    """Words that somebody may search for there: names of fields and codes first, then prose,
    without the small words."""
    codes = re.findall(r"`([a-z][a-z0-9_.]{3,30})`", text)
    prose = re.findall(r"[a-z]{5,}", re.sub(r"```.*?```", "", text, flags=re.S).lower())
    return " ".join(dict.fromkeys([*codes, *prose]))[:WORDS_MAX]


def _is_listed(heading: Heading) -> bool:
    return heading.level == 2

"""The search of the documentation: the pages and parts that have every word, and a line of each in
which the first of them is."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from apps.docs.site import DocsHit, DocsPage, index_file, page
from apps.docs.tree import HOME

HITS_MAX = 30
EXCERPT_MAX = 160
# Paragraphs, tables and items of lists.
_BLOCKS = re.compile(r"\n{2,}|\n(?=(?:-|\d+\.) )")
_FENCE = re.compile(r"```.*?```", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKS = re.compile(r"[`*]|^(?:#+|>|-|\d+\.) +")
_RULE = re.compile(r"\|[-|]+")


class DocsResult(NamedTuple):
    address: str
    title: str
    place: str
    excerpt: str


class DocsResults(NamedTuple):
    """`total` also counts what isn't shown."""

    total: int
    shown: list[DocsResult]


def search(query: str) -> DocsResults:
    """As the script in the browser does it: every word somewhere on the page, and one in the part;
    best where the part has them all, and its title the most."""
    words = plain(query).split()
    parts = [(hit, plain(hit.title), _text_of(hit)) for hit in _every()]
    pages: dict[str, str] = defaultdict(str)
    for hit, _, text in parts:
        pages[_page_of(hit)] += f"{text} "
    matches = []
    for hit, title, text in parts:
        count = sum(word in text for word in words)
        if count and all(word in pages[_page_of(hit)] for word in words):
            matches.append(((-count, -sum(word in title for word in words)), hit))
    best = [hit for _, hit in sorted(matches, key=lambda match: match[0])][:HITS_MAX]
    return DocsResults(
        len(matches),
        [DocsResult(hit.address, hit.title, hit.place, _excerpt(hit, words)) for hit in best],
    )


def _every() -> list[DocsHit]:
    return msgspec.json.decode(index_file(), type=list[DocsHit])


def _text_of(hit: DocsHit) -> str:
    return plain(f"{hit.title} {hit.place} {hit.words}")


def _page_of(hit: DocsHit) -> str:
    return hit.address.partition("#")[0]


def plain(text: str) -> str:
    """As it is compared: an apostrophe is typed straight, and shown as a curly one."""
    return text.lower().replace("’", "'")


def _excerpt(hit: DocsHit, words: Sequence[str]) -> str:
    """The first sentence with one of the words, or with the part's own first one."""
    path, _, anchor = hit.address.partition("#")
    document = page(path.removeprefix("/docs").strip("/") or HOME.slug)
    if document is None:
        return ""
    sentences = list(_sentences(_part(document, anchor)))
    matching = (text for text in sentences if any(word in plain(text) for word in words))
    return _shortened(next(matching, sentences[0] if sentences else "").rstrip(":"))


def _part(document: DocsPage, anchor: str) -> str:
    """Text below a heading, or before the first one."""
    parts = re.split(r"(?m)^## +", document.markdown)
    anchors = ["", *(heading.slug for heading in document.headings)]
    return parts[anchors.index(anchor)].partition("\n")[2]


def _sentences(part: str) -> Iterator[str]:
    for block in _BLOCKS.split(_FENCE.sub("", part)):
        lines = block.strip().split("\n")
        if lines[0].startswith("|"):
            rows = (line.strip("| ") for line in lines[1:] if not _RULE.fullmatch(line))
            yield from (_readable(row.replace(" | ", ": ", 1)) for row in rows)
        elif not lines[0].startswith("#"):
            yield from re.split(r"(?<=[.:]) ", _readable(" ".join(lines)))


def _readable(text: str) -> str:
    words = _MARKS.sub("", _LINK.sub(r"\1", text)).replace(" | ", " · ").replace("\\", "")
    return " ".join(words.replace("'", "’").split())


def _shortened(text: str) -> str:
    if len(text) <= EXCERPT_MAX:
        return text
    return f"{text[:EXCERPT_MAX].rpartition(' ')[0]} …"

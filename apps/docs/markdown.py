"""Markdown to HTML as the documentation shows it: headings with anchors, code with a copy button
and tabs, tables that scroll.

Only the process that draws the documentation imports this.
"""

import re
from collections import Counter
from collections.abc import Sequence
from html import escape, unescape
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

KEY = "svc_sk_test_YOUR_KEY"
_CODE = re.compile(r"<code>([^<]+)</code>")
# Code of so many characters is on one line, and one word of so many where lines are long.
SHORT_MAX = 24
NAME_MAX = 30
# Longer words break after these, so that a narrow column holds them.
_PARTS = re.compile(r"(?<=[\w\]}])[./](?=[\w{])")
_WORDS = re.compile(r"_(?=\w)")
_TAB = re.compile(r"\btab=(\S+)")


class Heading(NamedTuple):
    level: int
    anchor: str
    title: str


COLUMNS_ON_PHONE = 2


class Rendered(NamedTuple):
    html: str
    headings: tuple[Heading, ...]


def anchor_of(title: str) -> str:
    """As GitHub makes it, so that a link works at both places."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def render(text: str, own: str = "") -> Rendered:
    """`own` is the slug of the page, for links that name nothing but an anchor."""
    parser = MarkdownIt("commonmark", {"html": False, "typographer": True})
    parser.enable(["table", "smartquotes"])
    tokens = _grouped(parser.parse(text))
    headings = list(_with_anchors(tokens))
    _link(tokens, own)
    _label_cells(tokens)
    count = 0
    for token in tokens:
        if token.type == "tabs":
            count += 1
            token.content = tabs(token.meta["codes"], f"{own or 'page'}-{count}")
        elif token.type == "fence":
            count += 1
            token.content = code(token.content, f"{own or 'page'}-{count}")
        if token.type in ("fence", "tabs"):
            token.type = "html_block"
    html: str = parser.renderer.render(tokens, parser.options, {})
    html = _CODE.sub(_inline_code, html)
    html = html.replace(
        "<table", '<div class="table-scroll" role="group" aria-label="Table" tabindex="0"><table'
    )
    return Rendered(html.replace("</table>", "</table></div>"), tuple(headings))


def _label_cells(tokens: list[Token]) -> None:
    """On a phone a row of three cells and more is a card, whose cells say their columns."""
    table = Token("", "", 0)
    columns: list[str] = []
    cells = 0
    for token, content in pairwise(tokens):
        if token.type == "table_open":
            table, columns, cells = token, [], 0
        elif token.type == "th_open":
            columns.append(content.content.replace("`", ""))
        elif token.type == "tbody_open" and len(columns) > COLUMNS_ON_PHONE:
            table.attrSet("class", "rows")
        elif token.type == "td_open" and table.attrs:
            label = columns[cells % len(columns)]
            token.attrSet("data-label", f"{label[:1].upper()}{label[1:]}")
            if content.content.isdigit():
                token.attrSet("class", "digits")
            cells += 1


def _inline_code(match: re.Match[str]) -> str:
    """Code in a sentence or a cell, which breaks only where its reader would break it."""
    length = len(unescape(match[1]))
    if length <= SHORT_MAX:
        return match[0]
    kind = "name" if length <= NAME_MAX and " " not in match[1] else "long"
    return f'<code class="{kind}">{" ".join(map(_broken, match[1].split(" ")))}</code>'


def _broken(word: str) -> str:
    """Between the parts of a path or a name, and within one that is long itself."""
    if len(word) <= SHORT_MAX:
        return word
    parts = _PARTS.sub(r"\g<0>\0", word).split("\0")
    return "<wbr>".join(
        _WORDS.sub(r"\g<0><wbr>", part) if len(part) > SHORT_MAX else part for part in parts
    )


def code(text: str, name: str) -> str:
    """A block of code with a button that copies it."""
    escaped = escape(text.rstrip("\n"), quote=False).replace(KEY, f"<span data-key>{KEY}</span>")
    button = (
        '<button type="button" class="button small quiet script-only"'
        f' data-copy-from="{name}">Copy</button>'
    )
    return (
        f'<div class="sample">{button}<pre class="code" tabindex="0"><code'
        f' id="{name}">{escaped}</code></pre></div>'
    )


def tabs(codes: Sequence[tuple[str, str]], name: str) -> str:
    """Radio buttons choose what CSS shows, so that tabs need no script."""
    labels = []
    panels = []
    for place, (label, text) in enumerate(codes):
        checked = " checked" if place == 0 else ""
        labels.append(
            f'<input type="radio" name="{name}" id="{name}-tab-{place}"'
            f' value="{escape(label)}"{checked}><label'
            f' for="{name}-tab-{place}">{escape(label)}</label>'
        )
        panels.append(f'<div class="tab-panel">{code(text, f"{name}-{place}")}</div>')
    legend = '<legend class="visually-hidden">Language</legend>'
    return f'<fieldset class="code-tabs">{legend}{"".join(labels)}{"".join(panels)}</fieldset>\n'


def _grouped(tokens: list[Token]) -> list[Token]:
    """Fences that follow each other and name a tab become one."""
    blocks: list[Token] = []
    for token in tokens:
        tab = _TAB.search(token.info) if token.type == "fence" else None
        if tab is None:
            blocks.append(token)
            continue
        if not blocks or blocks[-1].type != "tabs":
            blocks.append(Token("tabs", "", 0, block=True, meta={"codes": []}))
        blocks[-1].meta["codes"].append((tab[1], token.content))
    return blocks


def _with_anchors(tokens: list[Token]) -> list[Heading]:
    headings: list[Heading] = []
    uses: Counter[str] = Counter()
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        title = "".join(part.content for part in inline.children or [])
        plain = anchor_of(title)
        anchor = plain if not uses[plain] else f"{plain}-{uses[plain]}"
        uses[plain] += 1
        opening.attrSet("id", anchor)
        headings.append(Heading(int(opening.tag[1]), anchor, title))
    return headings


def _link(tokens: Sequence[Token], own: str) -> None:
    for token in tokens:
        for part in token.children or []:
            target = part.attrGet("href") if part.type == "link_open" else None
            if isinstance(target, str):
                part.attrSet("href", address_of(target, own))
            elif part.type == "image":
                part.attrSet("src", f"/docs/{part.attrGet('src')}")
                part.attrSet("loading", "lazy")


def address_of(target: str, own: str = "") -> str:
    """Where a link between files leads on the site."""
    name, sharp, anchor = target.partition("#")
    if ":" in target or target.startswith("/") or not name.endswith(".md"):
        return target
    slug = name.removeprefix("../").removesuffix(".md")
    path = "/docs" if slug == "index" else f"/docs/{slug}"
    return f"{path}{sharp}{anchor}"

"""Components of the dashboard's pages: a card with a heading, a table, its rows' common parts, and
its empty state.

Tags that wrap what a template has between them: once a table, so that its rows cost nothing more.
"""

from collections.abc import Sequence

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from apps.core.templatetags.tillgate import icon

register = template.Library()

# What a heading of a table may end in -> its cell.
_HEADINGS = {
    "": '<th scope="col">{}</th>',
    "number": '<th scope="col" class="number">{}</th>',
    "hidden": '<th scope="col"><span class="visually-hidden">{}</span></th>',
}


@register.simple_block_tag
def card(content: SafeString, id: str, heading: str) -> SafeString:
    """A section of a page, named by its heading, which has this ID."""
    return format_html(
        '<section class="card" aria-labelledby="{}"><div class="card-head">'
        '<h2 id="{}">{}</h2></div>{}</section>',
        id,
        id,
        heading,
        content,
    )


@register.simple_block_tag
def table(content: SafeString, *headings: str) -> SafeString:
    """A table of the rows between the tags, which a phone shows one below the other. A heading is
    its English words; `Fee:number` is above figures, and `Actions:hidden` is for screen
    readers."""
    parts = (str(heading).partition(":") for heading in headings)
    heads = (
        (SafeString(_HEADINGS[kind]), gettext(words) if words else "") for words, _, kind in parts
    )
    return format_html(
        '<div class="table-wrap"><table class="table stacks"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        format_html_join("", "{}", ((format_html(cell, words),) for cell, words in heads)),
        content,
    )


@register.simple_block_tag
def empty_state(content: SafeString, icon_name: str, *, role: str = "") -> SafeString:
    """The card that says why there is nothing yet, and what to do about it. With the role `status`
    it is announced: a search that found nothing."""
    return format_html(
        '<div class="card"><div class="empty"{}>{}{}</div></div>',
        format_html(' role="{}"', role) if role else "",
        icon(icon_name, 32),
        content,
    )


@register.simple_tag
def row_action(text: str, target: str, page: str, id: object, *, tone: str = "") -> SafeString:
    """A small button of a row. Screen readers hear what it is for as well: `Revoke Web shop`."""
    return format_html(
        '<a class="button small{}" href="{}" aria-label="{} {}">{}</a>',
        f" {tone}" if tone else "",
        reverse(page, args=[id]),
        text,
        target,
        text,
    )


@register.simple_tag
def scope_list(scopes: Sequence[str]) -> SafeString:
    """Number of a credential's scopes, which open below it."""
    count = ngettext("%d scope", "%d scopes", len(scopes)) % len(scopes)
    return format_html(
        '<details class="more"><summary>{}</summary><span class="small">{}</span></details>',
        count,
        ", ".join(scopes),
    )

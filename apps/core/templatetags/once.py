"""Parts of templates that are the same on every page, drawn once in each language."""

from functools import cache

from django import template
from django.conf import settings
from django.template.base import Node, NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

register = template.Library()


class OnceNode(Node):
    """Its content sees no variable of a page, so that nothing of a person can be kept (decision
    956)."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist
        self._drawn: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        language = get_language()
        drawn = self._drawn.get(language)
        if drawn is None:
            drawn = self._drawn[language] = self.nodelist.render(context.new({}))
        return drawn


@register.tag
def once(parser: Parser, token: Token) -> OnceNode:
    """`{% once %}` words, icons, addresses of pages and of files `{% endonce %}`."""
    nodelist = parser.parse(("endonce",))
    parser.delete_first_token()
    return OnceNode(nodelist)


@register.simple_tag
@cache
def logo() -> SafeString:
    """The mark in the page itself, which asks for no file."""
    file = settings.BASE_DIR / "static" / "img" / "logo.svg"
    drawn = file.read_text().replace("<svg ", '<svg width="24" height="24" aria-hidden="true" ', 1)
    return mark_safe(drawn)  # noqa: S308  our own file

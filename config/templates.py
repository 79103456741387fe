"""Loader of the product's pages, without the indentation of their source.

A template is laid out for the people who edit it; what only indents would be sent with every page.
Line breaks stay, so words that are apart on a page stay apart and errors name the right line.
"""

import re

from django.template import Origin
from django.template.loaders import filesystem

# Whitespace counts inside these elements.
_VERBATIM = r"<(?P<element>pre|textarea|script|style)\b.*?</(?P=element)\s*>"
_VERBATIM_OR_INDENTATION = re.compile(rf"{_VERBATIM}|(?m:^[ \t]+)", re.DOTALL | re.IGNORECASE)


def without_indentation(source: str) -> str:
    return _VERBATIM_OR_INDENTATION.sub(lambda match: match[0] if match["element"] else "", source)


class Loader(filesystem.Loader):
    """Under Django's cached loader, so a template is read and shortened once in a process."""

    def get_contents(self, origin: Origin) -> str:
        source = super().get_contents(origin)
        # Emails have parts in plain text, where whitespace is layout.
        return without_indentation(source) if origin.name.endswith(".html") else source

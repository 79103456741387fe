"""English sentences and words of tables, models and refusals in the reader's language."""

from collections.abc import Iterable, Mapping
from typing import Self, TypeVar

from django.utils.translation import gettext

Value = TypeVar("Value")


class Worded(str):
    """A sentence with figures, such as that of a refusal: in English for programs, by its `pattern`
    and `figures` for people who read it in another language. A figure may be such a sentence."""

    __slots__ = ("figures", "pattern")
    pattern: str
    figures: Mapping[str, object]

    def __new__(cls, pattern: str, /, **figures: object) -> Self:
        text = super().__new__(cls, pattern.format(**figures))
        text.pattern = pattern
        text.figures = figures
        return text


def translated(text: object) -> str:
    """In the language that is active; as it is where the catalog doesn't have it."""
    if isinstance(text, Worded):
        figures = {
            name: translated(figure) if isinstance(figure, Worded) else figure
            for name, figure in text.figures.items()
        }
        return gettext(text.pattern).format(**figures)
    return gettext(str(text)) if text else ""


def translated_pairs(pairs: Iterable[tuple[Value, object]]) -> list[tuple[Value, str]]:
    """Choices of a table with their words, as a form offers them."""
    return [(value, translated(words)) for value, words in pairs]

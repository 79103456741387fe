"""A store's looks: only six hexadecimal digits are a colour, and what is written on it must be readable."""

import re

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)


def colour(text: str) -> str:
    """A store's colour, or nothing when it isn't six hexadecimal digits."""
    return text.lower() if _COLOUR.fullmatch(text) else ""

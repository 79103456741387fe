"""Parts of pages that are drawn once in each language."""

from django.template import Context, engines
from django.utils import translation

PART = "{% load i18n once %}{% once %}{% translate 'Payments' %}{{ name }}{% endonce %}"


def test_a_part_is_drawn_once_in_each_language_and_sees_nothing_of_a_page() -> None:
    part = engines["django"].from_string(PART).template
    drawn = []
    for language in ("en", "de", "en", "de"):
        with translation.override(language):
            drawn.append(part.render(Context({"name": "Alice"})))
    assert drawn == ["Payments", "Zahlungen"] * 2

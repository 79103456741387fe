"""White space that only indents a template's source isn't sent with every page."""

from django.template.loader import get_template, render_to_string

from config.templates import without_indentation


def test_indentation_is_left_out_and_words_stay_apart() -> None:
    source = "<ul>\n  <li>\n\tone <b>two</b>  three\n  </li>\n</ul>\n"
    assert without_indentation(source) == "<ul>\n<li>\none <b>two</b>  three\n</li>\n</ul>\n"


def test_whitespace_that_counts_stays() -> None:
    for element in ("pre", "textarea", "script", "style"):
        source = f"<p>\n  <{element} id='x'>\n  a\n\n    b</{element}> <i>c</i>\n  d"
        kept = f"<p>\n<{element} id='x'>\n  a\n\n    b</{element}> <i>c</i>\nd"
        assert without_indentation(source) == kept
    assert without_indentation("  <prefix>\n  x") == "<prefix>\nx"


def test_pages_are_sent_without_indentation_and_plain_text_as_it_is_written() -> None:
    page = render_to_string("404.html")
    assert "<main" in page
    assert not [line for line in page.splitlines() if line.startswith((" ", "\t"))]
    written = get_template("email/sign_up_code.txt").template.source  # type: ignore[attr-defined]
    assert "\n    {{ code }}\n" in written

"""Nothing tells where it was built, and templates trust no input."""

import re

from tests.house.files import sources


def test_nothing_tells_where_it_was_built() -> None:
    hosts = "|".join(("py" + "pi", "python" + "hosted", "npm" + "js"))
    words = "|".join(("index" + "-url", "/" + "work/", "shared" + "/spec"))
    traces = re.compile(rf"(?:{hosts})\.(?:org|com)|{words}")
    for path in sources("."):
        if path.suffix in (
            ".py",
            ".md",
            ".toml",
            ".txt",
            ".html",
            ".yaml",
            ".yml",
            ".sh",
            ".sql",
            ".example",
            "",
        ):
            found = traces.search(path.read_text(errors="ignore"))
            assert found is None, (path, found)


def test_templates_hold_no_inline_script_or_style_and_trust_no_input() -> None:
    bad = re.compile(
        r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]{3,}=|\|\s*safe\b|autoescape"
        r" off|hx-on|javascript:|\s[\w:-]+=\{\{"
    )
    for path in sources("templates"):
        found = bad.search(path.read_text())
        assert found is None or path.parts[-2] in ("pdf", "email"), (path, found)

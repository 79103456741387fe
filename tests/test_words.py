"""What people read uses the terms of docs/glossary.md: words that it has retired don't come back.

Read are templates (pages, emails, PDFs), documents and settings, without their code. Decisions are
left out: they are a record of their day, and aren't rewritten.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READ = (
    "templates",
    "docs/*.md",
    "README.md",
    "CHANGELOG.md",
    ".env.example",
    "compose.yaml",
    "deploy",
)
NOT_READ = (":!docs/decisions", ":!deploy/monitoring/dashboard.json")

# What is retired, and what is said instead.
RETIRED = {
    # Terms.
    r"e-mail(s|ed)?": "email",
    r"(?<!capital )(?<!-)letters?(?! and digits|,? (or )?(a )?digits?| and numbers)": "email",
    r"looks? at": "review, open, check",
    r"looked at": "reviewed, opened, checked",
    r"let(s|ting)?( (it|them|you|people|somebody|anybody|(the|an|any|other) apps?))? (in|out)": (
        "authorize, revoke, allow"
    ),
    r"(is|are|be|been|being|was|were) told": "is notified, is shown, gets",
    r"(tells?|told|hears?|heard|telling) of": "shows, reports, mentions",
    r"stands? (in|on|under|at|beside|there|as|with|by itself)": "is, appears",
    r"(?<!people )(?<!recipients )at once": "immediately, at the same time, in parallel",
    r"anew": "again",
    r"for ever": "forever",
    r"in vain": "without success",
    r"needless(ly)?": "unnecessary",
    r"(begun|has begun)": "started",
    r"whomever": "anyone",
    r"neighbou?rs": "similar settings, other stores",
    r"works? off": "process",
    r"let(s|ting)? (it )?go": "approve",
    r"put(s|ting)? (it |them )?right": "fix",
    r"of (ours|theirs) alone": "only",
    # Phrases.
    r"a person looks": "we'll review it",
    r"in all about": "≈ … total",
    r"what the parts mean": "how balances work",
    r"counts for nothing": "ignored",
    r"open its page": "view checkout",
    r"part of it is missing": "partially paid",
    r"nobody has begun": "no payments yet",
    r"i have (kept|copied)": "done",
    r"this is a rehearsal": "you're in test mode",
    r"no domain of your own": "no custom domain",
    # British spellings. The contract's values (`canceled`) are code, which isn't read here.
    r"\w*(colour|favour|behaviour|honour|labour|neighbour)\w*": "-or",
    r"\w*(organis|recognis|authoris|initialis|normalis|summaris|customis|minimis|finalis)"
    r"(e|ed|es|ing|ation|ations)": "-ize",
    r"cancell(ed|ing)": "canceled, canceling",
    r"(labell|travell|modell)(ed|ing)": "one l",
    r"(catalogue|licence|centre|cheque|grey|whilst|amongst|towards)s?": "the American spelling",
}
PATTERN = re.compile(
    r"(?<![\w-])(?:" + "|".join(f"(?:{item})" for item in RETIRED) + r")(?![\w-])", re.IGNORECASE
)

_HIDDEN = re.compile(
    r"{% comment %}.*?{% endcomment %}|{#.*?#}|<!--.*?-->|{{.*?}}|<(script|style)\b.*?</\1>",
    re.DOTALL,
)
_DJANGO_TAG = re.compile(r"{%.*?%}", re.DOTALL)
_HTML_TAG = re.compile(r"<[a-z/!][^>]*>", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'", re.DOTALL)
_SHOWN = re.compile(
    r"\b(?:aria-label|title|placeholder|alt|label|content|value)=\"([^\"]*)\"", re.DOTALL
)
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+")


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _of_tag(match: re.Match[str]) -> str:
    """The sentences that a template tag is given, on their lines."""
    texts = [first or second for first, second in _QUOTED.findall(match[0])]
    kept = " | ".join(text for text in texts if " " in text or text.istitle())
    return f" {kept} " + "\n" * (match[0].count("\n") - kept.count("\n"))


def _of_element(match: re.Match[str]) -> str:
    kept = " | ".join(_SHOWN.findall(match[0]))
    return f" {kept} " + "\n" * (match[0].count("\n") - kept.count("\n"))


def text_of_template(source: str) -> str:
    shown = _HIDDEN.sub(_blank, source)
    return _HTML_TAG.sub(_of_element, _DJANGO_TAG.sub(_of_tag, shown))


def text_of_document(source: str) -> str:
    return _CODE.sub(_blank, _FENCE.sub(_blank, source))


def text_of_comments(source: str) -> str:
    """Of settings and units: comments alone, without the commented-out lines."""
    lines = (line.partition("# ")[2] for line in source.splitlines())
    return text_of_document("\n".join(lines))


def text_of(path: Path) -> str:
    source = path.read_text()
    if path.is_relative_to(ROOT / "templates"):
        return text_of_template(source)
    if path.name == "glossary.md":
        # Its last column is what is never said.
        return re.sub(r"\|[^|\n]*\|$", "", text_of_document(source), flags=re.MULTILINE)
    if path.suffix == ".md":
        return text_of_document(source)
    if path.name == "alerts.yml":
        return source
    return text_of_comments(source)


def retired_in(text: str) -> Iterator[tuple[int, str]]:
    """The line and the words, also where a sentence is wrapped within them."""
    flat = re.sub(r"\s", " ", text)
    wide = re.sub(r" +", " ", flat)
    places = [at for at, item in enumerate(flat) if not (item == " " and flat[at - 1 : at] == " ")]
    for found in PATTERN.finditer(wide):
        yield text.count("\n", 0, places[found.start()]) + 1, found[0]


def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *READ, *NOT_READ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [ROOT / name for name in listed]


def test_no_retired_word_is_read_by_anybody() -> None:
    paths = files()
    assert len(paths) > 300
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in paths
        for line, words in retired_in(text_of(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (text_of_template("<p>We sent a letter.</p>"), ["letter"]),
        (text_of_template('{% translate "Let an app in" %}'), ["Let an app in"]),
        (text_of_template('<a aria-label="Look at the payout" href="/letter">x</a>'), ["Look at"]),
        (text_of_template("{# a letter #}{{ letter }}<p class='letters'>Letters and digits"), []),
        (text_of_template("<p>{% if stands.at.once %}Paid{% endif %}</p>"), []),
        (text_of_document("They are\n  told at `once` of it"), ["are told"]),
        (text_of_document("```\na letter\n```\nSee [this](letter.md) and `letter`."), []),
        (text_of_comments("# A letter.\n#LETTER=e-mail\nLETTER=e-mail"), ["letter"]),
        ("The behaviour of an organisation", ["behaviour", "organisation"]),
        ("It outlets latest once", []),
    ],
)
def test_the_rule_finds_what_it_should(text: str, words: list[str]) -> None:
    assert [found for _, found in retired_in(text)] == words

"""Texts for people use the terms of docs/glossary.md: words that it has retired don't come back.

Read are templates (pages, emails, PDFs), documents and settings, without their code, and sentences
in Python, which people get as messages, labels and descriptions. Decisions are left out: they are a
record of their day, and aren't rewritten. Pages, emails and PDFs have curly apostrophes; the API's
messages have straight ones.
"""

import ast
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
# Whose sentences only pages and emails have.
PAGES = (
    "apps/dashboard/*.py",
    "apps/hosted/*.py",
    "apps/console/status.py",
    "apps/core/templatetags/*.py",
    "apps/*/attention.py",
    "apps/*/badges.py",
    "apps/*/customer_badges.py",
    "apps/*/notifications.py",
    "apps/ledger/chart.py",
    "apps/reports/labels.py",
    "apps/staff/*.py",
    ":!apps/staff/management",
    # Translations of what the API says, by its own words.
    ":!apps/hosted/sentences.py",
)
NOT_READ = (":!docs/decisions", ":!deploy/monitoring/dashboard.json")

# What is retired, and what is said instead.
RETIRED = {
    # Terms.
    r"e-mail(s|ed)?": "email",
    r"(?<!capital )(?<!upper-case )(?<!-)letters?"
    r"(?! and digits|,? (or )?(a )?digits?| and numbers)": "email",
    r"looks? at": "review, open, check",
    r"looked at": "reviewed, opened, checked",
    r"look(s|ed|ing)? into": "check, review",
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
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)|(?<=[a-z]s)'(?=\s)")
_APOSTROPHE_OF_TEMPLATE = re.compile(r"(?<!=)'(?=\w)|(?<=[a-z]s)'(?=\s)")
_SQL = re.compile(r"\b(SELECT|UPDATE|INSERT)\b")
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
    matches = list(PATTERN.finditer(wide))
    if not matches:
        return
    places = [at for at, item in enumerate(flat) if not (item == " " and flat[at - 1 : at] == " ")]
    for found in matches:
        yield text.count("\n", 0, places[found.start()]) + 1, found[0]


def apostrophes_of_template(source: str) -> int:
    return len(_APOSTROPHE_OF_TEMPLATE.findall(text_of_template(source)))


def texts_of_python(source: str) -> list[tuple[int, str]]:
    """Its texts with their lines; comments and docstrings are for programmers, SQL for nobody."""
    nodes = list(ast.walk(ast.parse(source)))
    unread = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        (node.lineno, node.value)
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in unread
        and not _SQL.search(node.value)
    ]


def retired_in_python(source: str) -> Iterator[tuple[int, str]]:
    """Retired words in its sentences: a word by itself is a name, and the content of tags is
    code."""
    for line, text in texts_of_python(source):
        if " " in text.strip():
            for _, words in retired_in(_HTML_TAG.sub(" ", text)):
                yield line, words


def apostrophes_of_python(source: str) -> int:
    return sum(len(_APOSTROPHE.findall(text)) for _, text in texts_of_python(source))


def files(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [ROOT / name for name in listed]


def test_no_retired_word_is_read_by_anybody() -> None:
    paths = files(*READ, *NOT_READ)
    assert len(paths) > 300
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in paths
        for line, words in retired_in(text_of(path))
    ]
    assert found == []


def test_no_retired_word_is_in_a_sentence_of_the_code() -> None:
    paths = files("apps/*.py", "config/*.py")
    assert len(paths) > 900
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in paths
        for line, words in retired_in_python(path.read_text())
    ]
    assert found == []


def test_pages_have_no_straight_apostrophes() -> None:
    templates = files("templates/*.html", "templates/*.txt")
    code = files(*PAGES)
    assert len(templates) > 300 and len(code) > 100
    counted = [
        *((path, apostrophes_of_template(path.read_text())) for path in templates),
        *((path, apostrophes_of_python(path.read_text())) for path in code),
    ]
    assert {str(path.relative_to(ROOT)): count for path, count in counted if count} == {}


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("<p>{{ name }}'s page isn't open</p>{# isn't #}", 2),
        ("{% translate \"It can't be undone\" %}{% url 'dashboard:home' %}", 1),
        ("{% if kind == 'a' %}<p class='wide'>It isn’t</p>{% endif %}", 0),
        ('<a aria-label="The store\'s name" href="/">x</a>', 1),
    ],
)
def test_a_straight_apostrophe_of_a_template_is_found(source: str, count: int) -> None:
    assert apostrophes_of_template(source) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("""say(f"{name} isn't open, its accounts' coins are")""", 2),
        ("""def page():\n    \"\"\"It isn't read.\"\"\"\n    return "isn’t"  # isn't""", 0),
        ("""rows("SELECT 1 WHERE state = 'on' AND name<>'it''s'")""", 0),
    ],
)
def test_a_straight_apostrophe_of_a_pages_code_is_found(source: str, count: int) -> None:
    assert apostrophes_of_python(source) == count


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            'class Gone(Failure):\n    message = "Look into your mailbox"  # a letter',
            [(2, "Look into")],
        ),
        (
            '''def f():\n    """A letter."""\n    return "letter", f"{at} at once"''',
            [(3, "at once")],
        ),
        ("""rows("SELECT letter WHERE sent at once"); x = "<b class='letter'>Hi you</b>\"""", []),
        ('message = "country must be two upper-case letters"', []),
    ],
)
def test_a_retired_word_in_code_is_found(source: str, found: list[tuple[int, str]]) -> None:
    assert list(retired_in_python(source)) == found


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

"""The dashboard in the merchant's language: whose language a page has, what stays English, and that
no page says anything that isn't translated."""

import ast
import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import translation

from apps.core.errors import Failure
from apps.core.text.wording import Worded
from apps.core.web.forms import sentences
from apps.dashboard.notices.notices import age_words
from apps.stores.models import AuditEntry, User
from config.errors import bad_request, server_error
from dev import messages
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.hosted.test_messages import words_of
from tests.hosted.wrapping import OPEN, wrapping

messages.set_up()
LANGUAGES = messages.merchants_languages()
TEMPLATES = messages.ROOT / "templates"
CODE = messages.ROOT / "apps/dashboard"
PROFILE = {"name": "Alice Baker", "time_zone": "", "language": "", "region": ""}


def language_of(page: str) -> str:
    found = re.search(r'<html lang="([^"]+)"', page)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr", "fr"),
        ("it,es;q=0.5", "es"),
        ("it", "en"),
        ("ar", "en"),
        ("x" * 5000, "en"),
        ("", "en"),
    ],
)
@pytest.mark.parametrize("path", ["sign-in", "sign-up", "forgot"])
def test_a_visitor_reads_the_first_language_of_their_browser_that_the_dashboard_has(
    db: None, path: str, asked: str, expected: str
) -> None:
    page = Client(headers={"Accept-Language": asked}).get(f"/dashboard/{path}")
    assert language_of(page.text) == expected


def test_a_person_reads_the_language_that_they_chose_and_until_then_their_browsers(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    german = {"Accept-Language": "de"}
    assert language_of(browser.client.get("/dashboard/profile", headers=german).text) == "de"
    assert browser.post("profile", **PROFILE | {"language": "fr"}).status_code == 303
    cast.alice.refresh_from_db()
    assert cast.alice.language == "fr"
    assert language_of(browser.client.get("/dashboard/profile", headers=german).text) == "fr"
    assert browser.post("profile", **PROFILE).status_code == 303
    assert language_of(browser.client.get("/dashboard/profile", headers=german).text) == "de"
    assert browser.post("profile", **PROFILE | {"language": "it"}).status_code == 422
    User.objects.filter(pk=cast.alice.pk).update(language="it")
    assert language_of(browser.client.get("/dashboard/profile").text) == "en"


def test_pages_of_errors_are_in_the_merchants_language(cast: Cast) -> None:
    browser = Browser(cast.alice)
    german = {"Accept-Language": "de"}
    missing = browser.client.get("/dashboard/payments/nothing", headers=german)
    assert missing.status_code == 404 and language_of(missing.text) == "de"
    assert "Zum Dashboard" in missing.text
    User.objects.filter(pk=cast.alice.pk).update(language="fr")
    for path in ("/dashboard/payments/nothing", "/dashboard/nothing"):
        missing = browser.client.get(path, headers=german)
        assert missing.status_code == 404 and language_of(missing.text) == "fr"
    assert language_of(browser.client.get("/docs/nothing", headers=german).text) == "en"
    stranger = Client(headers=german, enforce_csrf_checks=True)
    for answer in (stranger.get("/dashboard/nothing"), stranger.post("/dashboard/sign-in")):
        assert answer.status_code in (403, 404) and language_of(answer.text) == "de"


@pytest.mark.parametrize(("handler", "status"), [(bad_request, 400), (server_error, 500)])
def test_where_nobody_is_known_an_error_is_in_the_browsers_language(
    rf: RequestFactory, handler: Callable[[HttpRequest], HttpResponse], status: int
) -> None:
    """No database is asked: it may be what doesn't answer."""
    for path, asked, expected in (
        ("/dashboard/", "es", "es"),
        ("/dashboard/", "it", "en"),
        ("/admin/", "es", "en"),
    ):
        answer = handler(rf.get(path, headers={"Accept-Language": asked}))
        assert answer.status_code == status
        assert language_of(answer.content.decode()) == expected


def test_amounts_and_dates_have_the_form_of_the_language(cast: Cast) -> None:
    browser = Browser(cast.alice)
    shown = browser.client.get("/dashboard/profile", headers={"Accept-Language": "de"}).text
    assert "1.234,50\N{NO-BREAK SPACE}€" in shown
    User.objects.filter(pk=cast.alice.pk).update(region="en-US")
    shown = browser.client.get("/dashboard/profile", headers={"Accept-Language": "de"}).text
    assert "€1,234.50" in shown and language_of(shown) == "de"


def test_who_signs_in_where_staff_have_a_host_of_their_own_reads_english(
    db: None, settings: object
) -> None:
    settings.ADMIN_HOST = "staff.example"  # type: ignore[attr-defined]  # pytest-django's
    settings.ALLOWED_HOSTS = ["*"]  # type: ignore[attr-defined]  # pytest-django's
    client = Client(headers={"Accept-Language": "de"})
    assert language_of(
        client.get("/dashboard/sign-in", headers={"Host": "staff.example"}).text
    ) == ("en")
    assert language_of(client.get("/dashboard/sign-in").text) == "de"


def test_what_a_page_has_written_and_exported_stays_english(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(cast.alice)
    with wrapping(monkeypatch):
        User.objects.filter(pk=cast.alice.pk).update(language="de")
        assert OPEN in browser.get("profile").text
        assert browser.post("profile", **PROFILE | {"language": "de"}).status_code == 303
        exported = browser.get("payments.csv")
        content = b"".join(exported.streaming_content) if exported.streaming else exported.content
    assert OPEN not in content.decode()
    rows = AuditEntry.objects.filter(action="profile.changed").values()
    assert rows and OPEN not in str(list(rows))


class TooMany(Failure):
    def __init__(self) -> None:
        super().__init__(Worded("At most {maximum} of them can be open", maximum=7))


def test_a_refusal_with_figures_is_english_for_programs_and_the_readers_for_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusal = TooMany()
    assert str(refusal) == refusal.text == "At most 7 of them can be open"
    with translation.override("de"):
        monkeypatch.setattr(
            "apps.core.text.wording.gettext",
            {"At most {maximum} of them can be open": "Höchstens {maximum} können offen sein"}.get,
        )
        assert sentences(refusal) == ["Höchstens 7 können offen sein."]
        assert str(refusal) == "At most 7 of them can be open"


# Classes of elements and other attributes that a block is for.
NO_TEXT_BLOCK = re.compile(
    r"\{% block (content_class|html_attributes|body_attributes) %\}.*?\{% endblock[^%]*%\}",
    re.DOTALL,
)
TRANSLATED = re.compile(
    r"\{% blocktranslate.*?endblocktranslate %\}|\{% comment %\}.*?endcomment %\}|\{#.*?#\}"
    r"|<code>[a-z_]+</code>|/dashboard/[a-z/-]+",
    re.DOTALL,
)
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
# What a tag is given: words have a capital or a space.
WORDS_OF_TAG = re.compile(r"\{% (?:icon|card|qr|row_action|include|firstof)\b[^%]*%\}")
ARGUMENT = re.compile(r'(_\()?"([^"]*)"')
WORDS = re.compile(r"[A-Z][a-z].*|.* .*")
NAMES = {
    "Tillgate",
    "INV",
    "SVG",
    "PNG",
    "HTTP",
    "pay",
    "shop",
    "example",
    "com",
    "OAuth",
    "API",
    "CSV",
    "PDF",
    "URL",
    "TXT",
    "CNAME",
    "https",
    "nbsp",
}


def said_by_template(text: str) -> set[str]:
    """Words of a template that aren't translated."""
    arguments = {
        words
        for tag in WORDS_OF_TAG.findall(text)
        for is_translated, words in ARGUMENT.findall(tag)
        if not is_translated and WORDS.fullmatch(words)
    }
    rest = TAG.sub(" ", TRANSLATED.sub(" ", NO_TEXT_BLOCK.sub(" ", text)))
    return (words_of(rest) | arguments) - NAMES


def test_no_template_says_anything_that_is_not_translated() -> None:
    said = {}
    for pattern in messages.MERCHANT_TEMPLATES:
        for path in sorted(TEMPLATES.glob(pattern)):
            name = str(path.relative_to(TEMPLATES))
            found = said_by_template(path.read_text("utf-8"))
            if found:
                said[name] = found
    assert said == {}
    assert said_by_template('<p title="Here">{% icon "bell" 20 "Bell" %}{{ x }} Due</p>') == {
        "Here",
        "Bell",
        "Due",
    }


TRANSLATING = {*messages.KEYWORDS}
# Names and codes that begin with a capital.
NO_WORDS = re.compile(r"[A-Z][a-z]+(-[A-Z][a-zA-Z]+)+|[A-Z][a-z]+[A-Z].*|User-Agent|Tillgate")
SENTENCE = re.compile(r"[A-Z][a-z]+\b.*|[^/=]*[a-z]{2,} [a-z]{2,}.*", re.DOTALL)
# Texts of code that are no words of a page, by their file.
NOT_SHOWN: dict[str, set[str]] = {
    # Of the request, which programs make as well; said in other words on the page.
    "books/reports.py": {
        "start_date is required",
        "end_date is required",
        "start_date is not a date",
        "end_date is not a date",
        "end_date must be on or after start_date",
    },
    "books/statements.py": {"a file for later"},  # kinds of files, not shown
    "payment/refunds.py": {"Afterwards"},  # annotations
    "payout/batches.py": {"Your reference"},  # in a file
    "tables/cells.py": {"row-link mono"},
    "tables/exports.py": {"a file for later"},
    "tables/files.py": {"a file for later"},
    "tables/filters.py": {"Row"},
    "tables/lists.py": {"a file for later"},
    "tables/money_lists.py": {"Row"},
    "account/sessions.py": {"an email’s link names what it stops"},
    "account/sign_in.py": {"Lax"},
    "developers/test_clock.py": {"Location"},
    "go_live_steps.py": {
        "live destination",
        "live payment",
        "live payment of a sub-merchant",
        "onboarding link",
        "payment link",
        "test payment",
        "used key",
        "Flat white",  # of an example for the API
    },
    "notices/rows.py": {"View ", " is under review"},  # with a noun, of site/words.py
    "site/switches.py": {"Lax"},
    "site/views.py": {"Answer", "signed in"},
    "store/own_wallets.py": {  # names of standards
        "Native SegWit (BIP-84)",
        "Taproot (BIP-86)",
        "Nested SegWit (BIP-49)",
        "Legacy (BIP-44)",
    },
    "store/waiting_period.py": {"an email’s link names what it stops"},
    "till/charging.py": {"Lax"},  # of a cookie
}
HTML = re.compile(r"<[^>]*>")


def said_by_code(text: str) -> set[str]:
    """Sentences of a module that aren't translated."""
    tree = ast.parse(text)
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) in TRANSLATING
        for part in ast.walk(node)
    }
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner |= {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "message"
        for part in ast.walk(node)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in inner | docstrings
        and SENTENCE.fullmatch(HTML.sub("", node.value).strip())
        and not NO_WORDS.fullmatch(node.value)
    }


def test_no_page_says_anything_in_code_that_is_not_translated() -> None:
    said = {}
    for path in sorted(CODE.rglob("*.py")):
        name = str(path.relative_to(CODE))
        found = said_by_code(path.read_text("utf-8")) - NOT_SHOWN.get(name, set())
        if found:
            said[name] = found
    assert said == {}
    assert said_by_code('x = _("Paid in full"), "Paid", f"{x} of them"') == {
        "Paid",
        " of them",
    }
    assert said_by_code('"""Docstring."""\nx = "Content-Type", "paid", "to be paid"') == {
        "to be paid"
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_the_dashboard_is_translated(language: str) -> None:
    assert messages.read(language).missing == []


def test_spanish_has_one_word_for_a_payout() -> None:
    """Of what a business is paid out, `abono`; `cobro` is what its customers pay."""
    texts = messages.read("es").texts
    said = {id[0]: " ".join(text) for id, text in texts.items() if "payout" in id[0].lower()}
    assert len(said) > 200
    assert [id for id, text in said.items() if re.search("cobro|desembolso|retiro", text)] == []


def test_the_dashboard_has_the_languages_that_are_complete() -> None:
    assert [code for code, _ in settings.DASHBOARD_LANGUAGES] == ["en", *LANGUAGES]
    assert LANGUAGES == ["de", "fr", "es"]


@pytest.mark.parametrize(
    ("seconds", "words", "german"),
    [
        (-5, "just now", "gerade eben"),
        (59, "just now", "gerade eben"),
        (60, "1 minute ago", "vor 1 Minute"),
        (7_300, "2 hours ago", "vor 2 Stunden"),
        (200_000, "2 days ago", "vor 2 Tagen"),
    ],
)
def test_how_long_ago_something_was_is_told_by_the_largest_unit(
    seconds: int, words: str, german: str
) -> None:
    assert age_words(seconds) == words
    with translation.override("de"):
        assert age_words(seconds) == german

"""The dashboard in German, French and Spanish, in a real browser that asks for it: from the form
that signs in to its pages, on a phone and wide. German is long."""

import re
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from apps.stores.models import AuditEntry
from dev import messages
from tests import make
from tests.browser.conftest import OpenPage, barriers_again, overflow, shoot
from tests.cast import PASSWORD, Cast
from tests.whole import usually

PAGES = usually(
    short=("", "payments", "payouts", "audit-log", "settings", "payments/new", "webhooks/new"),
    whole=(
        "",
        "payments",
        "payments/new",
        "refunds",
        "payment-links",
        "payment-links/new",
        "customers",
        "customers/new",
        "invoices",
        "invoices/new",
        "subscriptions",
        "products",
        "balances",
        "payouts",
        "payouts/new",
        "payouts/schedules",
        "payouts/destinations",
        "swaps",
        "statement",
        "reports",
        "agents",
        "agents/x402",
        "api-keys",
        "api-keys/new",
        "webhooks",
        "webhooks/new",
        "events",
        "test-clock",
        "test-data",
        "settings",
        "settings/wallets",
        "settings/approvals",
        "team",
        "audit-log",
        "verification",
        "profile",
        "security",
        "security/sessions",
        "security/passkeys/new",
        "notifications",
        "notifications/settings",
    ),
)
LOOKS = usually(short=[(390, True)], whole=[(390, True), (1280, False)])
# What is typed and pressed to sign in.
WORDS = {
    "de": ("E-Mail", "Passwort", "Anmelden"),
    "fr": ("E-mail", "Mot de passe", "Se connecter"),
    "es": ("Correo electrónico", "Contraseña", "Iniciar sesión"),
}
SHORTEST = 12  # letters: shorter words may be the same in both languages, or somebody's name
# What stands on a page: its text, also where it is folded, and what fields and pictures are called.
SAID = """() => [document.title, ...document.querySelectorAll("body, body *")].flatMap(one =>
    typeof one === "string" ? [one] : [
        ...[...one.childNodes].filter(node => node.nodeType === Node.TEXT_NODE
            && !one.matches("script, style, code, pre")).map(node => node.textContent),
        ...["title", "aria-label", "placeholder", "alt"].map(name => one.getAttribute(name) ?? ""),
    ]).map(text => text.replace(/\\s+/g, " ").trim()).filter(Boolean)"""


@cache
def english(language: str) -> tuple[set[str], list[re.Pattern[str]]]:
    """Messages of the catalog that are said otherwise in the language; those with figures as
    patterns."""
    plain, with_figures = set(), []
    for (one, several), texts in messages.read(language).texts.items():
        words = one.rpartition("\x04")[2].replace("%%", "%")
        if len(words) < SHORTEST or texts[0] == one or several or "<" in words:
            continue
        parts = re.split(r"\{\w*\}|%\(\w+\)s", words)
        if len(parts) == 1:
            plain.add(words)
        elif len(max(parts, key=len)) >= SHORTEST:
            with_figures.append(re.compile(".+".join(map(re.escape, parts))))
    return plain, with_figures


def english_of(page: Page, language: str) -> set[str]:
    """English sentences on the page."""
    said = set(page.evaluate(SAID))
    plain, with_figures = english(language)
    return said & plain | {
        text for text in said if any(pattern.fullmatch(text) for pattern in with_figures)
    }


def faults(page: Page, language: str) -> list[str]:
    found = [f"English: {text}" for text in sorted(english_of(page, language))]
    if (spoken := page.locator("html").get_attribute("lang")) != language:
        found.append(f"speaks {spoken}")
    if (wide := overflow(page)) > 0:
        found.append(f"{wide} px too wide")
    return [f"{page.url}: {fault}" for fault in [*found, *barriers_again(page)]]


@pytest.mark.parametrize("language", WORDS)
def test_a_browser_of_another_language_reads_pages_of_its_own(
    world: Cast, open_page: OpenPage, language: str
) -> None:
    messages.set_up()
    make.payment(world.bakery.test)
    email, password, press = WORDS[language]
    width, dark = LOOKS[0]
    page = open_page("/dashboard/sign-in", width=width, dark=dark, locale=language)
    wrong = faults(page, language)
    page.get_by_label(email, exact=True).fill(world.alice.email)
    page.get_by_label(password, exact=True).fill(PASSWORD)
    page.get_by_role("button", name=press, exact=True).click()
    expect(page.get_by_role("main")).to_be_visible()
    page.wait_for_url("**/dashboard/")
    address = page.url
    for width, dark in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        for path in PAGES:
            page.goto(address + path)
            wrong += faults(page, language)
            shoot(page, f"{language}-{path.replace('/', '-') or 'home'}-{width}")
    assert wrong == [], "\n".join(wrong)


def test_what_a_german_causes_is_english_for_programs_and_in_files(
    world: Cast, open_page: OpenPage
) -> None:
    messages.set_up()
    made = make.payment(world.bakery.test)
    page = open_page("/dashboard/", person=world.alice, locale="de")
    page.goto(page.url + "team/invite")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    exported = page.request.get(page.url.replace("team/invite", "payments.csv")).text()
    assert exported.startswith("\ufeff") or "," in exported
    german = {texts[0] for texts in messages.read("de").texts.values() if len(texts[0]) >= SHORTEST}
    assert not [text for text in german if text in exported]
    entries = str(list(AuditEntry.objects.filter(store_id=world.bakery.store.pk).values()))
    assert not [text for text in german if text in entries]
    answer = world.bakery.test.get(f"/payments/{made['id']}", **{"Accept-Language": "de"})
    assert not [text for text in german if text in answer.content.decode()]

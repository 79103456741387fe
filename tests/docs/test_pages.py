"""Every page of the documentation is there, its links lead somewhere, and nothing of it is loaded
from outside."""

import json
import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve

from apps.docs import tree
from apps.docs.drawing import changes_of
from apps.docs.markdown import render
from apps.docs.search import EXCERPT_MAX, search
from apps.docs.site import index_file, page, site

INDEX_BYTES_MAX = 85 * 1024
# All of it in the memory of a web process, packed.
KEPT_BYTES_MAX = 600 * 1024
PICTURE_BYTES_MAX = 150 * 1000


class Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.names.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("link", "script", "img", "iframe"):
            self.loaded.append(found.get("src") or found.get("href", ""))
        assert not {name for name in found if name.startswith("on")} | ({"style"} & set(found))


def slugs() -> list[str]:
    return [link.slug for menu in site().menu for link in menu.links]


def address(slug: str) -> str:
    return "/docs" if slug == tree.HOME.slug else f"/docs/{slug}"


@pytest.fixture(scope="module")
def read() -> dict[str, Reader]:
    """Every page, as a browser gets it."""
    found = {}
    for slug in slugs():
        answer = Client().get(address(slug))
        assert answer.status_code == 200, slug
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        found[address(slug)] = Reader(answer.content.decode())
    return found


def test_every_file_of_the_guide_is_in_the_menu() -> None:
    files = {path.stem for path in (settings.BASE_DIR / "docs" / "guide").glob("*.md")}
    assert files == {entry.slug for section in tree.GUIDE for entry in section.entries}


def test_no_link_is_dead(read: dict[str, Reader]) -> None:
    dead = []
    for here, reader in read.items():
        for link in reader.links:
            path, _, anchor = link.partition("#")
            if path.startswith(("http://", "https://", "/dashboard", "/oauth")):
                continue
            target = path or here
            if target in read:
                if anchor and anchor not in read[target].names:
                    dead.append((here, link))
            elif Client().get(target).status_code != 200:
                dead.append((here, link))
    assert not dead


def test_nothing_is_loaded_from_outside_and_names_are_unique(read: dict[str, Reader]) -> None:
    for here, reader in read.items():
        assert all(item.startswith("/") and not item.startswith("//") for item in reader.loaded), (
            here
        )
        assert len(reader.names) == len(set(reader.names)), here


def test_every_picture_of_the_guide_is_small_and_shown(read: dict[str, Reader]) -> None:
    shown = {item for reader in read.values() for item in reader.loaded if "/pictures/" in item}
    files = {path.name: path for path in (settings.BASE_DIR / "docs/guide/pictures").iterdir()}
    assert shown == {f"/docs/pictures/{name}" for name in files} and shown
    for name, path in files.items():
        answer = Client().get(f"/docs/pictures/{name}")
        assert b"".join(answer) == path.read_bytes()
        assert (answer.headers["Content-Type"], path.stat().st_size < PICTURE_BYTES_MAX) == (
            "image/png",
            True,
        )
    assert Client().get("/docs/pictures/nothing.png").status_code == 404


def test_it_stays_english_whatever_a_browser_asks_for() -> None:
    client = Client(headers={"Accept-Language": "ar"})
    client.cookies["checkout_language"] = "ar"
    assert '<html lang="en" dir="ltr"' in client.get("/docs?lang=ar").content.decode()


def test_every_page_is_markdown_too() -> None:
    for slug in slugs():
        answer = Client().get(f"{address(slug)}.md")
        assert answer.status_code == 200 and answer.headers["Content-Type"].startswith(
            "text/markdown"
        )
        assert answer.content.decode().startswith("# ")


def test_models_are_told_of_every_page() -> None:
    text = Client().get("/llms.txt").content.decode()
    assert all(f"{settings.API_URL}{address(slug)}.md" in text for slug in slugs())


def test_the_index_of_the_search_stays_small_and_finds_pages_and_their_parts() -> None:
    assert len(index_file()) <= INDEX_BYTES_MAX
    assert len(json.loads(Client().get("/docs/search.json").content)) > len(slugs())
    found = Client().get("/docs/search", {"q": "idempotency key"}).content.decode()
    assert 'href="/docs/quickstart' in found
    none = Client().get("/docs/search", {"q": "<script>zebra"}).content.decode()
    assert "Nothing found" in none and "<script>zebra" not in none


def test_a_search_says_how_much_it_found_where_and_why(db: None) -> None:
    page_of = Client().get("/docs/search", {"q": "payment's REFUNDS"}).content.decode()
    assert "result" in page_of and "for “<bdi>payment&#x27;s REFUNDS</bdi>”" in page_of
    assert "Refunds › List a payment’s refunds</a>" in page_of
    found = search("refund")
    assert found.total >= len(found.shown) > 10
    assert max(len(result.excerpt) for result in found.shown) <= EXCERPT_MAX + 2
    assert len({(result.place, result.title) for result in found.shown}) == len(found.shown)
    (guide,) = (result for result in found.shown if result.address == "/docs/refunds")
    assert "refund" in guide.excerpt.lower() and not {"`", "|", "["} & set(guide.excerpt)


def test_an_address_with_a_slash_at_its_end_leads_to_the_first_page(db: None) -> None:
    assert Client().get("/docs/").headers["Location"] == "/docs"


def test_an_unknown_page_is_not_found(db: None) -> None:
    assert Client().get("/docs/nothing").status_code == 404
    assert Client().get("/docs/nothing.md").status_code == 404


def test_addresses_are_those_of_this_service() -> None:
    quickstart = page("quickstart")
    assert quickstart is not None and f"{settings.API_URL}/api/v2" in quickstart.html


def test_on_a_phone_the_cells_of_a_wide_table_say_their_columns() -> None:
    wide = render("| `code` | what to do |  |\n|---|---|---|\n| a | b | c |\n| d | e | f |\n").html
    assert '<table class="rows">' in wide and '<td data-label="Code">d</td>' in wide
    assert '<td data-label="What to do">e</td>' in wide and '<td data-label="">f</td>' in wide
    assert (
        'data-label="B" class="digits"'
        in render("| a | b | c |\n|---|---|---|\n| x | 409 | y |\n").html
    )
    narrow = render("| code | what to do |\n|---|---|\n| a | b |\n").html
    assert "<table>" in narrow and "data-label" not in narrow


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("`GET /supported_assets`", "<code>GET /supported_assets</code>"),
        ("`Retry-After`", "<code>Retry-After</code>"),
        (
            "`agent_credential_required`",
            '<code class="name">agent_<wbr>credential_<wbr>required</code>',
        ),
        (
            "`POST /payments/{id}/test_payments`",
            '<code class="long">POST /payments/<wbr>{id}/<wbr>test_payments</code>',
        ),
        (
            "`payment_intent.line_items[].unit_amount_cents`",
            '<code class="long">payment_intent.<wbr>line_items[].<wbr>unit_amount_cents</code>',
        ),
        ("It isn't `'it'`", "It isn’t <code>'it'</code>"),
        ('He\'s "here"', "He’s “here”"),
    ],
)
def test_code_breaks_between_its_parts_and_quotes_are_curly(markdown: str, html: str) -> None:
    assert render(markdown).html == f"<p>{html}</p>\n"


def test_tabs_need_no_script() -> None:
    quickstart = page("quickstart")
    assert quickstart is not None
    groups = re.findall(r'<fieldset class="code-tabs">.*?</fieldset>', quickstart.html, re.S)
    assert groups and all(
        group.count('type="radio"') == group.count('class="tab-panel"')
        and group.count(" checked") == 1
        for group in groups
    )


def test_every_tab_of_every_page_shows_its_panel() -> None:
    every = [page(entry.slug) for section in tree.GUIDE for entry in section.entries]
    groups = [
        group
        for document in every
        if document is not None
        for group in re.findall(r'<fieldset class="code-tabs">.*?</fieldset>', document.html, re.S)
    ]
    most = max(group.count('class="tab-panel"') for group in groups)
    css = (settings.BASE_DIR / "static/css/docs.css").read_text()
    assert all(f".tab-panel:nth-of-type({number})" in css for number in range(1, most + 1))


def test_a_page_with_code_takes_a_key_and_others_do_not() -> None:
    assert b'id="docs-key"' in Client().get("/docs/quickstart").content
    assert b'id="docs-key"' not in Client().get("/docs/limits").content


def test_a_web_process_keeps_little() -> None:
    """That it loads nothing that draws them is tested in tests/console/test_budgets.py."""
    kept = site()
    assert sum(map(len, kept.pages.values())) + len(kept.index) <= KEPT_BYTES_MAX


def test_the_image_holds_what_is_drawn() -> None:
    dockerfile, ignored = (
        (settings.BASE_DIR / name).read_text() for name in ("Dockerfile", ".dockerignore")
    )
    for name in ("docs/guide", "docs/reference", "CHANGELOG.md", "locale"):
        assert f"COPY {name} " in dockerfile and f"!{name}\n" in ignored


@pytest.mark.parametrize(
    ("changelog", "served"),
    [
        (
            "## [Unreleased]\n\n- New\n\n## [1.0] - today\n",
            "## Unreleased\n\n- New\n\n## 1.0 - today\n",
        ),
        ("## [Unreleased]\n\n## [1.0] - today\n", "## 1.0 - today\n"),
        ("# Changes\n\n## [Unreleased]\n", "# Changes\n\n"),
        (
            "See [the guide](guide.md) and [it](https://a.example)",
            "See the guide and [it](https://a.example)",
        ),
    ],
)
def test_the_changelog_is_served_without_what_only_the_file_means(
    changelog: str, served: str
) -> None:
    assert changes_of(changelog) == served


def test_links_into_the_dashboard_lead_to_a_page(read: dict[str, Reader]) -> None:
    links = {link for item in read.values() for link in item.links if link.startswith("/dashboard")}
    assert links
    for link in links:
        resolve(link.partition("#")[0].partition("?")[0])


def test_words_that_stand_in_different_parts_of_a_page_find_it(db: None) -> None:
    found = search("refund webhook")
    assert found.shown[0].address == "/docs/refunds#webhook-of-a-refund"
    pages = {hit.address.partition("#")[0] for hit in found.shown}
    assert {"/docs/refunds", "/docs/reference/webhooks"} <= pages and found.total > 10
    assert search("refund zebra").total == 0

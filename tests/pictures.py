"""Every page of a running demo is checked: overflow and barriers are reported, pictures are kept
for people.

    .venv/bin/python -m tests.pictures [--only WORD] [--stores demo,empty,ugly] [--looks
    390,1280-dark]

It signs in as the demo's merchant and staff, walks every page that a link leads to (one of each
kind), and sees it in three widths, light and dark. Stores: the demo's own, one without anything,
and one whose words are as long and as foreign as they may be; the demo's in live mode, its
platform, the staff site, what customers and visitors see (tests.public_pages), and what no link
leads to, such as a page that a role doesn't allow (tests.seldom). A picture that would show
another page than was asked for is a complaint. Pictures and legible sheets of them go
to var/pictures.
"""

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django_otp.oath import totp
from playwright.sync_api import Browser, Error, Page, sync_playwright

from dev import bootstrap, embedded, machine
from tests import public_pages, seldom
from tests.browser.judging import AXE, FLAGS, JUDGED, OVERFLOW, WCAG
from tests.contact_sheets import sheets
from tests.public_pages import PLAIN, UGLY, Customers, PublicPage
from tests.ugly import LONG, fill_by_forms, fill_with_ugly_data

LOOKS = [(width, scheme) for width in (390, 1280, 1920) for scheme in ("light", "dark")]
HEIGHT = 800
HEIGHT_MAX = 16_000  # which Chromium draws
# A change of scheme is there when the ground has its color, and in a picture after two frames.
IN_SCHEME = """scheme => {
    const ground = getComputedStyle(document.documentElement).backgroundColor;
    const [red, green, blue] = ground.match(/[\\d.]+/g).map(Number);
    const isDark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
    return matchMedia(`(prefers-color-scheme: ${scheme})`).matches
        && isDark === (scheme === "dark");
}"""
PAINTED = """() => new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)))
)"""
STEP_SECONDS = 30
CONFIRM = "/dashboard/confirm"
PLATFORM = "Demo Market"
# Of the stores whose customers' pages are seen: what their merchant has typed.
PUBLIC_WORDS = {"demo": PLAIN, "ugly": UGLY}
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=/)[A-Z0-9]{16}(?=/|$)|(?<=/)\d+(?=/)")
LEAVES = (
    "sign-out",
    ".csv",
    ".svg",
    ".png",
    "/file",
    "switch",
    "logout",
    "/static/",
    "/delete/",
    "/history/",
)


@dataclass
class Walk:
    """A walk over pages: pictures taken, and complaints."""

    folder: Path
    looks: list[tuple[int, str]]
    only: str
    secret: str | None = None  # of the authenticator of whoever is signed in
    pictures: int = 0
    complaints: list[str] = field(default_factory=list)

    def see(self, page: Page, name: str, *, is_email: bool = False) -> None:
        for number, (width, scheme) in enumerate(self.looks):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            if not is_email:
                page.wait_for_function(IN_SCHEME, arg=scheme)
            here = f"{name} at {width} {scheme}"
            wide = page.evaluate(OVERFLOW)
            if wide > 0:
                self.complain(f"{here}: {wide} px too wide")
            if number in (0, len(self.looks) - 1) and not is_email:
                page.evaluate(AXE)
                for violation in page.evaluate(JUDGED, {"tags": WCAG}):
                    self.complain(f"{here}: {violation['id']} {violation['nodes'][0]['target']}")
            tall = min(page.evaluate("document.documentElement.scrollHeight"), HEIGHT_MAX)
            page.set_viewport_size({"width": width, "height": max(tall, HEIGHT)})
            if is_email:  # no script runs in it, and nothing moves
                page.wait_for_timeout(100)
            else:
                page.evaluate(PAINTED)
            path = self.folder / f"{width}-{scheme}" / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=path)
            self.pictures += 1

    def visit(self, page: Page, url: str, name: str) -> list[str]:
        """See the page; the links that it has."""
        page.set_viewport_size({"width": self.looks[0][0], "height": HEIGHT})
        try:
            status = go(page, url)
            if urlsplit(page.url).path == CONFIRM:
                confirm(page, self.secret)
                status = go(page, url)
        except Error as error:
            if "Download is starting" not in error.message and "ERR_ABORTED" not in error.message:
                raise
            return []  # a file
        if status >= 400:
            self.complain(f"{name}: {status} at {url}")
        if urlsplit(page.url).path != urlsplit(url).path:
            self.complain(f"{name}: no picture, {urlsplit(url).path} leads to {page.url}")
            return []
        if self.only in name:
            self.see(page, name)
        hrefs: list[str] = page.eval_on_selector_all("a[href]", "all => all.map(one => one.href)")
        return hrefs

    def meet(self, page: Page, item: PublicPage) -> None:
        """A page of a visitor who isn't signed in, after what is done there."""
        if self.only not in item.name:
            return
        page.set_viewport_size({"width": self.looks[0][0], "height": HEIGHT})
        status = go(page, item.url)
        if status not in (200, 403, 404):
            self.complain(f"{item.name}: {status} at {item.url}")
        item.act(page)
        self.see(page, item.name, is_email=item.is_email)

    def complain(self, words: str) -> None:
        print(words, flush=True)
        self.complaints.append(words)


def go(page: Page, url: str) -> int:
    """The status of the page, once the rate limit allows it again."""
    while True:
        answer = page.goto(url)
        status = answer.status if answer else 0
        if status != 429:
            return status
        time.sleep(5)


def confirm(page: Page, secret: str | None) -> None:
    """Answer the page that asks for a fresh code."""
    if not secret:
        raise SystemExit(f"{page.url} asks for a code, and there is no authenticator")
    page.locator("input[name=code]").fill(next_code(secret))
    with page.expect_navigation():
        page.locator("input[name=code]").press("Enter")
    if urlsplit(page.url).path == CONFIRM:
        raise SystemExit(f"the code wasn't taken: {page.inner_text('main')[:300]}")


def next_code(secret: str) -> str:
    """A code is taken once, so the next one is waited for."""
    time.sleep(STEP_SECONDS - time.time() % STEP_SECONDS + 0.5)
    return f"{totp(base64.b32decode(secret)):06d}"


def kind_of(path: str) -> str:
    """Pages of one kind differ by what they are of."""
    return ID.sub("id", path)


def crawl(walk: Walk, page: Page, begin: str, prefix: str, name: str) -> None:
    seen = set()
    waiting = [begin]
    host = urlsplit(begin).netloc
    while waiting:
        url = waiting.pop(0)
        parts = urlsplit(url)
        kind = kind_of(parts.path)
        if kind in seen or parts.netloc != host or not parts.path.startswith(prefix):
            continue
        if any(word in parts.path for word in LEAVES):
            continue
        seen.add(kind)
        title = kind.strip("/").replace("/", "-") or "home"
        waiting += walk.visit(page, f"{parts.scheme}://{host}{parts.path}", f"{name}-{title}")


def enter(page: Page, base: str, email: str, password: str, secret: str | None) -> None:
    page.goto(f"{base}/dashboard/sign-in")
    page.locator("#email").fill(email)
    page.locator("#password").fill(password)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    if secret and "code" in page.url:
        page.locator("input[name=code]").fill(next_code(secret))
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "sign-in" not in url)
    page.goto(f"{base}/dashboard/")
    if "sign-in" in page.url:
        raise SystemExit(f"{email} isn't let in: {page.inner_text('main')[:300]}")


def open_store(name: str, email: str) -> dict[str, Any]:
    command = [
        sys.executable, "manage.py", "create_store", "--json", "--name", name,
        "--email", email, "--password", "not-used-2026", "--card-funding",
    ]  # fmt: skip
    said = subprocess.run(command, cwd=bootstrap.ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(said.stdout)
    return result


def store_called(page: Page, name: str) -> str:
    """The id of the first of the person's stores with this name; empty when it is the only one that
    there is."""
    button = page.locator("button[name=store_id]", has_text=name[:30]).first
    return button.get_attribute("value") or "" if button.count() else ""


def choose_store(page: Page, base: str, store_id: str) -> None:
    page.goto(f"{base}/dashboard/")
    token = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value")
    if store_id:
        page.request.post(
            f"{base}/dashboard/store",
            form={"csrfmiddlewaretoken": token or "", "store_id": store_id},
            headers={"Referer": f"{base}/dashboard/"},
        )


def names_of(demo: dict[str, Any]) -> dict[str, str]:
    """The stores that are walked, by the word for them."""
    store = demo["store"]["store"]["name"]
    return {
        "demo": store,
        "live": store,
        "platform": PLATFORM,
        "empty": "Empty store",
        "ugly": f"{LONG}"[:60],
    }


def dashboards(walk: Walk, browser: Browser, demo: dict[str, Any], stores: list[str]) -> None:
    base = demo["base_url"]
    merchant = demo["dashboard"]
    walk.secret = merchant["totp_secret"]
    page = browser.new_context(locale="en-US").new_page()
    enter(page, base, merchant["email"], merchant["password"], merchant["totp_secret"])
    names = names_of(demo)
    for kind in stores:
        key = demo["store"]["keys"]["test"]["secret"]
        if kind in ("empty", "ugly"):
            key = open_store(names[kind], merchant["email"])["keys"]["test"]["secret"]
        if kind == "ugly":
            fill_with_ugly_data(base, key)
        page.goto(f"{base}/dashboard/")
        choose_store(page, base, store_called(page, names[kind]))
        choose_mode(page, base, "live" if kind == "live" else "test")
        if kind == "ugly":
            fill_by_forms(page, base, lambda: confirm(page, walk.secret))
        crawl(walk, page, f"{base}/dashboard/", "/dashboard/", kind)
        if kind in PUBLIC_WORDS:
            customers(walk, browser, page, Customers(base, key, PUBLIC_WORDS[kind], kind))
        print(f"{kind}: {walk.pictures} pictures, {len(walk.complaints)} complaints", flush=True)


def choose_mode(page: Page, base: str, mode: str) -> None:
    page.goto(f"{base}/dashboard/")
    button = page.locator(f"button[name=mode][value={mode}]").first
    if button.count():
        token = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value")
        page.request.post(
            f"{base}/dashboard/mode",
            form={"csrfmiddlewaretoken": token or "", "mode": mode},
            headers={"Referer": f"{base}/dashboard/"},
        )


def customers(walk: Walk, browser: Browser, owner: Page, shop: Customers) -> None:
    """See the pages that the store's customers open; `owner` is signed in."""
    page = browser.new_context(locale="en-US").new_page()
    for item in chain(shop.pages(), public_pages.link_pages(owner, shop.base, shop.kind)):
        walk.meet(page, item)


def visitors(walk: Walk, browser: Browser, base: str) -> None:
    for item in public_pages.visitor_pages(base):
        walk.meet(browser.new_context(locale="en-US").new_page(), item)
    page = browser.new_context(locale="en-US").new_page()
    for item in list(public_pages.email_pages(page, base)):
        walk.meet(page, item)


def kept_secret() -> Path:
    """Where the key of the staff's authenticator is kept, for the next who signs in."""
    return embedded.var_folder(embedded.DEMO) / "staff-authenticator"


def enter_as_staff(page: Page, demo: dict[str, Any]) -> None:
    """The demo's staff has no authenticator at first, and the staff site lets nobody in without."""
    base = demo["base_url"]
    staff = demo["admin"]
    secret = kept_secret().read_text() if kept_secret().exists() else staff.get("totp_secret")
    enter(page, base, staff["email"], staff["password"], secret)
    if secret:
        return
    page.goto(f"{base}/dashboard/security/authenticator")
    secret = (page.locator("#key").text_content() or "").replace(" ", "")
    page.locator("#code").fill(f"{totp(base64.b32decode(secret)):06d}")
    page.locator("input[type=password]").fill(staff["password"])
    with page.expect_navigation():
        page.locator("#code").press("Enter")
    kept_secret().write_text(secret)


def staff_site(walk: Walk, browser: Browser, demo: dict[str, Any]) -> None:
    base = demo["base_url"]
    page = browser.new_context(locale="en-US").new_page()
    enter_as_staff(page, demo)
    walk.secret = kept_secret().read_text()
    crawl(walk, page, f"{base}/admin/", "/admin/", "staff")
    print(f"staff: {walk.pictures} pictures, {len(walk.complaints)} complaints", flush=True)


def seldom_pages(walk: Walk, browser: Browser, demo: dict[str, Any]) -> None:
    """Each page with its own person, in a session of their own."""
    base = demo["base_url"]
    command = [sys.executable, "-m", "tests.seldom"]
    said = subprocess.run(command, cwd=bootstrap.ROOT, capture_output=True, text=True, check=True)
    sessions: dict[str, Page] = {}
    for item in json.loads(said.stdout):
        who = item["who"]
        if who not in sessions:
            sessions[who] = browser.new_context(locale="en-US").new_page()
            _enter_as(sessions[who], demo, who)
        walk.meet(sessions[who], PublicPage(f"seldom-{item['name']}", f"{base}{item['path']}"))
    print(f"seldom: {walk.pictures} pictures, {len(walk.complaints)} complaints", flush=True)


def _enter_as(page: Page, demo: dict[str, Any], who: str) -> None:
    if who == seldom.STAFF:
        enter_as_staff(page, demo)
    elif who == seldom.MERCHANT:
        merchant = demo["dashboard"]
        secret = merchant["totp_secret"]
        enter(page, demo["base_url"], merchant["email"], merchant["password"], secret)
    else:
        enter(page, demo["base_url"], who, seldom.PASSWORD, seldom.SECRET)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="pages with this word in their name")
    parser.add_argument(
        "--stores", default="demo,empty,ugly", help="also: live,platform,staff,visitors,seldom"
    )
    parser.add_argument("--looks", default="", help="such as 390-light,1280-dark")
    options = parser.parse_args()
    looks = [
        (int(look.split("-")[0]), "dark" if look.endswith("-dark") else "light")
        for look in options.looks.split(",")
        if look
    ]
    demo = json.loads((embedded.var_folder(embedded.DEMO) / "demo.json").read_text())
    folder = bootstrap.ROOT / "var" / "pictures"
    walk = Walk(folder, looks or LOOKS, options.only)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    stores = options.stores.split(",")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.chromium(), args=FLAGS)
        dashboards(walk, browser, demo, [store for store in stores if store in names_of(demo)])
        if "visitors" in stores:
            visitors(walk, browser, demo["base_url"])
        if "staff" in stores:
            staff_site(walk, browser, demo)
        if "seldom" in stores:
            seldom_pages(walk, browser, demo)
        browser.close()
    print(*sheets(folder), sep="\n")
    print(*walk.complaints, sep="\n")
    sys.exit(bool(walk.complaints))


if __name__ == "__main__":
    main()

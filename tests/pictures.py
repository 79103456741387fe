"""Every page of a running demo, looked at: overflow and barriers are told, pictures are kept for
people.

    .venv/bin/python -m tests.pictures [--only WORD] [--stores demo,empty,ugly] [--looks
    390,1280-dark]

It signs in as the demo's merchant and staff, walks every page that a link leads to (one of each
kind), and sees it in three widths, light and dark. Stores: the demo's own, one without anything,
and one whose words are as long and as foreign as they may be. A picture that would show another
page than was asked for is a complaint. Pictures and legible sheets of them go to var/pictures.
"""

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django_otp.oath import totp
from playwright.sync_api import Browser, Error, Page, sync_playwright

from dev import bootstrap, embedded
from tests.browser.judging import AXE, FLAGS, JUDGED, OVERFLOW, WCAG
from tests.ugly import LONG, fill_by_forms, fill_with_ugly_data

LOOKS = [(width, scheme) for width in (390, 1280, 1920) for scheme in ("light", "dark")]
HEIGHT = 800
HEIGHT_MAX = 2400
SHEET = (1960, 1960)
LABEL_HEIGHT = 16
FOOT_HEIGHT = 24
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
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=/)[A-Z0-9]{16}(?=/|$)|(?<=/)\d+(?=/)")
LEAVES = (
    "sign-out",
    ".csv",
    ".svg",
    ".png",
    "/file",
    "/invoice/",
    "switch",
    "logout",
    "/static/",
    "/delete/",
    "/history/",
)


@dataclass
class Walk:
    """What was seen, and what was wrong with it."""

    folder: Path
    looks: list[tuple[int, str]]
    only: str
    secret: str | None = None  # of the authenticator of whoever is signed in
    pictures: int = 0
    complaints: list[str] = field(default_factory=list)

    def see(self, page: Page, name: str) -> None:
        for number, (width, scheme) in enumerate(self.looks):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            page.wait_for_function(IN_SCHEME, arg=scheme)
            here = f"{name} at {width} {scheme}"
            wide = page.evaluate(OVERFLOW)
            if wide > 0:
                self.complain(f"{here}: {wide} px too wide")
            if number in (0, len(self.looks) - 1):
                page.evaluate(AXE)
                for violation in page.evaluate(JUDGED, WCAG):
                    self.complain(f"{here}: {violation['id']} {violation['nodes'][0]['target']}")
            tall = min(page.evaluate("document.documentElement.scrollHeight"), HEIGHT_MAX)
            page.set_viewport_size({"width": width, "height": max(tall, HEIGHT)})
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

    def complain(self, words: str) -> None:
        print(words, flush=True)
        self.complaints.append(words)


def go(page: Page, url: str) -> int:
    """The status of the page, once whoever asks too fast is let in again."""
    while True:
        answer = page.goto(url)
        status = answer.status if answer else 0
        if status != 429:
            return status
        time.sleep(5)


def confirm(page: Page, secret: str | None) -> None:
    """Answer the page that asks for a fresh code. A code is taken once, so the next one is waited
    for."""
    if not secret:
        raise SystemExit(f"{page.url} asks for a code, and there is no authenticator")
    time.sleep(STEP_SECONDS - time.time() % STEP_SECONDS + 0.5)
    page.locator("input[name=code]").fill(f"{totp(base64.b32decode(secret)):06d}")
    with page.expect_navigation():
        page.locator("input[name=code]").press("Enter")
    if urlsplit(page.url).path == CONFIRM:
        raise SystemExit(f"the code wasn't taken: {page.inner_text('main')[:300]}")


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
        code = f"{totp(base64.b32decode(secret)):06d}"
        page.locator("input[name=code]").fill(code)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "sign-in" not in url)
    page.goto(f"{base}/dashboard/")
    if "sign-in" in page.url:
        raise SystemExit(f"{email} isn't let in: {page.inner_text('main')[:300]}")


def open_store(name: str, email: str) -> dict[str, Any]:
    command = [
        sys.executable, "manage.py", "create_store", "--json", "--name", name,
        "--email", email, "--password", "not-used-2026",
    ]  # fmt: skip
    said = subprocess.run(command, cwd=bootstrap.ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(said.stdout)
    return result


def without_foot(picture: Any) -> Any:
    """The picture without the rows at its end that are all alike."""
    from PIL import ImageChops

    width, height = picture.size
    last = picture.crop((0, height - 1, width, height)).resize((width, height))
    box = ImageChops.difference(picture, last).getbbox()
    return picture.crop((0, 0, width, min(height, box[3] + FOOT_HEIGHT))) if box else picture


def shelves(pictures: list[Path], columns: int, size: tuple[int, int]) -> Iterator[Any]:
    """The pictures on sheets of this size, each below the last one where there is most room."""
    from PIL import Image, ImageDraw

    width = size[0] // columns
    sheet, feet = Image.new("RGB", size, "gray"), [0] * columns
    for path in pictures:
        with Image.open(path) as whole:
            picture = without_foot(whole.convert("RGB"))
        picture.thumbnail((width - 8, size[1] - LABEL_HEIGHT))
        column = feet.index(min(feet))
        if feet[column] + LABEL_HEIGHT + picture.height > size[1]:
            yield sheet
            sheet, feet, column = Image.new("RGB", size, "gray"), [0] * columns, 0
        at = (column * width, feet[column])
        ImageDraw.Draw(sheet).text((at[0] + 4, at[1] + 3), path.stem[:90], fill="white")
        sheet.paste(picture, (at[0], at[1] + LABEL_HEIGHT))
        feet[column] += LABEL_HEIGHT + picture.height
    if any(feet):
        yield sheet


def sheets(folder: Path) -> Iterator[Path]:
    """Many pictures on one, large enough that their words can be read."""
    target = folder / "sheets"
    target.mkdir(parents=True, exist_ok=True)
    for look in sorted(path for path in folder.iterdir() if path.is_dir() and path != target):
        columns = 5 if look.name.startswith("390-") else 2
        for number, sheet in enumerate(shelves(sorted(look.glob("*.png")), columns, SHEET)):
            sheet.save(target / f"{look.name}-{number:02d}.png")
            yield target / f"{look.name}-{number:02d}.png"


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


def dashboards(walk: Walk, browser: Browser, demo: dict[str, Any], stores: list[str]) -> None:
    base = demo["base_url"]
    merchant = demo["dashboard"]
    walk.secret = merchant["totp_secret"]
    page = browser.new_context(locale="en-US").new_page()
    enter(page, base, merchant["email"], merchant["password"], merchant["totp_secret"])
    names = {"demo": demo["store"]["store"]["name"], "empty": "Empty store", "ugly": f"{LONG}"[:60]}
    for kind in stores:
        if kind != "demo":
            made = open_store(names[kind], merchant["email"])
            if kind == "ugly":
                fill_with_ugly_data(base, made["keys"]["test"]["secret"])
        page.goto(f"{base}/dashboard/")
        choose_store(page, base, store_called(page, names[kind]))
        if kind == "ugly":
            fill_by_forms(page, base, lambda: confirm(page, walk.secret))
        crawl(walk, page, f"{base}/dashboard/", "/dashboard/", kind)
        print(f"{kind}: {walk.pictures} pictures, {len(walk.complaints)} complaints", flush=True)


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="pages with this word in their name")
    parser.add_argument("--stores", default="demo,empty,ugly", help="also: staff")
    parser.add_argument("--looks", default="", help="such as 390-light,1280-dark")
    options = parser.parse_args()
    looks = [
        (int(look.split("-")[0]), look.split("-")[1]) for look in options.looks.split(",") if look
    ]
    demo = json.loads((embedded.var_folder(embedded.DEMO) / "demo.json").read_text())
    folder = bootstrap.ROOT / "var" / "pictures"
    walk = Walk(folder, looks or LOOKS, options.only)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    stores = options.stores.split(",")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=bootstrap.chromium(), args=FLAGS)
        dashboards(walk, browser, demo, [store for store in stores if store != "staff"])
        if "staff" in stores:
            staff_site(walk, browser, demo)
        browser.close()
    print(*sheets(folder), sep="\n")
    print(*walk.complaints, sep="\n")
    sys.exit(bool(walk.complaints))


if __name__ == "__main__":
    main()

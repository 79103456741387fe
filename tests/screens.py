"""The pictures of docs/screens, made anew from a running demo.

    .venv/bin/python -m tests.screens [--only WORD]

It reads the demo's demo.json as tests/pictures.py does. The demo's store sells a few things today,
its staff gets an authenticator app, and a store that has nothing yet is opened for the go-live
list.
"""

import argparse
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from dev import bootstrap, embedded, machine
from tests.browser.judging import FLAGS
from tests.pictures import (
    choose_mode,
    choose_store,
    enter,
    enter_as_staff,
    open_store,
    store_called,
)

FOLDER = bootstrap.ROOT / "docs" / "screens"
KB_MAX = 200
DESK = (1280, 800)
PHONE = (390, 844)
NEW = "Harbor Books"
GOODS = ("Espresso beans, 1 kg", "Filter beans, 500 g", "Cupping class", "Moka pot", "Gift box")


@dataclass(frozen=True)
class Demo:
    """The running demo, and what its merchant's test key asks it."""

    told: dict[str, Any]

    @property
    def base(self) -> str:
        return str(self.told["base_url"])

    def api(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        key = self.told["store"]["keys"]["test"]["secret"]
        answer = requests.request(
            method, f"{self.base}/api/v2{path}", json=body, auth=(key, ""), timeout=60
        )
        answer.raise_for_status()
        return answer.json()

    def a_sale(self) -> str:
        """The id of a completed payment that says what was bought."""
        sales = [
            item
            for item in self.api("GET", "/payments?per_page=100")["data"]
            if item["status"] == "completed"
        ]
        titled = [sale for sale in sales if sale["title"]]
        return str((titled or sales)[0]["id"])

    def an_order(self) -> str:
        """The checkout of a new payment."""
        lines = [
            {"description": "Espresso beans, 1 kg", "quantity": 1, "unit_amount_cents": 2290},
            {"description": "Paper filters", "quantity": 2, "unit_amount_cents": 350},
        ]
        asked = {"amount": "29.90", "currency": "EUR", "title": "Order 1042", "line_items": lines}
        return str(self.api("POST", "/payments", {"payment_intent": asked})["hosted_url"])


@dataclass(frozen=True)
class Screen:
    """One picture: where it is taken, on what, and what is done on the page before."""

    name: str
    path: Callable[[Demo], str]
    size: tuple[int, int] = DESK
    is_dark: bool = False
    by: str = "merchant"  # who is signed in
    is_new_store: bool = False
    act: Callable[[Page], object] = lambda page: None


def _type_a_refund(page: Page) -> None:
    page.get_by_label("Amount in", exact=True).select_option("locked")
    page.get_by_role("link", name="50%").click()
    page.wait_for_load_state("networkidle")


def _type_a_payout(page: Page) -> None:
    page.get_by_label("Amount", exact=True).fill("0.05")


def _type_a_price(page: Page) -> None:
    for key in ("4", ".", "8", "0"):
        page.locator(f"[data-key='{key}']").click()


def _open_the_link(page: Page) -> None:
    page.locator("tbody .row-link").first.click()
    page.goto(page.locator(".copy-box code").first.inner_text())


SCREENS = (
    Screen("home", lambda _: "/dashboard/"),
    Screen("payments", lambda _: "/dashboard/payments"),
    Screen("payment", lambda demo: f"/dashboard/payments/{demo.a_sale()}"),
    Screen(
        "refund", lambda demo: f"/dashboard/payments/{demo.a_sale()}/refund", act=_type_a_refund
    ),
    Screen("statement", lambda _: "/dashboard/statement", is_dark=True),
    Screen("payout", lambda _: "/dashboard/payouts/new", act=_type_a_payout),
    Screen("point-of-sale", lambda _: "/dashboard/point-of-sale", PHONE, act=_type_a_price),
    Screen(
        "payment-link",
        lambda _: "/dashboard/payment-links",
        PHONE,
        is_dark=True,
        act=_open_the_link,
    ),
    Screen("go-live", lambda _: "/dashboard/", is_new_store=True),
    Screen("staff", lambda _: "/admin/", by="staff"),
    Screen("checkout", lambda demo: demo.an_order(), by=""),
)


def save(drawn: bytes, path: Path) -> None:
    """Pages have few colors: a palette holds them, smaller until the file fits."""
    with Image.open(io.BytesIO(drawn)) as picture:
        for colors in (256, 128, 64, 32):
            picture.convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(
                path, optimize=True
            )
            if path.stat().st_size <= KB_MAX * 1024:
                return
    raise SystemExit(f"{path.name} is larger than {KB_MAX} KB")


def take(page: Page, demo: Demo, screen: Screen) -> None:
    width, height = screen.size
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if screen.is_dark else "light", reduced_motion="reduce")
    address = screen.path(demo)
    answer = page.goto(address if address.startswith("http") else demo.base + address)
    if answer is None or answer.status != 200:
        raise SystemExit(f"{screen.name}: {answer.status if answer else 'no answer'}")
    screen.act(page)
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)  # what was pressed last isn't shown as being pointed at
    save(page.screenshot(), FOLDER / f"{screen.name}.png")
    print(
        f"{screen.name}.png {(FOLDER / f'{screen.name}.png').stat().st_size // 1024} KB", flush=True
    )


def sell(demo: Demo) -> None:
    """A few sales of today, one of them unpaid."""
    for number in range(4):
        fields = {
            "amount": f"{18 + number * 13 % 45}.{number}0",
            "currency": "EUR",
            "title": GOODS[number % len(GOODS)],
            "order_id": f"{1000 + number}",
        }
        made = demo.api("POST", "/payments", {"payment_intent": fields})
        if number:
            demo.api("POST", f"/payments/{made['id']}/simulated_payments", {"scenario": "exact"})


def signed_in(browser: Browser, demo: Demo, who: str) -> Page:
    page = browser.new_context(locale="en-US", timezone_id="Europe/Berlin").new_page()
    if who == "staff":
        enter_as_staff(page, demo.told)
    if who == "merchant":
        person = demo.told["dashboard"]
        enter(page, demo.base, person["email"], person["password"], person.get("totp_secret"))
        choose_store(page, demo.base, store_called(page, demo.told["store"]["store"]["name"]))
        choose_mode(page, demo.base, "test")  # a store that is live opens live
    return page


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="pictures with this word in their name")
    only = parser.parse_args().only
    told = json.loads((embedded.var_folder(embedded.DEMO) / "demo.json").read_text())
    demo = Demo(told)
    sell(demo)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.chromium(), args=FLAGS)
        pages: dict[str, Page] = {}
        for screen in SCREENS:
            if only in screen.name:
                if screen.by not in pages:
                    pages[screen.by] = signed_in(browser, demo, screen.by)
                if screen.is_new_store:
                    made = open_store(NEW, told["dashboard"]["email"])
                    choose_store(pages[screen.by], demo.base, made["store"]["id"])
                take(pages[screen.by], demo, screen)
        browser.close()


if __name__ == "__main__":
    main()

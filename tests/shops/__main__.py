"""`python -m tests.shops pretix`: the plugin of a shop, packed and installed into the real shop of
its registry, which sells through a demo of Tillgate in a real browser.

It isn't part of the suite: a shop is fetched the first time, which takes minutes, and kept in
var/shops. `--only late` tells one story, `--pictures FOLDER` saves what the pages look like.
"""

import argparse
import importlib
import json
import sys
import time
import traceback
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from dev import machine
from tests.browser.judging import FLAGS
from tests.shops.parts import KEPT, Service, Shop
from tests.shops.stories import STORIES, Story
from tests.stack import Demo

SHOPS = ("pretix", "pretix-bitpay", "vendure", "medusa", "django-payments", "oscar", "n8n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shop", choices=SHOPS)
    parser.add_argument("--only", default="", metavar="WORD", help="stories whose name has it")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--demo", type=Path, metavar="FILE", help="of a running one, what `demo --json` printed"
    )
    chosen = parser.parse_args()
    if chosen.demo:
        return tell(chosen, Service(json.loads(chosen.demo.read_text())))
    demo = Demo()
    try:
        return tell(chosen, Service(demo.info, demo.environ))
    finally:
        demo.stop()


def tell(chosen: argparse.Namespace, service: Service) -> int:
    module = importlib.import_module("tests.shops." + chosen.shop.replace("-", "_"))
    stories: dict[str, Story] = getattr(module, "STORIES", STORIES)
    shop: Shop = module.build(service, chosen.pictures)
    try:
        shop.start()
        return tell_stories(shop, service, stories, chosen.only)
    finally:
        shop.stop()


def tell_stories(shop: Shop, service: Service, stories: dict[str, Story], only: str) -> int:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.chromium(), args=FLAGS)
        try:
            shop.set_up(browser)
        except Exception:
            keep_pages(browser, "set_up")
            raise
        failed = 0
        left_out = dict(shop.left_out)
        if service.environ is None:
            left_out["refund_that_fails_later"] = "the running demo has no operator here"
        names = [name for name in stories if only in name and name not in left_out]
        for name in names:
            began = time.monotonic()
            try:
                stories[name](shop, service, browser)
            except Exception:
                failed += 1
                traceback.print_exc()
                keep_pages(browser, name)
                print(f"FAILED {name}", flush=True)
            else:
                print(f"ok {name} ({time.monotonic() - began:.0f} s)", flush=True)
        browser.close()
    for name, reason in left_out.items():
        print(f"left out: {name} ({reason})")
    print(f"{shop.title}: {len(names) - failed} passed, {failed} failed")
    return 1 if failed or not names else 0


def keep_pages(browser: Browser, name: str) -> None:
    """Keep the pages on the screen when a story failed."""
    pages = [page for context in browser.contexts for page in context.pages]
    for number, page in enumerate(pages):
        page.screenshot(path=KEPT / f"failed-{name}-{number}.png")
        page.close()


if __name__ == "__main__":
    sys.exit(main())

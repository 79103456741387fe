"""Requests and bytes of a browser from the sign-in form to Home, with nothing cached before.

    .venv/bin/python -m tests.bench.weight

A demo of its own is signed in to in Chromium. Bytes are those of bodies; a demo compresses nothing,
a production the files of pages (to about a third). The last line is of one more page, with
everything cached.
"""

import base64
from collections import defaultdict
from typing import Any

from django_otp.oath import totp
from playwright.sync_api import Page, Response, sync_playwright

from dev import machine
from tests.bench.harness import figure, print_table
from tests.browser.judging import FLAGS
from tests.stack import Demo


class Seen:
    """Responses to a page, and their sums by kind."""

    def __init__(self, page: Page) -> None:
        self.responses: list[Response] = []
        page.on("response", lambda response: self.responses.append(response))

    def rows(self) -> list[tuple[str, int, int]]:
        """How many of each kind, and their bytes; redirects have none. A file that was loaded comes
        out of the browser's cache."""
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        loaded = set()
        for response in self.responses:
            if response.request.resource_type != "document":
                if response.url in loaded:
                    continue
                loaded.add(response.url)
            is_moved = 300 <= response.status < 400
            own = sums["redirect" if is_moved else response.request.resource_type]
            own[0] += 1
            own[1] += 0 if is_moved else int(response.headers.get("content-length", 0))
        return [(kind, count, size) for kind, (count, size) in sorted(sums.items())]


def sign_in(page: Page, told: dict[str, Any]) -> None:
    page.goto(f"{told['base_url']}/dashboard/sign-in")
    page.locator("input[name=email]").fill(told["dashboard"]["email"])
    page.locator("input[name=password]").fill(told["dashboard"]["password"])
    page.locator("input[name=password]").press("Enter")
    code = page.locator("input[name=code]")
    code.wait_for()
    secret = base64.b32decode(told["dashboard"]["totp_secret"])
    code.fill(f"{totp(secret):06d}")
    code.press("Enter")
    page.wait_for_url("**/dashboard/")
    page.wait_for_load_state("networkidle")


def main() -> None:
    demo = Demo()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=machine.chromium(), args=FLAGS)
            page = browser.new_page()
            seen = Seen(page)
            sign_in(page, demo.info)
            rows = seen.rows()
            later = Seen(page)
            page.goto(f"{demo.info['base_url']}/dashboard/payments")
            page.wait_for_load_state("networkidle")
            next_rows = later.rows()
            browser.close()
    finally:
        demo.stop()
    count, size = sum(row[1] for row in rows), sum(row[2] for row in rows)
    again = sum(row[1] for row in next_rows), sum(row[2] for row in next_rows)
    shown = [*rows, ("all", count, size), ("the next page", *again)]
    print_table(["kind", "requests", "bytes"], [list(map(str, row)) for row in shown])
    figure("requests from sign-in to Home", count)
    figure("bytes from sign-in to Home, kB", size / 1000)


if __name__ == "__main__":
    main()

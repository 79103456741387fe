"""Requests and bytes of a browser from the sign-in form to Home, with nothing cached before.

    .venv/bin/python -m tests.bench.weight

A demo of its own is signed in to in Chromium. Bytes are those of bodies as they are transferred:
a demo compresses nothing, a production compresses the files of pages (gzip, Brotli), so both are
shown. The last line is of one more page, with everything cached.
"""

import base64
import gzip
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

    def rows(self) -> list[tuple[str, int, int, int]]:
        """Sums by kind; redirects have no body."""
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for response in self.responses:
            is_moved = 300 <= response.status < 400
            body = b"" if is_moved else response.body()
            kind = "redirect" if is_moved else response.request.resource_type
            own = sums[kind]
            own[0] += 1
            own[1] += len(body)
            own[2] += len(gzip.compress(body)) if body else 0
        return [(kind, *own) for kind, own in sorted(sums.items())]  # type: ignore[misc]  # three each


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
    total = [sum(row[place] for row in rows) for place in (1, 2, 3)]  # type: ignore[misc]  # numbers
    again = [sum(row[place] for row in next_rows) for place in (1, 2, 3)]  # type: ignore[misc]  # numbers
    shown = [*rows, ("all", *total), ("the next page", *again)]
    print_table(["kind", "requests", "bytes", "gzip"], [list(map(str, row)) for row in shown])
    figure("requests from sign-in to Home", total[0])
    figure("bytes from sign-in to Home, kB", total[1] / 1000)


if __name__ == "__main__":
    main()

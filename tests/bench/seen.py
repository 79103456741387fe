"""How soon a customer sees on the checkout that litecoin from another wallet is on its way.

    .venv/bin/python -m tests.bench.seen [payments]

It reads the demo.json of a running demo as tests/screens.py does. For each payment of 25 EUR in
live mode the checkout is opened in Chromium, another wallet sends the coins through the node, and
the time runs from the node's answer to the sentence on the page. Half are paid by the text of the
code, half by the address and amount that are shown.
"""

import json
import statistics
import sys
import time
from typing import Any

import requests
from playwright.sync_api import Page, sync_playwright

from apps.core.local_chain import LITECOIN
from dev import embedded, litecoind, machine, processes
from dev.management.commands.pay_litecoin import read_link
from tests.bench.harness import print_table
from tests.browser.judging import FLAGS

PAYMENTS = 10
SEEN = "We see your payment."
AMOUNT = {"amount": "25.00", "currency": "EUR", "title": "Espresso beans, 1 kg"}


def payment_of(told: dict[str, Any]) -> dict[str, Any]:
    answer = requests.post(
        f"{told['base_url']}/api/v2/payments",
        json={"payment_intent": AMOUNT},
        auth=(told["store"]["keys"]["live"]["secret"], ""),
        timeout=60,
    )
    answer.raise_for_status()
    document: dict[str, Any] = answer.json()
    return document


def way_by_hand(payment: dict[str, Any]) -> tuple[str, str]:
    """The address and the amount that a person copies."""
    [way] = [
        each
        for each in payment["payment_addresses"]
        if each["supported_asset"]["asset_id"] == "LTC"
    ]
    return way["address"], way["crypto_amount"]


def seconds_until_seen(page: Page, told: dict[str, Any], node: str, *, by_code: bool) -> float:
    payment = payment_of(told)
    address, coins = way_by_hand(payment)
    page.goto(f"{told['base_url']}/pay/{payment['reference']}?asset=LTC")
    if by_code:
        link = page.locator("a[href^='litecoin:']").first.get_attribute("href")
        assert link is not None
        assert read_link(link, None) == (address, coins)
    with page.expect_response("**/pulse*"):
        pass  # a customer has looked at it before paying
    litecoind.pay(node, address, coins)
    sent_at = time.perf_counter()
    page.get_by_text(SEEN).wait_for(timeout=60_000)
    return time.perf_counter() - sent_at


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PAYMENTS
    folder = embedded.var_folder(embedded.DEMO)
    told = json.loads((folder / "demo.json").read_text())
    node = processes.published(folder, LITECOIN)["url"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=machine.chromium(), args=FLAGS)
        page = browser.new_page()
        took = [
            seconds_until_seen(page, told, node, by_code=number % 2 == 0) for number in range(count)
        ]
        browser.close()
    print(f"sent by another wallet, seen on the checkout: {count} payments")
    print_table(
        ["figure", "seconds"],
        [["median", f"{statistics.median(took):.2f}"], ["worst", f"{max(took):.2f}"]],
    )
    print("each:", ", ".join(f"{each:.2f}" for each in took))


if __name__ == "__main__":
    main()

"""The swaps room: the figures first, then the swap; what it became; and the automatic ones."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from apps.assets.models import Asset, Rate
from apps.ledger.selectors import balances
from apps.swaps.models import AutoSwap, Swap
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

WISH = {"source_asset_id": "SETH", "buy_asset_id": "USDC_SETH", "amount": "0.1"}


@pytest.fixture
def rich(cast: Cast) -> Cast:
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    return cast


def form_key(answer: Any) -> str:
    found = re.search(r'name="form_key" value="([0-9a-f]{32})"', answer.content.decode())
    assert found is not None
    return found[1]


def agreed(answer: Any) -> str:
    found = re.search(r'name="agreed" value="([0-9]+)"', answer.content.decode())
    assert found is not None
    return found[1]


def amount_in(page: Any) -> str:
    found = re.search(r'name="amount"[^>]*value="([^"]*)"', page.content.decode())
    assert found is not None
    return found[1]


def test_the_maximum_is_what_is_available_of_the_coin(rich: Cast, alice: Browser) -> None:
    make.store_coins(rich.bakery.store, "USDC_SETH", 2_500_000)
    other = {"source_asset_id": "USDC_SETH", "buy_asset_id": "SETH", "maximum": "1"}
    assert amount_in(alice.get("swaps/new")) == ""
    assert amount_in(alice.get("swaps/new?maximum=1")) == "1"
    assert amount_in(alice.get("swaps/new?from=USDC_SETH&maximum=1")) == "2.5"
    page = alice.get(f"swaps/new?{urlencode(other)}")
    assert amount_in(page) == "2.5"
    assert re.search(r'value="SETH"\s+selected', page.content.decode())
    typed = {**WISH, "source_asset_id": "USDC_SETH", "buy_asset_id": "SETH", "amount": "2.5"}
    review = alice.post("swaps/new", **typed, form_key=form_key(page))
    assert review.status_code == 200 and "Confirm swap" in text(review)


def test_the_figures_are_shown_before_anything_is_sold(rich: Cast, alice: Browser) -> None:
    browser = alice
    key = form_key(browser.get("swaps/new"))
    review = browser.post("swaps/new", **WISH, form_key=key)
    told = text(review)
    assert (
        review.status_code == 200
        and "199 <span" in told
        and "198.005 <span" in told
        and "the estimate less 0.5 %" in told
    )
    assert not Swap.objects.exists()
    made = browser.post("swaps/new", **WISH, form_key=key, agreed=agreed(review))
    swap = Swap.objects.get()
    assert (made.status_code, made.headers["Location"]) == (303, f"/dashboard/swaps/{swap.pk}")
    assert balances(rich.bakery.store.pk, "test")["SETH"].reserved_atomic == 10**17
    browser.post("swaps/new", **WISH, form_key=key, agreed=agreed(review))
    assert Swap.objects.count() == 1
    assert "Waiting" in text(browser.get(f"swaps/{swap.pk}"))
    advance_swaps()
    assert "Completed" in text(browser.get(f"swaps/{swap.pk}")) and "199 <span" in text(
        browser.get("swaps")
    )


def test_a_rate_that_moved_is_shown_again_and_not_sold_at(rich: Cast, alice: Browser) -> None:
    browser = alice
    key = form_key(browser.get("swaps/new"))
    review = browser.post("swaps/new", **WISH, form_key=key)
    Rate.objects.filter(asset="USDC_SETH").update(rate="1.1")
    again = browser.post("swaps/new", **WISH, form_key=key, agreed=agreed(review))
    assert (
        again.status_code == 422
        and "The rate has moved; review the new figures and confirm again." in text(again)
    )
    assert agreed(again) != agreed(review) and not Swap.objects.exists()
    assert browser.post("swaps/new", **WISH, form_key=key, agreed=agreed(again)).status_code == 303


PLACES = "Amount must be a decimal number of coins with at most 18 places."
# What is changed, the input that is wrong or none, and what is said.
REFUSED = (
    ({"amount": "0"}, "amount", "Amount must be greater than zero."),
    ({"amount": "1,5,5"}, "amount", PLACES),
    ({"amount": "0." + "1" * 19}, "amount", PLACES),
    ({"amount": "x" * 60}, "amount", PLACES),
    ({"buy_asset_id": "SETH"}, "buy_asset_id", "Source and buy asset must differ."),
    ({"buy_asset_id": ""}, "buy_asset_id", "Choose what to sell and what to buy."),
    ({"source_asset_id": "NOPE"}, "source_asset_id", "Choose what to sell and what to buy."),
    ({"buy_asset_id": "ETH_USDC"}, "", "Asset is not active."),
    ({"amount": "2", "agreed": "1"}, "amount", "Insufficient available balance."),
    ({"form_key": "old"}, "", "The form is too old; open it again."),
)


def test_a_refused_form_says_why_at_its_input_which_has_the_focus(alice: Browser) -> None:
    for change, name, sentence in REFUSED:
        answer = alice.post("swaps/new", **{**WISH, "form_key": "a" * 32, **change})
        page = answer.content.decode()
        assert answer.status_code == 422 and sentence in page, change
        told = re.findall(r'<span class="error" id="(\w+)-error" role="alert">[^<]+</span>', page)
        wrong = re.findall(
            r'<(?:input|select) id="(\w+)"[^>]*aria-invalid="true" aria-describedby="(\w+)-error"'
            r" autofocus>",
            page,
        )
        assert told == ([name] if name else []), change
        assert wrong == ([(name, name)] if name else []), change
        assert ('id="errors"' in page) is not bool(name), change
    assert not Swap.objects.exists()


def test_a_swap_needs_two_factor_authentication(rich: Cast) -> None:
    answer = Browser(rich.alice).post("swaps/new", **WISH, form_key="a" * 32, agreed="1")
    assert answer.status_code == 403 and "Set up two-factor authentication first." in text(answer)
    assert not Swap.objects.exists()


def test_a_store_with_nothing_is_told_so(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert "your available balance is empty" in text(browser.get("swaps"))
    assert "Nothing to swap" in text(browser.get("swaps/new"))


def test_the_list_is_by_status_and_page(rich: Cast) -> None:
    browser = Browser(rich.alice)
    for number in range(3):
        make.swapped(rich.bakery, key=str(number))
    assert (
        text(browser.get("swaps")).count("row-link")
        == text(browser.get("swaps?status=pending")).count("row-link")
        == 3
    )
    assert "No matches" in text(browser.get("swaps?status=failed"))
    assert "Total sold" in text(browser.get("swaps"))
    shown = text(browser.get(f"swaps/{Swap.objects.latest('created_at').pk}"))
    assert "ETH to USDC</span>" in shown and "<dt>Value when created</dt><dd>€" in shown
    assert (
        browser.get("swaps?page=999999999999").status_code
        == browser.get("swaps?page=-1").status_code
        == 200
    )


def test_the_automatic_swaps_are_switched_on_and_off(rich: Cast) -> None:
    browser = Browser(rich.alice)
    assert browser.post("settings/auto-swap", target_asset_id="USDC_SETH").status_code == 303
    assert AutoSwap.objects.get().target_asset_id == "USDC_SETH"
    assert "Completed payments are swapped into USDC automatically" in text(browser.get("swaps"))
    refused = browser.post("settings/auto-swap", target_asset_id="ETH_USDC")
    assert refused.status_code == 422 and "Choose one of the stablecoins offered." in text(refused)
    browser.post("settings/auto-swap", target_asset_id="")
    assert AutoSwap.objects.get().target_asset_id is None
    assert (
        Browser(rich.bob).post("settings/auto-swap", target_asset_id="USDC_SETH").status_code == 403
    )


def test_a_mode_without_stablecoins_says_so(cast: Cast) -> None:
    Asset.objects.filter(pk="SETH_USDC").update(is_active=False)
    assert "No stablecoin in test mode" in text(Browser(cast.alice).get("settings/auto-swap"))

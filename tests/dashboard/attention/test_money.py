"""Money on its way that needs a person: payouts that failed or may be late, and coins that came to
another coin's address."""

from datetime import timedelta

import pytest

from apps.chain.models import HotWallet
from apps.core import clock
from apps.payouts.models import Payout
from apps.payouts.services import moves
from apps.stores.models import Role
from tests import make
from tests.cast import Cast
from tests.dashboard.attention.makers import only, told
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_search import joined

pytestmark = pytest.mark.django_db


def failed_payout(cast: Cast, code: str = "unknown") -> Payout:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    payout = Payout.objects.select_related("store").get(
        pk=make.payout(cast.bakery.test, 10**17)["id"]
    )
    moves.fail(payout, code, "Declined", clock.real_now())
    Payout.objects.filter(pk=payout.pk).update(retry_at=None)
    return payout


def test_a_failed_payout_is_retried_by_its_button(cast: Cast) -> None:
    payout = failed_payout(cast)
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == ("Payout failed", "Retry payout")
    assert line.notice.detail.startswith("0.1 ETH to 0x") and line.notice.detail.endswith(
        " · Declined"
    )
    assert browser.post(line.notice.url, retry="1").status_code == 303
    payout.refresh_from_db()
    assert payout.status == "retrying" and told(browser) == []


def test_a_payout_that_cant_arrive_goes_elsewhere_by_its_button(cast: Cast) -> None:
    payout = failed_payout(cast, "destination_invalid")
    browser = Browser(cast.alice)
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Payout failed and its coins are back in your balance",
        "Change destination",
    )
    assert line.notice.url == "/dashboard/payouts/new?asset=SETH&amount=0.1&destination="
    assert 'value="0.1"' in browser.get(line.notice.url).content.decode()
    make.payout(cast.bakery.test, 10**16)
    assert told(browser) == [], payout.pk


def test_a_failed_payout_is_given_up_for_another_destination(cast: Cast) -> None:
    payout = failed_payout(cast)
    browser = Browser(cast.alice)
    answer = browser.post(f"payouts/{payout.pk}/give-up", then="elsewhere")
    assert answer["Location"] == "/dashboard/payouts/new?asset=SETH&amount=0.1&destination="
    payout.refresh_from_db()
    assert payout.funds == "returned" and told(browser) == []


def test_a_payout_whose_outcome_is_unknown_or_that_is_tried_again_by_itself_has_no_such_button(
    cast: Cast,
) -> None:
    payout = failed_payout(cast)
    browser = Browser(cast.alice)
    Payout.objects.filter(pk=payout.pk).update(is_outcome_unknown=True)
    assert only(browser).notice.action == "View payout"
    Payout.objects.filter(pk=payout.pk).update(retry_at=clock.real_now())
    assert told(browser) == []


def test_payouts_of_a_chain_whose_wallet_is_short_may_be_delayed(cast: Cast) -> None:
    wallet = HotWallet.objects.create(chain_id="sepolia", address="0x" + "1" * 40, next_nonce=0)
    browser = Browser(cast.alice)
    at = clock.real_now()
    assert told(browser) == []
    HotWallet.objects.update(short_since=at - timedelta(minutes=1))
    assert told(browser) == [], "it is filled by then"
    HotWallet.objects.update(short_since=at - timedelta(minutes=11))
    line = only(browser)
    assert (line.notice.title, line.notice.action) == ("Payouts may be delayed", "View payouts")
    make.advance(cast.bakery.test, 86_400)
    assert only(browser).age_seconds < 1_000, "by the store's clock"
    assert wallet.address not in line.notice.detail and line.notice.detail.startswith(
        "Ethereum Sepolia · "
    )
    HotWallet.objects.update(short_since=None, halted_at=at)
    assert told(browser) == ["Payouts may be delayed"]
    browser.switch("live")
    assert told(browser) == []


def test_a_transfer_at_an_address_for_another_coin_is_told_until_it_is_decided(cast: Cast) -> None:
    make.stray_transfer(make.payment(cast.bakery.test)["id"])
    browser = Browser(cast.alice).prove()
    line = only(browser)
    assert (line.notice.title, line.notice.action) == (
        "Unexpected coins arrived",
        "Accept 1 USDC",
    )
    assert "Accept transfer" in text(browser.get(line.notice.page))
    assert "Accept transfer" not in text(
        joined(cast, Role.VIEWER).get(line.notice.page.removeprefix("/dashboard/"))
    )
    page = f"{line.notice.page}/return"
    assert browser.confirm(browser.post(page), page)["Location"] == line.notice.page
    assert told(browser) == []
    assert "Returned" in text(browser.get(line.notice.page))


def test_payouts_are_on_time_while_one_wallet_of_the_chain_is_at_work(cast: Cast) -> None:
    first = HotWallet.objects.create(chain_id="sepolia", address="0x" + "1" * 40, next_nonce=0)
    HotWallet.objects.create(chain_id="sepolia", number=1, address="0x" + "2" * 40, next_nonce=0)
    browser = Browser(cast.alice)
    HotWallet.objects.filter(pk=first.pk).update(halted_at=clock.real_now())
    assert told(browser) == []
    HotWallet.objects.update(short_since=clock.real_now() - timedelta(minutes=11))
    assert told(browser) == ["Payouts may be delayed"], "once, whatever the number of wallets"

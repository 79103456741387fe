"""In which mode a person finds a store: as they left it, and a store that is paid live in live
mode."""

from apps.core.models import Mode
from apps.payments.models import Payment
from apps.stores.models import Member, Role
from tests.cast import Cast, Shop, join, person
from tests.dashboard.browse import Browser
from tests.make import payment


def mode_of(browser: Browser) -> str:
    access = browser.get().context["access"]
    return str(access.mode)


def paid_live(shop: Shop) -> None:
    Payment.objects.filter(pk=payment(shop.live)["id"]).update(status="completed")


def test_the_next_sign_in_of_another_browser_lands_in_the_mode_that_was_used_last(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    assert mode_of(browser) == Mode.TEST
    browser.switch("live")
    assert mode_of(Browser(cast.alice)) == Mode.LIVE
    browser.switch("test")
    assert mode_of(Browser(cast.alice)) == Mode.TEST
    assert mode_of(Browser(cast.bob)) == Mode.TEST, "each person has a mode of their own"


def test_a_session_that_is_open_stays_in_its_mode_when_the_person_switches_elsewhere(
    cast: Cast,
) -> None:
    here, there = Browser(cast.alice), Browser(cast.alice)
    assert mode_of(here) == mode_of(there) == Mode.TEST
    there.switch("live")
    assert (mode_of(here), mode_of(there)) == (Mode.TEST, Mode.LIVE)


def test_each_store_has_its_own_mode(cast: Cast) -> None:
    join(cast.strangers.store, cast.alice, Role.VIEWER)
    browser = Browser(cast.alice)
    browser.get()
    browser.switch("live")
    for store, mode in ((cast.strangers.store, Mode.TEST), (cast.bakery.store, Mode.LIVE)):
        browser.post("store", store_id=str(store.pk))
        assert mode_of(browser) == mode


def test_who_leaves_a_store_keeps_nothing_of_its_mode(cast: Cast) -> None:
    join(cast.strangers.store, cast.alice, Role.VIEWER)
    browser = Browser(cast.alice)
    browser.post("store", store_id=str(cast.strangers.store.pk))
    browser.get()
    browser.switch("live")
    Member.objects.filter(user=cast.alice, store=cast.strangers.store).delete()
    assert browser.get().context["access"].store_id == cast.bakery.store.pk
    assert mode_of(browser) == Mode.TEST


def test_the_first_view_of_a_store_that_is_paid_live_is_live(cast: Cast) -> None:
    """Of its owner, who has never switched, and of somebody who was invited."""
    paid_live(cast.bakery)
    assert mode_of(Browser(cast.alice)) == Mode.LIVE
    invited = person("dora")
    join(cast.bakery.store, invited, Role.ACCOUNTANT)
    browser = Browser(invited)
    assert mode_of(browser) == Mode.LIVE
    browser.switch("test")
    assert mode_of(Browser(invited)) == Mode.TEST


def test_the_api_sees_a_session_in_the_mode_of_its_pages(cast: Cast) -> None:
    test, live = payment(cast.bakery.test)["id"], payment(cast.bakery.live)["id"]
    browser = Browser(cast.alice)
    browser.get()
    browser.switch("live")
    for session in (browser, Browser(cast.alice)):
        rows = session.client.get("/api/v2/payments").json()["data"]
        assert [row["id"] for row in rows] == [live] and test != live


def test_a_person_without_a_store_switches_nothing(db: None) -> None:
    assert Browser(person("dora")).post("mode", mode="live").status_code == 404

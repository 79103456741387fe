"""The setup list on Home: the way of selling decides it, people leave steps out, and the database
says what is done."""

from typing import Any

import pytest

from apps.access.factors import second_factor
from apps.core import clock
from apps.payments.models import Payment
from apps.platforms.models import AccessRequest
from apps.platforms.requests import AccountRequest, OnboardingLinkRequest, PlatformAccess
from apps.platforms.services.access_requests import request_access
from apps.platforms.services.accounts import create_account
from apps.platforms.services.onboarding import mint_link
from apps.stores.models import Role, Store
from apps.stores.setup import skip_steps
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.cast import Cast, Shop, join, person
from tests.dashboard.browse import Browser, text
from tests.links.makers import made_link
from tests.make import paid

QUESTION = "How will you sell?"


def names(browser: Browser) -> list[str]:
    return [step.name for step in browser.get().context["setup"].steps]


def open_names(browser: Browser) -> list[str]:
    return [step.name for step in browser.get().context["setup"].steps if not step.is_done]


def change(store: Store, **columns: Any) -> None:
    Store.objects.filter(pk=store.pk).update(**columns)


def test_how_a_store_sells_is_asked_once_and_decides_its_list(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert QUESTION in text(browser.get())
    assert browser.post("setup", way="links").status_code == 303
    shown = text(browser.get())
    assert QUESTION not in shown and "Payment links and point of sale" in shown
    steps = names(browser)
    assert "payment_link" in steps and not {"website", "endpoint"} & set(steps)
    browser.post("settings/selling", way="website")
    assert {"website", "endpoint"} <= set(names(browser))
    browser.post("settings/selling", way="platform")
    assert names(browser)[:3] == ["platform_access", "sub_merchant", "onboarding_link"]
    assert "test_payment" not in names(browser)


def test_a_way_that_there_is_not_changes_nothing(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert browser.post("setup", way="door to door").status_code == 404
    refused = browser.post("settings/selling", way="")
    assert refused.status_code == 422 and "Choose how you sell." in text(refused)
    assert Store.objects.get(pk=cast.bakery.store.pk).way_of_selling == ""


def test_a_shop_without_programmers_is_ready_without_a_call_or_an_endpoint(cast: Cast) -> None:
    """Each step's fact is made, and the list counts it."""
    shop = cast.bakery
    browser = Browser(cast.alice)
    browser.post("setup", way="links")
    paid(shop.test)
    made_link(shop)
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    change(shop.store, kyc_confirmed_at=clock.real_now())
    assert open_names(browser) == ["payout_destination", "live_payment"]
    browser.post("setup", skip="payout_destination")
    Payment.objects.filter(store=shop.store).update(mode="live")
    setup = browser.get().context["setup"]
    assert setup.is_ready and setup.next_step is None


def test_a_step_is_skipped_and_brought_back(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.post("setup", way="website")
    browser.post("setup", skip="endpoint")
    assert "endpoint" not in names(browser) and "1 skipped" in text(browser.get())
    assert "Add a webhook endpoint" in text(browser.get("settings/selling"))
    browser.post("setup", restore="endpoint")
    assert "endpoint" in names(browser)
    browser.post("setup", skip="no such step")
    assert Store.objects.get(pk=cast.bakery.store.pk).skipped_steps == []


def test_the_whole_list_is_hidden_and_comes_back_step_by_step(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.post("setup", hide="all")
    shown = text(browser.get())
    assert "Get ready to accept payments" not in shown and QUESTION not in shown
    assert "skipped" in text(browser.get("settings/features"))
    browser.post("setup", restore="business")
    assert names(browser) == ["business"]


def test_two_people_who_skip_at_once_both_leave_theirs_out(cast: Cast) -> None:
    stale = [Store.objects.get(pk=cast.bakery.store.pk) for _ in range(2)]
    for store, name in zip(stale, ["endpoint", "website"], strict=True):
        skip_steps(store, [name])
    assert Store.objects.get(pk=stale[0].pk).skipped_steps == ["endpoint", "website"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ACCOUNTANT, Role.DEVELOPER])
def test_who_may_not_manage_changes_nothing_and_is_not_asked(cast: Cast, role: str) -> None:
    member = person("member")
    join(cast.bakery.store, member, role)
    browser = Browser(member)
    shown = text(browser.get())
    assert QUESTION not in shown and "Hide setup" not in shown and 'name="skip"' not in shown
    for body in ({"way": "links"}, {"skip": "business"}, {"hide": "all"}):
        assert browser.post("setup", **body).status_code == 403
    assert browser.post("settings/selling", way="links").status_code == 403
    store = Store.objects.get(pk=cast.bakery.store.pk)
    assert (store.way_of_selling, store.skipped_steps) == ("", [])


def test_what_a_store_did_tells_how_it_sells(cast: Cast) -> None:
    """Stores from before the question, and those that skipped it."""
    browser = Browser(cast.alice)
    asked = EndpointRequest(
        url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]
    )
    register_endpoint(cast.bakery.access(), asked)
    assert QUESTION not in text(browser.get()) and "website" in names(browser)
    change(cast.bakery.store, is_platform=True)
    assert "sub_merchant" in names(browser)


def test_a_platform_is_shown_a_platforms_steps_until_its_sub_merchants_are_paid(
    cast: Cast,
) -> None:
    shop = cast.bakery
    browser = Browser(cast.alice)
    browser.post("setup", way="platform")
    request_access(shop.access(), PlatformAccess.read({"reason": "A market"}))
    step = browser.get().context["setup"].steps[0]
    assert step.is_waiting and step.explanation == "We’re reviewing your request."
    AccessRequest.objects.update(status="approved")
    change(shop.store, is_platform=True)
    platform = Shop(Store.objects.get(pk=shop.store.pk), shop.owner)
    account, _ = create_account(platform.owner_access(), AccountRequest.read({"name": "Corner"}))
    assert open_names(browser)[0] == "onboarding_link"
    link = OnboardingLinkRequest.read(
        {"purpose": "onboarding", "return_url": "https://shop.example"}
    )
    mint_link(platform.owner_access(), account, link)
    assert open_names(browser)[0] == "endpoint"
    paid(shop.test)
    Payment.objects.filter(store=shop.store).update(
        mode="live", store=account, platform_id=platform.store.pk
    )
    assert browser.get().context["setup"].is_ready

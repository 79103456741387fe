"""Which store and mode a person works in, and what the first page says next."""

from apps.access.factors import second_factor
from apps.access.models import ApiKey
from apps.core import clock
from apps.core.models import Mode
from apps.core.redis import buckets
from apps.payments.models import Payment
from apps.payouts.services.destinations import add_wallet
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import submit_verification
from apps.stores.models import Member, Role, Store
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_pages import joined
from tests.make import (
    payment,
    simulated,
)
from tests.platforms.makers import VERIFICATION


def test_a_person_without_a_store_is_told_so_and_can_still_secure_the_account(db: None) -> None:
    browser = Browser(person("dora"))
    assert browser.get().status_code == 403
    assert browser.get("security").status_code == 200
    assert browser.get("security/authenticator").status_code == 200


def test_a_new_session_begins_in_test_mode_under_its_banner(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert 'aria-label="Test mode"' in browser.get().content.decode()
    browser.switch("live")
    assert 'aria-label="Test mode"' not in browser.get().content.decode()
    assert browser.client.session["mode"] == Mode.LIVE


def test_the_mode_switch_knows_two_modes(cast: Cast) -> None:
    assert Browser(cast.alice).post("mode", mode="both").status_code == 404


def title(browser: Browser) -> str:
    return text(browser.get()).partition("<title>")[2].partition("</title>")[0]


def test_a_person_with_two_stores_switches_between_them(cast: Cast) -> None:
    join(cast.strangers.store, cast.alice, Role.VIEWER)
    browser = Browser(cast.alice)
    assert "Home · Alice&#x27;s Bakery (test)" in title(browser)
    assert (
        browser.post("store", store_id=str(cast.strangers.store.pk)).headers["Location"]
        == "/dashboard/"
    )
    assert "Home · Charlie&#x27;s (test)" in title(browser)
    assert browser.get("payments/new").status_code == 403


def test_nobody_switches_to_a_store_of_others(cast: Cast) -> None:
    browser = Browser(cast.bob)
    assert browser.post("store", store_id=str(cast.strangers.store.pk)).status_code == 404
    assert browser.post("store", store_id="nonsense").status_code == 404


def test_a_session_of_a_viewer_cannot_write_through_the_api_either(cast: Cast) -> None:
    viewer = Browser(joined(cast, Role.VIEWER))
    body = {"payment_intent": {"amount": "1.00", "currency": "EUR"}}
    assert viewer.client.get("/api/v2/payments").status_code == 200
    assert (
        viewer.client.post("/api/v2/payments", body, content_type="application/json").status_code
        == 403
    )


def test_removing_a_member_closes_the_dashboard_at_once(cast: Cast) -> None:
    browser = Browser(cast.bob)
    assert browser.get("payments").status_code == 200
    Member.objects.filter(user=cast.bob).delete()
    assert browser.get("payments").status_code == 403


def test_a_session_that_asks_for_too_much_at_once_is_told_to_wait(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert browser.get("team").status_code == 200
    for _ in range(10):  # on a busy machine the bucket fills again meanwhile
        while not buckets.take(
            "dashboard", "live", str(browser.client.session.session_key)
        ).is_limited:
            pass
        answer = browser.get("team")
        if answer.status_code == 429:
            break
    assert answer.status_code == 429
    assert (
        answer.headers["RateLimit-Policy"] == '"dashboard";q=600;w=60'
        and int(answer.headers["Retry-After"]) >= 1
    )


def sells_on_a_website(cast: Cast) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(way_of_selling="website")


def test_the_first_page_says_the_next_step_until_everything_is_done(cast: Cast) -> None:
    sells_on_a_website(cast)
    browser = Browser(cast.alice)
    assert 'aria-current="step"' in text(browser.get())
    first = browser.get().context["setup"].next_step
    assert first.title == "Take a test payment"
    simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    assert browser.get().context["setup"].next_step.title != "Take a test payment"


def test_a_key_counts_as_connected_with_its_first_call(cast: Cast) -> None:
    sells_on_a_website(cast)
    assert cast.bakery.secrets["test"]
    step = next(
        step for step in Browser(cast.alice).get().context["setup"].steps if step.name == "website"
    )
    assert (step.is_done, step.action, step.url) == (False, "View API keys", "/dashboard/api-keys")
    ApiKey.objects.filter(store=cast.bakery.store).update(last_used_at=clock.real_now())
    assert next(
        step for step in Browser(cast.alice).get().context["setup"].steps if step.name == "website"
    ).is_done


def test_who_was_paid_live_keeps_a_list_of_what_is_open_until_everything_is_done(
    cast: Cast,
) -> None:
    sells_on_a_website(cast)
    Payment.objects.filter(pk=payment(cast.bakery.live)["id"]).update(status="completed")
    assert cast.bakery.secrets["test"]
    ApiKey.objects.filter(store=cast.bakery.store).update(last_used_at=clock.real_now())
    browser = Browser(cast.alice)
    shown = text(browser.get())
    assert "Get ready to accept payments" not in shown and "Finish your setup" in shown
    assert "3 of 7 done" in shown
    for title in ("Protect your sign-in", "Verify your business", "Add a webhook endpoint"):
        assert f"<strong>{title}</strong>" in shown
    assert "Make your first API call." not in shown
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    shown = text(browser.get())
    assert "4 of 7 done" in shown and "Protect your sign-in" not in shown
    Store.objects.filter(pk=cast.bakery.store.pk).update(kyc_confirmed_at=clock.real_now())
    register_endpoint(
        cast.bakery.access(),
        EndpointRequest(url="https://1.1.1.1/h", subscribed_events=["payment_intent.completed"]),
    )
    add_wallet(cast.bakery.store, "live", "ethereum", "0x" + "12" * 20)
    simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    assert "Finish your setup" not in text(browser.get())


def test_a_review_that_is_with_us_is_not_the_next_step(cast: Cast) -> None:
    simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    ApiKey.objects.filter(store=cast.bakery.store).update(last_used_at=clock.real_now())
    register_endpoint(
        cast.bakery.access(),
        EndpointRequest(url="https://1.1.1.1/h", subscribed_events=["payment_intent.completed"]),
    )
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = Browser(cast.alice)
    assert browser.get().context["setup"].next_step.title == "Verify your business"
    submit_verification(cast.bakery.store, VerificationRequest.read(VERIFICATION))
    assert browser.get().context["setup"].next_step.title == "Add a payout destination"


def test_the_first_page_shows_what_a_store_has_and_what_it_is_worth(cast: Cast) -> None:
    simulated(cast.bakery.test, payment(cast.bakery.test, amount="100.00")["id"])
    answer = Browser(cast.alice).get()
    (holding,) = answer.context["holdings"].rows
    assert holding.asset.pk == "SETH"
    assert holding.balance.available_atomic > 0
    assert 9_800 < holding.available_cents < 10_000
    assert answer.context["holdings"].available_cents == holding.available_cents


def test_the_team_page_lists_members_and_what_roles_may_do(cast: Cast) -> None:
    shown = text(Browser(cast.bob).get("team"))
    assert cast.alice.email in shown and cast.bob.email in shown
    assert cast.charlie.email not in shown

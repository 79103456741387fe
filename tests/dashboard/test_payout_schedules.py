"""Schedules of payouts: where they may go to, and one from its form to its end."""

import re

from apps.payouts.models import Payout, Schedule
from apps.payouts.services.destinations import add_wallet
from tests.cast import Cast
from tests.dashboard.browse import Browser, text

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
TWIN = "0x5290000000000000000000000000000000009ee7"


def choices(browser: Browser) -> list[str]:
    """Destinations that the form offers."""
    page = text(browser.get("payouts/schedules/new"))
    select = page.partition('id="destination"')[2].partition("</select>")[0]
    return [option.strip() for option in re.findall(r"<option[^>]*>([^<]*)<", select)]


def test_wallets_are_offered_by_name_and_ends_unless_two_read_alike(
    rich: Cast, alice: Browser
) -> None:
    store = rich.bakery.store
    add_wallet(store, "test", "sepolia", ADDRESS, "Wallet of the bakery in town")
    assert choices(alice) == ["Wallet of the …: 0x5290…9EE7 (Ethereum Sepolia)"]
    add_wallet(store, "test", "sepolia", TWIN, "Wallet of the bakery by the lake")
    offered = choices(alice)
    assert len(offered) == 2 and not any("…" in option for option in offered)
    assert sum(ADDRESS in option for option in offered) == 1


def test_a_schedule_is_made_run_paused_changed_and_deleted(rich: Cast, alice: Browser) -> None:
    assert "Add a destination first" in text(alice.get("payouts/schedules/new"))
    saved = add_wallet(rich.bakery.store, "test", "sepolia", ADDRESS)
    asked = {
        "asset_id": "SETH",
        "frequency": "weekly",
        "destination": f"wallet:{saved.pk}",
        "minimum": "10",
        "minimum_fiat_currency": "EUR",
    }
    assert "Frequency must be" in text(
        alice.post("payouts/schedules/new", **{**asked, "frequency": "hourly"})
    )
    made = alice.post("payouts/schedules/new", **asked)
    schedule = Schedule.objects.get()
    path = f"payouts/schedules/{schedule.pk}"
    assert made.headers["Location"] == f"/dashboard/{path}" and schedule.minimum_fiat_cents == 1000
    assert (
        ADDRESS in text(alice.get(path))
        and "SETH" not in text(alice.get("payouts/schedules"))
        and "ETH weekly" in text(alice.get(path))
    )
    asked_now = text(alice.get(f"{path}/run"))
    assert "Pay out now?" in asked_now and "Your full available balance of" in asked_now
    worth = r"ETH.*</strong> on Ethereum Sepolia <span class=\"muted nowrap\">\(≈ €[1-9]"
    assert re.search(worth, asked_now)
    Schedule.objects.update(minimum_fiat_cents=99_999_999)
    too_little = text(alice.get(f"{path}/run"))
    assert "only pays out when the balance is worth €999,999.99 or more" in too_little
    assert "<form" not in too_little.partition("<h1>")[2]
    Schedule.objects.update(minimum_fiat_cents=1000)
    alice.post(f"{path}/run")
    assert Payout.objects.get().schedule_id == schedule.pk
    assert "Nothing to pay out now" in text(alice.get(f"{path}/run"))
    alice.post(f"{path}/run")
    assert "Nothing to pay out." in text(alice.get(path))
    alice.post(f"{path}/switch", to="paused")
    assert "Paused" in text(alice.get(path))
    alice.post(f"{path}/switch", to="active")
    assert alice.get(f"{path}/change").status_code == 200
    alice.post(
        f"{path}/change",
        frequency="monthly",
        minimum="",
        minimum_fiat_currency="USD",
        destination="",
    )
    schedule.refresh_from_db()
    assert (schedule.frequency, schedule.is_active) == ("monthly", True)
    assert "Delete this schedule?" in text(alice.get(f"{path}/delete"))
    alice.post(f"{path}/delete")
    assert alice.get(path).status_code == 404 and "No test schedules" in text(
        alice.get("payouts/schedules")
    )

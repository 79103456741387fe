"""Destinations in their waiting period: shown with the moment from which they are available, and
nothing asks for what has been done already."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.payouts.models import Destination
from apps.payouts.services.destinations import add_bank, add_wallet
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.dashboard.test_payout_batches import review

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x" + "ab" * 20
# By the clock of the cast's owner, and in another zone.
FROM = datetime(2031, 11, 29, 18, 41, tzinfo=UTC)
AVAILABLE = "available from 29 Nov 2031, 19:41 CET"


@pytest.fixture
def live(rich: Cast, alice: Browser) -> Browser:
    make.store_coins(rich.bakery.store, "ETH", 10**18)
    rich.alice.time_zone = "Europe/Berlin"
    rich.alice.save(update_fields=["time_zone"])
    alice.switch("live")
    return alice


def waiting(cast: Cast, mode: str = "live", network: str = "ethereum") -> Destination:
    saved = add_wallet(cast.bakery.store, mode, network, ADDRESS, "My Ledger")
    Destination.objects.filter(pk=saved.pk).update(usable_from=FROM)
    return saved


def plain(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text(answer)).replace("\xa0", " ").split())


def wish(**fields: str) -> dict[str, str]:
    return {
        "form_key": uuid.uuid4().hex,
        "asset_id": "ETH",
        "amount": "0.1",
        "destination": "",
        "destination_address": "",
        **fields,
    }


def test_a_waiting_destination_is_listed_with_its_moment_and_cannot_be_chosen(
    rich: Cast, live: Browser
) -> None:
    saved = waiting(rich)
    answer = live.get("payouts/new")
    assert f"My Ledger · {AVAILABLE}" in plain(answer)
    page = text(answer)
    assert re.search(r'<input type="radio" name="destination" value="waiting" disabled>', page)
    assert f"wallet:{saved.pk}" not in page
    assert "None of your destinations" not in page and "no saved destinations" not in page
    Destination.objects.filter(pk=saved.pk).update(usable_from=clock.real_now())
    assert f"wallet:{saved.pk}" in text(live.get("payouts/new"))
    assert "available from" not in plain(live.get("payouts/new"))


def test_one_that_waits_stands_below_those_that_can_be_used(rich: Cast, live: Browser) -> None:
    waiting(rich)
    usable = add_wallet(rich.bakery.store, "live", "ethereum", OTHER, "Old one")
    page = text(live.get("payouts/new"))
    assert page.index(f"wallet:{usable.pk}") < page.index("My Ledger")
    assert page.index("My Ledger") < page.index("A different address")


def test_whoever_types_the_address_of_a_waiting_wallet_hears_when_it_can_be_used(
    rich: Cast, live: Browser
) -> None:
    waiting(rich)
    for typed in (ADDRESS, ADDRESS.lower()):
        answer = live.post("payouts/new", **wish(destination_address=typed))
        assert answer.status_code == 422
        assert "This wallet can be used from 29 Nov 2031, 19:41 CET." in plain(answer)
        assert 'id="destination_address-error"' in text(answer)
        assert "Save this address" not in plain(answer)
    unknown = live.post("payouts/new", **wish(destination_address=OTHER))
    assert "Save this address as a wallet first" in plain(unknown)


def test_a_form_that_names_a_waiting_destination_all_the_same_hears_the_moment_in_its_own_zone(
    rich: Cast, live: Browser
) -> None:
    saved = waiting(rich)
    answer = live.post("payouts/new", **wish(destination=f"wallet:{saved.pk}"))
    assert "This destination can be used from 29 Nov 2031, 19:41 CET." in plain(answer)
    rich.alice.time_zone = "Asia/Tokyo"
    rich.alice.save(update_fields=["time_zone"])
    answer = live.post("payouts/new", **wish(destination=f"wallet:{saved.pk}"))
    assert "This destination can be used from 30 Nov 2031, 03:41 JST." in plain(answer)


def test_a_schedule_offers_it_with_its_moment(rich: Cast, live: Browser) -> None:
    saved = waiting(rich)
    page = plain(live.get("payouts/schedules/new"))
    assert f"My Ledger: 0x5290…9EE7 (Ethereum) · {AVAILABLE}" in page
    usable = add_wallet(rich.bakery.store, "live", "ethereum", OTHER, "Old one")
    form = live.get("payouts/schedules/new").context["form"]
    assert form.values["destination"] == f"wallet:{usable.pk}" != f"wallet:{saved.pk}"


def test_a_line_of_a_list_says_when_its_destination_can_be_used(rich: Cast, live: Browser) -> None:
    waiting(rich)
    _, page = review(live, "ETH,0.1,My Ledger,Anna\n")
    assert AVAILABLE.capitalize()[:14] in plain(page) and "19:41 CET" in plain(page)


def test_a_schedule_does_not_ask_for_a_bank_account_that_is_being_verified(
    rich: Cast, live: Browser
) -> None:
    assert "Add a destination first" in plain(live.get("payouts/schedules/new"))
    add_bank(
        rich.bakery.store, "live", currency="EUR", holder="Alice", account="DE89370400440532013000"
    )
    page = plain(live.get("payouts/schedules/new"))
    assert "We’re verifying your bank account" in page and "Add a destination first" not in page


def test_a_program_reads_the_moment_in_utc(rich: Cast, live: Browser) -> None:
    saved = waiting(rich)
    body = {
        "asset_id": "ETH",
        "amount_atomic": str(10**17),
        "crypto_payout_detail_id": str(saved.pk),
    }
    refused = rich.bakery.live.post("/payouts", body, key="one")
    assert refused.status_code == 422
    assert "This destination can be used from 2031-11-29T18:41:00.000000Z" in str(refused.json())
    assert clock.real_now() + timedelta(days=1) < FROM

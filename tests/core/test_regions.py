"""The form of dates and numbers is the reader's: pages follow it, and what is copied, exported or
sent to others does not."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from babel import Locale

from apps.core import mail
from apps.core.templatetags.tillgate import (
    coins,
    count,
    day,
    day_of_week,
    day_of_year,
    fiat,
    moment,
    percent,
)
from apps.core.text import regions
from apps.core.text.moments import in_zone
from apps.payments.documents import invoice
from apps.payments.models import Payment
from apps.stores.emailing import account_emails
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser

AT = datetime(2026, 11, 22, 15, 5, tzinfo=UTC)
FORM = {"name": "Alice Baker", "time_zone": "UTC", "language": "en", "region": "de"}
# region -> (1,234,567.50 euros, 12,345, the day)
SHOWN = {
    "en-US": ("€1,234,567.50", "12,345", "Nov 22, 2026"),
    "en-GB": ("€1,234,567.50", "12,345", "22 Nov 2026"),
    "de": ("1.234.567,50 €", "12.345", "22. Nov. 2026"),
    "fr": ("1 234 567,50 €", "12 345", "22 nov. 2026"),
    "ja": ("€1,234,567.50", "12,345", "2026年11月22日"),
    "ar": ("1,234,567.50 €", "12,345", "22 نوفمبر 2026"),
}


def plain(shown: str) -> str:
    """Without signs of direction, and each kind of space as one."""
    return re.sub(
        r"\s", " ", re.sub("[\u200e\u200f\u2066-\u2069]", "", re.sub("<[^>]*>", "", shown))
    )


@pytest.mark.parametrize("region", SHOWN)
def test_amounts_numbers_and_days_are_in_the_chosen_form(region: str) -> None:
    with regions.shown_in(region):
        assert (plain(fiat(123456750, "EUR")), plain(count(12345)), plain(day(AT))) == SHOWN[region]
        assert "15:05" in moment(AT) and 'title="2026-11-22 15:05:00 UTC"' in moment(AT)
        assert coins(1383333, 8) == "0.01383333"
    assert (fiat(123456750, "EUR"), plain(day(AT))) == ("€1,234,567.50", "22 Nov 2026")


@pytest.mark.parametrize("region", SHOWN)
def test_an_hour_without_its_day_is_an_hour_in_every_form(region: str) -> None:
    with regions.shown_in(region):
        assert plain(in_zone(AT, "HH:mm")) == "15:05 UTC"


def test_days_and_shares_of_a_chart_follow_it_too() -> None:
    shown = {}
    for region in ("", "en-GB", "de", "ja"):
        with regions.shown_in(region):
            shown[region] = plain(
                f"{day_of_year(AT.date())} {day_of_week(AT.date())} {percent(632)}"
            )
    assert shown == {
        "": "22 Nov Sun 22 Nov 63.2%",
        "en-GB": "22 Nov Sun 22 Nov 63.2%",
        "de": "22. Nov. So., 22. Nov. 63,2 %",
        "ja": "11月22日 11月22日(日) 63.2%",
    }


def test_every_region_has_its_form_and_latin_digits() -> None:
    for region in regions.REGIONS:
        with regions.shown_in(region):
            chosen = regions.chosen()
            assert isinstance(chosen, Locale) and re.search("[0-9]", count(5)), region
    with regions.shown_in("xx"):
        assert regions.chosen() is None


def test_a_profile_keeps_the_form_and_pages_follow_it(cast: Cast) -> None:
    browser = Browser(cast.alice)
    made = make.payment(cast.bakery.test, amount="1234.50")
    path = f"payments/{made['id']}"
    assert "€1,234.50" in plain(browser.get(path).content.decode())
    assert browser.post("profile", **FORM).status_code == 303
    shown = plain(browser.get(path).content.decode())
    assert "1.234,50 €" in shown and "€1,234.50" not in shown
    assert 'value="de" selected' in browser.get("profile").content.decode()
    assert browser.post("profile", **{**FORM, "region": "tlh"}).status_code == 422


def test_files_and_documents_are_the_same_for_everybody(cast: Cast) -> None:
    browser = Browser(cast.alice)
    payment = Payment.objects.get(pk=make.paid(cast.bakery.test, amount="1234.50")["id"])
    whole = invoice._page(payment)
    listed = b"".join(browser.get("payments.csv").streaming_content)
    assert "€1,234.50" in plain(whole) and b"1234.50" in listed
    assert browser.post("profile", **FORM).status_code == 303
    assert b"".join(browser.get("payments.csv").streaming_content) == listed
    with regions.shown_in("de"):
        assert invoice._page(payment) == whole


def test_an_email_is_in_its_readers_form_and_not_in_that_of_whoever_causes_it(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    render = mail._render

    def told(name: str, values: Any, *, is_html: bool) -> str:
        shown.append(fiat(123450, "EUR"))
        return render(name, values, is_html=is_html)

    monkeypatch.setattr(mail, "_render", told)
    with regions.shown_in("de"):
        account_emails.tell_owners(
            cast.bakery.store, "x", account_emails.StaffDecision("A decision", "text", "/", "Open")
        )
    assert set(shown) == {"€1,234.50"}

"""The dashboard's pages of payment links: the list, the form, the code to print and the button for
a website."""

import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from apps.links.buttons import COLORS, LANGUAGES, SIZES, VERBS, Button
from apps.links.models import PaymentLink
from apps.links.services.links import archive_link
from apps.stores.models import User
from tests.cast import Cast
from tests.dashboard.browse import Browser, text
from tests.links.makers import bought, donation, made_link, send

pytestmark = pytest.mark.django_db
MUG = {
    "title": "Mug",
    "kind": "fixed",
    "amount": "12,50",
    "currency": "EUR",
    "email": "no",
    "name": "required",
}


@pytest.fixture
def alice(cast: Cast) -> Browser:
    return Browser(cast.alice)


def queries(ask: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert ask().status_code == 200
    return len(seen)


def test_a_form_sent_twice_makes_one_link(cast: Cast, alice: Browser) -> None:
    key = uuid.uuid4().hex
    first, second = (alice.post("payment-links/new", **{**MUG, "form_key": key}) for _ in range(2))
    assert first.status_code == 303 and first["Location"] == second["Location"]
    made = PaymentLink.objects.get()
    assert (made.amount_cents, made.name, made.email, made.mode) == (1250, "required", "no", "test")


def test_an_open_amount_has_its_limits_and_suggestions(cast: Cast, alice: Browser) -> None:
    fields = {
        **MUG,
        "kind": "chosen",
        "amount": "99",
        "min": "2",
        "max": "",
        "suggested": ["5", "10", "25,50", ""],
        "form_key": uuid.uuid4().hex,
    }
    alice.post("payment-links/new", **fields)
    made = PaymentLink.objects.get()
    assert (made.amount_cents, made.min_cents, made.suggested_cents) == (
        None,
        200,
        [500, 1000, 2550],
    )


def test_what_is_edited_comes_back_as_it_was(cast: Cast, alice: Browser) -> None:
    end = cast.bakery.access().now() + timedelta(days=9)
    link = donation(
        cast.bakery, stock=7, ends_at=end, description="Thanks", success_url="https://shop.example/"
    )
    page = alice.get(f"payment-links/{link.pk}/edit").content.decode()
    sent = {
        name: unescape(value)
        for name, value in re.findall(r'<input id="(\w+)"[^>]*?value="([^"]*)"', page)
    }
    answer = alice.post(
        f"payment-links/{link.pk}/edit",
        **sent,
        suggested=re.findall(r'<input id="suggested-\d"[^>]*?value="([^"]*)"', page),
        kind="chosen",
        currency="EUR",
        description="Thanks",
        email="no",
        name="no",
    )
    assert answer.status_code == 303
    again = PaymentLink.objects.get(pk=link.pk)
    same = (
        "title",
        "description",
        "min_cents",
        "max_cents",
        "suggested_cents",
        "stock",
        "success_url",
    )
    assert [getattr(again, name) for name in same] == [getattr(link, name) for name in same]
    assert again.ends_at is not None and again.ends_at.date() == end.date()


def test_a_link_is_paused_resumed_and_archived(cast: Cast, alice: Browser) -> None:
    link = made_link(cast.bakery)
    for to, badge in (("paused", "Paused"), ("active", "Active")):
        assert alice.post(f"payment-links/{link.pk}/switch", to=to).status_code == 303
        assert badge in text(alice.get(f"payment-links/{link.pk}"))
    alice.post(f"payment-links/{link.pk}/archive")
    page = text(alice.get(f"payment-links/{link.pk}"))
    assert "Archived" in page and "Edit" not in page
    assert "Mug" not in text(alice.get("payment-links")) and "Mug" in text(
        alice.get("payment-links?status=archived")
    )
    alice.post(f"payment-links/{link.pk}/switch", to="active")
    assert "is archived" in text(alice.get(f"payment-links/{link.pk}"))


def test_the_list_says_what_each_link_has_brought(cast: Cast, alice: Browser) -> None:
    bought(cast.bakery, made_link(cast.bakery, title="Cup", stock=1))
    shown = text(alice.get("payment-links"))
    assert "Cup" in shown and "of 1<" in shown and "Sold out" in shown and "€12.00" in shown


def test_lists_ask_no_more_with_more_rows(cast: Cast, alice: Browser) -> None:
    link = made_link(cast.bakery)
    send(link)
    paths = ("payment-links", f"payment-links/{link.pk}")
    for path in paths:
        alice.get(path)
    few = [queries(lambda: alice.get(path)) for path in paths]  # noqa: B023  # asked at once
    for _ in range(6):
        send(link)
        send(made_link(cast.bakery))
    assert [queries(lambda: alice.get(path)) for path in paths] == few  # noqa: B023


def test_the_code_is_a_file_to_print(cast: Cast, alice: Browser) -> None:
    link = made_link(cast.bakery)
    svg, png = (alice.get(f"payment-links/{link.pk}/code.{kind}") for kind in ("svg", "png"))
    assert svg["Content-Type"] == "image/svg+xml" and b"<svg" in svg.content
    assert png["Content-Type"] == "image/png" and png.content.startswith(b"\x89PNG")
    assert png["Content-Disposition"] == f'attachment; filename="payment-link-{link.token}.png"'


# --- buttons ---


def button(**query: str) -> Button:
    asked = QueryDict(mutable=True)
    asked.update(query)
    return Button.asked_by(asked, is_open_amount=False)


def test_every_choice_of_a_button_has_its_words() -> None:
    assert {button(verb=verb, language=language).words for verb in VERBS for language in LANGUAGES}
    wide = [button(size=size).picture() for size in SIZES]
    assert len(set(wide)) == len(SIZES) and len(
        {button(color=item).picture() for item in COLORS}
    ) == len(COLORS)


def test_what_is_not_offered_becomes_the_usual() -> None:
    assert button(size="<script>", color="red", verb="steal", language="xx") == Button(
        "medium", "green", "pay", "en"
    )


def test_the_html_has_no_style_script_or_foreign_file_and_escapes_its_address() -> None:
    made = button().snippet('https://pay.example/"><script>')
    assert "<script" not in made and "&quot;&gt;&lt;script&gt;" in made
    assert not re.search(r"\b(style|class|src|on\w+)=", made)
    form = button().form('https://pay.example/"><script>', "EUR", 200, None)
    assert "<script" not in form and 'min="2.00"' in form and "max=" not in form


def test_the_page_of_a_button_shows_its_html_as_text(cast: Cast, alice: Browser) -> None:
    page = alice.get(
        f"payment-links/{donation(cast.bakery).pk}/button?language=de&color=black"
    ).content.decode()
    assert (
        "&lt;a href=&quot;http" in page
        and "&lt;form action=&quot;http" in page
        and "Krypto spenden" in page
    )
    assert (
        "&lt;form"
        not in alice.get(f"payment-links/{made_link(cast.bakery).pk}/button").content.decode()
    )


def test_an_archived_link_can_still_be_looked_at(cast: Cast, alice: Browser) -> None:
    link = made_link(cast.bakery)
    archive_link(cast.bakery.access(), link)
    for page in ("", "/button", "/code.svg", "/archive"):
        assert alice.get(f"payment-links/{link.pk}{page}").status_code == 200


def test_the_last_day_is_one_of_the_readers_clock(cast: Cast, alice: Browser) -> None:
    User.objects.filter(pk=cast.alice.pk).update(time_zone="Asia/Tokyo")
    day = (cast.bakery.access().now() + timedelta(days=9)).date()
    alice.post(
        "payment-links/new", **{**MUG, "ends": day.isoformat(), "form_key": uuid.uuid4().hex}
    )
    made = PaymentLink.objects.get()
    assert made.ends_at == datetime(
        day.year, day.month, day.day, 23, 59, 59, tzinfo=ZoneInfo("Asia/Tokyo")
    )
    assert f'value="{day}"' in alice.get(f"payment-links/{made.pk}/edit").content.decode()
    User.objects.filter(pk=cast.alice.pk).update(time_zone="America/New_York")
    alice.post(f"payment-links/{made.pk}/edit", **{**MUG, "title": "Cup", "ends": day.isoformat()})
    made.refresh_from_db()
    assert (
        made.title == "Cup"
        and made.ends_at is not None
        and made.ends_at.astimezone(ZoneInfo("Asia/Tokyo")).date() == day
    )

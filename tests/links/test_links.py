"""Payment links as the store keeps them: what may be asked for, what changes, and what they have
brought."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.messages.fields import Invalid
from apps.core.typed_amounts import cents_typed
from apps.links.models import LinkPayment, PaymentLink
from apps.links.requests import LinkRequest
from apps.links.selectors import links_visible_to, tallies, tally_of
from apps.links.services.links import (
    LinkArchived,
    archive_link,
    pause_link,
    resume_link,
    update_link,
)
from apps.payments.requests import RefundRequest
from apps.payments.services.refund import request_refund
from apps.stores.models import AuditEntry
from tests.cast import Cast, Shop
from tests.links.makers import bought, donation, made_link, send
from tests.make import advance

pytestmark = pytest.mark.django_db
MUG: dict[str, Any] = {"title": "Mug", "currency": "EUR", "amount_cents": 1200}
OPEN: dict[str, Any] = {"title": "Tips", "currency": "EUR"}


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({**MUG, "title": ""}, "title", "blank"),
        ({**MUG, "title": "x" * 151}, "title", "too_long"),
        ({**MUG, "title": "a\x00"}, "title", "unstorable"),
        ({**MUG, "description": "x" * 501}, "description", "too_long"),
        ({**MUG, "currency": "XXX"}, "currency", "choose_value"),
        ({**MUG, "amount_cents": 0}, "amount", "positive"),
        ({**MUG, "amount_cents": 10**10 + 1}, "amount", "at_most"),
        ({**MUG, "amount_cents": 150, "currency": "JPY"}, "amount", "whole_unit"),
        ({**OPEN, "min_cents": 0}, "min", "positive"),
        ({**OPEN, "min_cents": 500, "max_cents": 400}, "max", "at_least"),
        ({**OPEN, "min_cents": 500, "suggested_cents": (400,)}, "suggested", "between"),
        ({**OPEN, "suggested_cents": (1, 2, 3, 4, 5)}, "suggested", "too_many_items"),
        ({**MUG, "stock": 0}, "stock", "at_least"),
        ({**MUG, "stock": 10**7}, "stock", "at_most"),
        ({**MUG, "success_url": "javascript:alert(1)"}, "success_url", "url"),
        ({**MUG, "email": "maybe"}, "email", "choose_value"),
    ],
)
def test_what_is_no_link_is_refused_at_its_field(
    bakery: Shop, fields: dict[str, Any], field: str, rule: str
) -> None:
    with pytest.raises(Invalid) as refused:
        made_link(bakery, **{"amount_cents": None, **fields})
    assert (refused.value.field, refused.value.rule) == (field, rule) and refused.value.text
    assert not PaymentLink.objects.exists()


def test_a_live_link_sends_nobody_to_plain_http(bakery: Shop) -> None:
    with pytest.raises(Invalid):
        made_link(bakery, "live", success_url="http://shop.example/thanks")
    assert made_link(bakery, "test", success_url="http://shop.example/thanks").success_url


def test_an_end_lies_in_the_future(bakery: Shop) -> None:
    now = bakery.access().now()
    with pytest.raises(Invalid) as refused:
        made_link(bakery, ends_at=now)
    assert refused.value.rule == "future"
    link = made_link(bakery, ends_at=now + timedelta(days=1))
    advance(bakery.test, 2 * 86400)
    bakery.store.refresh_from_db()
    same = LinkRequest(**MUG | {"title": "Cup"}, ends_at=link.ends_at)
    assert update_link(bakery.owner_access(), link, same).title == "Cup"


@pytest.mark.parametrize(
    ("typed", "cents"), [("12", 1200), ("12.5", 1250), ("12,50", 1250), ("٢٥", 2500), ("٢٫٥", 250)]
)
def test_amounts_are_read_as_people_type_them(typed: str, cents: int) -> None:
    assert cents_typed(typed, "amount") == cents


@pytest.mark.parametrize(
    "typed", ["", "-1", "1e3", "12.345", "1,00.00", "€5", "²", "1 2", "12,5,0"]
)
def test_what_is_no_amount_is_refused(typed: str) -> None:
    with pytest.raises(Invalid):
        cents_typed(typed, "amount")


def test_a_change_is_for_who_pays_from_now_on_and_is_audited(bakery: Shop) -> None:
    link = made_link(bakery)
    paid = bought(bakery, link)
    update_link(bakery.owner_access(), link, LinkRequest(**MUG | {"amount_cents": 1500}))
    paid.refresh_from_db()
    assert (
        paid.settlement_amount_cents == 1200
        and bought(bakery, link).settlement_amount_cents == 1500
    )
    terms = {"min_cents": None, "max_cents": None, "stock": None}
    acts = (
        AuditEntry.objects.filter(target_id=str(link.pk))
        .order_by("id")
        .values_list("action", "details")
    )
    assert list(acts) == [
        ("payment_link.created", terms | {"amount_cents": 1200}),
        ("payment_link.changed", terms | {"amount_cents": 1500, "fields": ["amount_cents"]}),
    ]


def test_pausing_and_archiving_are_told_once(bakery: Shop) -> None:
    access = bakery.owner_access()
    link = made_link(bakery)
    for act in (pause_link, pause_link, resume_link, resume_link, archive_link, archive_link):
        act(access, link)
    acts = (
        AuditEntry.objects.filter(target_id=str(link.pk))
        .order_by("id")
        .values_list("action", flat=True)
    )
    assert [act.partition(".")[2] for act in acts] == ["created", "paused", "resumed", "archived"]
    for act in (pause_link, resume_link):
        with pytest.raises(LinkArchived):
            act(access, link)
    with pytest.raises(LinkArchived):
        update_link(access, link, LinkRequest(**MUG))


def test_a_stock_never_falls_below_what_is_sold_or_held(bakery: Shop) -> None:
    access = bakery.owner_access()
    link = made_link(bakery)
    bought(bakery, link)
    send(link)
    with pytest.raises(Invalid) as refused:
        update_link(access, link, LinkRequest(**MUG, stock=1))
    assert refused.value.params["minimum"] == 2
    assert update_link(access, link, LinkRequest(**MUG, stock=2)).stock == 2


def test_what_a_link_has_brought(bakery: Shop) -> None:
    link = donation(bakery)
    other = made_link(bakery)
    bought(bakery, link, choice="500")
    refunded = bought(bakery, link, choice="1000")
    request_refund(bakery.owner_access(), refunded, RefundRequest(), "back")
    send(link, choice="2500")
    tally = tally_of(link)
    assert (tally.completed, tally.completed_cents, tally.open, tally.taken) == (2, 1500, 1, 3)
    assert tallies([other]) == {}


def test_figures_of_a_list_come_in_one_query(bakery: Shop) -> None:
    access = bakery.access()

    def asked() -> int:
        with CaptureQueriesContext(connection) as seen:
            tallies(list(links_visible_to(access)))
        return len(seen)

    made_link(bakery)
    few = asked()
    for _ in range(5):
        send(made_link(bakery))
    assert asked() == few == 2


def test_a_link_is_of_its_store_and_mode(cast: Cast) -> None:
    made_link(cast.bakery)
    assert links_visible_to(cast.bakery.access()).count() == 1
    assert not links_visible_to(cast.bakery.access("live")) and not links_visible_to(
        cast.strangers.access()
    )
    assert not LinkPayment.objects.exists()

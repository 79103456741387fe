"""The public page of a link: what it shows, what it takes, and what it says when nothing can be
bought."""

import re
import uuid
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from apps.core.redis import buckets
from apps.links.models import LinkPayment, PaymentLink
from apps.links.requests import LinkRequest, Purchase
from apps.links.services.buy import buy
from apps.links.services.links import archive_link, pause_link, update_link
from apps.payments.models import Payment
from apps.stores.models import Store
from tests.cast import Cast, Shop
from tests.links.makers import bought, donation, made_link, reference_of, send

pytestmark = pytest.mark.django_db


def page(link: PaymentLink, query: str = "", **headers: str) -> Any:
    return Client().get(f"/pay/{link.token}?{query}", headers=headers)


def text_of(answer: Any) -> str:
    """Text of a page, however its source is wrapped."""
    return " ".join(unescape(answer.content.decode()).split())


def test_a_customer_is_led_to_a_payment_of_their_own(bakery: Shop) -> None:
    link = made_link(
        bakery,
        description="Stoneware",
        success_url="https://shop.example/thanks",
        email="required",
        name="optional",
    )
    answer = send(link, email="ann@example.com", name="Ann")
    made = Payment.objects.get(reference=reference_of(answer))
    assert answer["Location"] == f"/pay/{made.reference}"
    assert (
        made.settlement_amount_cents,
        made.settlement_currency,
        made.title,
        made.description,
    ) == (1200, "EUR", "Mug", "Stoneware")
    assert made.success_url == "https://shop.example/thanks" and str(made.failed_url).endswith(
        f"/pay/{link.token}"
    )
    told = {"customer_email": "ann@example.com", "customer_name": "Ann"}
    assert made.metadata == {"payment_link_id": str(link.pk), **told}
    assert LinkPayment.objects.filter(link=link, payment=made, **told).exists()


def test_the_same_form_is_one_payment_and_another_amount_another(bakery: Shop) -> None:
    link = donation(bakery)
    key = uuid.uuid4().hex
    first = reference_of(send(link, form_key=key, choice="500"))
    assert reference_of(send(link, form_key=key, choice="500")) == first
    assert reference_of(send(link, form_key=key, choice="other", amount="7,50")) != first
    assert sorted(Payment.objects.values_list("settlement_amount_cents", flat=True)) == [500, 750]


def test_a_form_that_was_sent_before_leads_to_its_payment_when_the_link_is_closed(
    bakery: Shop,
) -> None:
    link = made_link(bakery, stock=1)
    key = uuid.uuid4().hex
    first = reference_of(send(link, form_key=key))
    pause_link(bakery.owner_access(), link)
    assert reference_of(send(link, form_key=key)) == first
    assert send(link).status_code == 422


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"choice": "other", "amount": ""}, "The amount is required."),
    ({}, "The amount is required."),
    ({"choice": "other", "amount": "lots"}, "The amount must be a number such as 12.50."),
    ({"choice": "other", "amount": "1.99"}, "The amount must be at least 2.00."),
    ({"choice": "other", "amount": "500.01"}, "The amount must be at most 500.00."),
    ({"choice": "other", "amount": "0"}, "The amount must be greater than zero."),
    ({"choice": "400", "amount": ""}, "The amount is required."),
    ({"choice": "500", "email": ""}, "Your email address is required."),
    ({"choice": "500", "email": "ann"}, "Your email address must be an email address."),
    ({"choice": "500", "email": "a" * 250 + "@b.example"}, "is too long"),
    ({"choice": "500", "email": "a@b.example", "name": "x" * 256}, "Your name is too long"),
    ({"choice": "500", "email": "a@b.example", "form_key": "'; DROP"}, "The form is too old"),
]


def test_what_can_not_be_bought_is_told_at_its_input(bakery: Shop) -> None:
    link = donation(bakery, email="required", name="optional")
    for fields, says in REFUSED:
        answer = send(link, **{"email": "ann@example.com", **fields})
        assert answer.status_code in (400, 422) and says in text_of(answer), text_of(answer)
    assert not Payment.objects.exists()


def test_a_fixed_price_is_not_the_customers_to_choose(bakery: Shop) -> None:
    send(made_link(bakery), choice="other", amount="0.01")
    assert Payment.objects.get().settlement_amount_cents == 1200


def test_a_price_that_changes_at_the_same_moment_is_the_locked_one(bakery: Shop) -> None:
    read_before = made_link(bakery)
    update_link(
        bakery.owner_access(),
        read_before,
        LinkRequest(title="Mug", currency="JPY", amount_cents=90000),
    )
    made = buy(read_before, Purchase(form_key="a" * 32))
    assert (made.settlement_amount_cents, made.settlement_currency) == (90000, "JPY")


def test_a_button_may_ask_for_an_amount(bakery: Shop) -> None:
    link = donation(bakery)
    assert 'value="1000" checked' in text_of(page(link, "amount=10"))
    other = text_of(page(link, "amount=12.50"))
    assert 'value="other" checked' in other and 'value="12.50"' in other
    assert 'value="500" checked' in text_of(page(link, "amount=<script>"))


def test_closed_pages_say_why(bakery: Shop) -> None:
    access = bakery.owner_access()
    link = made_link(bakery, stock=1, ends_at=bakery.access().now() + timedelta(days=3))
    bought(bakery, link)
    assert "Sold out" in text_of(page(link)) and "<form" not in text_of(page(link))
    pause_link(access, link)
    assert "Not available right now" in text_of(page(link))
    Store.objects.filter(pk=bakery.store.pk).update(test_offset_seconds=4 * 86400)
    assert "This has ended" in text_of(page(link))
    archive_link(access, link)
    gone = text_of(page(link))
    assert "available anymore" in gone and "Mug" not in gone.partition("<main")[2]
    assert gone.count("<h1") == 1
    refused = send(link)
    assert refused.status_code == 422 and "available anymore" in text_of(refused)


def test_the_last_piece_is_gone_between_the_page_and_the_press(bakery: Shop) -> None:
    link = made_link(bakery, stock=1)
    assert "Pay €12.00" in text_of(page(link))
    send(link)
    refused = send(link)
    assert (
        refused.status_code == 422
        and "Sold out" in text_of(refused)
        and "half an hour" in text_of(refused)
    )


def test_a_store_that_can_take_no_payment_says_so_kindly(bakery: Shop) -> None:
    link = made_link(bakery, "live")
    platform = Store.objects.create(name="Mall", created_at=bakery.access().now())
    Store.objects.filter(pk=bakery.store.pk).update(platform=platform, kyc_confirmed_at=None)
    refused = send(link)
    assert refused.status_code == 403 and "aren’t available right now" in text_of(refused)
    assert not Payment.objects.exists()


def test_names_that_try_to_be_markup_are_shown_as_they_are(bakery: Shop) -> None:
    link = made_link(bakery, title='<script>alert("x")</script>', description="<b>\n" + "w" * 200)
    shown = page(link).content.decode()
    assert (
        "<script>alert" not in shown
        and "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in shown
        and "&lt;b&gt;" in shown
    )


def test_the_page_is_private_and_nobody_may_frame_it(bakery: Shop) -> None:
    answer = page(made_link(bakery))
    assert (
        answer["X-Robots-Tag"] == "noindex"
        and answer["Cache-Control"] == "no-store"
        and answer["X-Frame-Options"] == "DENY"
    )
    assert "Don’t send real coins" in text_of(answer) and "Don’t send real coins" not in text_of(
        page(made_link(bakery, "live"))
    )


def test_a_forged_form_is_refused(bakery: Shop) -> None:
    assert send(made_link(bakery), Client(enforce_csrf_checks=True)).status_code == 403
    assert not Payment.objects.exists()


def test_a_stores_colours_are_those_of_its_links(bakery: Shop) -> None:
    Store.objects.filter(pk=bakery.store.pk).update(primary_color="#7b2d8b")
    link = made_link(bakery)
    assert f"/pay/{link.token}/brand.css" in text_of(page(link))
    assert b"#7b2d8b" in Client().get(f"/pay/{link.token}/brand.css").content


@pytest.mark.parametrize("token", ["abcdefghjkmn", "ABCDEFGHJKMN", "abc", "abcdefghjk01"])
def test_an_unknown_link_is_not_found(db: None, token: str) -> None:
    assert Client().get(f"/pay/{token}").status_code == 404


def test_at_a_stores_own_domain_there_are_its_links_alone(cast: Cast, settings: Any) -> None:
    mine = made_link(cast.bakery)
    theirs = made_link(cast.strangers)
    now = cast.bakery.access().now()
    Store.objects.filter(pk=cast.bakery.store.pk).update(
        checkout_domain="pay.bakery.example", checkout_domain_verified_at=now
    )
    host = {"Host": "pay.bakery.example"}
    assert page(mine, **host).status_code == 200 and page(theirs, **host).status_code == 404
    made = Client().post(f"/pay/{mine.token}", {"form_key": uuid.uuid4().hex}, headers=host)
    assert re.fullmatch(r"/pay/[A-Z0-9]{16}", made["Location"])
    assert Client().get(made["Location"], headers=host).status_code == 200


def test_a_visitor_who_starts_payments_without_end_is_slowed_down(
    bakery: Shop, settings: Any
) -> None:
    settings.LIMITS = {**settings.LIMITS, "publishable_address": {"live": (1, 2), "test": (1, 2)}}
    buckets._bucket.cache_clear()
    link = made_link(bakery)
    answers = [send(link) for _ in range(3)]
    buckets._bucket.cache_clear()
    assert [answer.status_code for answer in answers] == [303, 303, 429] and int(
        answers[2]["Retry-After"]
    ) >= 1
    assert page(link).status_code == 200

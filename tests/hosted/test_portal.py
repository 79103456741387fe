"""The customer's own page: whom a link opens it for, its content, and ending a subscription with
it."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from apps.billing.models import Customer
from apps.billing.services.portal import LINK_LIFETIME, portal_url
from apps.core import clock
from apps.core.models import OutgoingMail
from apps.hosted import portal
from apps.hosted.urls import PORTAL
from apps.stores.models import AuditEntry, Store
from apps.stores.services import change_store
from tests import make
from tests.billing import records as r
from tests.cast import Cast, Shop

pytestmark = pytest.mark.django_db
UNKNOWN = "8e1f1f8a-7f6b-4a51-9a3e-0d3f0a7d9a11"


def link(made: dict[str, Any]) -> str:
    """The path of a new link for the customer of an invoice or subscription."""
    customer = Customer.objects.select_related("store").get(pk=made.get("customer_id", made["id"]))
    return "/portal/" + portal_url(customer).rpartition("/")[2]


def page(path: str) -> str:
    answer = Client().get(path)
    assert answer.status_code == 200, answer.status_code
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).replace("&#x27;", "'").split())


def test_it_shows_what_the_customer_has_and_what_comes_next(bakery: Shop) -> None:
    api = bakery.test
    owner = r.customer(api, name="Ann Baker")["id"]
    made = r.subscribe(api, customer_id=owner, quantity=2)
    r.subscribe(
        api,
        customer_id=owner,
        trial_period_days=5,
        price_id=r.price(api, interval="weekly", interval_count=2)["id"],
    )
    paused = r.subscribe(api, customer_id=owner)
    r.ok(r.change(api, paused["id"], "pause"))
    r.draft(api, customer_id=owner, description="a draft")
    r.pay(api, r.opened(api, customer_id=owner, description="Croissants"))
    r.opened(api, description="of somebody else")
    said = page(link(made))
    running = (
        "Bread club Active",
        "2 × Bread club",
        "€20.00 a month",
        "Next invoice on",
        "€10.00 every 2 weeks",
        "On trial",
    )
    for part in (
        "Ann Baker",
        *running,
        "Paused: nothing is billed",
        "Open invoice due on",
        "INV-0001 Unpaid",
        "INV-0003 Paid",
    ):
        assert part in said, part
    assert "a draft" not in said and "of somebody else" not in said
    answer = Client().get(link(made))
    assert (answer["Cache-Control"], answer["Referrer-Policy"], answer["X-Robots-Tag"]) == (
        "no-store",
        "same-origin",
        "noindex",
    )


def test_many_invoices_stand_on_pages_newest_first(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portal, "INVOICES_PER_PAGE", 5)
    owner = r.customer(bakery.test)["id"]
    made = [r.opened(bakery.test, customer_id=owner) for _ in range(6)]
    first = page(link(made[0]))
    second = page(link(made[0]) + "?page=2")
    assert "INV-0006" in first and "INV-0001 " not in first and "Older" in first
    assert "INV-0001 " in second and "INV-0006" not in second and "Newer" in second
    for query in ("?page=0", "?page=x", "?page=-1", "?page=99999999999999999999", "?page=٣"):
        assert "INV-0006" in page(link(made[0]) + query)
    assert "No invoices yet" in page(link(made[0]) + "?page=99999")


def test_a_link_that_was_changed_is_nobodys(cast: Cast) -> None:
    made = r.customer(cast.bakery.test)
    other = r.customer(cast.bakery.test)
    good = link(made)
    strange = link(other)
    head, stamp, signature = good.rpartition("/")[2].split(".")
    flipped = signature[:-2] + ("A" if signature[-2] != "A" else "B") + signature[-1]
    forged = [
        f"{head}.{stamp}.{flipped}",
        f"{head}.zzzzzz.{signature}",
        f"{strange.rpartition('/')[2].split('.')[0]}.{stamp}.{signature}",
        f"{'0' * 32}.{stamp}.{signature}",
        head,
        "x",
        "%00",
    ]
    for token in forged:
        answer = Client().get(f"/portal/{token}")
        assert answer.status_code == 404
        is_link = re.fullmatch(PORTAL, token) is not None
        assert ("can’t be used" in answer.content.decode()) is is_link
        assert Client().post(f"/portal/{token}/link").status_code == 404
        assert Client().get(f"/portal/{token}/brand.css").status_code == 404
    assert Client().get(good).status_code == 200


def test_a_link_ends_with_the_address_the_customer_and_the_store(bakery: Shop) -> None:
    first, second, third = (r.customer(bakery.test) for _ in range(3))
    links = [link(item) for item in (first, second, third)]
    r.ok(
        bakery.test.patch(
            f"/billing/customers/{first['id']}", {"customer": {"email": "new@example.com"}}
        )
    )
    bakery.test.delete(f"/billing/customers/{second['id']}")
    assert [Client().get(item).status_code for item in links] == [404, 404, 200]
    assert Client().get(link(first)).status_code == 200
    Store.objects.filter(pk=bakery.store.pk).update(deleted_at=clock.real_now())
    assert Client().get(links[2]).status_code == 404


def test_an_old_link_can_only_send_a_new_one_to_the_same_mailbox(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    path = link(made)
    with time_machine.travel(clock.real_now() + LINK_LIFETIME + timedelta(minutes=1), tick=True):
        answer = Client().get(path)
        assert (
            answer.status_code == 410
            and b"This link has expired" in answer.content
            and b"Bread club" not in answer.content
        )
        for way in ("cancel", "keep"):
            assert (
                Client()
                .post(f"{path}/subscriptions/{made['id']}/{way}", {"when": "period_end"})
                .status_code
                == 410
            )
        for _ in range(2):
            answer = Client().post(f"{path}/link")
            assert answer.status_code == 200 and b"Check your email" in answer.content
        assert Client().get(link(made)).status_code == 200
    (email,) = OutgoingMail.objects.filter(template="portal_link")
    assert email.to == made["customer"]["email"]
    assert not r.subscription(bakery.test, made["id"])["cancel_at_period_end"]


def test_a_subscription_is_canceled_with_its_period_after_asking_and_taken_back(
    bakery: Shop,
) -> None:
    made = r.subscribe(bakery.test)
    path = link(made)
    way = f"{path}/subscriptions/{made['id']}"
    assert "Your subscription stays active until" in page(f"{way}/cancel")
    assert not r.subscription(bakery.test, made["id"])["cancel_at_period_end"]
    assert Client().post(f"{way}/cancel", {"when": "period_end"})["Location"] == path
    now = r.subscription(bakery.test, made["id"])
    assert (now["status"], now["cancel_at_period_end"]) == ("active", True)
    assert "Ends on" in page(path) and "Keep subscription" in page(path)
    assert Client().get(f"{way}/cancel")["Location"] == path
    entry = AuditEntry.objects.get(
        store_id=bakery.store.pk, action="subscription.cancellation_scheduled"
    )
    assert (entry.actor_kind, entry.actor_name) == (
        "visitor",
        f"customer {made['customer']['email']}",
    )
    assert Client().post(f"{way}/keep")["Location"] == path
    assert not r.subscription(bakery.test, made["id"])["cancel_at_period_end"]
    make.advance(bakery.test, 31 * r.DAY)
    assert len(r.invoices_of(bakery.test, made["id"])) == 2


def test_what_is_paused_or_past_due_ends_at_once_and_never_unasked(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    way = f"{link(made)}/subscriptions/{made['id']}/cancel"
    for when in ("now", "", "period_start"):
        answer = Client().post(way, {"when": when})
        assert answer.status_code == 422 and b"This subscription has changed" in answer.content
    r.ok(r.change(bakery.test, made["id"], "pause"))
    assert Client().post(way, {"when": "period_end"}).status_code == 422
    assert "Your subscription ends right away" in page(way)
    assert Client().post(way, {"when": "now"}).status_code == 303
    assert r.subscription(bakery.test, made["id"])["status"] == "canceled"
    assert Client().get(way).status_code == 302
    assert "Ended on" in page(link(made))


def test_nobody_elses_subscription_is_reached(cast: Cast) -> None:
    mine = r.subscribe(cast.bakery.test)
    other = r.subscribe(cast.bakery.test)
    theirs = r.subscribe(cast.strangers.test)
    live = r.subscribe(cast.bakery.live)
    for item in (other, theirs, live, {"id": UNKNOWN}):
        for way in ("cancel", "keep"):
            answer = Client().post(
                f"{link(mine)}/subscriptions/{item['id']}/{way}", {"when": "period_end"}
            )
            assert answer.status_code == 404
    assert r.subscription(cast.bakery.test, other["id"])["status"] == "active"


def test_a_form_of_another_site_does_nothing(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    way = f"{link(made)}/subscriptions/{made['id']}"
    strict = Client(enforce_csrf_checks=True)
    for path, fields in ((f"{way}/cancel", {"when": "period_end"}), (f"{way}/keep", {})):
        assert strict.post(path, fields).status_code == 403
    assert not r.subscription(bakery.test, made["id"])["cancel_at_period_end"]


def test_the_stores_name_and_colours_stand_on_it(bakery: Shop) -> None:
    change_store(
        bakery.store,
        brand_name="Brot & Büchse",
        primary_color="#7b2d8b",
        remove_service_branding=True,
    )
    path = link(r.customer(bakery.test))
    content = Client().get(path).content
    assert b"Brot &amp; B" in content and b"Payments by" not in content and b"branded" in content
    assert b"#7b2d8b" in Client().get(f"{path}/brand.css").content


def test_its_head_is_that_of_the_checkout(bakery: Shop) -> None:
    change_store(bakery.store, brand_name="Bread & Co", logo_url="https://cdn.example/logo.png")
    shown = Client().get(link(r.subscribe(bakery.test))).content.decode()
    (head,) = re.findall(r'<header class="top">.*?</header>', shown, re.DOTALL)
    assert 'src="https://cdn.example/logo.png"' in head and "Bread &amp; Co" in head
    assert "languages" in head and shown.count('class="languages') == 1

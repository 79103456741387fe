"""One payment: its head, the one timeline, amounts, links, and the cancellation of an unpaid
one."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.dashboard.payment.timeline import TimelineFacts, timeline_of
from apps.payments.models import Payment, PaymentEvent
from apps.payments.services.receipts import email_receipt
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.snapshot import snapshot_of
from apps.stores.models import AuditEntry, Member
from apps.webhooks.models import Delivery
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests.billing import records
from tests.cast import Cast
from tests.dashboard.browse import Browser, field_errors, text
from tests.make import advance, detail, late_deposit, mail_leaves, payment, simulated


def titles(answer: Any) -> list[str]:
    return [str(step.title) for step in answer.context["timeline"].steps]


def unnamed(found: list[str]) -> list[str]:
    return [item.split(" by ")[0] for item in found]


def test_the_head_says_who_paid_what_where_and_what_is_left(cast: Cast) -> None:
    api = cast.bakery.test
    customer = records.customer(api, email="ann@rye.example", name="Ann Rye")
    bill = records.opened(api, customer_id=customer["id"])
    made = simulated(
        api, records.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    )
    shown = text(Browser(cast.alice).get(f"payments/{made['id']}"))
    head = shown.split('<p class="summary">')[1].split("</p>")[0]
    assert f"/dashboard/customers/{customer['id']}" in head and "Ann Rye" in head
    assert "on Ethereum Sepolia" in head and "net" in head
    assert f"/dashboard/payments?customer={customer['id']}" in shown and "INV-0001" in shown


def test_an_unpaid_payment_says_until_when_and_has_no_net(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    shown = text(Browser(cast.alice).get(f"payments/{made['id']}"))
    assert "Can be paid until" in shown and "Net to you" not in shown and "Cancel payment" in shown


LOOKS = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
NO_LOOKS: list[dict[str, str]] = [
    {},  # a program that makes a preview of the link
    {"Sec-Fetch-Mode": "cors"},
    {**LOOKS, "Sec-Purpose": "prefetch;prerender"},
    {**LOOKS, "Cookie": f"{settings.SESSION_COOKIE_NAME}=somebody-of-the-dashboard"},
]


def test_the_first_look_at_the_checkout_is_on_the_timeline(cast: Cast) -> None:
    api = cast.bakery.test
    made = payment(api)
    path = f"/pay/{made['reference']}"
    browser = Browser(cast.alice)
    for headers in NO_LOOKS:
        assert Client(headers=headers).get(path).status_code == 200
    assert Client(headers=LOOKS).head(path).status_code == 200
    assert titles(browser.get(f"payments/{made['id']}")) == ["Payment created"]

    advance(api, 600)
    assert Client(headers=LOOKS).get(path).status_code == 200
    advance(api, 600)
    assert Client(headers=LOOKS).get(path).status_code == 200
    shown = browser.get(f"payments/{made['id']}")
    assert titles(shown) == ["Checkout opened for the first time", "Payment created"]
    opened, created = (step.at for step in shown.context["timeline"].steps)
    assert timedelta(seconds=600) <= opened - created < timedelta(seconds=1200)
    assert titles(browser.get(f"payments/{made['id']}?show=people")) == [
        "Checkout opened for the first time"
    ]


def test_the_timeline_is_one_and_newest_first(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    events = ["payment_intent.completed"]
    register_endpoint(
        cast.bakery.access(), EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=events)
    )
    made = simulated(api, payment(api)["id"])
    Delivery.objects.update(status="failed", error="connection_refused", attempts=3, duration_ms=12)
    assert (
        api.post(f"/payments/{made['id']}/refunds", {"amount": "0.001"}, key="back").status_code
        == 201
    )
    advance_refunds()
    advance(api, 60)
    advance_refunds()
    answer = browser.get(f"payments/{made['id']}")
    found = titles(answer)
    order = [
        "Refund confirmed",
        "Refund sent",
        "Refund requested",
        "Payment completed",
        "Deposit confirmed",
        "Payment received, awaiting confirmation",
        "Deposit detected",
        "Payment created",
    ]
    assert [item for item in unnamed(found) if item in order] == order
    assert any("Webhook failed" in item and "payment_intent.completed" in item for item in found)
    moments = [step.at for step in answer.context["timeline"].steps]
    assert moments == sorted(moments, reverse=True)
    shown = text(answer)
    assert "Connection refused · 12 ms · attempt 3" in shown and "connection_refused" not in shown
    assert detail(api, made["id"])["transaction"]["tx_hash"] in shown


def test_managers_see_who_refunded_and_others_do_not(cast: Cast) -> None:
    made = simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    cast.bakery.test.post(f"/payments/{made['id']}/refunds", {"amount": "0.001"}, key="back")
    entry = AuditEntry.objects.get(action="refund.requested")
    path = f"payments/{made['id']}"
    assert f"Refund requested by {entry.actor_name}" in titles(Browser(cast.alice).get(path))
    Member.objects.filter(user=cast.bob, store=cast.bakery.store).update(role="viewer")
    assert "Refund requested" in titles(Browser(cast.bob).get(path))


def test_a_late_deposit_and_its_acceptance_stand_in_the_timeline(cast: Cast) -> None:
    made = payment(cast.bakery.test, expires_in=300)
    advance(cast.bakery.test, 400)
    late = late_deposit(made["id"])
    browser = Browser(cast.alice)
    browser.post(f"payments/{made['id']}/late-deposits/{late}")
    found = titles(browser.get(f"payments/{made['id']}"))
    assert "Late deposit detected" in found and any(
        item.startswith("Late deposit accepted by ") for item in found
    )


def test_a_long_timeline_is_capped_and_shown_whole_on_demand(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    row = Payment.objects.select_related("store").get(pk=made["id"])
    events = [
        PaymentEvent(
            payment=row, event_type="payment_intent.underpaid_detected", created_at=row.created_at
        )
        for _ in range(150)
    ]
    PaymentEvent.objects.bulk_create(events)
    browser = Browser(cast.alice)
    answer = browser.get(f"payments/{made['id']}")
    assert len(titles(answer)) == 100 and "Show all 151" in text(answer)
    whole = browser.get(f"payments/{made['id']}?timeline=all")
    assert len(titles(whole)) == 151 and "Show all" not in text(whole)
    assert "timeline=all" in text(whole)  # what refreshes itself stays whole
    assert timeline_of(TimelineFacts(snapshot_of(row)), 10).total == 151


def statements(browser: Browser, id: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        browser.get(f"payments/{id}")
    return len(captured)


def test_a_payment_with_much_history_asks_as_much_as_one_with_little(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice)
    little = simulated(api, payment(api)["id"], "underpaid")
    register_endpoint(
        cast.bakery.access(),
        EndpointRequest(
            url="https://1.1.1.1/hook", subscribed_events=["payment_intent.processing"]
        ),
    )
    much = simulated(api, payment(api)["id"], "underpaid")
    for _ in range(5):
        simulated(api, much["id"], None, amount_atomic="1000")
    statements(browser, little["id"])
    assert statements(browser, much["id"]) == statements(browser, little["id"])


def test_an_unpaid_payment_is_canceled_on_a_page_of_its_own(cast: Cast) -> None:
    made = payment(cast.bakery.test, title="Table <b>for two</b>")
    browser = Browser(cast.bob)
    path = f"payments/{made['id']}/cancel"
    assert "Cancel this payment?" in text(browser.get(path))
    assert browser.post(path).headers["Location"] == f"/dashboard/payments/{made['id']}"
    row = Payment.objects.get(pk=made["id"])
    assert (row.status, row.state_reason) == ("expired", "expired_timeout")
    assert AuditEntry.objects.filter(action="payment.canceled", target_id=made["id"]).count() == 1
    answer = browser.get(f"payments/{made['id']}")
    assert "Payment canceled" in titles(answer)[0] and "Nothing arrived in time" not in text(answer)
    assert "Cancel payment" not in text(answer)
    again = browser.post(path)
    assert again.status_code == 422 and "Only a pending payment can be canceled." in text(again)
    assert AuditEntry.objects.filter(action="payment.canceled").count() == 1


def test_what_was_paid_or_is_on_its_way_by_card_cannot_be_canceled(cast: Cast) -> None:
    browser = Browser(cast.alice)
    done = simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    assert browser.post(f"payments/{done['id']}/cancel").status_code == 422
    waiting = payment(cast.bakery.test)
    row = Payment.objects.get(pk=waiting["id"])
    Payment.objects.filter(pk=row.pk).update(held_open_until=row.expires_at + timedelta(hours=1))
    assert "Cancel payment" not in text(browser.get(f"payments/{waiting['id']}"))
    assert browser.post(f"payments/{waiting['id']}/cancel").status_code == 422
    assert Payment.objects.get(pk=row.pk).status == "pending"


def test_the_timeline_shows_one_kind_by_links_and_asks_nothing_more(cast: Cast) -> None:
    api = cast.bakery.test
    browser = Browser(cast.alice, answers=True)
    events = ["payment_intent.completed"]
    register_endpoint(
        cast.bakery.access(), EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=events)
    )
    simulated(api, payment(api, amount="50.00")["id"])  # bears the fee of the refund
    made = simulated(api, payment(api)["id"])
    path = f"payments/{made['id']}"
    opened = browser.get(f"{path}/refund").context["form"]
    typed = {"form_key": opened.values["form_key"]}
    review = browser.post(f"{path}/refund", **typed).context["review"]
    sent = browser.post(f"{path}/refund", **typed, agreed=review.agreed)
    assert sent.status_code == 303
    browser.get(path)  # what is kept between requests is read
    with CaptureQueriesContext(connection) as every:
        whole = browser.get(path)
    assert [item.label for item in whole.context["timeline"].filters] == [
        "All",
        "On-chain",
        "Webhooks",
        "Money",
        "People",
    ]
    found = {}
    for kind in ("chain", "webhooks", "money", "people"):
        assert f'href="/dashboard/{path}?show={kind}"' in text(whole)
        with CaptureQueriesContext(connection) as asked:
            shown = browser.get(f"{path}?show={kind}")
        assert len(asked) == len(every)
        current = [item.kind for item in shown.context["timeline"].filters if item.is_current]
        assert current == [kind]
        found[kind] = unnamed(titles(shown))

    assert found["webhooks"] and all(webhook.startswith("Webhook") for webhook in found["webhooks"])
    assert "Deposit detected" in found["chain"] and "Payment created" not in found["chain"]
    assert "Payment created" in found["money"] and "Refund requested" in found["money"]
    assert found["people"] == ["Refund requested"]
    told = {item for titles_of_kind in found.values() for item in titles_of_kind}
    assert told == set(unnamed(titles(whole)))
    assert titles(browser.get(f"{path}?show=x")) == titles(whole)


def test_a_timeline_of_one_kind_has_no_filters(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    shown = Browser(cast.alice).get(f"payments/{made['id']}")
    assert shown.context["timeline"].filters == []
    assert "Timeline filter" not in text(shown)


def test_emails_about_a_payment_are_in_its_timeline_to_masked_addresses(cast: Cast) -> None:
    made = simulated(cast.bakery.test, payment(cast.bakery.test)["id"])
    email_receipt(Payment.objects.select_related("store").get(pk=made["id"]), "ann@rye.example")
    browser = Browser(cast.bob)
    waiting = browser.get(f"payments/{made['id']}?show=people")
    assert titles(waiting) == ["Receipt waiting to be emailed"]

    mail_leaves()
    sent = browser.get(f"payments/{made['id']}")
    assert "Receipt emailed" in titles(sent)
    assert "a…@rye.example" in text(sent) and "ann@rye.example" not in text(sent)


def test_an_invoices_emails_are_in_the_timeline_of_its_payment(cast: Cast) -> None:
    api = cast.bakery.test
    bill = records.opened(api)
    records.ok(records.act(api, bill["id"], "send"))
    records.pay(api, bill)
    made = Payment.objects.get()
    mail_leaves()
    found = titles(Browser(cast.bob).get(f"payments/{made.pk}"))
    assert {"Invoice emailed", "Invoice receipt emailed"} <= set(found)


def test_a_note_is_in_the_timeline_with_who_wrote_it(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    browser = Browser(cast.bob)
    path = f"payments/{made['id']}/note"
    assert f"/dashboard/{path}" in text(browser.get(f"payments/{made['id']}"))
    for note, said in ((" ", "Enter a note."), ("x" * 501, "A note has at most 500 characters.")):
        refused = browser.post(path, note=note)
        assert refused.status_code == 422 and field_errors(refused) == {"note": said}

    assert browser.post(path, note="Called <b>Ann</b>, pays on Friday").status_code == 303
    shown = browser.get(f"payments/{made['id']}?show=people")
    assert titles(shown) == [f"Note by {cast.bob.email}"]
    assert "Called &lt;b&gt;Ann&lt;/b&gt;, pays on Friday" in text(shown)
    line = AuditEntry.objects.get(action="payment.noted")
    assert (line.target_id, line.reason) == (made["id"], "Called <b>Ann</b>, pays on Friday")

"""The payments room: list, filters, CSV, one payment, payment links, late deposits."""

import csv
import io
import uuid
from typing import Any

from apps.core import clock
from apps.core.badges import all_badges
from apps.ledger.selectors import balances
from apps.payments import states
from apps.payments.models import LateDeposit, Payment
from apps.payments.services.extend import EXTENDED
from apps.payments.services.hold import CARD_REFUND
from apps.payments.services.late import ACCEPTED_EVENT
from apps.payments.services.transaction_lookup import LOST_EVENT
from apps.stores.services import change_store
from tests.billing import records
from tests.cast import Cast
from tests.dashboard.browse import Browser, field_errors, text
from tests.dashboard.test_search import copies
from tests.make import advance, detail, late_deposit, payment, simulated

_AMOUNTS_IN_LISTS = ("Partially paid", "Overpaid", "Paid in full")


# What HTMX asks for: the rows alone.
PART = {"HX-Request": "true"}


def references(answer: Any) -> list[str]:
    return [item.reference for item in answer.context["payments"]]


def test_the_list_shows_the_newest_first_and_only_this_store_and_mode(cast: Cast) -> None:
    mine = [payment(cast.bakery.test, amount=f"{n}.00") for n in (1, 2)]
    payment(cast.bakery.live)
    payment(cast.strangers.test)
    assert references(Browser(cast.alice).get("payments")) == [
        item["reference"] for item in reversed(mine)
    ]


def test_the_list_says_who_paid_another_amount_than_was_due(cast: Cast) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    change_store(cast.bakery.store, accept_overpayments=True)
    for kind in ("underpaid", "overpaid", None):
        simulated(api, payment(api)["id"], kind)
    for page in ("payments", ""):
        shown = text(browser.get(page))
        cells = [shown.count(f'">{words}</span>') for words in _AMOUNTS_IN_LISTS]
        assert cells == [1, 1, 0], page


def test_what_needs_attention_is_not_told_twice(cast: Cast) -> None:
    made = simulated(cast.bakery.test, payment(cast.bakery.test)["id"], "underpaid")
    row = Payment.objects.get(pk=made["id"])
    assert row.notable_reason == states.PROCESSING_UNDERPAID
    row.needs_attention = CARD_REFUND
    assert row.notable_reason is None


def test_an_empty_list_offers_to_begin_and_a_search_without_result_to_begin_anew(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    assert "No test payments yet" in text(browser.get("payments"))
    payment(cast.bakery.test)
    answer = text(browser.get("payments?q=NOSUCHREFERENCE"))
    assert "No matching payments" in answer and "No test payments yet" not in answer


def test_the_search_finds_by_reference_order_id_amount_and_id(cast: Cast) -> None:
    browser = Browser(cast.alice)
    one = payment(cast.bakery.test, amount="1234.50", order_id="Order-77")
    payment(cast.bakery.test, amount="5.00", order_id="Order-88")
    for wanted in (one["reference"].lower()[:8], "order-77", "1,234.50", "1.234,5", one["id"]):
        assert references(browser.get("payments", data={"q": wanted}, headers=PART)) == [
            one["reference"]
        ]


def test_the_search_finds_by_title_address_transaction_and_the_invoiced_customers_address(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    one = simulated(api, payment(api, title="Two loaves of rye")["id"])
    payment(api, title="One roll")
    for stranger in (cast.strangers.test, cast.bakery.live):
        payment(stranger, title="Two loaves of rye")
    address = one["payment_addresses"][0]["address"]
    tx_hash = one["transaction"]["tx_hash"]
    for wanted in (
        "loaves",
        address,
        address.lower(),
        tx_hash,
        tx_hash.upper().replace("0X", "0x"),
    ):
        assert references(browser.get("payments", data={"q": wanted}, headers=PART)) == [
            one["reference"]
        ], wanted
    assert references(Browser(cast.charlie).get("payments", data={"q": tx_hash})) == []
    bill = records.opened(api, customer_id=records.customer(api, email="ann@rye.example")["id"])
    started = records.start_payment(bill["public_token"]).json()["payment"]
    (found,) = browser.get("payments", data={"q": "ANN@rye.example"}).context["payments"]
    assert str(found.pk) == started["payment_intent_id"]
    assert references(browser.get("payments", data={"q": "nobody@rye.example"})) == []


def test_a_customer_has_the_payments_of_invoices_links_and_metadata_in_any_case(cast: Cast) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    customer = records.customer(api, email="ann@rye.example")
    bill = records.opened(api, customer_id=customer["id"])
    billed = records.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    named = payment(api, metadata={"customer_email": "Ann@Rye.example"})["id"]
    for text_of_another in ("bob@rye.example", "x" * 5000):
        payment(api, metadata={"customer_email": text_of_another})
    payment(cast.strangers.test, metadata={"customer_email": "ann@rye.example"})
    for query in ({"customer": customer["id"]}, {"q": "ANN@rye.example"}):
        found = browser.get("payments", data=query).context["payments"]
        assert {str(item.pk) for item in found} == {billed, named}, query


def test_an_underpaid_payment_says_what_is_missing_and_its_timeline_speaks_plainly(
    cast: Cast,
) -> None:
    browser = Browser(cast.alice)
    api = cast.bakery.test
    half = simulated(api, payment(api)["id"], "underpaid")
    page = browser.get(f"payments/{half['id']}")
    shown = text(page)
    missing = page.context["missing"]
    received, asked = (
        int(half["payment_addresses"][0][name])
        for name in ("received_atomic", "crypto_amount_atomic")
    )
    assert missing.amount_atomic == asked - received > 0
    assert (
        "is missing.</strong> The customer can pay the rest" in shown
        and "what arrived is refunded to whoever can be shown to have sent it" in shown
        and "<dt>Missing</dt>" in shown
    )
    amounts = page.context
    assert missing.cents == amounts["payment"].settlement_amount_cents - amounts["paid"][0].cents
    assert "Partially paid" in shown and "payment_intent.underpaid_detected" not in shown
    simulated(api, half["id"], None, amount_atomic=str(missing.amount_atomic))
    assert browser.get(f"payments/{half['id']}").context["missing"] is None


def test_every_event_of_a_payment_has_words() -> None:
    types = {
        *states.EVENTS.values(),
        states.CREATED_EVENT,
        states.UNDERPAID_EVENT,
        states.CANCELED_EVENT,
        states.SHORTFALL_ACCEPTED,
        ACCEPTED_EVENT,
        EXTENDED,
        LOST_EVENT,
    }
    types |= {f"transaction.{status}" for status in ("confirming", "confirmed", "failed")}
    assert types == set(all_badges()["payment_event"])


def test_a_search_that_no_text_can_match_finds_nothing(cast: Cast) -> None:
    payment(cast.bakery.test)
    browser = Browser(cast.alice)
    for wanted in ("\x00", "%", "99999999999999", "9" * 300):
        answer = browser.get("payments", data={"q": wanted}, headers=PART)
        assert answer.status_code == 200
        assert references(answer) == [] or wanted == "\x00"


def test_tabs_and_dates_narrow_the_list_and_unknown_values_are_left_out(cast: Cast) -> None:
    browser = Browser(cast.alice)
    done = payment(cast.bakery.test)
    simulated(cast.bakery.test, done["id"])
    waiting = payment(cast.bakery.test)
    today = clock.real_now().date().isoformat()
    assert references(browser.get("payments?status=completed")) == [done["reference"]]
    assert len(references(browser.get(f"payments?from={today}&to={today}"))) == 2
    assert references(browser.get("payments?to=2020-01-01")) == []
    assert references(browser.get("payments?status=nonsense&from=yesterday")) == [
        waiting["reference"],
        done["reference"],
    ]


def test_htmx_gets_the_rows_and_a_browser_the_page(cast: Cast) -> None:
    payment(cast.bakery.test)
    browser = Browser(cast.alice)
    part = browser.get("payments", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and "<table" in part
    assert "<html" in browser.get("payments").content.decode()


def test_the_list_has_pages_of_twenty_five(cast: Cast) -> None:
    payment(cast.bakery.test)
    older = {
        "id": "gen_random_uuid()",
        "reference": "upper(substr(md5(n::text), 1, 16))",
        "created_at": "s.created_at - n * interval '1 minute'",
        "idempotency_key": "NULL",
    }
    copies(Payment, older, "payments_payment s, generate_series(1, 26) n")
    made = list(Payment.objects.order_by("-created_at").values_list("reference", flat=True))
    assert len(made) == 27
    browser = Browser(cast.alice)
    first = browser.get("payments")
    second = browser.get("payments?page=2")
    assert references(first) == made[:25] and references(second) == made[25:]
    assert first.context["next_query"] == "page=2" and first.context["previous_query"] is None
    assert second.context["next_query"] is None and second.context["previous_query"] == "page=1"
    assert references(browser.get("payments?page=nonsense")) == made[:25]


def test_the_csv_has_the_filtered_list_and_no_cell_is_a_formula(cast: Cast) -> None:
    payment(cast.bakery.test, amount="7.00", order_id="other")
    for number, nasty in enumerate(("=HYPERLINK(1)", "+1", "-1+1", "@sum", "\tx")):
        payment(cast.bakery.test, amount="12.50", title=nasty, order_id=f"in-{number}")
    answer = Browser(cast.alice).get("payments.csv", data={"q": "12.50"})
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="payments-test-')
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert [row["amount"] for row in rows] == ["12.50"] * 5
    assert {row["title"][0] for row in rows} == {"'"}


def test_a_payment_shows_its_amounts_deposits_and_history(cast: Cast) -> None:
    made = payment(cast.bakery.test, amount="80.00", order_id="A-1", metadata={"table": "<b>4</b>"})
    simulated(cast.bakery.test, made["id"])
    shown = text(Browser(cast.alice).get(f"payments/{made['id']}"))
    for part in (
        "€80.00",
        "Completed",
        "Paid in full",
        "Payment completed",
        "A-1",
        "&lt;b&gt;4&lt;/b&gt;",
        "simulated",
    ):
        assert part in shown
    assert detail(cast.bakery.test, made["id"])["transaction"]["tx_hash"] in shown


def test_an_open_payment_is_looked_at_again_and_an_ended_one_is_not(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    browser = Browser(cast.alice)
    assert "data-refreshes" in text(browser.get(f"payments/{made['id']}"))
    simulated(cast.bakery.test, made["id"])
    assert "data-refreshes" not in text(browser.get(f"payments/{made['id']}"))


def new_link(browser: Browser, **fields: Any) -> Any:
    return browser.post(
        "payments/new",
        **{
            "form_key": uuid.uuid4().hex,
            "amount": "25",
            "currency": "EUR",
            "expires_in": "3600",
            "fee": "",
            **fields,
        },
    )


def test_a_payment_link_is_made_and_shown_with_its_code(cast: Cast) -> None:
    browser = Browser(cast.bob)
    answer = new_link(browser, title="Two loaves", order_id="9")
    made = Payment.objects.get(store=cast.bakery.store)
    assert answer.headers["Location"] == f"/dashboard/payments/{made.pk}/link"
    assert (made.settlement_amount_cents, made.title, made.order_id, made.mode) == (
        2500,
        "Two loaves",
        "9",
        "test",
    )
    shown = browser.get(answer.headers["Location"]).content.decode()
    assert f"/pay/{made.reference}" in shown and "<svg" in shown
    assert "It can be paid once, until" in shown
    simulated(cast.bakery.test, str(made.pk))
    used = text(browser.get(answer.headers["Location"]))
    assert "This link has been paid." in used and "data-copy-from" not in used


def test_a_one_time_link_tells_what_became_of_it(cast: Cast) -> None:
    made = payment(cast.bakery.test)
    browser = Browser(cast.alice)
    assert "Send it to your customer" in text(browser.get(f"payments/{made['id']}/link"))
    simulated(cast.bakery.test, made["id"], "underpaid")
    for status, reason, words, is_offered in (
        ("processing", "pending_confirmations", "Your customer has paid.", True),
        ("processing", "processing_underpaid", "Your customer has paid part of it.", True),
        ("completed", "completed_exact", "This link has been paid.", False),
        ("refunded", "refund_completed", "This link has been paid.", False),
        ("expired", "expired_timeout", "This link has expired.", False),
        ("expired", "canceled_by_agent", "This link was canceled.", False),
        ("failed", "failed_underpaid", "The payment at this link failed.", False),
    ):
        Payment.objects.filter(pk=made["id"]).update(status=status, state_reason=reason)
        shown = text(browser.get(f"payments/{made['id']}/link"))
        assert words in shown, reason
        assert ("QR code of the one-time link" in shown) == is_offered, reason
        assert ("data-copy-from" in shown) == is_offered, reason


def test_a_form_that_is_sent_twice_makes_one_payment(cast: Cast) -> None:
    browser = Browser(cast.alice)
    key = browser.get("payments/new").context["form"].values["form_key"]
    answers = [new_link(browser, form_key=key).headers["Location"] for _ in range(2)]
    assert answers[0] == answers[1]
    assert Payment.objects.count() == 1


def test_a_refused_form_says_why_and_keeps_what_was_typed(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for fields, name, sentence in (
        ({"amount": "0"}, "amount", "Amount must be greater than zero."),
        ({"amount": ""}, "amount", "Amount is required."),
        (
            {"amount": "1.234"},
            "amount",
            "Amount 1.234 can be read in two ways: enter 1234, or 1.23.",
        ),
        ({"amount": "1.2345"}, "amount", "Amount must be a number such as 12.50."),
        ({"currency": "XXX"}, "currency", "Unsupported settlement currency: XXX."),
        ({"currency": "JPY", "amount": "1.50"}, "amount", "Amount must be a whole number in JPY."),
        ({"title": "x" * 151}, "title", "Title is too long (maximum is 150 characters)."),
        (
            {"order_id": "x" * 256},
            "order_id",
            "Order ID is too long (maximum is 255 characters).",
        ),
        (
            {"success_url": "javascript:alert(1)"},
            "success_url",
            "The return URL must be a valid URL.",
        ),
        ({"expires_in": "5"}, "expires_in", "Choose one of the offered values."),
        ({"fee": "nobody"}, "fee", "Choose one of the offered values."),
    ):
        answer = new_link(browser, **{"description": "kept", **fields})
        assert answer.status_code == 422
        assert field_errors(answer) == {name: sentence}
        assert ">kept</textarea>" in text(answer)
    answer = new_link(browser, form_key="old")
    assert (
        answer.status_code == 422
        and field_errors(answer) == {}
        and "The form is too old; open it again." in text(answer)
    )
    assert Payment.objects.count() == 0


def late(cast: Cast, status: str = "confirmed") -> tuple[Payment, LateDeposit]:
    """A payment of 50.00 that expired, then got its coins."""
    made = payment(cast.bakery.test, amount="50.00", expires_in=300)
    advance(cast.bakery.test, 400)
    row = Payment.objects.select_related("store").get(pk=made["id"])
    assert row.status == "expired"
    return row, LateDeposit.objects.get(deposit_id=late_deposit(made["id"], status))


def available(cast: Cast) -> tuple[int, int]:
    found = balances(cast.bakery.store.pk, "test")["SETH"]
    return found.available_atomic, found.held_atomic


def test_a_late_deposit_is_shown_and_accepted_once_on_a_page_of_its_own(cast: Cast) -> None:
    row, one = late(cast)
    amount = one.deposit.amount_atomic
    browser = Browser(cast.alice)
    assert "arrived after this payment ended" in text(browser.get(f"payments/{row.pk}"))
    path = f"payments/{row.pk}/late-deposits/{one.deposit_id}"
    assert "Accept this late deposit?" in text(browser.get(path))
    assert available(cast) == (0, amount)
    assert browser.post(path).headers["Location"] == f"/dashboard/payments/{row.pk}"
    assert available(cast) == (amount - amount // 100, 0)
    again = browser.post(path)
    assert again.status_code == 422 and "This deposit has already been accepted." in text(again)
    assert available(cast) == (amount - amount // 100, 0)
    row.refresh_from_db()
    assert row.status == "expired"
    told = [event.event_type for event in row.events.all()]
    assert told[-2:] == ["late_deposit.accepted", "transaction.confirmed"]


def test_a_late_deposit_that_has_not_confirmed_cannot_be_accepted(cast: Cast) -> None:
    row, one = late(cast, "confirming")
    answer = Browser(cast.alice).post(f"payments/{row.pk}/late-deposits/{one.deposit_id}")
    assert answer.status_code == 422 and "This deposit has not confirmed yet." in text(answer)


def test_a_late_deposit_that_goes_back_cannot_be_accepted_too(cast: Cast) -> None:
    row, one = late(cast)
    assert cast.bakery.test.post(f"/payments/{row.pk}/refunds", key="back").status_code == 201
    browser = Browser(cast.alice)
    answer = browser.post(f"payments/{row.pk}/late-deposits/{one.deposit_id}")
    assert answer.status_code == 422 and "has been sent back or is on its way back." in text(answer)
    assert "on its way back" in text(browser.get(f"payments/{row.pk}"))


def test_a_developer_may_not_accept_a_late_deposit(cast: Cast) -> None:
    row, one = late(cast)
    assert (
        Browser(cast.bob).post(f"payments/{row.pk}/late-deposits/{one.deposit_id}").status_code
        == 403
    )

"""The checkout's texts about coins that came late or in another coin, from the first block on, and
a token's code."""

import hashlib
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.services import accept_all_active
from apps.core import clock
from apps.payments.models import HeldRefund, Payment, RefundLink
from apps.payments.services.settle import settle_payment
from apps.payments.services.transfers import accept_transfer, send_transfer_back
from tests import make
from tests.cast import Cast, Shop, signed_in
from tests.payments.test_late_money import COIN, accept_late, late_on_open

pytestmark = pytest.mark.django_db
ASKS = ("Waiting for payment", "Send exactly", "Amount due", "Left to pay", "Pay with wallet")


@pytest.fixture(autouse=True)
def coins(bakery: Shop) -> None:
    Asset.objects.filter(pk=COIN).update(contract_address="0x" + "01" * 20, is_active=True)
    accept_all_active(bakery.store)


def page(made: dict[str, Any], query: str = "", **headers: str) -> str:
    answer = Client(headers=headers).get(f"/pay/{made['reference']}{query}")
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).replace("&#x27;", "'").split())


def owner(cast: Cast) -> Access:
    return signed_in(cast.alice, cast.bakery.store, "test")


def test_another_coin_is_named_and_nothing_more_is_asked_for(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    assert all(text in page(made) for text in ("Waiting for payment", "Amount due"))
    transfer = make.stray_transfer(made["id"], COIN, 44_440_000)
    seen = page(made)
    assert "You sent 44.44 USDC to the ETH address." in seen
    assert f"{cast.bakery.store.name} has been informed." in seen
    assert [text for text in ASKS if text in seen] == []
    # Who wants to pay all the same can.
    assert "Pay the amount due anyway" in seen and "Send exactly" in page(made, "?more=1")
    assert "You sent 44.44 USDC" in page(made, "?more=1")
    send_transfer_back(owner(cast), str(transfer))
    assert "Waiting for payment" in page(made)


def test_an_accepted_coin_completes_the_page(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    required = Payment.objects.get(pk=made["id"]).addresses.get(asset=COIN).required_atomic
    transfer = make.stray_transfer(made["id"], COIN, required)
    accept_transfer(owner(cast), str(transfer), made["reference"])
    seen = page(made)
    assert "Paid (test)" in seen and "has been informed" not in seen


def test_a_part_that_was_paid_beside_another_coin_asks_for_nothing_more(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "underpaid")
    assert "Left to pay" in page(made)
    make.stray_transfer(made["id"], COIN, 44_440_000)
    seen = page(made)
    assert "You sent 44.44 USDC to the ETH address." in seen and "5.00" in seen
    assert [text for text in ASKS if text in seen] == []


def test_a_late_deposit_on_an_open_payment_is_shown(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    late_on_open(made["id"])
    seen = page(made)
    assert "Your payment arrived after time was up." in seen
    assert [text for text in ASKS if text in seen] == []


def test_after_the_end_the_page_names_the_coin_and_then_who_accepted_it(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, expires_in=300)
    make.advance(cast.bakery.test, 301)
    transfer = make.stray_transfer(made["id"], COIN, 44_440_000)
    seen = page(made)
    assert "This payment has expired" in seen and "You sent 44.44 USDC to the ETH address." in seen
    assert "don’t send anything to its address" not in seen and "new quote" not in seen
    accept_transfer(owner(cast), str(transfer), made["reference"])
    assert f"{cast.bakery.store.name} has accepted what you sent." in page(made)


def test_an_accepted_late_deposit_is_said_to_be_accepted(bakery: Shop) -> None:
    made = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.late_deposit(made["id"])
    accept_late(made["id"])
    assert f"{bakery.store.name} has accepted what you sent." in page(made)


def test_the_public_document_says_what_each_deposit_is(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.stray_transfer(made["id"], COIN, 44_440_000)
    (shown,) = bakery.test.get(f"/checkout/{made['reference']}").json()["transactions"]
    assert (shown["unexpected_asset"], shown["late"], shown["undecided"]) == (True, False, True)
    assert (shown["coin_symbol"], shown["address_coin_symbol"]) == ("USDC", "ETH")
    assert "from_address" not in shown


def test_a_token_is_scanned_by_its_address_and_a_native_coin_by_its_link(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    entries = {row["supported_asset"]["asset_id"]: row for row in made["payment_addresses"]}
    token, native = entries[COIN], entries["SETH"]
    assert token["qr_text"] == token["address"]
    assert token["payment_uri"].startswith("ethereum:0x0101")
    assert native["qr_text"] == native["payment_uri"]
    shown = page(made, f"?asset={COIN}")
    assert "loses the coins" in shown and "loses the coins" not in page(made, "?asset=SETH")
    for query, current in (
        (f"?asset={COIN}", "address"),
        (f"?asset={COIN}&code=link", "link"),
        ("?asset=SETH", "link"),
        ("?asset=SETH&code=address", "address"),
    ):
        html = Client().get(f"/pay/{made['reference']}{query}").content.decode()
        link = re.search(rf'<a id="code-{current}"[^>]*>', html)
        assert link is not None and "aria-current" in link[0], query


def test_paying_just_what_is_shown_is_exact_in_a_store_without_tolerance(bakery: Shop) -> None:
    store = bakery.store
    store.overpayment_tolerance_bps = 0
    store.accept_overpayments = False
    store.save(update_fields=["overpayment_tolerance_bps", "accept_overpayments"])
    made = make.payment(bakery.test, amount="9.99")
    row = Payment.objects.get(pk=made["id"]).addresses.get(asset="SETH")
    part = row.required_atomic // 3 + 1
    make.simulated(bakery.test, made["id"], None, amount_atomic=str(part), asset_id="SETH")
    checkout = bakery.test.get(f"/checkout/{made['reference']}").json()
    rest = next(
        entry["outstanding_atomic"]
        for entry in checkout["payment_addresses"]
        if entry["asset"]["asset_id"] == "SETH"
    )
    assert int(rest) + part > row.required_atomic
    body = {"amount_atomic": rest, "asset_id": "SETH", "reference": "rest"}
    done = make.simulated(bakery.test, made["id"], None, **body)
    assert (done["status"], done["state_reason"]) == ("completed", "completed_exact")
    assert done["overpayment"]["excess_atomic"] == "0"


def test_a_whole_step_more_than_is_due_is_too_much_without_tolerance(bakery: Shop) -> None:
    store = bakery.store
    store.overpayment_tolerance_bps = 0
    store.accept_overpayments = False
    store.save(update_fields=["overpayment_tolerance_bps", "accept_overpayments"])
    made = make.payment(bakery.test)
    done = make.simulated(bakery.test, made["id"], "overpaid")
    assert (done["status"], done["state_reason"]) == ("failed", "failed_overpaid")
    assert int(done["overpayment"]["excess_atomic"]) > 0
    # Two coins round up twice.
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "underpaid", asset_id="SETH")
    done = make.simulated(bakery.test, made["id"], "overpaid", asset_id=COIN, reference="two")
    assert (done["status"], done["state_reason"]) == ("failed", "failed_overpaid")
    row = Payment.objects.select_related("store").get(pk=made["id"])
    assert settle_payment(row.pk).updated_at < row.expires_at + timedelta(days=1)


def test_late_coins_that_go_back_are_not_said_to_wait_for_the_store(cast: Cast) -> None:
    made = make.payment(cast.bakery.test, expires_in=300)
    make.advance(cast.bakery.test, 400)
    make.late_deposit(made["id"])
    assert "can accept it or refund it" in page(made)
    sent = cast.bakery.test.post(f"/payments/{made['id']}/refunds", {}, key="back")
    assert sent.status_code == 201
    seen = page(made)
    assert "Your payment arrived after time was up." in seen and "is being returned to" in seen
    assert "can accept it" not in seen
    assert sent.json()[0]["destination_address"] in seen


def test_who_comes_by_the_link_of_the_email_to_an_expired_payment_finds_the_form(
    cast: Cast,
) -> None:
    """One sender is known and paid back, another one is asked for an address."""
    made = make.payment(cast.bakery.test, expires_in=300)
    make.advance(cast.bakery.test, 400)
    make.late_deposit(made["id"])
    payment = Payment.objects.get(pk=made["id"])
    at = clock.real_now()
    of_payment = {"payment": payment, "store": cast.bakery.store, "mode": "test", "created_at": at}
    HeldRefund.objects.create(
        **of_payment,
        asset_id="SETH",
        payer_address="0x" + "c1" * 20,
        amount_atomic=5,
        reason="merchant_requested",
        status="waiting",
        why="contract",
        updated_at=at,
    )
    RefundLink.objects.create(
        **of_payment,
        token_digest=hashlib.sha256(b"x" * 43).hexdigest(),
        expires_at=at + timedelta(days=1),
    )
    seen = page({"reference": f"{made['reference']}/refund/{'x' * 43}"})
    assert "Send my refund here" in seen
    assert "Where should your refund go?" in page(made)

""" "I already paid": a customer names a transaction and hears what became of it, of this payment's
alone."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.template.loader import render_to_string
from django.test import Client

from apps.chain.models import Deposit, UnmatchedTransfer
from apps.payments.models import Payment
from apps.payments.services.transaction_lookup import LookupResult, hash_in
from tests import make
from tests.cast import Shop

pytestmark = pytest.mark.django_db
HASH = "0x" + "ab" * 32


def look(made: dict[str, Any], text: str, query: str = "") -> Any:
    client = Client(enforce_csrf_checks=True)
    return client.post(f"/pay/{made['reference']}/sent{query}", {"transaction": text})


def words(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).replace("&#x27;", "'").split())


def said(made: dict[str, Any], text: str) -> str:
    answer = look(made, text)
    assert answer.status_code == 303
    return words(Client().get(answer["Location"]))


def hash_of(made: dict[str, Any]) -> str:
    return str(Deposit.objects.get(address__in=addresses(made)).tx_hash)


def addresses(made: dict[str, Any]) -> Any:
    return Payment.objects.get(pk=made["id"]).addresses.values("address_id")


PASTED: list[tuple[str, str | None]] = [
    (HASH, HASH),
    (f"  {HASH.upper().replace('0X', '0x')}\n", HASH),
    ("ab" * 32, HASH),
    (f"https://etherscan.io/tx/{HASH}#eventlog", HASH),
    (f"https://etherscan.io/tx/{HASH}?a=0x{'cd' * 32}", HASH),
    ("0x" + "ab" * 20, None),
    (HASH + "ab", None),
    (HASH[:-1], None),
    ("", None),
    ("x" * 5000, None),
    ("0x" + "zz" * 32, None),
    ("\x00", None),
    ("٠x" + "ab" * 31, None),
]


def test_a_hash_is_found_in_what_was_pasted() -> None:
    for typed, found in PASTED:
        assert hash_in(typed) == found, typed


def test_what_is_no_hash_is_said_to_be_none(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    assert "That isn’t a transaction hash." in said(made, "0x" + "ab" * 20)
    assert "That isn’t a transaction hash." in said(made, "<script>alert(1)</script>")


def test_a_payment_that_waits_for_confirmations_says_how_many(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "underpaid", confirmations=0)
    Deposit.objects.update(status="confirming", simulated_confirmations=1)
    need = Deposit.objects.get().required_confirmations
    assert f"1 of {need} confirmations on Ethereum Sepolia" in said(made, hash_of(made))


def test_a_counted_one_is_told_where_the_form_still_stands(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "underpaid")
    assert "We have your payment. It is confirmed on Ethereum Sepolia" in said(made, hash_of(made))


def test_the_answer_follows_what_happens(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "underpaid")
    tx_hash = hash_of(made)
    Deposit.objects.update(status="confirming", simulated_confirmations=1)
    shown = look(made, tx_hash)["Location"]
    assert "confirmations on" in words(Client().get(shown))
    Deposit.objects.update(status="confirmed")
    assert "It is confirmed on" in words(Client().get(shown))


def test_one_that_came_too_late_is_kept_for_the_merchant(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.advance(bakery.test, 3601)
    make.late_deposit(made["id"])
    text = said(made, hash_of(made))
    assert (
        "arrived after time was up" in text
        and "Alice's Bakery can accept it or refund it" in text
        and made["reference"] in text
    )


def test_a_failed_one_can_be_sent_again(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    make.simulated(bakery.test, made["id"], "failed")
    assert "This transaction failed." in said(made, hash_of(made))


def test_another_coin_is_set_aside_for_a_person(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    UnmatchedTransfer.objects.create(
        chain_id="sepolia",
        address_id=Payment.objects.get(pk=made["id"]).addresses.get(asset_id="SETH").address_id,
        tx_hash=HASH,
        log_index=0,
        from_address="0x" + "cd" * 20,
        amount_atomic=1,
        block_number=1,
        reason="another coin",
        detected_at=Payment.objects.get(pk=made["id"]).created_at,
    )
    assert "that is for another coin" in said(made, HASH)


def test_nothing_of_another_payment_is_told(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    other = make.payment(bakery.test)
    make.simulated(bakery.test, other["id"], "underpaid")
    text = said(made, hash_of(other))
    assert "We couldn’t find this transaction." in text and other["reference"] not in text
    strangers = look(other, hash_of(other))["Location"]
    foreign = parse_qs(urlsplit(strangers).query)["sent"][0]
    assert "We have your payment" not in words(
        Client().get(f"/pay/{made['reference']}", {"sent": foreign})
    )


def test_without_a_chain_that_has_it_the_network_is_named(bakery: Shop) -> None:
    text = said(make.payment(bakery.test), HASH)
    assert "We couldn’t find this transaction. We looked on Ethereum Sepolia" in text


def test_words_that_we_didnt_sign_are_not_shown(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    for forged in ("x", "a:b:c", "ﬀ", "0" * 5000):
        answer = Client().get(f"/pay/{made['reference']}", {"sent": forged})
        assert answer.status_code == 200, forged
        assert "We have your payment" not in words(answer) and "couldn’t find" not in words(
            answer
        ), forged


def test_the_form_stands_where_somebody_may_have_paid(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    path = f'action="/pay/{made["reference"]}/sent"'

    def shows() -> bool:
        return path in Client().get(f"/pay/{made['reference']}").content.decode()

    assert shows()
    make.simulated(bakery.test, made["id"], "underpaid")
    assert shows()
    make.simulated(bakery.test, made["id"], "exact")
    assert not shows()
    late = make.payment(bakery.test)
    make.advance(bakery.test, 3601)
    assert (
        f'action="/pay/{late["reference"]}/sent"'
        in Client().get(f"/pay/{late['reference']}").content.decode()
    )


def test_the_frame_stays_the_frame(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    query = "?embed=1&origin=https%3A%2F%2Fshop.example"
    location = look(made, HASH, query)["Location"]
    assert location.startswith(f"/pay/{made['reference']}{query}&sent=") and location.endswith(
        "#sent"
    )


def test_questions_are_limited_per_payment_and_address(bakery: Shop) -> None:
    made = make.payment(bakery.test)
    codes = [look(made, HASH).status_code for _ in range(10)]
    assert codes[0] == 303 and codes[-1] == 429
    assert Client().get(f"/pay/{made['reference']}/sent").status_code == 405
    assert Client().post("/pay/ABCDEFGHIJKLMNOP/sent", {"transaction": HASH}).status_code == 404


def test_every_answer_has_words_of_its_own(bakery: Shop) -> None:
    texts = {
        item: render_to_string(
            "hosted/_sent.html",
            {
                "sent": {"result": item, "chains": ["Base"]},
                "merchant": "M",
                "checkout": {"token": "T"},
            },
        )
        for item in LookupResult
    }
    assert len(set(texts.values())) == len(LookupResult)

"""Stories of a refund: how much may go back, where to, from which balance, and that it goes
once."""

from typing import Any

import pytest

from apps.assets.models import AcceptedAsset, Asset, Rate
from apps.ledger.selectors import balances
from apps.stores.services import change_store
from tests import make
from tests.cast import Shop

TO = "0x1111111111111111111111111111111111111111"


def needed(payment: dict[str, Any]) -> int:
    return int(payment["payment_addresses"][0]["crypto_amount_atomic"])


def ask(shop: Shop, payment: dict[str, Any], *, key: str = "k", **fields: Any) -> Any:
    return shop.test.post(
        f"/payments/{payment['id']}/refunds", {"refund": fields} if fields else {}, key=key
    )


def parts(shop: Shop) -> tuple[int, int, int]:
    balance = balances(shop.store.pk, "test")["SETH"]
    return balance.available_atomic, balance.held_atomic, balance.reserved_atomic


@pytest.fixture
def paid(bakery: Shop) -> dict[str, Any]:
    """A completed payment, in a store that has enough besides to bear a refund of the whole of
    it."""
    make.paid(bakery.test, amount="50.00")
    return make.paid(bakery.test)


def test_a_full_refund_reserves_the_whole_and_confirms_after_a_minute(
    bakery: Shop, paid: dict[str, Any]
) -> None:
    before = parts(bakery)[0]
    (refund,) = ask(bakery, paid).json()
    assert (refund["status"], refund["reason"], refund["amount_atomic"]) == (
        "pending",
        "merchant_requested",
        str(needed(paid)),
    )
    assert refund["destination_address"] == paid["transaction"]["from_address"]
    assert parts(bakery) == (before - needed(paid), 0, needed(paid))
    make.advance(bakery.test, 61)
    make.advance(bakery.test, 61)
    done = make.detail(bakery.test, paid["id"])
    assert (done["status"], done["state_reason"], done["refund_state"]) == (
        "refunded",
        "refund_completed",
        "full",
    )
    assert done["financials"]["assets"][0]["refunded_atomic"] == str(needed(paid))
    assert parts(bakery) == (before - needed(paid), 0, 0)
    (refund,) = bakery.test.get(f"/payments/{paid['id']}/refunds").json()
    assert (refund["status"], refund["attempts"]) == ("confirmed", 1)


def test_a_partial_refund_makes_the_payment_refunded_and_says_that_it_was_partial(
    bakery: Shop, paid: dict[str, Any]
) -> None:
    (refund,) = ask(bakery, paid, amount="0.001", destination_address=TO).json()
    assert (refund["amount"], refund["amount_atomic"], refund["destination_address"]) == (
        "0.001",
        str(10**15),
        TO,
    )
    make.advance(bakery.test, 61)
    make.advance(bakery.test, 61)
    done = make.detail(bakery.test, paid["id"])
    assert (done["status"], done["refund_state"]) == ("refunded", "partial")
    answer = ask(bakery, paid, key="other")
    assert (answer.status_code, answer.json()) == (422, {"error": "Payment is not refundable"})


def test_a_replay_answers_the_first_refund(bakery: Shop, paid: dict[str, Any]) -> None:
    first = ask(bakery, paid, amount="0.001")
    again = ask(bakery, paid, amount="0.002")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_request_while_one_is_under_way_answers_that_one(
    bakery: Shop, paid: dict[str, Any]
) -> None:
    first = ask(bakery, paid, amount="0.001").json()
    assert ask(bakery, paid, key="other", amount="0.002").json() == [
        {**first[0], "refund_in_progress": True}
    ]


def test_fees_are_not_given_back_so_a_full_refund_needs_the_difference(bakery: Shop) -> None:
    alone = make.paid(bakery.test)
    answer = ask(bakery, alone)
    assert (answer.status_code, answer.json()) == (422, {"error": "Insufficient balance to refund"})
    assert bakery.test.get(f"/payments/{alone['id']}/refunds").json() == []


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"amount": "99"}, "Amount exceeds the refundable balance"),
    ({"amount": "0"}, "amount must be greater than zero"),
    ({"amount": "-1"}, "amount must be a decimal string"),
    ({"amount": "1e-3"}, "amount must be a decimal string"),
    ({"amount": 1}, "amount must be a decimal string"),
    ({"amount": "0.0000000000000000001"}, "amount must be a decimal string"),
    ({"asset_id": "ETH"}, "Payment did not receive this asset"),
    ({"asset_id": "NOPE"}, "Payment did not receive this asset"),
    ({"destination_address": "0x12"}, "Destination address is not valid for Ethereum Sepolia"),
    (
        {"destination_address": "0x" + "0" * 40},
        "Destination address is not valid for Ethereum Sepolia",
    ),
    (
        {"destination_address": "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238"},
        "Destination address is not valid for Ethereum Sepolia",
    ),
    (
        {"destination_address": "0xF39fd6e51aad88F6F4ce6aB8827279cffFb92266"},
        "Destination address is not valid for Ethereum Sepolia",
    ),
]


def test_what_a_refund_refuses(bakery: Shop, paid: dict[str, Any]) -> None:
    for fields, sentence in REFUSED:
        answer = ask(bakery, paid, **fields)
        assert (answer.status_code, answer.json()) == (422, {"error": sentence}), fields


def test_a_refund_never_goes_to_an_address_of_this_service(
    bakery: Shop, paid: dict[str, Any]
) -> None:
    answer = ask(bakery, paid, destination_address=paid["payment_addresses"][0]["address"])
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "Destination address belongs to this service"},
    )


def test_the_key_is_required(bakery: Shop, paid: dict[str, Any]) -> None:
    answer = bakery.test.post(f"/payments/{paid['id']}/refunds", {})
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "Idempotency-Key header is required"},
    )


def test_an_unpaid_payment_is_not_refundable(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    assert ask(bakery, payment).json() == {"error": "Payment is not refundable"}
    make.advance(bakery.test, 3601)
    assert ask(bakery, payment).json() == {"error": "Nothing left to refund"}


def test_a_rejected_overpayment_goes_back_whole_by_itself(bakery: Shop) -> None:
    change_store(bakery.store, accept_overpayments=False)
    failed = make.simulated(bakery.test, make.payment(bakery.test)["id"], "overpaid")
    (refund,) = bakery.test.get(f"/payments/{failed['id']}/refunds").json()
    assert (refund["reason"], refund["amount_atomic"]) == (
        "failed_overpaid",
        failed["simulated_payment"]["amount_atomic"],
    )
    assert parts(bakery) == (0, 0, int(refund["amount_atomic"]))
    make.advance(bakery.test, 61)
    make.advance(bakery.test, 61)
    done = make.detail(bakery.test, failed["id"])
    assert (done["status"], done["refund_state"]) == ("refunded", "full")
    assert parts(bakery) == (0, 0, 0)


def test_two_payers_of_a_rejected_payment_get_their_own_shares(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    for n, part in enumerate((3, 5)):
        make.simulated(
            bakery.test,
            payment["id"],
            None,
            amount_atomic=str(needed(payment) // part),
            reference=str(n),
        )
    make.advance(bakery.test, 3601)
    refunds = bakery.test.get(f"/payments/{payment['id']}/refunds").json()
    assert sorted(int(refund["amount_atomic"]) for refund in refunds) == sorted(
        [needed(payment) // 3, needed(payment) // 5]
    )
    assert len({refund["destination_address"] for refund in refunds}) == 2


def test_a_late_deposit_can_be_refunded_whole_and_only_whole(bakery: Shop) -> None:
    payment = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.simulated(bakery.test, payment["id"], "exact", late=True)
    assert ask(bakery, payment, amount="0.0001").json() == {
        "error": "Amount is only valid for completed payments"
    }
    (refund,) = ask(bakery, payment).json()
    assert refund["amount_atomic"] == str(needed(payment))
    assert parts(bakery) == (0, 0, needed(payment))


def test_a_second_late_deposit_goes_back_to_who_sent_it_and_not_to_the_first_payer_again(
    bakery: Shop,
) -> None:
    payment = make.payment(bakery.test, expires_in=300)
    make.advance(bakery.test, 301)
    make.simulated(bakery.test, payment["id"], None, late=True, reference="a", amount_atomic="5000")
    (first,) = ask(bakery, payment, key="a").json()
    late = make.simulated(
        bakery.test, payment["id"], None, late=True, reference="b", amount_atomic="7000"
    )
    make.advance(bakery.test, 61)
    assert make.detail(bakery.test, payment["id"])["status"] == "refunded"
    second = next(
        item for item in ask(bakery, payment, key="b").json() if item["id"] != first["id"]
    )
    payer = next(
        late_deposit["from_address"]
        for late_deposit in late["late_deposits"]
        if late_deposit["amount_atomic"] == "7000"
    )
    assert (second["amount_atomic"], second["destination_address"]) == ("7000", payer)


def second_test_asset(shop: Shop) -> str:
    """Another coin of test mode, which the store takes too."""
    asset = Asset.objects.get(pk="SETH")
    asset.pk = "SETH_SECOND"
    asset.token_standard = "ERC20"
    asset.contract_address = "0x" + "03" * 20
    asset.position = 99
    asset.pays_fees = False
    asset.save(force_insert=True)
    for rate in Rate.objects.filter(asset_id="SETH"):
        rate.pk = None
        rate.asset_id = asset.pk
        rate.save(force_insert=True)
    AcceptedAsset.objects.create(
        store=shop.store, mode="test", asset=asset, created_at=shop.store.created_at
    )
    return str(asset.pk)


def test_a_part_of_a_payment_in_two_assets_needs_the_asset_named(bakery: Shop) -> None:
    second = second_test_asset(bakery)
    payment = make.payment(bakery.test, amount="20.00")
    make.simulated(bakery.test, payment["id"], "underpaid", reference="first", asset_id="SETH")
    make.simulated(bakery.test, payment["id"], "exact", reference="second", asset_id=second)
    make.funded(bakery.test)
    assert make.detail(bakery.test, payment["id"])["status"] == "completed"
    refused = bakery.test.post(f"/payments/{payment['id']}/refunds", {"amount": "0.0001"}, key="a")
    assert (refused.status_code, refused.json()) == (
        422,
        {"error": "asset_id is required when a payment received several assets"},
    )
    taken = bakery.test.post(
        f"/payments/{payment['id']}/refunds", {"amount": "0.0001", "asset_id": "SETH"}, key="b"
    )
    assert [row["asset_id"] for row in taken.json()] == ["SETH"]

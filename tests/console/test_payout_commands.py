"""The operator's commands about payouts: destinations, caps, and a person's decision."""

import base64
import json
import os
from typing import Any

import pytest
from django.core.management import call_command

from apps.payouts.models import Destination, Payout, StorePayoutCap
from apps.payouts.services.destinations import account_of
from apps.stores.models import AuditEntry
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast, Shop


def run(capsys: Any, *arguments: str) -> Any:
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def refused(capsys: Any, *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        call_command(*arguments, "--json")
    assert stop.value.code == 1
    told: str = capsys.readouterr().err.strip()
    assert told and "\n" not in told
    return told


@pytest.mark.parametrize("network", ["sepolia", "Sepolia", "SETH"])
def test_a_wallet_is_saved_by_its_network_or_its_chains_symbol(
    bakery: Shop, capsys: Any, network: str
) -> None:
    address = make.fresh_address()
    made = run(
        capsys,
        "create_payout_destination",
        "--store",
        str(bakery.store.pk),
        "--mode",
        "test",
        "--wallet",
        f"{network}:{address}",
    )
    row = Destination.objects.get(pk=made["id"])
    assert (made["kind"], row.network, row.address, row.mode) == (
        "wallet",
        "sepolia",
        address,
        "test",
    )


def test_a_bank_account_is_saved_sealed_and_verified_when_told_so(
    bakery: Shop, capsys: Any
) -> None:
    asked = (
        "create_payout_destination",
        "--store",
        str(bakery.store.pk),
        "--mode",
        "live",
        "--bank",
        "EUR",
    )
    plain = run(capsys, *asked)
    known = run(
        capsys, *asked, "--verified", "--account", "GB29NWBK60161331926819", "--holder", "Alice"
    )
    assert [
        Destination.objects.get(pk=item["id"]).verified_at is not None for item in (plain, known)
    ] == [False, True]
    row = Destination.objects.get(pk=known["id"])
    assert (account_of(row), row.holder, row.account_hint) == (
        "GB29NWBK60161331926819",
        "Alice",
        "6819",
    )


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        (("--wallet", "sepolia"), "Use the form NETWORK:ADDRESS for a wallet"),
        (("--wallet", "mars:0x1"), "Network is not supported"),
        (("--wallet", "sepolia:0x1"), "Destination address is not valid for Ethereum Sepolia"),
        (("--wallet", "bsc:0x1"), "That is not an address of this network"),
        (("--bank", "XXX"), "Currency is not supported"),
        (("--bank", "EUR", "--account", "DE00"), "That is not an account number"),
    ],
)
def test_what_is_no_destination_is_refused_in_one_line(
    bakery: Shop, capsys: Any, where: tuple[str, ...], sentence: str
) -> None:
    assert (
        refused(
            capsys,
            "create_payout_destination",
            "--store",
            str(bakery.store.pk),
            "--mode",
            "test",
            *where,
        )
        == sentence
    )


def test_caps_are_set_and_taken_away_per_asset_and_stand_in_the_audit_log(
    bakery: Shop, capsys: Any
) -> None:
    told = run(
        capsys,
        "set_store",
        "--store",
        str(bakery.store.pk),
        "cap.SETH.per_tx=50000",
        "cap.SETH.daily=90000",
        "kyc=true",
    )
    cap = StorePayoutCap.objects.get()
    assert (cap.asset_id, cap.per_tx_atomic, cap.daily_atomic) == ("SETH", 50000, 90000)
    assert told["changed"] == ["cap.SETH.daily", "cap.SETH.per_tx", "kyc"]
    run(capsys, "set_store", "--store", str(bakery.store.pk), "cap.SETH.per_tx=none")
    cap.refresh_from_db()
    assert (cap.per_tx_atomic, cap.daily_atomic) == (None, 90000)
    assert (
        AuditEntry.objects.filter(action="payout_cap.changed", store_id=bakery.store.pk).count()
        == 3
    )


@pytest.mark.parametrize(
    "pair",
    [
        "cap.NOPE.per_tx=5",
        "cap.SETH.per_tx=x",
        "cap.SETH.hourly=5",
        "cap.SETH.daily=-1",
        "cap.SETH=5",
    ],
)
def test_what_is_no_cap_changes_nothing(bakery: Shop, capsys: Any, pair: str) -> None:
    refused(capsys, "set_store", "--store", str(bakery.store.pk), pair, "kyc=true")
    bakery.store.refresh_from_db()
    assert not StorePayoutCap.objects.exists() and bakery.store.kyc_confirmed_at is None


def test_a_person_decides_by_command(cast: Cast, capsys: Any) -> None:
    shop = cast.bakery
    make.funded(shop.test)
    change_store(shop.store, payout_review_threshold_cents=0)
    first, second = (make.payout(shop.test, 10**16)["id"] for _ in range(2))
    assert run(capsys, "review", "payout", first, "approve")["status"] == "pending"
    assert refused(capsys, "review", "payout", second, "reject") == "A rejection needs a reason"
    assert (
        run(capsys, "review", "payout", second, "reject", "--reason", "odd")["status"] == "failed"
    )
    assert refused(capsys, "review", "payout", second, "approve") == "Payout is not in review"
    assert (
        refused(capsys, "review", "payout", str(shop.store.pk), "approve")
        == f"There is no payout {shop.store.pk}"
    )
    assert Payout.objects.get(pk=second).funds == "returned"
    decisions = AuditEntry.objects.filter(action__startswith="payout.").values_list(
        "action", flat=True
    )
    assert set(decisions) == {"payout.approved", "payout.rejected"}


def test_account_numbers_are_sealed_anew_with_the_other_secrets(
    bakery: Shop, capsys: Any, settings: Any
) -> None:
    asked = (
        "create_payout_destination",
        "--store",
        str(bakery.store.pk),
        "--mode",
        "live",
        "--bank",
        "EUR",
    )
    row_id = run(capsys, *asked)["id"]
    old = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [f"new:{base64.urlsafe_b64encode(os.urandom(32)).decode()}", *old]
    assert (
        run(capsys, "rotate_encryption_key")["resealed"]["payouts_destination.account_sealed"] == 1
    )
    settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[:1]
    assert account_of(Destination.objects.get(pk=row_id)) == "DE89370400440532013000"

"""`treasury`: what operators put into a hot wallet is booked once, as the chain tells it;
corrections carry a name and a reason."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset
from apps.audit import verify
from apps.chain.models import HotWallet
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.stores.models import AuditEntry, User
from apps.stores.services import create_user
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain
from tests.chain.proxy import Proxy

pytestmark = pytest.mark.chain
HOT = "0x" + "ab" * 20


def run(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("treasury", *arguments, "--json", stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def refused(capsys: Any, *arguments: str) -> str:
    with pytest.raises(SystemExit):
        call_command("treasury", *arguments, "--json")
    return str(capsys.readouterr().err)


@pytest.fixture
def staff(db: None) -> User:
    return create_user("sam@example.com", "pw-0123456789", name="Sam", is_staff=True)


@pytest.fixture
def wallet(chain: LocalChain, staff: User) -> HotWallet:
    return HotWallet.objects.create(chain_id="sepolia", address=HOT, next_nonce=0)


def fund(tx_hash: str, *more: str) -> tuple[str, ...]:
    return (
        "fund",
        "--network",
        "sepolia",
        "--hash",
        tx_hash,
        *(more or ("--staff", "sam@example.com")),
    )


def test_coins_put_into_the_hot_wallet_are_booked_once_and_then_the_chain_agrees(
    chain: LocalChain, watcher: Reader, wallet: HotWallet, capsys: Any
) -> None:
    token = chain.deploy_token()
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=token)
    native = chain.pay(HOT, 1000)
    minted = chain.mint(token, HOT, 77)
    chain.mine(3)
    watcher.read()
    assert verify.findings(check_chain=True)

    assert run(*fund(native))["booked"] == {"SETH": "1000"}
    assert run(*fund(minted.upper().replace("X", "x")))["booked"] == {"USDC_SETH": "77"}

    assert auditing.breaches(check_chain=True) == []
    assert "booked already" in refused(capsys, *fund(native))
    assert account_balance(None, "test", "SETH", "treasury") == 1000
    assert {
        "mode": "test",
        "asset_id": "SETH",
        "account": "custody_hot",
        "balance_atomic": "-1000",
    } in run()["accounts"]
    assert AuditEntry.objects.get(action="hot_wallet.funded", target_name=native).details == {
        "SETH": 1000
    }


def test_another_node_is_asked_for_a_receipt_that_one_lacks(
    chain: LocalChain, watcher: Reader, proxy: Proxy, wallet: HotWallet, settings: Any, capsys: Any
) -> None:
    tx_hash = chain.pay(HOT, 1000)
    chain.mine(3)
    watcher.read()
    proxy.lie("eth_getTransactionReceipt", lambda _: None)
    assert "knows no such transaction" in refused(capsys, *fund(tx_hash))
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [proxy.url, chain.url]}
    assert run(*fund(tx_hash))["booked"] == {"SETH": "1000"}


def test_a_receipt_of_another_branch_funds_nothing(
    chain: LocalChain, watcher: Reader, proxy: Proxy, wallet: HotWallet, capsys: Any
) -> None:
    tx_hash = chain.pay(HOT, 1000)
    chain.mine(3)
    proxy.lie("eth_getTransactionReceipt", lambda told: {**told, "blockHash": "0x" + "0a" * 32})
    assert "disagree about the block" in refused(capsys, *fund(tx_hash))
    assert not Movement.objects.exists()


def test_what_did_not_fund_the_wallet_is_refused_with_the_reason(
    chain: LocalChain, watcher: Reader, wallet: HotWallet, bakery: Shop, capsys: Any
) -> None:
    [way] = [
        payment_address
        for payment_address in make.payment(bakery.test)["payment_addresses"]
        if payment_address["supported_asset"]["asset_id"] == "SETH"
    ]
    elsewhere = chain.pay("0x" + "cd" * 20, 5)
    deposit = way["address"].lower()
    chain.call("anvil_setBalance", deposit, hex(10**18))
    chain.call("anvil_impersonateAccount", deposit)
    ours = chain.wait(
        chain.call("eth_sendTransaction", {"from": deposit, "to": HOT, "value": "0x5"})
    )
    chain.mine(3)
    young = chain.pay(HOT, 5)

    assert "nothing that can be read" in refused(capsys, *fund(elsewhere))
    assert "the service's own" in refused(capsys, *fund(ours))
    assert "confirmations: try again later" in refused(capsys, *fund(young))
    assert "knows no such transaction" in refused(capsys, *fund("0x" + "0" * 64))
    assert "Give the hash of the transaction" in refused(capsys, *fund("0x12"))
    assert "give --network" in refused(
        capsys, "fund", "--network", "base", "--hash", young, "--staff", "sam@example.com"
    )
    chain.mine(3)
    assert "Give --staff" in refused(capsys, *fund(young, "--staff", bakery.owner.email))
    assert not Movement.objects.exists()


def by_two(staff: User) -> tuple[str, ...]:
    return ("--staff", staff.email, "--approved-by", make.clerk().email)


CORRECTION = (
    "--asset",
    "SETH",
    "--account",
    "custody_hot",
    "--amount-atomic",
    "-5",
    "--reason",
    "A fee of the exchange",
    "--key",
    "one",
)


def test_a_correction_is_booked_once_against_the_treasury_with_a_name_and_a_reason(
    staff: User, capsys: Any
) -> None:
    assert run("correct", *CORRECTION, *by_two(staff))["state"] == "approved"

    assert (
        account_balance(None, "test", "SETH", "custody_hot"),
        account_balance(None, "test", "SETH", "treasury"),
    ) == (-5, 5)
    made = Movement.objects.get(kind="correction")
    assert (made.reason, made.staff_user) == ("A fee of the exchange", staff)
    assert AuditEntry.objects.get(action="books.corrected").reason == "A fee of the exchange"
    assert "booked already" in refused(capsys, "correct", *CORRECTION, "--staff", staff.email)
    assert auditing.breaches() == []


def test_a_correction_that_one_asked_for_waits_for_another(staff: User, capsys: Any) -> None:
    asked = run("correct", *CORRECTION, "--staff", staff.email)
    assert asked["state"] == "pending" and not Movement.objects.exists()
    assert "waits among the staff requests" in refused(
        capsys, "correct", *CORRECTION, "--staff", staff.email
    )
    assert "not the one who asked" in refused(
        capsys,
        "correct",
        *CORRECTION,
        "--key",
        "b",
        "--staff",
        staff.email,
        "--approved-by",
        staff.email,
    )
    out = StringIO()
    call_command(
        "staff",
        "approve",
        asked["request"],
        "--staff",
        make.clerk().email,
        "--reason",
        "Seen",
        "--json",
        stdout=out,
    )
    assert json.loads(out.getvalue())["state"] == "approved"
    assert account_balance(None, "test", "SETH", "custody_hot") == -5


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (("--reason", " "), "give a reason"),
        (("--asset", "GOLD"), "give --asset"),
        (("--amount-atomic", "0"), "isn't zero"),
        (("--amount-atomic", "1.5"), "isn't zero"),
        (("--account", "available"), "can't be corrected"),
        (("--account", "available", "--store", "{store}"), "below zero"),
        (("--account", "held", "--store", "{store}"), "corrected for its payment"),
        (
            ("--account", "held", "--store", "{store}", "--payment", "NOSUCHPAYMENT123"),
            "no payment",
        ),
        (("--staff", "nobody@example.com"), "Give --staff"),
    ],
)
def test_a_correction_that_can_not_be_is_refused(
    staff: User, bakery: Shop, capsys: Any, changed: tuple[str, ...], says: str
) -> None:
    arguments = [
        item.format(store=bakery.store.pk)
        for item in ("correct", *CORRECTION, *by_two(staff), *changed)
    ]
    assert says in refused(capsys, *arguments)
    assert not Movement.objects.exists()

"""Cold storage on a real chain: what the hot wallet holds above its float goes there, what is
promised stays, and the books agree."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset
from apps.audit.custody import COLD_NAME
from apps.chain.keys import bip32, bip39, keystores
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import cold_storage, lanes, outflow, sender, signing_rounds
from apps.core import clock
from apps.ledger import movements
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.payments.services.cold import book_cold, move_to_cold
from apps.payouts.services.progress import advance_payouts
from apps.stores.services import create_user
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain

pytestmark = pytest.mark.chain
ETHER = 10**18
DOLLAR = 10**6
COLD = "0x" + "c0" * 20


class Desk:
    """A hot wallet with a hundred coins on a chain of its own, as the books have it, and a float of
    five."""

    def __init__(self, chain: LocalChain, watcher: Reader) -> None:
        self.chain = chain
        self.watcher = watcher
        self.hot = keystores.hot_key("test").address
        chain.call("anvil_setBalance", self.hot, hex(100 * ETHER))
        make.service_coins("SETH", 100 * ETHER)
        self.work()

    def work(self) -> None:
        signing_rounds.sign_due()
        sender.run_due()
        self.chain.mine(3)
        self.watcher.read()
        sender.run_due()
        book_cold()

    def balance(self, address: str) -> int:
        return int(self.chain.call("eth_getBalance", address, "latest"), 16)

    def sent(self) -> list[OutgoingTransaction]:
        return list(OutgoingTransaction.objects.filter(purpose="cold").order_by("requested_at"))


@pytest.fixture
def desk(chain: LocalChain, watcher: Reader, settings: Any) -> Desk:
    settings.COLD_FLOATS = {"SETH": "5:8"}
    settings.COLD_ADDRESSES = {"SETH": COLD}
    signing_rounds.introduce()
    return Desk(chain, watcher)


def booked(kind: str, asset_id: str = "SETH") -> int:
    return account_balance(None, "test", asset_id, kind)


def test_what_is_above_the_float_goes_to_cold_storage_once_and_stays_in_custody(desk: Desk) -> None:
    move_to_cold()
    move_to_cold()
    desk.work()

    [row] = desk.sent()
    assert (row.status, row.to_address, desk.balance(COLD)) == (
        "confirmed",
        COLD,
        row.amount_atomic,
    )
    assert 94 * ETHER < row.amount_atomic <= 95 * ETHER
    assert booked("custody_cold") == -row.amount_atomic
    assert booked("custody_hot") == -desk.balance(desk.hot)
    assert booked("treasury") == 100 * ETHER
    assert auditing.breaches(check_chain=True) == []
    move_to_cold()
    assert len(desk.sent()) == 1


def test_tokens_go_by_their_own_line(desk: Desk, settings: Any) -> None:
    settings.COLD_FLOATS = {"USDC_SETH": "200"}
    settings.COLD_ADDRESSES = {"USDC_SETH": COLD, "SETH": COLD}
    token = desk.chain.deploy_token()
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=token)
    desk.chain.mint(token, desk.hot, 399 * DOLLAR)
    make.service_coins("USDC_SETH", 399 * DOLLAR)
    move_to_cold()
    assert desk.sent() == []  # twice the float, when the line doesn't say from where on

    desk.chain.mint(token, desk.hot, DOLLAR)
    make.service_coins("USDC_SETH", DOLLAR)
    move_to_cold()
    desk.work()

    assert booked("custody_cold", "USDC_SETH") == -200 * DOLLAR
    assert auditing.breaches(check_chain=True) == []


def test_what_payouts_wait_for_stays_wherever_they_have_got_to(desk: Desk, bakery: Shop) -> None:
    make.store_coins(bakery.store, "SETH", 90 * ETHER)
    make.payout(
        bakery.test, 90 * ETHER
    )  # waits for a person: it is above the limit of one transaction
    advance_payouts()
    desk.work()

    move_to_cold()

    [row] = desk.sent()
    assert 4 * ETHER < row.amount_atomic <= 5 * ETHER  # of a hundred, less ninety, less the float


def test_a_payout_that_begins_to_wait_after_it_was_asked_for_comes_first(desk: Desk) -> None:
    move_to_cold()
    waiting = sender.request(
        chain_id="sepolia",
        asset_id="SETH",
        to=make.fresh_address(),
        amount_atomic=1,
        purpose="refund",
        reference="first",
        mode="test",
        at=clock.real_now(),
    )
    lanes.wait([waiting], Reason.SHORT, lanes.WaitsFor.FUNDS, clock.real_now())

    signing_rounds.sign_due()

    [row] = desk.sent()
    assert (row.status, row.reason_code) == ("failed", Reason.PAYOUTS_WAIT)


def test_coins_that_are_gone_meanwhile_are_not_fetched_for_it(desk: Desk) -> None:
    move_to_cold()
    desk.chain.call("anvil_setBalance", desk.hot, hex(50 * ETHER))
    desk.work()

    [row] = desk.sent()
    assert (row.status, row.reason_code, desk.balance(COLD)) == ("failed", Reason.HOLDS_LESS, 0)
    assert not Movement.objects.filter(kind="cold_transfer_sent").exists()
    move_to_cold()
    desk.work()
    assert 44 * ETHER < desk.balance(COLD) <= 45 * ETHER


def test_an_xpub_gives_each_transfer_an_address_of_its_own(desk: Desk, settings: Any) -> None:
    root = bip32.Private.of_seed(bip39.seed_of(bip39.new_words())).derive("m/44'/60'/0'")
    settings.COLD_ADDRESSES = {"SETH": root.public.text()}
    for _ in range(2):
        move_to_cold()
        desk.work()
        desk.chain.call("anvil_setBalance", desk.hot, hex(100 * ETHER))
    first, second = (row.to_address for row in desk.sent())
    assert [first, second] == [
        cold_storage.address_of(root.derive(f"m/0/{number}").public.key) for number in range(2)
    ]
    assert cold_storage.addresses("SETH") == {first, second, cold_storage.address("SETH", 2)}


def test_no_row_adds_an_address(desk: Desk) -> None:
    """Approved as it may be: the signer believes the settings of its own environment."""
    wanted = [
        ("0x" + "d1" * 20, "SETH:0", "The destination is not the asset's cold address"),
        (COLD, "ETH:0", "It is no transfer to cold storage"),
        (COLD, "SETH:x", "It is no transfer to cold storage"),
    ]
    rows = [
        sender.request(
            chain_id="sepolia",
            asset_id="SETH",
            to=to,
            amount_atomic=ETHER,
            purpose="cold",
            reference=reference,
            mode="test",
            at=clock.real_now(),
        )
        for to, reference, _ in wanted
    ]
    desk.work()
    for row, (to, _, complaint) in zip(rows, wanted, strict=True):
        row.refresh_from_db()
        assert (row.status, row.reason, desk.balance(to)) == ("failed", complaint, 0)


def test_no_cap_and_no_alarm_counts_it(desk: Desk, settings: Any) -> None:
    settings.SIGNER_CAPS = ["SETH=1:1"]
    settings.SIGNER_ALARMS = ["SETH=1"]
    move_to_cold()
    desk.work()
    [row] = desk.sent()
    assert row.status == "confirmed"
    [told] = [
        item for item in outflow.by_asset("test", clock.real_now()) if item.asset.pk == "SETH"
    ]
    assert (told.day_atomic, told.promised_atomic) == (0, 0)


def test_what_comes_back_is_no_new_float_and_is_booked_once(desk: Desk, capsys: Any) -> None:
    create_user("sam@example.com", "pw-0123456789", name="Sam", is_staff=True)
    move_to_cold()
    desk.work()
    before = booked("custody_cold")
    desk.chain.call("anvil_impersonateAccount", COLD)
    back = desk.chain.wait(
        desk.chain.call(
            "eth_sendTransaction", {"from": COLD, "to": desk.hot, "value": hex(10 * ETHER)}
        )
    )
    desk.chain.call(
        "anvil_setBalance", COLD, hex(-before - 10 * ETHER)
    )  # whoever keeps it has paid the gas from elsewhere
    desk.work()

    fund = (
        "treasury",
        "fund",
        "--network",
        "sepolia",
        "--hash",
        back,
        "--staff",
        "sam@example.com",
        "--json",
    )
    call_command(*fund, stdout=StringIO())
    with pytest.raises(SystemExit):
        call_command(*fund)

    assert "booked already" in capsys.readouterr().err
    assert (booked("custody_cold"), booked("treasury")) == (before + 10 * ETHER, 100 * ETHER)
    assert auditing.breaches(check_chain=True) == []


def test_coins_that_are_missing_in_cold_storage_are_found(desk: Desk) -> None:
    move_to_cold()
    desk.work()
    desk.chain.call("anvil_setBalance", COLD, hex(desk.balance(COLD) - 5))
    desk.chain.mine(3)
    desk.watcher.read()

    [found] = auditing.breaches(check_chain=True)

    assert (found.invariant, found.detail[-4:]) == (COLD_NAME, ": -5")


def test_a_stopped_wallet_moves_nothing(desk: Desk) -> None:
    call_command("sending", "stop", "all", "--json", stdout=StringIO())
    assert (move_to_cold(), desk.sent()) == (0, [])


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"COLD_ADDRESSES": {"SETH": "0x12"}}, "COLD_ADDRESSES names no address for SETH"),
        (
            {"COLD_ADDRESSES": {"SETH": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"}},
            "COLD_ADDRESSES names no address for SETH",
        ),
        ({"COLD_ADDRESSES": {"SETH": "xpub123"}}, "extended key"),
        ({"COLD_FLOATS": {"SETH": "8:5"}}, "COLD_FLOATS can't be read for SETH"),
        ({"COLD_FLOATS": {"GOLD": "1"}}, "GOLD, which is no asset"),
        ({"WITHDRAWAL_ADDRESSES": ["0x12"]}, "0x12, which is no address"),
    ],
)
def test_a_signer_with_a_mistyped_list_does_not_start(
    db: None, settings: Any, capsys: Any, changed: dict[str, Any], complaint: str
) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)
    with pytest.raises(SystemExit):
        call_command("signer", "--once")
    assert complaint in capsys.readouterr().err


def test_the_books_by_example(db: None) -> None:
    """A hundred in the hot wallet, sixty to the safe, ten back: what is owed to whom never
    moves."""
    make.service_coins("SETH", 100)
    row = OutgoingTransaction.objects.create(
        mode="test",
        chain_id="sepolia",
        asset_id="SETH",
        purpose="cold",
        reference="SETH:0",
        to_address=COLD,
        amount_atomic=60,
        requested_at=clock.real_now(),
    )
    of = {"mode": "test", "asset_id": "SETH", "at": clock.real_now()}
    movements.cold_transfer_sent(
        **of, outgoing_id=row.pk, amount_atomic=60, gas_asset_id="SETH", gas_atomic=2
    )
    assert [
        booked(kind) for kind in ("custody_hot", "custody_cold", "network_fees", "treasury")
    ] == [-38, -60, -2, 100]
    movements.cold_returned(**of, tx_hash="0x1", amount_atomic=10)
    assert [
        booked(kind) for kind in ("custody_hot", "custody_cold", "network_fees", "treasury")
    ] == [-48, -50, -2, 100]

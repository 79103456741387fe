"""Several hot wallets of a chain: they share what leaves, none holds up another, and what one has
sent none sends again."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from apps.assets.models import Asset, Chain
from apps.chain.encoding.transactions import Transaction
from apps.chain.keys import keystores
from apps.chain.keys.seeds import Seed
from apps.chain.models import (
    HotWallet,
    OutgoingTransaction,
    SignedTransaction,
    UndoneTransaction,
    UnknownTransaction,
)
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import KeystoreError, key_name
from apps.chain.sending import hot_wallets, sender, signing_rounds, undone
from apps.chain.sending.signer import ChainSigner
from apps.chain.sending.signing_lanes import ensure_wallets
from apps.core import clock
from apps.core.process.published_secrets import CHAIN_KEYS, DEMO_MNEMONIC
from dev.demo.chain import DemoWallet
from tests.forks import Forks
from tests.sending.conftest import ETHER, TOKEN, World, forked_worker
from tests.sending.test_faults import kill_at, request_to

pytestmark = pytest.mark.chain
SECOND = Seed(DEMO_MNEMONIC).hot_key("test", 1)
DOLLAR = 10**6


def used(world: World, address: str) -> int:
    return int(world.rpc("eth_getTransactionCount", address, "latest"), 16)


def lane(number: int) -> HotWallet:
    return HotWallet.objects.get(chain="sepolia", number=number)


def now(row: OutgoingTransaction) -> OutgoingTransaction:
    return OutgoingTransaction.objects.get(pk=row.pk)


@pytest.fixture
def two(world: World, settings: Any) -> World:
    """Two wallets with coins. The chain outlives a test, so the second one's nonce is set."""
    settings.SIGNER_LANES = {"sepolia": 2}
    world.rpc("anvil_setBalance", SECOND.address, hex(100 * ETHER))
    HotWallet.objects.create(
        chain_id="sepolia",
        number=1,
        address=SECOND.address,
        next_nonce=used(world, SECOND.address),
    )
    signing_rounds.introduce()
    return world


def senders(rows: list[OutgoingTransaction]) -> Counter[str]:
    found = OutgoingTransaction.objects.filter(pk__in=[row.pk for row in rows])
    return Counter(found.values_list("from_address", flat=True))


def statuses(rows: list[OutgoingTransaction]) -> set[str]:
    found = OutgoingTransaction.objects.filter(pk__in=[row.pk for row in rows])
    return set(found.values_list("status", flat=True))


class TestSharing:
    def test_twelve_transfers_are_shared_evenly_and_each_arrives_once(self, two: World) -> None:
        first = {number: lane(number).next_nonce for number in (0, 1)}
        two.automine(False)
        rows = [two.ask(1000 + number) for number in range(12)]
        two.work()
        assert senders(rows) == {two.hot: 6, SECOND.address: 6}
        two.automine(True)
        two.finish()
        assert statuses(rows) == {"confirmed"}
        assert {two.balance(row.to_address) - row.amount_atomic for row in rows} == {0}
        for number, address in ((0, two.hot), (1, SECOND.address)):
            assert lane(number).next_nonce == used(two, address) == first[number] + 6

    @pytest.mark.whole
    def test_signers_at_once_use_each_nonce_of_a_wallet_once(self, two: World) -> None:
        first = {number: lane(number).next_nonce for number in (0, 1)}
        rows = [two.ask(1) for _ in range(20)]

        def work(_: int) -> None:
            try:
                two.work()
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        two.finish()
        assert statuses(rows) == {"confirmed"}
        for number, address in ((0, two.hot), (1, SECOND.address)):
            nonces = OutgoingTransaction.objects.filter(from_address=address).values_list(
                "nonce", flat=True
            )
            assert sorted(nonces) == list(range(first[number], lane(number).next_nonce))

    def test_the_cap_of_a_day_is_of_both_together(self, two: World, settings: Any) -> None:
        settings.SIGNER_CAPS = ["SETH=1:1"]
        rows = [two.ask(ETHER * 4 // 10) for _ in range(4)]
        two.finish()
        assert sorted(now(row).status for row in rows) == [
            "confirmed",
            "confirmed",
            "review",
            "review",
        ]

    def test_one_lane_is_what_there_was(self, world: World) -> None:
        rows = [world.ask(1) for _ in range(3)]
        world.finish()
        assert senders(rows) == {world.hot: 3}
        [wallet] = HotWallet.objects.all()
        assert (wallet.pk, wallet.number) == ("sepolia", 0)

    def test_a_wallet_that_lacks_a_coin_leaves_it_to_the_other(
        self, two: World, token: str
    ) -> None:
        """The token's thousand are in the first wallet."""
        rows = [two.ask(10 * DOLLAR, asset_id=TOKEN) for _ in range(4)]
        coins = [two.ask(1) for _ in range(4)]
        two.finish()
        assert senders(rows) == {two.hot: 4}
        assert senders(coins) == {SECOND.address: 4}
        assert statuses(rows + coins) == {"confirmed"}

    @pytest.mark.whole
    def test_what_no_wallet_could_pay_waits_while_others_leave(
        self, two: World, token: str, settings: Any
    ) -> None:
        settings.SIGNER_CAPS = ["SETH=10:100", f"{TOKEN}=5000:50000"]
        much = two.ask(1500 * DOLLAR, asset_id=TOKEN)
        little = two.ask(10 * DOLLAR, asset_id=TOKEN)
        two.finish()
        assert (now(much).status, now(much).waits_for) == ("requested", "funds")
        assert now(little).status == "confirmed"
        assert lane(0).short_since is not None

        wallet = DemoWallet(two.url, CHAIN_KEYS["test"])
        wallet.receipt(wallet.mint(token, SECOND.address, 1500 * DOLLAR))
        two.a_minute_passes()
        two.finish()
        assert (now(much).status, now(much).from_address) == ("confirmed", SECOND.address)

    def test_a_wallet_without_gas_is_short_and_sends_nothing(self, two: World) -> None:
        two.rpc("anvil_setBalance", SECOND.address, "0x0")
        rows = [two.ask(1) for _ in range(4)]
        two.work()
        assert senders(rows) == {two.hot: 4}
        assert (lane(0).without_gas_since, lane(1).without_gas_since is None) == (None, False)

        two.rpc("anvil_setBalance", SECOND.address, hex(ETHER))
        two.ask(1)
        two.finish()
        assert lane(1).without_gas_since is None


class TestOneThatIsStuck:
    @pytest.mark.whole
    def test_a_nonce_that_is_not_mined_holds_up_nothing_of_the_other(self, two: World) -> None:
        two.automine(False)
        lost = two.ask(5)
        two.work()
        assert now(lost).from_address == two.hot
        two.rpc("anvil_dropTransaction", now(lost).tx_hash)
        two.automine(True)
        rows = []
        for _ in range(2):
            rows.append(two.ask(1))
            two.work()
        two.finish()
        assert senders(rows) == {SECOND.address: 2}
        assert statuses(rows) == {"confirmed"} and now(lost).status == "submitted"

        SignedTransaction.objects.update(broadcast_at=None)
        two.finish()
        assert (now(lost).status, two.balance(lost.to_address)) == ("confirmed", 5)
        assert len(two.raw_transfers(lost.to_address)) == 1

    def test_nothing_more_is_put_behind_what_has_waited_too_long(
        self, two: World, settings: Any
    ) -> None:
        two.automine(False)
        lost = two.ask(5)
        two.work()
        settings.SIGNER_STUCK_SECONDS = 0
        rows = [two.ask(1) for _ in range(6)]
        two.work()
        assert senders(rows) == {SECOND.address: 6}
        assert now(lost).candidates.count() == 2, "it is replaced at its own nonce meanwhile"


class TestOneThatIsHalted:
    def test_the_other_goes_on(self, two: World) -> None:
        call_command("sending", "stop", "sepolia:0", "--json", stdout=StringIO())
        rows = [two.ask(1) for _ in range(3)]
        two.finish()
        assert senders(rows) == {SECOND.address: 3} and statuses(rows) == {"confirmed"}
        assert lane(1).halted_at is None

        call_command("sending", "resume", "sepolia", "--json", stdout=StringIO())
        assert lane(0).halted_at is None

    def test_a_network_is_all_of_its_wallets(self, two: World) -> None:
        output = StringIO()
        call_command("sending", "stop", "sepolia", "--json", stdout=output)
        rows = json.loads(output.getvalue())["hot_wallets"]
        told = [row for row in rows if row["network"] == "sepolia"]
        assert [(row["lane"], row["address"]) for row in told] == [
            (0, two.hot),
            (1, SECOND.address),
        ]
        assert all(row["halted_at"] for row in told)
        row = two.ask(1)
        two.finish()
        assert now(row).status == "requested"

    def test_what_the_exchange_gets_waits_for_the_first(self, two: World) -> None:
        row = two.ask(1, purpose="swap")
        hot_wallets.halt(lane(0), "A test", clock.real_now())
        two.work()
        assert (now(row).status, now(row).not_before) == ("requested", None)

    def test_what_was_signed_is_not_sent_and_what_the_other_signed_is(self, two: World) -> None:
        rows = [two.ask(1), two.ask(1)]
        signing_rounds.sign_due()
        hot_wallets.halt(lane(1), "A test", clock.real_now())
        sender.run_due()
        assert {now(row).from_address: now(row).status for row in rows} == {
            two.hot: "submitted",
            SECOND.address: "signed",
        }


def strange(world: World, to: str, value: int) -> None:
    """A transaction that the second wallet's key signs without our records knowing."""
    unsigned = Transaction(
        11155111,
        used(world, SECOND.address),
        to,
        value,
        "0x",
        21000,
        max_fee_wei=100 * 10**9,
        priority_fee_wei=5 * 10**9,
    )
    world.rpc("eth_sendRawTransaction", unsigned.signed(SECOND).raw)
    world.mine()


class TestOneWhoseKeySomebodyElseUsed:
    def test_it_alone_is_halted_and_nobody_pays_again_what_it_has_paid(self, two: World) -> None:
        to = two.stranger()
        strange(two, to, 12345)
        before = two.ask(1)
        two.work()
        assert now(before).status == "review", "it may be what the strange one did"
        assert (lane(0).halted_at, lane(1).halted_at is not None) == (None, True)
        assert "our records end at" in lane(1).halted_reason
        assert UnknownTransaction.objects.get().from_address == SECOND.address

        again = two.ask(12345, to)
        other = two.ask(1)
        two.finish()
        assert (now(again).status, now(again).reason_code) == ("review", "sent_before")
        assert (now(other).status, now(other).from_address) == ("confirmed", two.hot)
        assert two.balance(to) == 12345

    def test_nobody_signs_before_what_it_sent_is_known(self, two: World, settings: Any) -> None:
        to = two.stranger()
        strange(two, to, 12345)
        hot_wallets.halt(lane(1), "A test", clock.real_now())
        settings.CHAIN_TIP_MAX_AGE_SECONDS = 1
        again = two.ask(12345, to)
        UnknownTransaction.objects.all().delete()
        at = clock.real_now() + timedelta(hours=1)
        signer_round(at)  # the node is an hour behind: its history can't be read
        assert now(again).status == "requested" and not UnknownTransaction.objects.exists()

        settings.CHAIN_TIP_MAX_AGE_SECONDS = 0
        signer_round(at)
        assert UnknownTransaction.objects.count() == 1
        signer_round(at)
        assert (now(again).status, now(again).reason_code) == ("review", "sent_before")

    def test_a_new_one_that_was_used_before_is_halted_and_read(
        self, world: World, settings: Any
    ) -> None:
        """As after a restore of a backup from before the wallet was there."""
        world.rpc("anvil_setBalance", SECOND.address, hex(ETHER))
        to = world.stranger()
        strange(world, to, 777)
        settings.SIGNER_LANES = {"sepolia": 2}
        world.ask(1)
        world.work()
        assert lane(1).next_nonce == 0 and lane(1).halted_at is not None
        again = world.ask(777, to)
        world.finish()
        assert now(again).status == "review" and world.balance(to) == 777

    def test_a_person_may_say_that_either_of_them_has_sent_it(self, two: World) -> None:
        to = two.stranger()
        strange(two, to, 12345)
        row = two.ask(12345, to)
        two.work()
        tx_hash = UnknownTransaction.objects.get().tx_hash
        call_command("sending", "sent", str(row.pk), "--hash", tx_hash, "--json", stdout=StringIO())
        call_command("sending", "resume", "sepolia:1", "--json", stdout=StringIO())
        two.finish()
        assert (now(row).status, now(row).from_address) == ("confirmed", SECOND.address)
        assert two.balance(to) == 12345 and lane(1).halted_at is None


def signer_round(at: datetime) -> None:
    chain = Chain.objects.get(pk="sepolia")
    signer = ChainSigner(
        chain, partial(keystores.hot_key, "test"), keystores.seed(), nodes_of(chain)
    )
    signer.run(at)


class TestAReorganization:
    def test_what_was_undone_of_one_is_nothing_of_the_other(self, two: World) -> None:
        rows = [two.ask(1), two.ask(1)]
        two.finish()
        assert statuses(rows) == {"confirmed"}
        of_second = OutgoingTransaction.objects.get(from_address=SECOND.address)
        of_first = OutgoingTransaction.objects.exclude(pk=of_second.pk).get()
        depth = two.height() - min(row.block_number or 0 for row in (of_first, of_second)) + 1
        two.rpc("anvil_reorg", depth, [[of_first.candidates.get().raw, 0]])
        for number in (0, 1):
            undone.recheck(
                HotWallet.objects.select_related("chain").get(chain="sepolia", number=number),
                nodes_of(Chain.objects.get(pk="sepolia")),
                clock.real_now(),
            )
        assert [entry.outgoing_id for entry in UndoneTransaction.objects.all()] == [of_second.pk]
        assert {now(row).from_address: now(row).status for row in rows} == {
            two.hot: "confirmed",
            SECOND.address: "submitted",
        }
        two.rpc("anvil_setNonce", SECOND.address, hex((of_second.nonce or 0) + 1))
        UndoneTransaction.objects.all().delete()


@pytest.fixture
def worker_of_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    """It reads its settings anew."""
    monkeypatch.setenv("SIGNER_LANES", "sepolia=2")
    yield from forked_worker()


class TestAKill:
    @pytest.mark.whole
    @pytest.mark.parametrize("place", ["send.K3", "send.K4", "send.K5", "send.K6"])
    def test_in_the_middle_of_signing_loses_and_doubles_nothing(
        self, two: World, worker_of_two: Forks, place: str
    ) -> None:
        rows = [two.ask(10 + number) for number in range(3)]
        assert kill_at(worker_of_two, place, request_to(two.stranger(), f"lanes {place}")) == -9
        rows.append(OutgoingTransaction.objects.get(reference=f"lanes {place}"))
        two.finish()
        assert statuses(rows) == {"confirmed"}
        assert senders(rows) == {two.hot: 2, SECOND.address: 2}
        for row in rows:
            assert two.balance(row.to_address) == row.amount_atomic
            assert len(two.raw_transfers(row.to_address)) == 1
        for number, address in ((0, two.hot), (1, SECOND.address)):
            assert lane(number).next_nonce == used(two, address)


class TestKeys:
    def test_each_lane_has_an_account_of_its_own(self) -> None:
        seed = Seed(DEMO_MNEMONIC)
        addresses = [
            seed.hot_key(mode, number).address for mode in ("live", "test") for number in range(4)
        ]
        assert len(set(addresses)) == 8
        assert seed.hot_key("live", 0).address == seed.hot_key("live").address
        assert not {seed.deposit_key(mode, 0).address for mode in ("live", "test")} & set(addresses)

    def test_a_keystore_names_them_in_their_order(self) -> None:
        keys = {"live": "hot-live+hot-live-2", "test": "hot-test"}
        assert [key_name(keys, name) for name in ("live", "live:1", "test")] == [
            "hot-live",
            "hot-live-2",
            "hot-test",
        ]
        for name in ("live:2", "test:1", "other"):
            with pytest.raises(KeystoreError, match="SIGNER_HOT_KEYS names no key of"):
                key_name(keys, name)

    def test_the_signer_refuses_lanes_of_a_network_that_is_not_there(
        self, two: World, settings: Any, capsys: Any
    ) -> None:
        settings.SIGNER_LANES = {"moon": 2}
        with pytest.raises(SystemExit):
            call_command("signer", "--once")
        assert "SIGNER_LANES names moon, which is no network" in capsys.readouterr().err

    def test_two_wallets_never_have_the_same_key(self, world: World, settings: Any) -> None:
        settings.SIGNER_LANES = {"sepolia": 2}
        chain = Chain.objects.get(pk="sepolia")
        with pytest.raises(KeystoreError, match="the same key"):
            ensure_wallets(
                chain,
                lambda number: keystores.hot_key("test"),
                nodes_of(chain),
                clock.real_now(),
            )
        assert not HotWallet.objects.exists()


def test_a_transaction_of_one_wallet_is_the_affair_of_no_other(two: World) -> None:
    rows = [two.ask(1), two.ask(1)]
    waiting = two.ask(1, asset_id=Asset.objects.exclude(pk="SETH").filter(chain="sepolia")[0].pk)
    signing_rounds.sign_due()
    found = OutgoingTransaction.objects.filter(pk__in=[row.pk for row in (*rows, waiting)])
    of_each = [set(found.filter(hot_wallets.own(lane(number)))) for number in (0, 1)]
    assert of_each[0] | of_each[1] == set(found) and not of_each[0] & of_each[1]
    assert waiting in of_each[0] and len(of_each[1]) == 1

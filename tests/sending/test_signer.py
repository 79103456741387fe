"""Refusals of the signer, for rows from anywhere; and its key file."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from eth_account import Account

from apps.chain.keys import keystores, seeds
from apps.chain.models import Address, HotWallet, OutgoingTransaction, SignedTransaction
from apps.chain.providers.key_file import KeyFile
from apps.chain.sending import signing_rounds
from apps.chain.sending.fees import GWEI, FeeOffer, replacing, suggested
from apps.core import clock
from apps.core.process import published_secrets
from apps.core.process.published_secrets import DEMO_MNEMONIC
from tests.console.test_deployment import PRODUCTION, ROOT
from tests.sending.conftest import ETHER, TOKEN, World


def outcome(row: OutgoingTransaction) -> tuple[str, str]:
    found = OutgoingTransaction.objects.get(pk=row.pk)
    assert not SignedTransaction.objects.filter(outgoing=row).exists()
    return found.status, found.reason


@pytest.mark.chain
class TestWhatIsNeverSigned:
    def test_what_goes_to_nobody_to_a_tokens_contract_or_to_the_hot_wallet_itself(
        self, world: World, token: str
    ) -> None:
        signing_rounds.introduce()
        destinations = [
            "0x" + "0" * 40,
            "0x" + "0" * 39 + "9",
            "0x000000000000000000000000000000000000dead",
            "0x" + "f" * 40,
            "0x12",
            "nobody",
            world.hot,
        ]
        rows = [world.ask(to=destination) for destination in destinations]
        rows.append(world.ask(10**6, token, TOKEN))
        world.work()
        for row in rows:
            assert outcome(row) == ("failed", "The destination is refused"), row.to_address

    def test_a_deposit_address_of_ours_except_for_a_test_payment(self, world: World) -> None:
        address = Address.objects.create(
            address=world.stranger(), mode="test", index=10**8, created_at=clock.real_now()
        )
        refused = world.ask(to=address.pk, purpose="refund")
        paid = world.ask(to=address.pk)
        world.finish()
        assert outcome(refused) == ("failed", "The destination is refused")
        assert (OutgoingTransaction.objects.get(pk=paid.pk).status, world.balance(address.pk)) == (
            "confirmed",
            10**15,
        )
        address.delete()

    def test_an_asset_of_another_chain_or_mode(self, world: World) -> None:
        rows = [world.ask(mode="live"), world.ask(asset_id="ETH")]
        world.work()
        for row in rows:
            assert outcome(row) == ("failed", "The asset belongs to another chain")

    def test_more_than_the_cap_of_one_transaction_which_can_be_given_up_once(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        row = world.ask(10 * ETHER + 1)
        world.work()
        assert outcome(row) == ("review", "It is above the limit of one transaction")
        call_command("sending", "cancel", str(row.pk), "--json", stdout=StringIO())
        assert outcome(row) == ("failed", "Given up by an operator")
        with pytest.raises(SystemExit):
            call_command("sending", "cancel", str(row.pk))
        assert capsys.readouterr().err == "It is not in review\n"

    def test_more_than_the_cap_of_one_day(self, world: World, settings: Any) -> None:
        settings.SIGNER_CAPS = ["SETH=1:1.5"]
        first = world.ask(ETHER)
        second = world.ask(ETHER)
        world.finish()
        assert OutgoingTransaction.objects.get(pk=first.pk).status == "confirmed"
        assert outcome(second) == ("review", "It is above the limit of one day")

    def test_an_asset_without_a_cap(self, world: World, settings: Any) -> None:
        settings.SIGNER_CAPS = ["ETH=1:1"]
        row = world.ask(1)
        world.work()
        assert outcome(row)[0] == "review"

    def test_anything_while_sending_is_stopped(self, world: World) -> None:
        signing_rounds.introduce()
        call_command("sending", "stop", "all", "--reason", "drill", "--json", stdout=StringIO())
        row = world.ask()
        world.finish()
        assert outcome(row) == ("requested", "")
        call_command("sending", "resume", "sepolia", "--json", stdout=StringIO())
        world.finish()
        assert OutgoingTransaction.objects.get(pk=row.pk).status == "confirmed"

    def test_anything_with_another_key_than_the_known_wallet(self, world: World) -> None:
        signing_rounds.introduce()
        HotWallet.objects.filter(pk="sepolia").update(address="0x" + "1" * 40)
        row = world.ask()
        world.work()
        assert outcome(row) == ("requested", "")
        assert (
            HotWallet.objects.get(pk="sepolia").halted_reason
            == "The signer holds the key of another wallet"
        )


@pytest.mark.chain
class TestNonces:
    def test_several_at_once_take_as_many_nonces_in_a_row(self, world: World) -> None:
        signing_rounds.introduce()
        first = world.nonce()
        rows = [world.ask(1) for _ in range(12)]

        def work(_: int) -> None:
            try:
                world.work()
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        world.finish()
        found = OutgoingTransaction.objects.filter(pk__in=[row.pk for row in rows])
        assert sorted(found.values_list("nonce", flat=True)) == list(range(first, first + 12))
        assert {item.status for item in found} == {"confirmed"}
        assert world.nonce() == first + 12 == HotWallet.objects.get(pk="sepolia").next_nonce

    def test_the_raw_bytes_say_exactly_what_was_asked_for(self, world: World, token: str) -> None:
        to = world.stranger()
        row = world.ask(7, to, TOKEN)
        signing_rounds.sign_due()
        raw = row.candidates.get().raw
        assert Account.recover_transaction(raw).lower() == world.hot
        body = world.rpc("eth_call", {"to": token, "data": "0x313ce567"}, "latest")
        assert int(body, 16) == 6
        assert f"a9059cbb{to[2:]:0>64}{7:064x}" in raw and token[2:] in raw


class TestOffers:
    def test_it_leaves_room_for_the_base_fee_to_double(self) -> None:
        assert suggested(10, 2, 1000) == FeeOffer(22, 2)

    def test_it_is_cut_at_the_ceiling_and_nothing_above_it(self) -> None:
        assert suggested(60, 2, 100) == FeeOffer(100, 2)
        assert suggested(99, 2, 100) is None

    @pytest.mark.parametrize(
        "old", [FeeOffer(1, 1), FeeOffer(7, 0), FeeOffer(30 * GWEI, GWEI), FeeOffer(299 * GWEI, 3)]
    )
    def test_a_replacement_offers_an_eighth_more_of_both(self, old: FeeOffer) -> None:
        new = replacing(old, None, 1000 * GWEI)
        assert new is not None
        assert (
            new.max_fee_wei * 8 >= old.max_fee_wei * 9
            and new.priority_fee_wei * 8 >= old.priority_fee_wei * 9
        )
        assert new.priority_fee_wei <= new.max_fee_wei

    def test_a_replacement_follows_the_market_and_stops_at_the_ceiling(self) -> None:
        assert replacing(FeeOffer(10, 1), FeeOffer(500, 40), 1000) == FeeOffer(500, 40)
        assert replacing(FeeOffer(950, 1), FeeOffer(960, 1), 1000) is None


class TestTheKeyFile:
    def test_the_demo_addresses_are_those_of_the_published_words(self) -> None:
        seed = seeds.Seed(DEMO_MNEMONIC)
        assert seed.deposit_xpub("live") == published_secrets.PUBLISHED["DEPOSIT_XPUB_LIVE"]
        assert seed.deposit_xpub("test") == published_secrets.PUBLISHED["DEPOSIT_XPUB_TEST"]
        Account.enable_unaudited_hdwallet_features()
        expected = Account.from_mnemonic(
            DEMO_MNEMONIC, account_path="m/44'/60'/2'/0/0"
        ).address.lower()
        assert seed.hot_key("live").address == expected != seed.hot_key("test").address

    def test_it_opens_with_its_passphrase_only_and_holds_no_word(self, tmp_path: Path) -> None:
        path = tmp_path / "signer.key"
        words = seeds.new_words()
        made = seeds.write_key_file(path, words, KeyFile(passphrase="a long passphrase"))
        assert (
            seeds.open_key_file(path, KeyFile(passphrase="a long passphrase"))
            .hot_key("live")
            .address
            == made.hot_key("live").address
        )
        # What the file says of itself ("salt", "file") are words like any others: what it holds is
        # compared.
        held = json.loads(path.read_text())
        assert held.pop("keystore") == "file"
        assert not set(words.split()) & {str(value) for value in held.values()}
        assert words not in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600
        with pytest.raises(seeds.KeyFileRefused, match="does not open"):
            seeds.open_key_file(path, KeyFile(passphrase="a wrong passphrase"))

    def test_a_file_that_is_there_is_never_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "signer.key"
        path.write_text("{}")
        with pytest.raises(seeds.KeyFileRefused, match="never overwritten"):
            seeds.write_key_file(path, seeds.new_words(), KeyFile(passphrase="a long passphrase"))
        with pytest.raises(seeds.KeyFileRefused, match="no key file"):
            seeds.open_key_file(path, KeyFile(passphrase="a long passphrase"))

    @pytest.mark.parametrize(
        ("words", "passphrase"), [("one two three", "a long passphrase"), (DEMO_MNEMONIC, "short")]
    )
    def test_bad_words_and_short_passphrases_are_refused(
        self, tmp_path: Path, words: str, passphrase: str
    ) -> None:
        with pytest.raises(seeds.KeyFileRefused):
            seeds.write_key_file(tmp_path / "signer.key", words, KeyFile(passphrase=passphrase))
        assert list(tmp_path.iterdir()) == []

    def test_production_refuses_what_is_published(
        self, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "signer.key"
        seeds.write_key_file(path, DEMO_MNEMONIC, KeyFile(passphrase="a long passphrase"))
        settings.IS_PRODUCTION = True
        settings.SIGNER_KEY_FILE = str(path)
        for passphrase, complaint in (
            ("", "missing"),
            (published_secrets.SIGNER_PASSPHRASE, "published"),
            ("a long passphrase", "demo seed"),
        ):
            monkeypatch.setenv("SIGNER_PASSPHRASE", passphrase)
            with pytest.raises(seeds.KeyFileRefused, match=complaint):
                seeds.seed_in(path, KeyFile())

    def test_create_wallet_tells_only_what_others_may_know(
        self, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SIGNER_PASSPHRASE", "a long passphrase")
        output = StringIO()
        path = tmp_path / "signer.key"
        settings.SIGNER_KEY_FILE = str(path)
        keystores.keystore.cache_clear()
        call_command("create_wallet", "--json", stdout=output)
        keystores.keystore.cache_clear()
        told = json.loads(output.getvalue())
        seed = seeds.open_key_file(path, KeyFile(passphrase="a long passphrase"))
        assert told["deposit_xpubs"] == {mode: seed.deposit_xpub(mode) for mode in ("live", "test")}
        assert told["hot_wallets"]["live"].lower() == seed.hot_key("live").address
        assert told["deposit_xpubs"]["live"].startswith("xpub")

    def test_a_first_production_start_makes_it_before_there_are_deposit_keys(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "signer.key"
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **{name: value for name, value in PRODUCTION.items() if not name.startswith("DEPOSIT")},
            "DEPOSIT_XPUB_LIVE": "none",
            "DEPOSIT_XPUB_TEST": "none",
            "SIGNER_PASSPHRASE": "a long passphrase",
            "SIGNER_KEY_FILE": str(path),
        }
        command = [sys.executable, str(ROOT / "manage.py"), "create_wallet", "--json"]
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert run.returncode == 0, run.stderr
        assert (
            seeds.open_key_file(path, KeyFile(passphrase="a long passphrase")).deposit_xpub("live")
            == json.loads(run.stdout)["deposit_xpubs"]["live"]
        )

    def test_a_signer_whose_seed_owns_no_deposit_address_of_ours_does_not_start(
        self, settings: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        settings.DEPOSIT_XPUBS = {
            **settings.DEPOSIT_XPUBS,
            "live": seeds.Seed(seeds.new_words()).deposit_xpub("live"),
        }
        with pytest.raises(SystemExit):
            call_command("signer", "--once")
        assert capsys.readouterr().err == "DEPOSIT_XPUB_LIVE doesn't belong to the key file\n"

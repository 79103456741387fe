"""Every keystore of the hot wallets signs alike; and none is asked inside a transaction."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest
from coincurve import PublicKey
from django.core.management import call_command
from django.db import connection
from django.utils.module_loading import import_string
from eth_account import Account
from moto.kms.responses import KmsResponse

from apps.chain.keys import keystores, seeds
from apps.chain.keys.secp256k1 import ORDER, SigningKey, canonical
from apps.chain.keys.seeds import KeyFileRefused
from apps.chain.models import OutgoingTransaction
from apps.chain.providers.base import Keystore, KeystoreError
from apps.chain.providers.key_file import KeyFile
from apps.chain.providers.kms import AwsKms
from apps.chain.sending import signing_rounds
from apps.core.process.published_secrets import DEMO_MNEMONIC
from tests import keystores as made
from tests.sending.conftest import World

EVERYWHERE = ["file", *made.ELSEWHERE]
FIRST_FORM = (
    '{"version": 1, "salt": "u6Q9+lhG7f2NDJJtW21ppw==", "nonce": "yo/9WzaK7o6gtDw2", '
    '"sealed": "'
    "6Ltj8AOh7O3iP+fdVhlisdj+rGOEYf5dBTv2YRuNCBaBdKwsqcVUmIC/cYicd2/c+xuBHXINdjVNBuDntOsureNQaF"
    "hbUyUfCz2zoW/9epaOItWPwLya5h4="
    '"}'
)


@pytest.fixture
def entry(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any) -> Iterator[made.Entry]:
    with made.of(request.param, tmp_path, monkeypatch) as found:
        yield found


def of(entry: made.Entry) -> Keystore:
    found: Keystore = import_string(entry["BACKEND"])(**entry["OPTIONS"])
    return found


@pytest.mark.parametrize("entry", EVERYWHERE, indirect=True)
class TestTheContract:
    def test_each_mode_has_a_key_of_the_curve_that_stays_the_same(self, entry: made.Entry) -> None:
        store = of(entry)
        again = of(entry)
        points = {mode: store.public_key(mode) for mode in ("live", "test")}
        assert {mode: again.public_key(mode) for mode in ("live", "test")} == points
        assert len(set(points.values())) == 2
        assert all(PublicKey(point).format(compressed=False) == point for point in points.values())

    def test_what_it_signs_is_made_into_what_the_chain_takes(self, entry: made.Entry) -> None:
        store = of(entry)
        key = keystores.HotKey(store, "test")
        for _ in range(8):  # of as many, one at least has the higher s
            digest = os.urandom(32)
            with pytest.raises(keystores.Unsigned) if not store.is_near else _nothing():
                key.sign(digest)
            key.ask([digest])
            parity, r, s = key.sign(digest)
            assert s <= ORDER // 2
            assert Account._recover_hash(digest, vrs=(27 + parity, r, s)).lower() == key.address

    def test_only_digests_are_signed(self, entry: made.Entry) -> None:
        store = of(entry)
        for digest in (b"", bytes(31), bytes(33), b"a message that nobody has hashed"[:20]):
            with pytest.raises(KeystoreError):
                store.sign("test", digest)

    def test_a_data_key_is_read_again_from_its_wrapped_form_alone(self, entry: made.Entry) -> None:
        store = of(entry)
        data_key, wrapped = store.new_data_key()
        assert len(data_key) == 32 and data_key not in wrapped
        assert of(entry).data_key(wrapped) == data_key != store.new_data_key()[0]

    def test_a_file_opens_with_it_alone_holds_no_word_and_no_change_goes_unseen(
        self, entry: made.Entry, tmp_path: Path
    ) -> None:
        path = tmp_path / "some.key"
        words = seeds.new_words()
        store = of(entry)
        seed = seeds.write_key_file(path, words, store)
        assert seeds.open_key_file(path, of(entry)).deposit_xpub("live") == seed.deposit_xpub(
            "live"
        )
        text = path.read_text()
        # Names of its fields may be words of the list themselves; a file of another seed has them
        # as well.
        other = tmp_path / "other.key"
        seeds.write_key_file(other, seeds.new_words(), store)
        of_this_seed = set(text.split('"')) - set(other.read_text().split('"'))
        assert of_this_seed.isdisjoint(words.split())
        assert path.stat().st_mode & 0o777 == 0o600
        place = text.index('"wrapped": "') + 40
        path.write_text(text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :])
        with pytest.raises((KeyFileRefused, KeystoreError)):
            seeds.open_key_file(path, store)

    def test_a_file_of_another_keystore_names_it(self, entry: made.Entry, tmp_path: Path) -> None:
        path = tmp_path / "some.key"
        other = KeyFile("", "a long passphrase")
        other.name = "elsewhere"
        seeds.write_key_file(path, seeds.new_words(), other)
        with pytest.raises(KeyFileRefused, match="sealed with SIGNER_KEYSTORE=elsewhere"):
            seeds.open_key_file(path, of(entry))

    def test_it_tells_no_secret_of_its_own(self, entry: made.Entry) -> None:
        store = of(entry)
        store.sign("test", bytes(range(32)))
        shown = f"{store!r} {vars(store)!r}"
        assert made.PIN not in shown and "mnemonic" not in shown


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def test_a_signature_has_one_form_and_another_keys_has_none() -> None:
    key = SigningKey(bytes([7]) * 32)
    digest = os.urandom(32)
    parity, r, s = key.sign(digest)
    assert (
        canonical(key.address, digest, r, s)
        == canonical(key.address, digest, r, ORDER - s)
        == (parity, r, s)
    )
    for wrong in ((0, s), (r, 0), (ORDER, s), (r, ORDER), (r, s + 2**256)):
        with pytest.raises(ValueError):
            canonical(key.address, digest, *wrong)
    with pytest.raises(ValueError):
        canonical(SigningKey(bytes([8]) * 32).address, digest, r, s)
    with pytest.raises(ValueError):
        canonical(key.address, os.urandom(32), r, s)


@pytest.mark.parametrize("entry", made.ELSEWHERE, indirect=True)
def test_an_earlier_file_is_sealed_anew_for_a_keystore_and_stays(
    entry: made.Entry, settings: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    old = tmp_path / "old.key"
    seed = seeds.write_key_file(old, seeds.new_words(), KeyFile(passphrase="a long passphrase"))
    monkeypatch.setenv("SIGNER_PASSPHRASE", "a long passphrase")
    settings.PROVIDERS = {**settings.PROVIDERS, "keys": {"live": [entry]}}
    settings.SIGNER_KEY_FILE = str(tmp_path / "new.key")
    made.forget()
    call_command("create_wallet", "--reseal", str(old))
    monkeypatch.delenv("SIGNER_PASSPHRASE")
    assert keystores.seed().deposit_xpub("live") == seed.deposit_xpub("live")
    assert old.exists()
    made.forget()


def test_a_file_of_the_first_form_still_opens(tmp_path: Path) -> None:
    """As it was written before there were keystores, of the words of the demo and the passphrase `a
    long passphrase`."""
    path = tmp_path / "signer.key"
    path.write_text(FIRST_FORM)
    opened = seeds.open_key_file(path, KeyFile(passphrase="a long passphrase"))
    assert opened.deposit_xpub("live") == seeds.Seed(DEMO_MNEMONIC).deposit_xpub("live")
    with pytest.raises(KeyFileRefused, match="does not open"):
        seeds.open_key_file(path, KeyFile(passphrase="a wrong passphrase"))


@pytest.mark.chain
@pytest.mark.parametrize("entry", made.ELSEWHERE, indirect=True)
class TestWhatLeaves:
    @pytest.fixture(autouse=True)
    def signs_with_it(
        self, entry: made.Entry, settings: Any, tmp_path: Path, world: World, monkeypatch: Any
    ) -> Iterator[None]:
        backend = import_string(entry["BACKEND"])
        asked = backend.sign

        def outside(self: Any, mode: str, digest: bytes) -> tuple[int, int]:
            assert not connection.in_atomic_block, "it was asked inside a transaction"
            answer: tuple[int, int] = asked(self, mode, digest)
            return answer

        monkeypatch.setattr(backend, "sign", outside)
        with made.configured(entry, settings, tmp_path):
            world.hot = keystores.hot_key("test").address
            world.fund()
            yield

    def test_a_batch_is_signed_before_its_nonces_are_taken_whoever_else_signs(
        self, world: World
    ) -> None:
        signing_rounds.introduce()
        first = world.nonce()
        rows = [world.ask(1) for _ in range(6)]

        def work(_: int) -> None:
            try:
                world.work()
            finally:
                connection.close()

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(3)))
        for _ in range(3):  # who found another at work left the rest to the next round
            world.finish()
        found = OutgoingTransaction.objects.filter(pk__in=[row.pk for row in rows])
        assert sorted(found.values_list("nonce", flat=True)) == list(range(first, first + 6))
        assert {item.status for item in found} == {"confirmed"}

    def test_what_is_stuck_is_replaced_at_a_higher_price(self, world: World, settings: Any) -> None:
        settings.SIGNER_STUCK_SECONDS = 0
        world.automine(False)
        row = world.ask()
        world.work()
        world.work()
        world.automine(True)
        world.finish()
        assert row.candidates.count() >= 2
        assert OutgoingTransaction.objects.get(pk=row.pk).status == "confirmed"


@pytest.mark.chain
class TestAKeystoreInTrouble:
    def test_while_it_is_away_everything_waits_and_then_goes(
        self, settings: Any, tmp_path: Path, world: World, monkeypatch: Any
    ) -> None:
        with made.kms(monkeypatch) as entry, made.configured(entry, settings, tmp_path):
            world.hot = keystores.hot_key("test").address
            world.fund()
            row = world.ask()
            store = keystores.keystore()
            assert isinstance(store, AwsKms)
            at_home = store._client
            options = {"endpoint_url": "http://127.0.0.1:9"}
            store._client = boto3.client("kms", **options)
            world.work()
            row.refresh_from_db()
            assert (row.status, row.nonce) == ("requested", None)
            store._client = at_home
            world.finish()
            row.refresh_from_db()
            assert row.status == "confirmed"

    def test_a_signature_of_anything_else_never_leaves(
        self, settings: Any, tmp_path: Path, world: World, monkeypatch: Any
    ) -> None:
        """moto as it is signs the hash of the hash."""
        with made.kms(monkeypatch) as entry, made.configured(entry, settings, tmp_path):
            world.hot = keystores.hot_key("test").address
            world.fund()
            monkeypatch.setattr(KmsResponse, "sign", made._hashed_again)
            row = world.ask()
            world.work()
            row.refresh_from_db()
            assert (row.status, row.nonce, row.candidates.count()) == ("requested", None, 0)

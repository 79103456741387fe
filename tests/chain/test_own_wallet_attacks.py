"""Attackers with the web's role, a wrong key in the clipboard, or another store's wallet: nobody
sends customers' coins elsewhere, and nothing that could spend is kept."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as django_mail
from django.db import DatabaseError, connection, transaction

from apps.access.models import WaitingPeriodSettings
from apps.audit.grants import WEB
from apps.chain.keys.secp256k1 import address_of
from apps.chain.models import Address, OwnWallet, WalletChoice
from apps.chain.own import choices, wallets
from apps.chain.own.choices import WalletRequest
from apps.core import clock, mail
from apps.core.errors import Failure
from apps.ledger.posting import EntryLine, Posting, post
from apps.payments.models import PaymentAddress
from apps.stores.models import AuditEntry
from tests import make
from tests.cast import Cast, Shop
from tests.chain.own_wallets import SEED, account, choose, start_told, xpub
from tests.roles import acting_as

pytestmark = pytest.mark.django_db
OTHER = bytes(32)


def _run(cursor: Any, statement: str, values: dict[str, Any]) -> None:
    with transaction.atomic():
        cursor.execute("SET LOCAL tillgate.modes = '{all}'")
        cursor.execute(statement, values)


def refused(statement: str, **values: Any) -> str:
    """The database's refusal to the web's role."""
    with acting_as(WEB), connection.cursor() as cursor, pytest.raises(DatabaseError) as caught:
        _run(cursor, statement, values)
    return str(caught.value)


# --- the web's role -------------------------------------------------------------------------------


def test_the_web_lets_no_wallet_count(bakery: Shop) -> None:
    choice = choices.ask_for_wallet(bakery.owner_access(), WalletRequest("SETH", "key", xpub()))
    for column in ("told_at", "active_from"):
        told = refused(f"UPDATE chain_walletchoice SET {column} = now() WHERE true")
        assert "permission denied" in told
    choice.refresh_from_db()
    assert choice.active_from is None


def test_the_web_writes_no_choice_that_counts_already(bakery: Shop) -> None:
    told = refused(
        "INSERT INTO chain_walletchoice (id, store_id, mode, created_at, asset_id, told_at,"
        " active_from, waits_for) VALUES (%(id)s, %(store)s, 'test', now(), 'SETH', now(), now(),"
        " '')",
        id=uuid.uuid4(),
        store=bakery.store.pk,
    )
    assert "permission denied" in told


def test_the_web_makes_no_wallet_another(bakery: Shop) -> None:
    choose(bakery)
    told = refused("UPDATE chain_ownwallet SET content = %(key)s", key=xpub(OTHER))
    assert "permission denied" in told
    assert "permission denied" in refused("UPDATE chain_ownwallet SET next_index = 0, number = 9")


def test_no_wallet_gives_an_address_twice(bakery: Shop) -> None:
    choose(bakery)
    make.payment(bakery.test)
    with pytest.raises(DatabaseError, match="gives no address twice"), transaction.atomic():
        OwnWallet.objects.update(next_index=0)


def test_the_web_ends_no_choice_that_counts(bakery: Shop) -> None:
    choose(bakery)
    assert "it counts already" in refused("UPDATE chain_walletchoice SET stopped_at = now()")


def test_no_payment_gets_an_address_of_a_wallet_that_its_store_has_not_chosen(cast: Cast) -> None:
    bakery, kiosk = cast.bakery, cast.strangers
    theirs = choose(kiosk)
    payment = make.payment(bakery.test)
    wallet = OwnWallet.objects.get(store=kiosk.store)
    assert theirs.wallet_id == wallet.pk
    index, address = wallets.given_addresses(wallet.pk, 1)[0]
    told = refused(
        "WITH a AS (INSERT INTO chain_address (address, mode, index, purpose, created_at)"
        " VALUES (%(address)s, 'test', %(index)s, 'own', now()))"
        " INSERT INTO payments_paymentaddress (id, payment_id, asset_id, address_id, position,"
        " own_wallet_id, required_atomic, exchange_rate, rate_source, required_confirmations,"
        " created_at) SELECT %(id)s, %(payment)s, 'USDT_TEST', %(address)s, 9, %(wallet)s, 1, 1,"
        " '', 1, now()",
        address=address,
        index=index,
        id=uuid.uuid4(),
        payment=payment["id"],
        wallet=wallet.pk,
    )
    assert "no wallet that the store has chosen" in told or "violates" in told
    assert not Address.objects.filter(pk=address).exists()


def test_an_address_that_is_called_a_merchants_own_is_nobodys_without_its_wallet(
    bakery: Shop,
) -> None:
    told = refused(
        "INSERT INTO chain_address (address, mode, index, purpose, created_at)"
        " VALUES (%(address)s, 'test', %(index)s, 'own', now())",
        address="0x" + "12" * 20,
        index=1 << 40,
    )
    assert "no wallet that the store has chosen" in told


def test_a_held_address_is_not_called_a_merchants_own(bakery: Shop) -> None:
    payment = make.payment(bakery.test)
    choose(bakery)
    wallet = OwnWallet.objects.get()
    with pytest.raises(DatabaseError, match="no wallet that the store"), transaction.atomic():
        PaymentAddress.objects.filter(payment_id=payment["id"]).update(own_wallet=wallet)


def test_memo_coins_never_become_available(bakery: Shop) -> None:
    posting = Posting(
        "deposit:" + str(uuid.uuid4()),
        "deposit_confirmed",
        "test",
        None,
        clock.real_now(),
        [
            EntryLine("own_wallets", "SETH", -5, "principal"),
            EntryLine("available", "SETH", 5, "principal", bakery.store.pk),
        ],
    )
    with pytest.raises(DatabaseError, match="balance among themselves"), transaction.atomic():
        post(posting)


# --- what people paste ----------------------------------------------------------------------------

_PRIVATE = "private key or a recovery phrase"
WRONG = {
    "an extended private key": (lambda: account().text(), _PRIVATE),
    "a private key": (lambda: "0x" + account().child(0).child(0).key.secret.hex(), _PRIVATE),
    "a recovery phrase": (lambda: " ".join(["abandon"] * 11 + ["about"]), _PRIVATE),
    "a wrong character": (lambda: xpub()[:-1] + ("1" if xpub()[-1] != "1" else "2"), "wrong"),
    "another network's key": (
        lambda: (
            "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvU"
            "UkgDKf31mGDtKsAYz2oz2AGutZYs"
        ),
        "another network",
    ),
    "a deeper key": (lambda: account().public.child(0).text(), "not the key of an account"),
    "a descriptor": (lambda: f"wpkh({xpub()}/0/*)", "another network"),
    "nothing of this": (lambda: "hello", "neither an extended public key"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_key_that_is_none_is_refused_with_a_sentence_and_never_kept(
    bakery: Shop, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    make_text, says = WRONG[name]
    pasted = make_text()
    with pytest.raises(Failure, match=says) as caught:
        choices.ask_for_wallet(bakery.owner_access(), WalletRequest("SETH", "key", pasted))
    assert pasted not in str(caught.value) and pasted not in repr(caught.value)
    assert pasted not in caplog.text
    assert not OwnWallet.objects.exists() and not WalletChoice.objects.exists()
    assert pasted not in str(list(AuditEntry.objects.values_list("details", "target_name")))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("0x52908400098527886E0F7030069857D2E4169Ee7", "not valid"),
        ("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "not valid"),
        ("0x" + "0" * 40, "not valid"),
        ("0x000000000000000000000000000000000000dEaD", "not valid"),
    ],
)
def test_forwarders_pass_on_to_an_address_that_somebody_has(
    bakery: Shop, address: str, says: str
) -> None:
    with pytest.raises(Failure, match=says):
        choices.ask_for_wallet(bakery.owner_access(), WalletRequest("SETH", "forwarder", address))


def test_forwarders_never_pass_on_to_an_address_of_this_service(bakery: Shop) -> None:
    ours = make.payment(bakery.test)["payment_addresses"][0]["address"]
    with pytest.raises(Failure, match="belongs to this service"):
        choices.ask_for_wallet(bakery.owner_access(), WalletRequest("SETH", "forwarder", ours))


def test_two_stores_never_give_out_addresses_of_one_key(cast: Cast) -> None:
    bakery, kiosk = cast.bakery, cast.strangers
    choose(bakery)
    with pytest.raises(choices.OtherStores):
        choices.ask_for_wallet(kiosk.owner_access(), WalletRequest("SETH", "key", xpub()))


def test_a_key_that_is_named_again_goes_on_where_it_stood(bakery: Shop) -> None:
    choose(bakery)
    first = make.payment(bakery.test)
    choose(bakery, kind="")
    choose(bakery)
    second = make.payment(bakery.test)
    own = Address.objects.filter(purpose="own").order_by("index")
    assert [wallets.place_of(row.index) for row in own] == [0, 1]
    assert first["id"] != second["id"] and OwnWallet.objects.count() == 1


@pytest.mark.parametrize("kind", ["key", "forwarder", "", "anything"])
def test_what_could_spend_is_refused_whatever_it_is_pasted_for(bakery: Shop, kind: str) -> None:
    pasted = account().text()
    for copied in (pasted, f"{pasted[:40]}\n{pasted[40:]}"):
        with pytest.raises(wallets.NotUsable, match=_PRIVATE):
            choices.ask_for_wallet(bakery.owner_access(), WalletRequest("SETH", kind, copied))


def test_a_kind_of_wallet_that_there_is_not_is_refused(bakery: Shop) -> None:
    with pytest.raises(wallets.NoSuchKind):
        choices.ask_for_wallet(bakery.owner_access(), WalletRequest("SETH", "safe", xpub()))


def test_one_key_on_two_networks_is_refused_with_a_sentence(bakery: Shop) -> None:
    """Litecoin's wallets write Bitcoin's prefixes: the key of one is taken for the other."""
    text = (
        "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf"
        "31mGDtKsAYz2oz2AGutZYs"
    )
    choose(bakery, "BTC", content=text, mode="live")
    with pytest.raises(choices.OtherStores):
        choices.ask_for_wallet(bakery.owner_access("live"), WalletRequest("LTC", "key", text))


# --- the owners -----------------------------------------------------------------------------------


def test_in_live_mode_it_waits_and_every_owner_can_stop_it(bakery: Shop) -> None:
    choice = choose(bakery, "ETH", mode="live")
    assert choice.active_from is not None and choice.told_at is not None
    hours = WaitingPeriodSettings.of(bakery.store).cooling_hours
    assert choice.active_from - choice.told_at == timedelta(hours=hours)
    assert not choices.own_assets(bakery.owner_access("live"))
    mail.send_due()
    (letter,) = [item for item in django_mail.outbox if "wallet" in item.subject]
    assert bakery.owner.email in letter.to and "/stop/" in letter.body
    assert choices.stop_by_link(choice.pk, choice.active_from)
    assert not choices.stop_by_link(choice.pk, choice.active_from)


def test_a_change_that_waits_is_ended_before_another_is_asked_for(bakery: Shop) -> None:
    choose(bakery, "ETH", mode="live")
    with pytest.raises(choices.StillWaits):
        choices.ask_for_wallet(
            bakery.owner_access("live"), WalletRequest("ETH", "key", xpub(OTHER))
        )


def test_nothing_begins_twice(bakery: Shop) -> None:
    choice = choose(bakery)
    start_told()
    again = WalletChoice.objects.get(pk=choice.pk)
    assert (again.told_at, again.active_from) == (choice.told_at, choice.active_from)


def test_the_first_addresses_are_those_of_the_key(bakery: Shop) -> None:
    _, named = choices.read_request(bakery.owner_access(), WalletRequest("SETH", "key", xpub()))
    own = account(SEED).public.child(0)
    assert named is not None
    assert named.first() == [address_of(own.child(place).key) for place in range(3)]

"""Addresses of recovery phrases that are new each time, as Electrum itself has them.
`python -m tests.bitcoin.electrum` unpacks it where Debian's packages are."""

from typing import Any

import pytest

from apps.chain.keys import bip39
from apps.chain.keys.bip32 import Public
from apps.chain.keys.seeds import Seed, coin_account, new_words
from apps.chain.networks.bitcoin.accounts import CHANGE, RECEIVING, Branch, read_account
from apps.chain.networks.bitcoin.parameters import (
    BITCOIN,
    BITCOIN_TESTNET,
    LITECOIN,
    Parameters,
    ScriptKind,
)
from tests.bitcoin import electrum

pytestmark = pytest.mark.skipif(
    not electrum.is_installed(), reason="no Electrum: python -m tests.bitcoin.electrum"
)
NETWORKS = (BITCOIN, BITCOIN_TESTNET, LITECOIN)
KINDS = {
    "p2wpkh": (ScriptKind.WPKH, 84),
    "p2wpkh-p2sh": (ScriptKind.NESTED, 49),
    "p2pkh": (ScriptKind.PKH, 44),
}
# Electrum's own form of recovery phrase, which is none of BIP-39's: from its test data.
OF_ELECTRUM = "wild father tree among universe such mobile favorite target dynamic credit identify"


def compared(account: dict[str, Any], parameters: Parameters, kind: ScriptKind) -> None:
    read = read_account(account["key"], parameters, kind)
    assert read.kind is kind
    for branch, name in ((RECEIVING, "receiving"), (CHANGE, "change")):
        assert [read.address(index, branch) for index in range(25)] == account[name]


OF_OWN = [
    (BITCOIN, "bitcoin", "live"),
    (LITECOIN, "litecoin", "live"),
    (BITCOIN_TESTNET, "bitcoin", "test"),
    (BITCOIN_TESTNET, "litecoin", "test"),
]


def test_a_new_phrase_has_the_accounts_and_addresses_that_electrum_has() -> None:
    words = new_words()
    assert bip39.is_mnemonic(words)
    cases = [(parameters, name) for parameters in NETWORKS for name in KINDS]
    questions = [
        {
            "network": parameters.name,
            "words": words,
            "kind": name,
            "path": f"m/{KINDS[name][1]}'/{parameters.coin_type}'/0'",
        }
        for parameters, name in cases
    ]
    for (parameters, name), account in zip(cases, electrum.accounts(questions), strict=True):
        compared(account, parameters, KINDS[name][0])


def test_electrum_opens_the_service_s_own_wallet_from_its_words() -> None:
    """So that an operator whose machine is lost can reach the coins with the words alone."""
    words = new_words()
    seed = Seed(words)
    questions = [
        {
            "network": parameters.name,
            "words": words,
            "kind": "p2wpkh",
            "path": coin_account(coin, mode),
        }
        for parameters, coin, mode in OF_OWN
    ]
    for (parameters, coin, mode), account in zip(OF_OWN, electrum.accounts(questions), strict=True):
        own = Branch(parameters, Public.parse(seed.coin_xpub(coin, mode)).child(RECEIVING))
        assert [own.address(index) for index in range(25)] == account["receiving"]


def test_a_wallet_that_electrum_made_is_taken_as_it_shows_itself() -> None:
    """Its own phrases have their account at m/0', not at BIP-84's place."""
    questions = [
        {"network": parameters.name, "words": OF_ELECTRUM, "kind": "p2wpkh"}
        for parameters in NETWORKS
    ]
    for parameters, account in zip(NETWORKS, electrum.accounts(questions), strict=True):
        compared(account, parameters, ScriptKind.WPKH)

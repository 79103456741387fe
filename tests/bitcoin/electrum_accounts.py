"""Accounts of recovery phrases as Electrum has them, by its own code. Debian's Python runs it: it
reads a list of questions as JSON and answers with a list."""

import json
import sys

from electrum import bitcoin, constants, keystore  # type: ignore[import-not-found]


class Litecoin(constants.BitcoinMainnet):  # type: ignore[misc]  # of a package that mypy hasn't
    """The figures by which Electrum-LTC, which Debian hasn't, differs."""

    NET_NAME = "litecoin"
    ADDRTYPE_P2PKH = 0x30
    ADDRTYPE_P2SH = 0x32
    SEGWIT_HRP = "ltc"


NETWORKS = {
    "Bitcoin": constants.BitcoinMainnet,
    "Bitcoin testnet": constants.BitcoinTestnet,
    "Litecoin": Litecoin,
}


def answer(question: dict[str, str]) -> dict[str, object]:
    """The account's public key and the first addresses of its two branches."""
    constants.net = NETWORKS[question["network"]]
    if "path" in question:  # a phrase of BIP-39
        seed = keystore.bip39_to_seed(question["words"], "")
        xtype = "standard" if question["kind"] == "p2pkh" else question["kind"]
        account = keystore.from_bip43_rootseed(seed, question["path"], xtype=xtype)
    else:  # a phrase of its own
        account = keystore.from_seed(question["words"], "", False)
    shown = [
        [
            bitcoin.pubkey_to_address(question["kind"], account.derive_pubkey(branch, index).hex())
            for index in range(25)
        ]
        for branch in (0, 1)
    ]
    return {"key": account.xpub, "receiving": shown[0], "change": shown[1]}


json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)

"""Addresses as Electrum 4.3.4 (Debian) shows them for the accounts of the same recovery phrase, on
Bitcoin and its test network: by its own code, printed once. It knows no Litecoin."""

import pytest

from apps.chain.networks.bitcoin.accounts import read_account
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.parameters import (
    BITCOIN,
    BITCOIN_TESTNET,
    Parameters,
    ScriptKind,
)

# legal winner thank year wave sausage worth useful legal winner thank yellow
VECTORS = [
    (
        BITCOIN,
        ScriptKind.WPKH,
        "zpub6s3Buz3fYNRSZk9BFYo9RCMkAvSiknUtRVjuYYCZmDJPrxTwYEW6fBXzYwMdT3DaKaE7TxN1QQwU2tjpNzAYS3S"
        "9G2xGEPQcMsrgxQNwh47",
        {
            (0, 0): "bc1qgkju4yvvtuz0s8vqn837q396jezu2h8ex7gk98",
            (0, 19): "bc1qxkes2adgwmzn763kg0rjr3azmqdsccaa09uv07",
            (1, 1): "bc1qaqekxqslm8mxzvk5ws8ca2cnva8940eh6exl5p",
        },
    ),
    (
        BITCOIN,
        ScriptKind.NESTED,
        "ypub6XJxUa8RCWh8puv8tHoHvnVqqjwocDL1iroKZExccxAwHJSkaq3d4CA4WW2maN2gbcVoxJGGauQgfKR5TQVvzqj"
        "uYuCTKBvzsPhETQYGWA3",
        {
            (0, 0): "362rpGzFSAYLPEbHpKDsUezXUhXFVsDCDV",
            (0, 19): "3BbyenaWTLXoufC1ADEjC7aNHNxdDvTMht",
            (1, 1): "31yNGybntFBQtGzZH6seKz1ck574VwRq6V",
        },
    ),
    (
        BITCOIN,
        ScriptKind.PKH,
        "xpub6DRjAgkh3vGTWDcEmDp4TPwy48Nu8yrp6swCEdCCLL615CgnZon7r3vXYr8LYibMLJh5DriGSito1FRBwVoBkjD"
        "1ZWG4dmgiC935wLj3nQC",
        {
            (0, 0): "1EBuf21icKTE5m3HWVndKx2bTxvqrWCqV6",
            (0, 19): "1FkFD8xwZKeqeehzEgYjcHSv4fZxpVVbkx",
            (1, 1): "1FEyFWksgPyquoPX3QSkUsn8USZdf8xWQE",
        },
    ),
    (
        BITCOIN_TESTNET,
        ScriptKind.WPKH,
        "vpub5Z7tYHJX1F6HU5kjQCvS5pnXYCsTyUzKd6VLk4DEReVRjToP2RrewqZ6ekDZAKGL3QJCCbXZouQGpTuajD1fLN"
        "ZDHEWKZRnM4QWYueP5Kwt",
        {
            (0, 0): "tb1qjgx204hxfwuse548jc34fjzg6ffq8pvrqwlex4",
            (0, 19): "tb1qpfhfgq4qe55mypr8q6snkj84svtw2fsqa3d7ry",
            (1, 1): "tb1qeatvu72kycj89p76z49qk64qg96dctna6e59ac",
        },
    ),
    (
        BITCOIN_TESTNET,
        ScriptKind.NESTED,
        "upub5DELZqUrUBNpJHXTqLXvyCa9qiaBdnNSdh5DFvc9YQJBPqsXk5aCvnJVRJHB5N9EXLcoatCob1ueJMSrYLYr9dV"
        "h8gtKNetTjBc3jcf4yNy",
        {
            (0, 0): "2N6Bpwoq3f4qjPbu55BZo7SyarQpqjfiaeV",
            (0, 19): "2N1ha13jfsTT8ovqeX1TtQVu5w5fkNKmNwi",
            (1, 1): "2N8SQ8AJn1izfR22nNbz7oHXsEuHv76pon4",
        },
    ),
    (
        BITCOIN_TESTNET,
        ScriptKind.PKH,
        "tpubDDXmzanE4ragV7mFXXoudwnPccbZmBGtKiWMp7CQS4MGycMLLiPThrf8pqPsrTjWHG3a84AV12XukZpLMjrgqzD"
        "9JuvFxwn2ChUm78vSrKE",
        {
            (0, 0): "mrqKKgX4QeNFcsVfzzRXTBnx9oWJiAmd9g",
            (0, 19): "mnuqWcUpaHXy4Agbx8ScPKjVi8QnxSuVE3",
            (1, 1): "n4UERdn1BrxdVZzV4gCBRzdt2pSFSbaXXC",
        },
    ),
]


@pytest.mark.parametrize(("parameters", "kind", "key", "shown"), VECTORS)
def test_an_account_has_the_addresses_that_electrum_shows(
    parameters: Parameters, kind: ScriptKind, key: str, shown: dict[tuple[int, int], str]
) -> None:
    account = read_account(key, parameters, kind)
    assert account.kind is kind
    assert {(branch, index): account.address(index, branch) for branch, index in shown} == shown
    addresses = BitcoinAddresses(parameters)
    for address in shown.values():
        assert addresses.read(address) == address
        assert addresses.of_script(addresses.script_of(address)) == address

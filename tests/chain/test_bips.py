"""The vectors of the BIPs themselves (173, 350, 380), and addresses and checksums of the product
beside those of two libraries that other wallets use: bdkpython, which the product doesn't have, and
embit's descriptors, which it doesn't use."""

import bdkpython
import pytest
from embit.descriptor.checksum import add_checksum

from apps.chain.networks.bitcoin.accounts import (
    AccountProblem,
    UnusableKey,
    checksum_of,
    read_account,
)
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.parameters import (
    BITCOIN,
    BITCOIN_REGTEST,
    BITCOIN_TESTNET,
    NETWORKS,
    Parameters,
    ScriptKind,
)
from apps.chain.networks.bitcoin.text_forms import base58, read_base58, read_segwit, segwit
from tests.chain.test_bitcoin_addresses import key_at

# BIP-350's valid addresses with their scripts.
VALID = {
    "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4": "0014751e76e8199196d454941c45d1b3a323f1433bd6",
    "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7": (
        "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"
    ),
    "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y": (
        "5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6"
    ),
    "BC1SW50QGDZ25J": "6002751e",
    "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs": "5210751e76e8199196d454941c45d1b3a323",
    "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy": (
        "0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"
    ),
    "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c": (
        "5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"
    ),
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0": (
        "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    ),
}
# And its invalid ones.
INVALID = [
    "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
    "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf",
    "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh",
    "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47",
    "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4",
    "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R",
    "bc1pw5dgrnzv",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
    "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
    "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq",
    "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf",
    "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j",
    "bc1gmk9yu",
]
# BIP-380's descriptors whose checksum is missing or wrong.
WRONG_CHECKSUMS = [
    "raw(deadbeef)#",
    "raw(deadbeef)#89f8spxmx",
    "raw(deadbeef)#89f8spx",
    "raw(dedbeef)#89f8spxm",
    "raw(deadbeef)##9f8spxm",
    "raw(Ü)#00000000",
]
KINDS = {
    ScriptKind.PKH: ("44", "pkh({})"),
    ScriptKind.NESTED: ("49", "sh(wpkh({}))"),
    ScriptKind.WPKH: ("84", "wpkh({})"),
    ScriptKind.TR: ("86", "tr({})"),
}
PLACES = (0, 1, 19, 1_000, 2**31 - 1)


@pytest.mark.parametrize(("address", "script"), VALID.items())
def test_the_valid_addresses_of_bip_350_are_read_as_their_scripts(
    address: str, script: str
) -> None:
    prefix, version, program = read_segwit(address)
    assert bytes([0x50 + version if version else 0, len(program)]) + program == bytes.fromhex(
        script
    )
    assert segwit(prefix, version, program) == address.lower()


@pytest.mark.parametrize("address", INVALID)
def test_its_invalid_addresses_are_paid_on_no_network(address: str) -> None:
    assert [BitcoinAddresses(network).read(address) for network in NETWORKS] == [None] * len(
        NETWORKS
    )


@pytest.mark.parametrize("descriptor", WRONG_CHECKSUMS)
def test_the_wrong_checksums_of_bip_380_are_told_as_such(descriptor: str) -> None:
    with pytest.raises(UnusableKey) as refusal:
        read_account(descriptor, BITCOIN)
    assert refusal.value.problem is AccountProblem.CHECKSUM


def bodies(parameters: Parameters) -> dict[ScriptKind, str]:
    """Descriptors of the accounts of one recovery phrase."""
    paths = {
        kind: f"m/{purpose}'/{parameters.coin_type}'/0'" for kind, (purpose, _) in KINDS.items()
    }
    return {
        kind: form.format(f"{_key(paths[kind], parameters)}/0/*")
        for kind, (_, form) in KINDS.items()
    }


def _key(path: str, parameters: Parameters) -> str:
    """As an xpub, or a tpub."""
    version = next(iter(parameters.public_versions))
    return base58(version + read_base58(key_at(path).text())[4:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("parameters", "network"),
    [
        (BITCOIN, bdkpython.Network.BITCOIN),
        (BITCOIN_TESTNET, bdkpython.Network.TESTNET),
        (BITCOIN_REGTEST, bdkpython.Network.REGTEST),
    ],
    ids=["bitcoin", "testnet", "regtest"],
)
def test_two_libraries_show_the_same_addresses_and_checksums(
    kind: ScriptKind, parameters: Parameters, network: bdkpython.Network
) -> None:
    body = bodies(parameters)[kind]
    text = f"{body}#{checksum_of(body)}"
    assert text == add_checksum(body)
    network_kind = (
        bdkpython.NetworkKind.MAIN if parameters is BITCOIN else bdkpython.NetworkKind.TEST
    )
    theirs = bdkpython.Descriptor(text, network_kind)
    account = read_account(text, parameters)
    assert account.kind is kind and str(theirs) == text
    for place in PLACES:
        shown = str(theirs.derive_address(place, network))
        assert account.address(place) == shown
        assert BitcoinAddresses(parameters).read(shown) == shown

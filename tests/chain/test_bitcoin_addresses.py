"""Addresses of Bitcoin and Litecoin as people type them, and accounts of others: by the vectors of
the BIPs, and what is pasted by mistake."""

import pytest

from apps.chain.keys import bip32, bip39
from apps.chain.networks.bitcoin.accounts import (
    CHANGE,
    AccountProblem,
    UnusableKey,
    checksum_of,
    key_address,
    read_account,
)
from apps.chain.networks.bitcoin.addresses import AddressProblem, BitcoinAddresses
from apps.chain.networks.bitcoin.parameters import (
    BITCOIN,
    BITCOIN_REGTEST,
    BITCOIN_TESTNET,
    LITECOIN,
    LITECOIN_REGTEST,
    NETWORKS,
    Parameters,
    ScriptKind,
)
from apps.chain.networks.bitcoin.text_forms import base58, read_base58

# The mnemonic of BIP-84 and BIP-86, and their account keys.
WORDS = " ".join(["abandon"] * 11 + ["about"])
ZPUB = (
    "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf"
    "31mGDtKsAYz2oz2AGutZYs"
)
ZPRV = (
    "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm"
    "1yYNZKEm7z6qUWCroSQnE"
)
XPUB_86 = (
    "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY4"
    "9yfdDEHGCtMMj92pReUsQ"
)
OF_84 = {
    (0, 0): "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    (0, 1): "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
    (1, 0): "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el",
}
OF_86 = {
    (0, 0): "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
    (0, 1): "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh",
    (1, 0): "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7",
}
# A descriptor of BIP-380's letters, from Bitcoin Core's documentation.
DESCRIPTOR = "raw(deadbeef)#89f8spxm"


def key_at(path: str) -> bip32.Public:
    return bip32.Private.of_seed(bip39.seed_of(WORDS)).derive(path).public


def test_a_zpub_gives_the_addresses_of_bip_84() -> None:
    account = read_account(f" {ZPUB}\n", BITCOIN)
    assert account.kind is ScriptKind.WPKH
    assert {(branch, index): account.address(index, branch) for branch, index in OF_84} == OF_84
    assert account.address(0, CHANGE) == OF_84[1, 0]
    assert key_at("m/84'/0'/0'").key == account.key.key


def test_a_key_that_is_said_to_be_taproot_gives_the_addresses_of_bip_86() -> None:
    account = read_account(XPUB_86, BITCOIN, ScriptKind.TR)
    assert {(branch, index): account.address(index, branch) for branch, index in OF_86} == OF_86


@pytest.mark.parametrize("branches", ["0", "<0;1>"])
@pytest.mark.parametrize("origin", ["", "[73c5da0a/86'/0'/0']", "[73c5da0a/86h/0h/0h]"])
def test_a_descriptor_says_which_addresses_its_wallet_makes(branches: str, origin: str) -> None:
    body = f"tr({origin}{XPUB_86}/{branches}/*)"
    account = read_account(f"{body}#{checksum_of(body)}", BITCOIN)
    assert account.kind is ScriptKind.TR and account.address(0) == OF_86[0, 0]


@pytest.mark.parametrize(
    ("kind", "descriptor"),
    [
        (ScriptKind.PKH, "pkh({}/0/*)"),
        (ScriptKind.NESTED, "sh(wpkh({}/0/*))"),
        (ScriptKind.WPKH, "wpkh({}/0/*)"),
    ],
)
def test_each_kind_of_descriptor_is_read_as_the_same_key(kind: ScriptKind, descriptor: str) -> None:
    body = descriptor.format(XPUB_86)
    read = read_account(f"{body}#{checksum_of(body)}", BITCOIN)
    assert read == read_account(XPUB_86, BITCOIN, kind)


def test_the_checksum_of_a_descriptor_is_that_of_bip_380() -> None:
    body, _, check = DESCRIPTOR.partition("#")
    assert checksum_of(body) == check


def test_litecoins_wallets_export_keys_of_their_own_and_of_bitcoins_beginning() -> None:
    key = key_at("m/84'/2'/0'")
    texts = {
        version: base58(
            bytes.fromhex(version)
            + bytes([key.depth])
            + key.parent
            + key.number.to_bytes(4)
            + key.chain_code
            + key.compressed
        )
        for version in ("04b24746", "019da462", "01b26ef6", "0488b21e")
    }
    of_84 = read_account(texts["04b24746"], LITECOIN)
    # As Electrum-LTC and Litecoin Core show it for the same words.
    assert of_84.address(0) == "ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh"
    assert read_account(texts["019da462"], LITECOIN, ScriptKind.WPKH).address(0) == of_84.address(0)
    assert read_account(texts["01b26ef6"], LITECOIN).address(0).startswith("M")
    with pytest.raises(UnusableKey) as refusal:
        read_account(texts["019da462"], BITCOIN, ScriptKind.WPKH)
    assert refusal.value.problem is AccountProblem.OTHER_NETWORK


SECRETS = [
    ZPRV,
    ZPRV[:-1] + "X",
    f"wpkh({ZPRV}/0/*)#aaaaaaaa",
    WORDS,
    WORDS.upper(),
    "L1uyy5qTuGrVXrmrsvHWHgVzW9kKdrp27wBC7Vs6nZDTF2BRUVwy",  # of BIP-340's days: one key
    "KyZpNDKnfs94vbrwhJneDi77V6jF64PWPF8x5cdJb8ifgg2DUc9d",
]


@pytest.mark.parametrize("pasted", SECRETS)
@pytest.mark.parametrize("parameters", NETWORKS, ids=lambda network: network.name)
def test_what_could_spend_is_refused_and_kept_nowhere(pasted: str, parameters: Parameters) -> None:
    with pytest.raises(UnusableKey) as refusal:
        read_account(pasted, parameters, ScriptKind.WPKH)
    assert refusal.value.problem is AccountProblem.PRIVATE
    assert "exposed" in refusal.value.problem
    error: BaseException | None = refusal.value
    while error is not None:
        assert not any(part in repr(error) for part in pasted.split() if len(part) > 5)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def problem_of(
    pasted: str, parameters: Parameters, kind: ScriptKind | None = None
) -> AccountProblem:
    with pytest.raises(UnusableKey) as refusal:
        read_account(pasted, parameters, kind)
    return refusal.value.problem


def test_each_mistake_has_a_sentence_of_its_own() -> None:
    wpkh = f"wpkh({XPUB_86}/0/*)"
    problem = AccountProblem
    assert problem_of("", BITCOIN) is problem.NOT_ONE
    assert problem_of("My wallet", BITCOIN) is problem.NOT_ONE
    assert problem_of(OF_84[0, 0], BITCOIN) is problem.NOT_ONE
    assert problem_of(ZPUB[:-1] + "t", BITCOIN) is problem.CHECKSUM
    assert problem_of(ZPUB, BITCOIN_TESTNET) is problem.OTHER_NETWORK
    assert problem_of(XPUB_86, BITCOIN) is problem.KIND_UNKNOWN
    assert problem_of(wpkh, BITCOIN) is problem.NO_CHECKSUM
    assert problem_of(f"{wpkh}#aaaaaaaa", BITCOIN) is problem.CHECKSUM
    for body in (
        f"wsh(multi(1,{XPUB_86}/0/*))",
        f"wpkh({XPUB_86}/0/*",
        f"wpkh({XPUB_86}/7/*)",
        f"wpkh({ZPUB}/0/*)",
        f"tr({XPUB_86}/0/*,pk({XPUB_86}))",
    ):
        assert problem_of(f"{body}#{checksum_of(body)}", BITCOIN) is problem.OTHER_KIND


@pytest.mark.parametrize("path", ["m", "m/84'", "m/84'/0'", "m/84'/0'/0'/0", "m/84/0/0"])
def test_only_the_key_of_an_account_is_taken(path: str) -> None:
    assert problem_of(key_at(path).text(), BITCOIN, ScriptKind.WPKH) is AccountProblem.WRONG_DEPTH


def with_prefix(key: bip32.Public, prefix: str) -> str:
    """The key with another prefix: four bytes, in hex."""
    return base58(bytes.fromhex(prefix) + read_base58(key.text())[4:])


ZPUB_PREFIX, YPUB_PREFIX = "04b24746", "049d7cb2"


def test_an_account_of_electrum_is_taken_at_its_place_and_nowhere_else() -> None:
    account = read_account(with_prefix(key_at("m/0'"), ZPUB_PREFIX), BITCOIN)
    assert account.kind is ScriptKind.WPKH
    assert account.address(0) == key_address(BITCOIN, key_at("m/0'/0/0").key)
    for path, prefix in [
        ("m", ZPUB_PREFIX),
        ("m/0", ZPUB_PREFIX),
        ("m/1'", ZPUB_PREFIX),
        ("m/84'", ZPUB_PREFIX),
        ("m/0'/0'", ZPUB_PREFIX),
        ("m/0'", YPUB_PREFIX),
    ]:
        problem = problem_of(with_prefix(key_at(path), prefix), BITCOIN)
        assert problem is AccountProblem.WRONG_DEPTH
    xpub = key_at("m/0'").text()  # which doesn't say what it makes
    assert problem_of(xpub, BITCOIN, ScriptKind.WPKH) is AccountProblem.WRONG_DEPTH


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "typed", "stored"),
    [
        (BITCOIN, OF_84[0, 0], OF_84[0, 0]),
        (BITCOIN, OF_84[0, 0].upper(), OF_84[0, 0]),
        (BITCOIN, OF_86[0, 0], OF_86[0, 0]),
        (BITCOIN, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
        (BITCOIN, "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
        # One script in Litecoin's two spellings.
        (LITECOIN, "MQMcJhpWHYVeQArcZR3sBgyPZxxRtnH441", "MQMcJhpWHYVeQArcZR3sBgyPZxxRtnH441"),
        (LITECOIN, "3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN", "MR8UQSBr5ULwWheBHznrHk2jxyxkHQu8vB"),
    ],
)
def test_an_address_has_one_stored_spelling(
    parameters: Parameters, typed: str, stored: str
) -> None:
    addresses = BitcoinAddresses(parameters)
    assert addresses.read(typed) == stored and addresses.problem(typed) is None
    assert addresses.read(stored) == addresses.shown(stored) == stored
    assert not addresses.is_burn(stored)


@pytest.mark.parametrize(
    ("parameters", "typed", "problem"),
    [
        (BITCOIN, "", AddressProblem.NOT_ONE),
        (BITCOIN, "0x" + "a" * 40, AddressProblem.NOT_ONE),
        (BITCOIN, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyv", AddressProblem.CHECKSUM),
        (BITCOIN, "Bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", AddressProblem.NOT_ONE),
        (BITCOIN, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", AddressProblem.CHECKSUM),
        (BITCOIN, "ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh", AddressProblem.OTHER_NETWORK),
        (BITCOIN, "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", AddressProblem.OTHER_NETWORK),
        (LITECOIN, OF_84[0, 0], AddressProblem.OTHER_NETWORK),
        (LITECOIN, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", AddressProblem.OTHER_NETWORK),
        (LITECOIN, "ltcmweb1qqvdavrq7", AddressProblem.PRIVATE),
        (
            LITECOIN_REGTEST,
            "ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh",
            AddressProblem.OTHER_NETWORK,
        ),
        (
            BITCOIN_REGTEST,
            "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
            AddressProblem.OTHER_NETWORK,
        ),
        # Of BIP-350: versions to come, bech32 where bech32m belongs, and the other way round.
        (BITCOIN, "BC1SW50QGDZ25J", AddressProblem.UNKNOWN_KIND),
        (BITCOIN, "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", AddressProblem.UNKNOWN_KIND),
        (
            BITCOIN,
            "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4",
            AddressProblem.NOT_ONE,
        ),
        (
            BITCOIN,
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
            AddressProblem.CHECKSUM,
        ),
        (
            BITCOIN,
            "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R",
            AddressProblem.NOT_ONE,
        ),
        (BITCOIN, "bc1pw5dgrnzv", AddressProblem.NOT_ONE),
    ],
)
def test_what_can_not_be_paid_says_why(
    parameters: Parameters, typed: str, problem: AddressProblem
) -> None:
    addresses = BitcoinAddresses(parameters)
    assert addresses.problem(typed) is problem and addresses.read(typed) is None


def test_people_compare_what_differs_between_addresses() -> None:
    addresses = BitcoinAddresses(BITCOIN)
    assert addresses.ends(OF_84[0, 0]) == ("bc1qcr8t", "6fyu")
    assert addresses.ends("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2") == ("1BvBM", "NVN2")


@pytest.mark.parametrize(
    ("address", "script"),
    [
        (OF_84[0, 0], "0014c0cebcd6c3d3ca8c75dc5ec62ebe55330ef910e2"),
        (OF_86[0, 0], "5120a60869f0dbcf1dc659c9cecbaf8050135ea9e8cdc487053f1dc6880949dc684c"),
    ],
)
def test_an_address_is_the_script_of_its_output(address: str, script: str) -> None:
    assert BitcoinAddresses(BITCOIN).script_of(address).hex() == script


def test_coins_at_the_hash_of_nothing_are_burned() -> None:
    assert BitcoinAddresses(BITCOIN).is_burn("1111111111111111111114oLvT2")


@pytest.mark.parametrize("pasted", ["{}", "https://mempool.space/tx/{}", "  {} "])
def test_a_hash_is_found_in_what_is_pasted_from_an_explorer(pasted: str) -> None:
    tx_hash = "ab" * 32
    assert BitcoinAddresses(BITCOIN).hash_in(pasted.format(tx_hash)) == tx_hash
    assert BitcoinAddresses(BITCOIN).hash_of(f"0x{tx_hash}") == ""

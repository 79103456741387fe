"""Keys and signatures against the vectors that their standards publish, and against another
implementation."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import decode as other_decode
from eth_abi.abi import encode as other_encode
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.address import is_checksum_formatted_address, is_hex_address, to_checksum_address
from hypothesis import example, given
from hypothesis import strategies as st

from apps.chain.encoding import abi, typed_data
from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.transactions import Transaction, rlp
from apps.chain.keys import bip32, bip39
from apps.chain.keys.secp256k1 import SigningKey, recovered
from apps.chain.networks.evm.spelling import is_address

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

# BIP-32, test vectors 1 to 4: seed, path, xpub, xprv.
BIP32 = [
    (
        "000102030405060708090a0b0c0d0e0f",
        "m",
        "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8",
        "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
    ),
    (
        "000102030405060708090a0b0c0d0e0f",
        "m/0'",
        "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw",
        "xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7",
    ),
    (
        "000102030405060708090a0b0c0d0e0f",
        "m/0'/1/2'/2/1000000000",
        "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy",
        "xprvA41z7zogVVwxVSgdKUHDy1SKmdb533PjDz7J6N6mV6uS3ze1ai8FHa8kmHScGpWmj4WggLyQjgPie1rFSruoUihUZREPSL39UNdE3BBDu76",
    ),
    (
        "fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542",
        "m/0",
        "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH",
        "xprv9vHkqa6EV4sPZHYqZznhT2NPtPCjKuDKGY38FBWLvgaDx45zo9WQRUT3dKYnjwih2yJD9mkrocEZXo1ex8G81dwSM1fwqWpWkeS3v86pgKt",
    ),
    (
        # Vector 3: leading zeros of a private key stay.
        "4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be",
        "m/0'",
        "xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y",
        "xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L",
    ),
]

# BIP-32, test vector 5: texts that aren't extended public keys.
NO_XPUB = {
    "a version of private keys": (
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Txnt3siSujt9RCVYsx4qHZGc62TG4McvMGcAUjeuwZdduYEvFn"
    ),
    "a key with a wrong first byte": (
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4"
    ),
    "a root with a parent": (
        "xpub661no6RGEX3uJkY4bNnPcw4URcQTrSibUZ4NqJEw5eBkv7ovTwgiT91XX27VbEXGENhYRCf7hyEbWrR3FewATdCEebj6znwMfQkhRYHRLpJ"
    ),
    "a root with a number": (
        "xpub661MyMwAuDcm6CRQ5N4qiHKrJ39Xe1R1NyfouMKTTWcguwVcfrZJaNvhpebzGerh7gucBvzEQWRugZDuDXjNDRmXzSZe4c7mnTK97pTvGS8"
    ),
    "a point that isn't on the curve": (
        "xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Q5JXayek4PRsn35jii4veMimro1xefsM58PgBMrvdYre8QyULY"
    ),
    "a wrong checksum": (
        "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet9"
    ),
    "nothing": "",
    "more than there is room for": "x" * 200,
}

# BIP-39, the reference vectors (passphrase TREZOR): entropy, words, seed.
BIP39 = [
    (
        "00000000000000000000000000000000",
        (
            "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon"
            " abandon about"
        ),
        "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04",
    ),
    (
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
        "2e8905819b8723fe2c1d161860e5ee1830318dbf49a83bd451cfb8440c28bd6fa457fe1296106559a3c80937a1c1069be3a3a5bd381ee6260e8d9739fce1f607",
    ),
    (
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        (
            "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo"
            " zoo zoo vote"
        ),
        "dd48c104698c30cfe2b6142103248622fb7bb0ff692eebb00089b32d22484e1613912f0a5b694407be899ffd31ed3992c456cdf60f5d4564b8ba3f05a69890ad",
    ),
]


@pytest.mark.parametrize(("seed", "path", "xpub", "xprv"), BIP32)
def test_keys_are_those_of_bip_32(seed: str, path: str, xpub: str, xprv: str) -> None:
    found = bip32.Private.of_seed(bytes.fromhex(seed)).derive(path)
    assert (found.public.text(), found.text()) == (xpub, xprv)
    assert bip32.Public.parse(xpub).text() == xpub


def test_a_public_key_gives_the_children_of_its_private_one_and_no_hardened_ones() -> None:
    parent = bip32.Private.of_seed(bytes(range(16))).derive("m/44'/60'/0'/0")
    for index in (0, 1, 2**31 - 1):
        assert parent.public.child(index).text() == parent.child(index).public.text()
    with pytest.raises(ValueError, match="hardened"):
        parent.public.child(2**31)


@pytest.mark.parametrize("text", NO_XPUB.values(), ids=NO_XPUB.keys())
def test_what_is_no_extended_public_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        bip32.Public.parse(text)


@pytest.mark.parametrize(("entropy", "words", "seed"), BIP39)
def test_words_and_seeds_are_those_of_bip_39(entropy: str, words: str, seed: str) -> None:
    assert bip39.words_of(bytes.fromhex(entropy)) == words
    assert bip39.is_mnemonic(words)
    assert bip39.seed_of(words, "TREZOR").hex() == seed


def test_the_list_of_words_is_the_published_one() -> None:
    raw = (Path(bip39.__file__).parent / "bip39_english.txt").read_bytes()
    assert (
        hashlib.sha256(raw).hexdigest()
        == "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
    )


@given(
    st.sampled_from((16, 20, 24, 28, 32)).flatmap(
        lambda size: st.binary(min_size=size, max_size=size)
    ),
    st.integers(0, 11),
)
def test_a_mnemonic_with_another_word_is_refused_as_often_as_its_checksum_tells(
    entropy: bytes, place: int
) -> None:
    words = bip39.words_of(entropy).split()
    assert bip39.is_mnemonic(" ".join(words))
    assert not bip39.is_mnemonic(" ".join(words[:-1]))
    assert not bip39.is_mnemonic(" ".join([*words[:place], "tillgate", *words[place + 1 :]]))
    # One of so many last words at least is right, and not all are.
    assert not all(
        bip39.is_mnemonic(" ".join([*words[:-1], last]))
        for last in ("abandon", "zoo", "vote", "art", "about", "able")
    )


def test_new_words_are_twenty_four_and_never_the_same() -> None:
    made = {bip39.new_words() for _ in range(5)}
    assert len(made) == 5
    assert all(len(words.split()) == 24 and bip39.is_mnemonic(words) for words in made)


def test_a_signature_is_the_one_in_eip_155() -> None:
    unsigned = rlp([9, 20 * 10**9, 21000, bytes.fromhex("35" * 20), 10**18, b"", 1, 0, 0])
    expected = (
        "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080"
    )
    assert unsigned.hex() == expected
    digest = keccak(unsigned)
    assert digest.hex() == "daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
    parity, r, s = SigningKey(bytes.fromhex("46" * 32)).sign(digest)
    signed = rlp([9, 20 * 10**9, 21000, bytes.fromhex("35" * 20), 10**18, b"", 37 + parity, r, s])
    assert (
        signed.hex() == "f86c098504a817c800825208943535353535353535353535353535353535353535"
        "880de0b6b3a76400008025"
        "a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"
        "a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
    )


RLP = [
    (b"dog", "83646f67"),
    ([b"cat", b"dog"], "c88363617483646f67"),
    (b"", "80"),
    ([], "c0"),
    (0, "80"),
    (15, "0f"),
    (1024, "820400"),
    ([[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"),
    (
        b"Lorem ipsum dolor sit amet, consectetur adipisicing elit",
        "b838" + b"Lorem ipsum dolor sit amet, consectetur adipisicing elit".hex(),
    ),
]


@pytest.mark.parametrize(("item", "written"), RLP)
def test_bytes_are_written_as_the_published_examples_of_rlp(item: Any, written: str) -> None:
    assert rlp(item).hex() == written


ADDRESS = st.binary(min_size=20, max_size=20).map(lambda raw: f"0x{raw.hex()}")
WEI = st.integers(0, 2**256 - 1)


@given(
    st.integers(1, ORDER - 1),
    st.integers(1, 2**53),
    st.integers(0, 2**64 - 2),
    ADDRESS,
    WEI,
    st.binary(max_size=300),
    WEI,
    WEI,
)
@example(1, 1, 0, "0x" + "00" * 20, 0, b"", 0, 0)
def test_a_transaction_is_the_one_that_another_implementation_signs(
    secret: int,
    chain_id: int,
    nonce: int,
    to: str,
    value: int,
    data: bytes,
    max_fee: int,
    priority: int,
) -> None:
    key = SigningKey(secret.to_bytes(32))
    signed = Transaction(
        chain_id, nonce, to, value, f"0x{data.hex()}", 21000, max_fee, priority
    ).signed(key)
    account = Account.from_key(secret.to_bytes(32))
    fees = {"gas": 21000, "maxFeePerGas": max_fee, "maxPriorityFeePerGas": priority}
    told = {
        "type": 2,
        "chainId": chain_id,
        "nonce": nonce,
        "to": to_checksum_address(to),
        "value": value,
        "data": data,
        **fees,
    }
    expected = account.sign_transaction(told)
    assert (signed.raw, signed.tx_hash) == (
        "0x" + expected.raw_transaction.hex(),
        "0x" + expected.hash.hex(),
    )
    assert key.address == account.address.lower()


def test_a_key_that_the_curve_has_not_is_refused() -> None:
    for secret in (0, ORDER, 2**256 - 1):
        with pytest.raises(ValueError):
            SigningKey(secret.to_bytes(32))


def test_a_digest_is_that_of_the_example_in_eip_712() -> None:
    contract = "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"
    domain = typed_data.domain_separator("Ether Mail", "1", 1, contract)
    assert domain.hex() == "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f"
    person = "Person(string name,address wallet)"
    ends = []
    for name, wallet in (
        ("Cow", "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"),
        ("Bob", "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"),
    ):
        ends.append(
            typed_data.struct_hash(
                person, abi.encode(("bytes32", "address"), (typed_data.text_hash(name), wallet))
            )
        )
    mail = "Mail(Person from,Person to,string contents)" + person
    struct = typed_data.struct_hash(mail, b"".join((*ends, typed_data.text_hash("Hello, Bob!"))))
    digest = typed_data.digest(domain, struct)
    assert digest.hex() == "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
    key = SigningKey(keccak(b"cow"))
    assert key.address == "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826"
    signature = key.signature(digest)
    assert (
        signature.hex() == "4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d"
        "07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b915621c"
    )
    assert recovered(digest, signature[64], signature[:32], signature[32:64]) == key.address


@given(st.binary(min_size=32, max_size=32), st.integers(0, 255), WEI, WEI)
@example(bytes(32), 27, 0, 1)
@example(bytes(32), 29, 1, 1)
def test_who_signed_is_whom_another_implementation_finds(
    digest: bytes, v: int, r: int, s: int
) -> None:
    try:
        expected: str | None = (
            Account._recover_hash(digest, vrs=(v, r, s)).lower() if v in (27, 28) else None
        )
    except Exception:
        expected = None
    try:
        found: str | None = recovered(digest, v, r.to_bytes(32), s.to_bytes(32))
    except ValueError:
        found = None
    assert found == expected


@given(st.text(max_size=40), WEI, ADDRESS, ADDRESS, WEI, WEI, st.binary(min_size=32, max_size=32))
def test_an_authorization_has_the_digest_that_wallets_compute(
    name: str, chain_id: int, contract: str, payer: str, value: int, before: int, nonce: bytes
) -> None:
    from apps.assets.models import Asset, Chain
    from apps.chain.sending import authorizations

    asset = Asset(
        chain=Chain(chain_id=chain_id),
        contract_address=contract,
        eip712_name=name,
        eip712_version="2",
    )
    one = authorizations.Authorization(payer, payer, value, 0, before, f"0x{nonce.hex()}", "")
    members = (
        "address from",
        "address to",
        "uint256 value",
        "uint256 validAfter",
        "uint256 validBefore",
        "bytes32 nonce",
    )
    types = {
        "TransferWithAuthorization": [
            dict(zip(("type", "name"), member.split(), strict=True)) for member in members
        ]
    }
    message = {
        "from": payer,
        "to": payer,
        "value": value,
        "validAfter": 0,
        "validBefore": before,
        "nonce": nonce,
    }
    domain = {"name": name, "version": "2", "chainId": chain_id, "verifyingContract": contract}
    signable = encode_typed_data(domain_data=domain, message_types=types, message_data=message)
    assert authorizations.digest(asset, one) == keccak(
        b"\x19" + signable.version + signable.header + signable.body
    )


VALUES = {
    "uint256": WEI,
    "uint8": st.integers(0, 255),
    "address": ADDRESS,
    "bytes32": st.binary(min_size=32, max_size=32),
    "string": st.text(max_size=70),
    "address[]": st.lists(ADDRESS, max_size=4).map(tuple),
    "uint256[]": st.lists(WEI, max_size=4).map(tuple),
}


@given(
    st.lists(st.sampled_from(sorted(VALUES)), max_size=6).flatmap(
        lambda kinds: st.tuples(*(st.tuples(st.just(kind), VALUES[kind]) for kind in kinds))
    )
)
def test_arguments_are_written_and_read_as_another_implementation_does(
    typed: tuple[tuple[str, Any], ...],
) -> None:
    kinds = [kind for kind, _ in typed]
    values = tuple(value for _, value in typed)
    written = abi.encode(kinds, values)
    assert written == other_encode(kinds, values)
    assert abi.decode(kinds, written) == values == other_decode(kinds, written)


@given(
    st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4),
    st.lists(st.integers(0, 3) | WEI, max_size=12),
)
def test_what_is_read_is_what_another_implementation_reads_and_has_one_way_to_be_written(
    kinds: list[str], words: list[int]
) -> None:
    raw = b"".join(word.to_bytes(32) for word in words)
    try:
        found = abi.decode(kinds, raw)
    except ValueError:
        return
    assert found == other_decode(kinds, raw)
    assert other_encode(kinds, found) == raw


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("address", (1 << 160).to_bytes(32)),
        ("uint8", (256).to_bytes(32)),
        ("uint256", bytes(31)),
        ("uint256", bytes(33)),
        ("uint256[]", bytes(32)),
        ("uint256[]", (32).to_bytes(32) + (2**255).to_bytes(32)),
        ("uint256[]", (2**255).to_bytes(32)),
        ("string", (32).to_bytes(32) + (1).to_bytes(32) + b"\xff" + bytes(31)),
    ],
)
def test_bytes_that_no_contract_would_write_are_refused(kind: str, raw: bytes) -> None:
    with pytest.raises(ValueError):
        abi.decode([kind], raw)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("uint8", 256), ("uint256", -1), ("uint256", 2**256), ("address", "0x12"), ("bytes32", b"1")],
)
def test_a_value_that_its_type_cannot_hold_is_refused(kind: str, value: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        abi.encode([kind], [value])


@given(
    ADDRESS.flatmap(
        lambda one: st.sampled_from(
            (
                one,
                to_checksum_address(one),
                "0x" + one[2:].upper(),
                one[2:],
                one + "0",
                one.swapcase(),
            )
        )
    )
)
@example("0x52908400098527886E0F7030069857D2E4169EE7")
@example("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
@example("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD")
@example("0x" + "۱" * 40)
def test_an_address_in_mixed_case_needs_the_checksum_of_eip_55(text: str) -> None:
    is_one = text.startswith("0x") and is_hex_address(text)
    assert is_address(text) == (
        is_one and (not is_checksum_formatted_address(text) or to_checksum_address(text) == text)
    )

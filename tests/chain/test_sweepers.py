"""The contract of batched sweeps on a real EVM: an address that has delegated to it pays its hot
wallet and nobody else, for every caller; and takes coins as it did before."""

import itertools

import pytest

from apps.assets.models import Asset, Chain
from apps.chain.encoding.abi import encode
from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.transactions import Delegation, Transaction
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.networks.evm import sweepers
from apps.chain.sending.sweep_authorizations import digest
from tests.chain.local import SEPOLIA_ID, LocalChain

pytestmark = pytest.mark.chain
WALLET = SigningKey(b"\x11" * 32)
THIEF = SigningKey(b"\x99" * 32)
ETHER = 10**18
COINS = 1_000


def keys(count: int) -> list[SigningKey]:
    return [SigningKey((place + 1_000).to_bytes(32)) for place in range(count)]


def of_token(chain: LocalChain, token: str, address: str) -> int:
    call = {"to": token, "data": "0x70a08231" + address[2:].rjust(64, "0")}
    return int(chain.call("eth_call", call, "latest"), 16)


def nonce(chain: LocalChain, address: str) -> int:
    return int(chain.call("eth_getTransactionCount", address, "latest"), 16)


class Swept:
    """A chain with the wallet's contract, a token, and addresses that hold some."""

    def __init__(self, chain: LocalChain, count: int) -> None:
        self.chain = chain
        for key in (WALLET, THIEF):
            chain.call("anvil_setBalance", key.address, hex(100 * ETHER))
        to, data = sweepers.deployment(WALLET.address)
        chain.wait(chain.send(to, data=data))
        self.token = chain.deploy_token()
        self.keys = keys(count)
        self.fill()

    def fill(self) -> None:
        for key in self.keys:
            self.chain.mint(self.token, key.address, COINS)

    def signed(self) -> list[Delegation]:
        return [
            sweepers.delegation(WALLET.address, SEPOLIA_ID, nonce(self.chain, key.address), key)
            for key in self.keys
        ]

    def send(
        self, sender: SigningKey, to: str, data: str, given: list[Delegation], value: int = 0
    ) -> dict[str, str]:
        transaction = Transaction(
            *(SEPOLIA_ID, nonce(self.chain, sender.address), to, value, data, 3_000_000),
            max_fee_wei=10**11,
            priority_fee_wei=10**9,
            delegations=given,
        ).signed(sender)
        assert self.chain.call("eth_sendRawTransaction", transaction.raw) == transaction.tx_hash
        self.chain.wait(transaction.tx_hash)
        receipt: dict[str, str] = self.chain.call("eth_getTransactionReceipt", transaction.tx_hash)
        return receipt

    def sweep(self, given: list[Delegation], sender: SigningKey = WALLET) -> dict[str, str]:
        parts = [(key.address, COINS) for key in self.keys]
        contract = sweepers.contract(WALLET.address)
        return self.send(sender, contract, sweepers.call(self.token, parts), given)

    def at_wallet(self) -> int:
        return of_token(self.chain, self.token, WALLET.address)


def test_what_is_at_its_address_is_what_we_compute(chain: LocalChain) -> None:
    Swept(chain, 0)
    contract = sweepers.contract(WALLET.address)
    assert chain.call("eth_getCode", contract, "latest") == sweepers.deployed(WALLET.address)
    assert sweepers.contract(THIEF.address) != contract


def test_one_transaction_brings_the_coins_of_all_and_the_next_needs_no_signature(
    chain: LocalChain,
) -> None:
    swept = Swept(chain, 3)
    first = swept.sweep(swept.signed())
    assert first["status"] == "0x1" and first["type"] == "0x4"
    assert swept.at_wallet() == 3 * COINS
    for key in swept.keys:
        code = chain.call("eth_getCode", key.address, "latest")
        assert code == sweepers.delegated(WALLET.address)
        assert (
            nonce(chain, key.address),
            int(chain.call("eth_getBalance", key.address, "latest"), 16),
        ) == (1, 0)

    swept.fill()
    second = swept.sweep([])
    assert second["type"] == "0x2" and swept.at_wallet() == 6 * COINS
    assert int(second["gasUsed"], 16) < int(first["gasUsed"], 16) - 3 * 15_000


def test_one_that_fails_stops_no_other(chain: LocalChain) -> None:
    swept = Swept(chain, 3)
    given = swept.signed()
    chain.call("anvil_setNonce", swept.keys[0].address, "0x7")  # its signature counts no more
    parts = [(key.address, COINS) for key in swept.keys]
    parts[1] = (parts[1][0], 2 * COINS)  # more than it has
    call = sweepers.call(swept.token, parts)
    receipt = swept.send(WALLET, sweepers.contract(WALLET.address), call, given)
    assert receipt["status"] == "0x1" and len(receipt["logs"]) == 1
    assert swept.at_wallet() == COINS
    assert of_token(chain, swept.token, swept.keys[2].address) == 0


def test_too_little_gas_fails_all_of_it_rather_than_some(chain: LocalChain) -> None:
    swept = Swept(chain, 3)
    swept.sweep(swept.signed())
    swept.fill()
    call = {
        "from": WALLET.address,
        "to": sweepers.contract(WALLET.address),
        "data": sweepers.call(swept.token, [(key.address, COINS) for key in swept.keys]),
    }
    estimate = int(chain.call("eth_estimateGas", call), 16)
    chain.call("anvil_impersonateAccount", WALLET.address)
    for gas, status in ((estimate - 20_000, "0x0"), (estimate, "0x1")):
        tx_hash = chain.wait(chain.call("eth_sendTransaction", call | {"gas": hex(gas)}))
        receipt = chain.call("eth_getTransactionReceipt", tx_hash)
        assert receipt["status"] == status
        assert len(receipt["logs"]) == (3 if status == "0x1" else 0)


def test_nobody_but_the_wallet_moves_anything_and_it_only_to_itself(chain: LocalChain) -> None:
    swept = Swept(chain, 2)
    swept.sweep(swept.signed())
    swept.fill()
    before = swept.at_wallet()
    victim = swept.keys[0].address
    pay = keccak(b"pay(address,uint256)")[:4] + encode(["address", "uint256"], [swept.token, 1])
    batch = sweepers.call(swept.token, [(key.address, COINS) for key in swept.keys])
    transfer = "0xa9059cbb" + encode(["address", "uint256"], [THIEF.address, COINS]).hex()
    approve = "0x095ea7b3" + encode(["address", "uint256"], [THIEF.address, COINS]).hex()
    contract = sweepers.contract(WALLET.address)
    to, data = sweepers.deployment(THIEF.address)
    chain.wait(chain.send(to, data=data))
    theirs = sweepers.contract(THIEF.address)
    for sender, (target, call) in itertools.product(
        (THIEF, WALLET),
        (
            (victim, "0x" + pay.hex()),  # past the contract
            (victim, batch),
            (victim, transfer),
            (victim, approve),
            (theirs, batch),  # of another wallet
        ),
    ):
        swept.send(sender, target, call, [])
    swept.send(THIEF, contract, batch, [])
    assert [of_token(chain, swept.token, key.address) for key in swept.keys] == [COINS, COINS]
    assert (swept.at_wallet(), of_token(chain, swept.token, THIEF.address)) == (before, 0)


def test_a_delegated_address_takes_coins_and_calls_as_before_and_its_key_still_sends(
    chain: LocalChain,
) -> None:
    swept = Swept(chain, 1)
    swept.sweep(swept.signed())
    [key] = swept.keys
    assert swept.send(THIEF, key.address, "0x", [], ETHER)["status"] == "0x1"
    assert swept.send(THIEF, key.address, "0x12345678", [], ETHER)["status"] == "0x1"
    assert int(chain.call("eth_getBalance", key.address, "latest"), 16) == 2 * ETHER
    assert swept.send(key, WALLET.address, "0x", [], ETHER)["status"] == "0x1"


def test_a_delegation_is_of_one_network_and_one_nonce() -> None:
    with pytest.raises(ValueError):
        sweepers.delegation(WALLET.address, 0, 0, THIEF)


# --- coins that addresses have signed for ---


def asset_of(token: str) -> Asset:
    chain = Chain(chain_id=SEPOLIA_ID)
    return Asset(chain=chain, contract_address=token, eip712_name="USD Coin", eip712_version="1")


def collecting(swept: Swept, number: bytes, contract: str, amount: int = COINS) -> str:
    """The call with what each of its addresses has signed to a contract."""
    signatures = {
        key.address: key.sign(digest(asset_of(swept.token), contract, key.address, amount, number))
        for key in swept.keys
    }
    parts = [(key.address, amount) for key in swept.keys]
    return sweepers.collecting(swept.token, number, parts, signatures)


NUMBER = b"\x07" * 32


def test_what_addresses_have_signed_is_collected_once_and_passed_on(chain: LocalChain) -> None:
    swept = Swept(chain, 3)
    contract = sweepers.contract(WALLET.address)
    call = collecting(swept, NUMBER, contract)
    receipt = swept.send(WALLET, contract, call, [])
    assert receipt["status"] == "0x1" and swept.at_wallet() == 3 * COINS
    assert of_token(chain, swept.token, contract) == 0
    swept.fill()
    again = swept.send(WALLET, contract, call, [])
    assert again["status"] == "0x1" and not again["logs"], "each signature counts once"
    assert swept.at_wallet() == 3 * COINS


def test_one_that_its_token_refuses_stops_no_other_and_none_of_a_strange_length_moves(
    chain: LocalChain,
) -> None:
    swept = Swept(chain, 3)
    contract = sweepers.contract(WALLET.address)
    call = collecting(swept, NUMBER, contract)
    chain.mint(swept.token, swept.keys[0].address, 1)  # what is left doesn't matter
    other = SigningKey(b"\x55" * 32)
    chain.call("anvil_setBalance", other.address, hex(ETHER))
    chain.call("anvil_impersonateAccount", swept.keys[1].address)
    chain.call("anvil_setBalance", swept.keys[1].address, hex(ETHER))
    away = "0xa9059cbb" + encode(["address", "uint256"], [other.address, 1]).hex()
    sent = {"from": swept.keys[1].address, "to": swept.token, "data": away}
    chain.wait(chain.call("eth_sendTransaction", sent))
    receipt = swept.send(WALLET, contract, call, [])
    assert receipt["status"] == "0x1" and swept.at_wallet() == 2 * COINS
    assert of_token(chain, swept.token, swept.keys[1].address) == COINS - 1
    words = [bytes(32), bytes(32)]
    short = encode(["address", "bytes32", "bytes32[]"], [swept.token, NUMBER, words]).hex()
    assert swept.send(WALLET, contract, sweepers.COLLECTS + short, [])["status"] == "0x0"


def test_nobody_but_the_wallet_collects_and_it_only_for_itself(chain: LocalChain) -> None:
    swept = Swept(chain, 2)
    ours, theirs = (sweepers.contract(key.address) for key in (WALLET, THIEF))
    to, data = sweepers.deployment(THIEF.address)
    chain.wait(chain.send(to, data=data))
    call = collecting(swept, NUMBER, ours)
    # What is in the signed bytes, for the token itself: it asks that the contract calls.
    [key, _] = swept.keys
    parity, r, s = key.sign(digest(asset_of(swept.token), ours, key.address, COINS, NUMBER))
    kinds = ("address", "address", *("uint256",) * 3, "bytes32", "uint8", "bytes32", "bytes32")
    values = [key.address, ours, COINS, 0, 2**256 - 1, NUMBER, 27 + parity]
    signed = encode(kinds, [*values, r.to_bytes(32), s.to_bytes(32)]).hex()
    attempts = [
        (THIEF, ours, call),
        (THIEF, theirs, call),
        (THIEF, swept.token, "0xef55bec6" + signed),  # receiveWithAuthorization
        (THIEF, swept.token, "0xe3ee160e" + signed),  # transferWithAuthorization
        (WALLET, ours, collecting(swept, NUMBER, theirs)),
    ]
    for sender, target, data in attempts:
        swept.send(sender, target, data, [])
    assert [of_token(chain, swept.token, key.address) for key in swept.keys] == [COINS, COINS]
    assert (swept.at_wallet(), of_token(chain, swept.token, THIEF.address)) == (0, 0)
    assert swept.send(WALLET, ours, call, [])["status"] == "0x1"
    assert swept.at_wallet() == 2 * COINS, "nobody has used a signature up"


def test_with_too_little_gas_nothing_is_collected(chain: LocalChain) -> None:
    swept = Swept(chain, 3)
    contract = sweepers.contract(WALLET.address)
    call = {
        "from": WALLET.address,
        "to": contract,
        "data": collecting(swept, NUMBER, contract),
    }
    estimate = int(chain.call("eth_estimateGas", call), 16)
    chain.call("anvil_impersonateAccount", WALLET.address)
    for gas, status in ((estimate - 20_000, "0x0"), (estimate, "0x1")):
        tx_hash = chain.wait(chain.call("eth_sendTransaction", call | {"gas": hex(gas)}))
        assert chain.call("eth_getTransactionReceipt", tx_hash)["status"] == status
    assert swept.at_wallet() == 3 * COINS

"""Plans as bytes: made with embit, and read back by this app's own parser, so that one mistake
doesn't agree with itself (decision 757)."""

import base64
from collections.abc import Sequence

from coincurve import PublicKey
from embit.psbt import PSBT
from embit.script import Script, Witness, p2pkh_from_p2wpkh
from embit.transaction import Transaction, TransactionInput, TransactionOutput

from apps.chain.keys.secp256k1 import ORDER
from apps.chain.networks.base import SignedSpend, SpendPlan
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.transactions import read_transaction

# Another may take its place (BIP-125), and no time is waited for.
SEQUENCE = 0xFFFFFFFD
VERSION = 2
_ALL = 1  # a signature is for all inputs and outputs


def unsigned(plan: SpendPlan, addresses: BitcoinAddresses) -> Transaction:
    """Inputs and outputs in the plan's order, the change last."""
    inputs = [
        TransactionInput(bytes.fromhex(coin.place.tx_hash), coin.place.output, sequence=SEQUENCE)
        for coin in plan.coins
    ]
    outputs = [
        TransactionOutput(amount, Script(addresses.script_of(address)))
        for address, amount in paid_by(plan)
    ]
    return Transaction(VERSION, inputs, outputs)


def paid_by(plan: SpendPlan) -> list[tuple[str, int]]:
    """Address and amount of each output."""
    outputs = [(order.address, order.amount_atomic) for order in plan.orders]
    return [*outputs, (plan.change_address, plan.change_atomic)] if plan.change_atomic else outputs


def digests_of(plan: SpendPlan, addresses: BitcoinAddresses) -> list[bytes]:
    """As BIP-143 says, with the amount of each coin."""
    transaction = unsigned(plan, addresses)
    return [
        transaction.sighash_segwit(
            number,
            p2pkh_from_p2wpkh(Script(addresses.script_of(coin.address))),
            coin.amount_atomic,
        )
        for number, coin in enumerate(plan.coins)
    ]


def signed_bytes(
    plan: SpendPlan,
    addresses: BitcoinAddresses,
    keys: Sequence[PublicKey],
    signatures: Sequence[tuple[int, int]],
) -> SignedSpend:
    """Raises ValueError for a signature that isn't the key's, and unless the bytes do what the plan
    says and nothing else."""
    transaction = unsigned(plan, addresses)
    digests = digests_of(plan, addresses)
    for spent, key, digest, (r, s) in zip(transaction.vin, keys, digests, signatures, strict=True):
        signature = der_of(r, s)
        if not key.verify(signature, digest, hasher=None):
            raise ValueError("no signature of the key of its coin")
        spent.witness = Witness([signature + bytes([_ALL]), key.format()])
    raw = transaction.serialize()
    return SignedSpend(read_back(raw, plan, addresses, keys), raw.hex())


def packet_of(plan: SpendPlan, addresses: BitcoinAddresses) -> str:
    packet = PSBT(unsigned(plan, addresses))
    for scope, coin in zip(packet.inputs, plan.coins, strict=True):
        script = Script(addresses.script_of(coin.address))
        scope.witness_utxo = TransactionOutput(coin.amount_atomic, script)
    return base64.b64encode(packet.serialize()).decode()


def der_of(r: int, s: int) -> bytes:
    """With the lower of the two possible s, which nodes ask for. Raises ValueError for what is no
    signature of the curve."""
    if not (0 < r < ORDER and 0 < s < ORDER):
        raise ValueError("no signature of the curve")
    parts = b""
    for number in (r, min(s, ORDER - s)):
        raw = number.to_bytes(number.bit_length() // 8 + 1)
        parts += bytes([2, len(raw)]) + raw
    return bytes([0x30, len(parts)]) + parts


def read_back(
    raw: bytes, plan: SpendPlan, addresses: BitcoinAddresses, keys: Sequence[PublicKey]
) -> str:
    """The hash of the bytes, once they spend the plan's coins and pay its orders and its change.
    Raises ValueError."""
    read = read_transaction(raw)
    spent = [(each.tx_hash, each.output, each.sequence, each.script) for each in read.inputs]
    coins = [(coin.place.tx_hash, coin.place.output, SEQUENCE, b"") for coin in plan.coins]
    outputs = [(addresses.of_script(each.script), each.amount_atomic) for each in read.outputs]
    have = sum(coin.amount_atomic for coin in plan.coins)
    fee_atomic = have - sum(each.amount_atomic for each in read.outputs)
    does_so = (
        spent == coins
        and outputs == paid_by(plan)
        and fee_atomic == plan.fee_atomic
        and (read.version, read.locktime, read.is_private) == (VERSION, 0, False)
        and [witness[1] for witness in read.witnesses] == [key.format() for key in keys]
        and read.size <= plan.size
    )
    if not does_so:
        raise ValueError("the bytes don't do what the plan says")
    return read.tx_hash

"""Blocks and what waits, read from a real litecoind."""

from dataclasses import replace

import pytest

from apps.assets.models import Chain
from apps.chain.networks.base import BlockRead, CoinPlace, Inconsistent, Sighting, Transfer
from apps.chain.networks.bitcoin import mempool
from apps.chain.networks.bitcoin.accounts import Account
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.parameters import (
    BITCOIN,
    LITECOIN_REGTEST,
    ScriptKind,
)
from apps.chain.networks.bitcoin.reader import BitcoinReader
from apps.chain.providers.base import RpcError
from apps.chain.providers.bitcoind import BitcoinNodes
from tests.bitcoin.node import Litecoin
from tests.bitcoin.wallet import ACCOUNT

pytestmark = pytest.mark.litecoin
COIN = 100_000_000
_addresses = iter(range(2**30))


def address(kind: ScriptKind = ScriptKind.WPKH) -> str:
    """One of ours that nobody has paid yet."""
    return Account(LITECOIN_REGTEST, kind, ACCOUNT).address(next(_addresses))


def newest(reader: BitcoinReader) -> BlockRead:
    return reader.blocks([reader.latest(0).number], ())[0]


def sighted(reader: BitcoinReader, tx_hash: str) -> Sighting:
    waiting = reader.waiting((), ())
    assert waiting is not None
    return next(each for each in waiting.new if each.tx_hash == tx_hash)


def paid(block: BlockRead, *addresses: str) -> list[Transfer]:
    return [each for each in block.transfers if each.to_address in addresses]


@pytest.mark.parametrize("kind", ScriptKind)
def test_a_payment_is_seen_while_it_waits_and_counted_from_its_block(
    litecoin: Litecoin, reader: BitcoinReader, kind: ScriptKind
) -> None:
    mine = address(kind)
    tx_hash = litecoin.pay(mine, "0.12345678")
    seen = sighted(reader, tx_hash)
    [transfer] = [each for each in seen.transfers if each.to_address == mine]
    assert transfer.amount_atomic == 12_345_678 and not seen.is_private
    assert seen.fee_atomic > 0 and seen.size > 100
    assert reader.transaction(tx_hash, (), 1) is None
    [block_hash] = litecoin.mine()
    block = newest(reader)
    assert block.header.hash == block_hash
    assert paid(block, mine) == [transfer]
    read = reader.transaction(tx_hash, (), 1)
    assert read is not None and read.has_moved and transfer in read.transfers
    waiting = reader.waiting({tx_hash}, ())
    assert waiting is not None and tx_hash not in waiting.hashes


def test_each_output_of_a_transaction_and_each_of_one_address_counts(
    litecoin: Litecoin, reader: BitcoinReader
) -> None:
    first, second = address(), address()
    funds = litecoin.faucet("getnewaddress")
    coin = litecoin.pay(funds, "3")
    place = next(
        each for each in sighted(reader, coin).transfers if each.to_address == funds
    ).log_index
    instead = address()
    outputs = [{first: 1}, {second: 0.5}, {instead: 1.499}]
    raw = litecoin.ask("createrawtransaction", [{"txid": coin, "vout": place}], outputs)
    # The same address twice in one transaction: Core's RPC makes none, other wallets do.
    script_of = BitcoinAddresses(LITECOIN_REGTEST).script_of
    doubled = raw.replace(script_of(instead).hex(), script_of(first).hex())
    signed = litecoin.faucet("signrawtransactionwithwallet", doubled)["hex"]
    spending = litecoin.send(signed)
    again = litecoin.pay(first, "0.25")
    litecoin.mine()
    block = newest(reader)
    output = next(each.log_index for each in paid(block, first) if each.tx_hash == again)
    amounts = sorted(
        (each.tx_hash, each.log_index, each.amount_atomic) for each in paid(block, first)
    )
    assert amounts == sorted(
        [
            (spending, 0, COIN),
            (spending, 2, 149_900_000),
            (again, output, COIN // 4),
        ]
    )
    assert [each.log_index for each in paid(block, second)] == [1]
    taken = CoinPlace(coin, place).text
    assert reader.spenders(block, {taken, f"{coin}:9"}) == {taken: spending}


def test_coins_of_a_miner_wait_for_a_hundred_blocks(
    litecoin: Litecoin, reader: BitcoinReader
) -> None:
    mine = address()
    litecoin.ask("generatetoaddress", 1, mine)
    [transfer] = paid(newest(reader), mine)
    assert transfer.usable_after == 100


def test_what_a_node_changes_in_a_block_is_found(litecoin: Litecoin, reader: BitcoinReader) -> None:
    mine = address()
    litecoin.pay(mine, "1")
    [block_hash] = litecoin.mine()
    number = litecoin.height
    honest = litecoin.ask("getblock", block_hash, 0)
    amount = COIN.to_bytes(8, "little").hex()
    lies = {
        "an amount": honest.replace(amount, (2 * COIN).to_bytes(8, "little").hex()),
        "a header": honest[:150] + ("0" if honest[150] != "0" else "1") + honest[151:],
        "its second half": honest[:400],
        "everything": "zz",
    }
    for lie in lies.values():
        assert lie != honest
        with pytest.raises(Inconsistent):
            reader._block(number, block_hash, lie)
    assert paid(reader._block(number, block_hash, honest), mine)


def test_a_node_of_another_network_is_never_listened_to(litecoin: Litecoin) -> None:
    nodes = BitcoinNodes("bitcoin", BITCOIN.network_number, [litecoin.url])
    with pytest.raises(RpcError, match="another network"):
        nodes.call("getblockcount", [])


def test_a_wrong_password_is_an_error_without_it(litecoin: Litecoin) -> None:
    password = litecoin.url.split(":")[2].split("@")[0]
    url = litecoin.url.replace(password, "another-one")
    nodes = BitcoinNodes("litecoin", LITECOIN_REGTEST.network_number, [url])
    with pytest.raises(RpcError) as error:
        nodes.call("getblockcount", [])
    assert "401" in str(error.value) and "another-one" not in str(error.value)
    spare = BitcoinNodes("litecoin", LITECOIN_REGTEST.network_number, [url, litecoin.url])
    assert spare.call("getblockcount", []) == litecoin.height


def test_a_refusal_is_told_in_its_place(litecoin: Litecoin) -> None:
    nodes = litecoin.nodes()
    unknown = ("getrawtransaction", ["00" * 32])
    count, refused = nodes.each([("getblockcount", []), unknown])
    assert count == litecoin.height and isinstance(refused, RpcError) and refused.is_refusal
    [alone] = nodes.each([unknown])
    assert isinstance(alone, RpcError) and alone.is_refusal
    [lacking] = nodes.each([("no_such_method", [])])
    assert isinstance(lacking, RpcError) and lacking.is_refusal


def test_a_crowd_that_waits_is_read_in_turns(
    litecoin: Litecoin, reader: BitcoinReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mempool, "NEW_MAX", 2)
    mine = address()
    hashes = {litecoin.pay(mine, "0.1") for _ in range(5)}
    known: frozenset[str] = frozenset()
    seen: list[str] = []
    while True:
        waiting = reader.waiting(known, ())
        assert waiting is not None and len(waiting.new) <= 2
        known = waiting.hashes
        if not waiting.new:
            break
        seen += [each.tx_hash for each in waiting.new]
    assert hashes <= known and sorted(seen) == sorted(set(seen))
    litecoin.mine()
    emptied = reader.waiting(known, ())
    assert emptied is not None and not emptied.hashes


def test_six_blocks_that_are_taken_back_leave_a_payment_waiting(
    litecoin: Litecoin, reader: BitcoinReader
) -> None:
    mine = address()
    tx_hash = litecoin.pay(mine, "0.7")
    first, *_ = litecoin.mine(6)
    number = litecoin.height - 5
    assert reader.transaction(tx_hash, (), 6) is not None
    litecoin.take_back(6)
    assert reader.latest(number + 5).number == number - 1
    assert reader.transaction(tx_hash, (), 1) is None
    assert paid_by(sighted(reader, tx_hash), mine) == 70_000_000
    litecoin.mine(7)
    [block] = reader.blocks([number], ())
    assert block.header.hash != first and paid(block, mine)
    read = reader.transaction(tx_hash, (), 6)
    assert read is not None and read.has_moved


def paid_by(sighting: Sighting, mine: str) -> int:
    return sum(each.amount_atomic for each in sighting.transfers if each.to_address == mine)


def test_a_payment_that_another_took_the_coins_of_is_gone(
    litecoin: Litecoin, replacing: Litecoin
) -> None:
    reader = BitcoinReader(Chain(chain_id=LITECOIN_REGTEST.network_number), replacing.nodes())
    mine = address()
    first = replacing.faucet("sendtoaddress", mine, 1, "", "", False, True)
    seen = sighted(reader, first)
    assert seen.is_replaceable
    bumped = replacing.faucet("bumpfee", first)["txid"]
    waiting = reader.waiting({first}, ())
    assert waiting is not None and first not in waiting.hashes
    other = next(each for each in waiting.new if each.tx_hash == bumped)
    assert set(seen.spends) & set(other.spends)
    assert other.fee_atomic > seen.fee_atomic
    reader.close()


# --- the private part ---------------------------------------------------------------------------


def test_a_payment_out_of_the_private_part_is_seen_by_its_kernel_and_counted_once(
    litecoin: Litecoin, reader: BitcoinReader
) -> None:
    mine, others = address(), address()
    waiting_id = litecoin.from_private(mine, "1.5")
    seen = sighted(reader, waiting_id)
    assert seen.is_private and not seen.spends
    [transfer] = seen.transfers
    assert (transfer.to_address, transfer.amount_atomic) == (mine, 150_000_000)
    assert transfer.usable_after == 6
    litecoin.from_private(others, "0.25")
    litecoin.mine()
    block = newest(reader)
    last = block.told.transactions[-1]
    [arrived] = paid(block, mine)
    assert arrived == replace(
        transfer, tx_hash=last.tx_hash, log_index=arrived.log_index, usable_after=6
    )
    assert len(paid(block, mine, others)) == 2 and waiting_id != last.tx_hash
    read = reader.transaction(waiting_id, (), 1)
    assert read is not None and read.transfers == [arrived]
    assert reader.transaction(waiting_id, (), 2) is not None
    assert not reader.transaction(waiting_id, (), 2).has_moved  # type: ignore[union-attr]  # above
    waiting = reader.waiting({waiting_id}, ())
    assert waiting is not None and not waiting.hashes


def test_it_has_another_hash_after_a_reorganization_and_waits_under_the_same_id(
    litecoin: Litecoin, reader: BitcoinReader
) -> None:
    mine = address()
    before = litecoin.from_private(address(), "0.5")
    litecoin.mine()
    waiting_id = litecoin.from_private(mine, "0.75")
    litecoin.mine()
    [first] = paid(newest(reader), mine)
    litecoin.take_back(2)
    assert sighted(reader, waiting_id).is_private
    assert reader.transaction(first.tx_hash, (), 1) is None
    litecoin.mine(2)
    assert before not in litecoin.waiting
    numbers = [litecoin.height - 1, litecoin.height]
    [again] = [each for block in reader.blocks(numbers, ()) for each in paid(block, mine)]
    assert again.tx_hash != first.tx_hash and again.amount_atomic == first.amount_atomic
    read = reader.transaction(waiting_id, (), 1)
    assert read is not None and read.transfers == [again]


def test_coins_that_go_into_the_private_part_pay_nobody_here(
    litecoin: Litecoin, reader: BitcoinReader
) -> None:
    open_wallet = litecoin.wallet_without_private_coins("open")
    private = litecoin.faucet("getnewaddress", "", "mweb")
    tx_hash = open_wallet("sendtoaddress", private, 2)
    assert not sighted(reader, tx_hash).is_private
    litecoin.mine()
    read = reader.transaction(tx_hash, (), 1)
    assert read is not None and private not in {each.to_address for each in read.transfers}

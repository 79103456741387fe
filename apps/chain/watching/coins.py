"""Our coins as blocks bring and take them, on networks that have coins: the watcher alone writes
them down."""

from collections.abc import Collection, Iterable, Mapping

from apps.chain.models import Address, CoinRecord, HotWallet
from apps.chain.networks.base import BlockHeader, BlockRead, CoinPlace, Reader, Transfer
from apps.chain.networks.families import tells_all
from apps.chain.watching.watched import WatchedChain


def brought(
    facts: WatchedChain, block: BlockRead, deposit_addresses: Collection[str]
) -> list[tuple[Transfer, bool]]:
    """The outputs that are ours, and whether each is at a deposit address. What comes to a
    merchant's own wallet isn't."""
    if not tells_all(facts.chain):
        return []
    hot = set(HotWallet.objects.filter(chain=facts.chain).values_list("address", flat=True))
    held = Address.objects.filter(pk__in=deposit_addresses, purpose=Address.Purpose.DEPOSIT)
    deposits = set(held.values_list("pk", flat=True)) if deposit_addresses else set()
    return [
        (transfer, transfer.to_address not in hot)
        for transfer in block.transfers
        if transfer.to_address in hot or transfer.to_address in deposits
    ]


def taken(
    reader: Reader,
    facts: WatchedChain,
    block: BlockRead,
    outputs: Iterable[tuple[Transfer, bool]],
) -> dict[str, str]:
    """Of the coins that were ours before this block those that it spends, and by which transaction
    each; what the block itself has brought is looked for as well."""
    if not tells_all(facts.chain):
        return {}
    rows = CoinRecord.objects.filter(chain=facts.chain, spent_by="")
    places = {CoinPlace(*place).text for place in rows.values_list("tx_hash", "output")}
    own = {CoinPlace(item.tx_hash, item.log_index).text for item, _ in outputs}
    return reader.spenders(block, places | own)


def record(
    facts: WatchedChain,
    header: BlockHeader,
    outputs: Iterable[tuple[Transfer, bool]],
    takers: Mapping[str, str],
) -> None:
    """Within the transaction that writes the block."""
    rows = [
        CoinRecord(
            chain=facts.chain,
            tx_hash=transfer.tx_hash,
            output=transfer.log_index,
            address=transfer.to_address,
            is_deposit=is_deposit,
            amount_atomic=transfer.amount_atomic,
            block_number=header.number,
            usable_from=header.number + transfer.usable_after - 1,
        )
        for transfer, is_deposit in outputs
    ]
    if rows:
        CoinRecord.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["chain", "tx_hash", "output"],
            update_fields=["block_number", "usable_from"],
        )
    for place, taker in takers.items():
        tx_hash, _, output = place.rpartition(":")
        CoinRecord.objects.filter(
            chain=facts.chain, tx_hash=tx_hash, output=int(output), spent_by=""
        ).update(spent_by=taker, spent_number=header.number)


def take_back(facts: WatchedChain, ancestor_number: int) -> None:
    """Takes back what the blocks above an ancestor have brought, and gives back what they took."""
    if not tells_all(facts.chain):
        return
    rows = CoinRecord.objects.filter(chain=facts.chain)
    rows.filter(block_number__gt=ancestor_number).update(block_number=None)
    rows.filter(spent_number__gt=ancestor_number).update(spent_by="", spent_number=None)

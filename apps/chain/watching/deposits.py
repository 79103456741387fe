"""The life of a deposit on the chain: seen, moved to another block, confirmed, lost. Each function
returns the ids that changed.

A deposit is one row however often it is seen. One that was confirmed and handled has been credited:
it is never confirmed a second time, and losing it is an alert. What nobody has acted upon yet is
lost and found like one that never confirmed.
"""

from collections import defaultdict
from datetime import datetime

import structlog
from django.db import connection, models
from prometheus_client import Counter

from apps.assets.models import Chain
from apps.chain.addresses import derived
from apps.chain.models import Address, Deposit
from apps.chain.networks.base import NATIVE_LOG_INDEX, BlockHeader, Transfer
from apps.chain.networks.finality import reach
from apps.chain.own.wallets import derived_own, own_addresses
from apps.chain.watching.sightings import first_seen
from apps.chain.watching.watched import WatchedChain
from apps.core.db.sql import Arguments
from apps.core.ids import new_id_sql

log = structlog.get_logger(__name__)
_lost = Counter(
    "tillgate_chain_lost_deposits",
    "Deposits that a reorg took away after they were credited",
    ["chain"],
)
_OUT_OF_THE_WAY = -1_000_000_000
_IN_MOTION = -2_000_000_000

_PUT = f"""
INSERT INTO chain_deposit (id, chain_id, asset_id, address_id, tx_hash, log_index, from_address,
    amount_atomic, block_number, block_hash,
    mined_at, status, handled_status, required_confirmations, detected_at, is_lost, is_simulated,
        simulated_confirmations)
SELECT {new_id_sql()}, %(chain)s, one.asset, one.address, one.tx_hash, one.log_index, one.sender,
    one.amount, %(number)s, %(hash)s,
    one.mined_at, 'confirming', '', %(required)s, %(at)s, false, false, 0
FROM unnest(%(assets)s::text[], %(addresses)s::text[], %(tx_hashes)s::text[],
    %(log_indexes)s::int[], %(senders)s::text[],
    %(amounts)s::numeric[], %(mined_at)s::timestamptz[])
    AS one(asset, address, tx_hash, log_index, sender, amount, mined_at)
ON CONFLICT (chain_id, tx_hash, log_index) DO UPDATE SET
    block_number = EXCLUDED.block_number,
    block_hash = EXCLUDED.block_hash,
    mined_at = CASE WHEN chain_deposit.status = 'failed' THEN EXCLUDED.mined_at
        ELSE least(chain_deposit.mined_at, EXCLUDED.mined_at) END,
    status = CASE WHEN chain_deposit.status = 'failed' AND NOT chain_deposit.is_lost
                    OR chain_deposit.status = 'confirmed'
                        AND chain_deposit.handled_status <> 'confirmed'
             THEN 'confirming' ELSE chain_deposit.status END,
    failed_at = CASE WHEN chain_deposit.is_lost THEN chain_deposit.failed_at END
WHERE chain_deposit.block_hash <> EXCLUDED.block_hash OR chain_deposit.status = 'failed'
RETURNING id
"""  # noqa: S608  # no input in it

# Rows are locked by id here and by who books them, so that neither waits for the other in a ring.
_CONFIRM = """
WITH due AS MATERIALIZED (
    SELECT id FROM chain_deposit WHERE chain_id = %(chain)s AND status = 'confirming'
        AND NOT is_simulated
        AND block_number <= %(newest)s
        AND (NOT %(counts)s OR block_number + required_confirmations - 1 <= %(head)s)
        AND (block_hash = ANY(%(named)s::text[]) OR NOT EXISTS (
            SELECT FROM unnest(%(assets)s::text[], %(least)s::numeric[]) AS rule(asset, least)
            WHERE rule.asset = asset_id AND amount_atomic >= rule.least))
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE chain_deposit d SET status = 'confirmed', confirmed_at = %(at)s FROM due WHERE d.id = due.id
    AND d.status = 'confirming'
RETURNING d.id
"""

# It was booked before it was lost: it only counts again, nobody is notified to book it.
_FIND_AGAIN = """
UPDATE chain_deposit
    SET status = 'confirmed', handled_status = 'confirmed', confirmed_at = %(at)s, failed_at = NULL,
    is_lost = false
WHERE chain_id = %(chain)s AND is_lost AND status = 'failed'
    AND block_number <= %(newest)s
    AND (NOT %(counts)s OR block_number + required_confirmations - 1 <= %(head)s)
    AND (block_hash = ANY(%(named)s::text[]) OR NOT EXISTS (
        SELECT FROM unnest(%(assets)s::text[], %(least)s::numeric[]) AS rule(asset, least)
        WHERE rule.asset = asset_id AND amount_atomic >= rule.least))
    AND EXISTS (SELECT 1 FROM chain_block WHERE chain_id = %(chain)s
        AND hash = chain_deposit.block_hash AND is_canonical)
RETURNING id, asset_id, amount_atomic, tx_hash
"""

# Who books a deposit holds its row until it is marked as handled: what is read here is either
# booked or never will be as it is.
_FAIL_ORPHANS = """
WITH orphans AS MATERIALIZED (
    SELECT id FROM chain_deposit
    WHERE chain_id = %(chain)s AND block_number > %(ancestor)s
        AND status IN ('confirming', 'confirmed', 'unmatched') AND NOT is_simulated
        AND EXISTS (SELECT 1 FROM chain_block WHERE chain_id = %(chain)s
            AND hash = chain_deposit.block_hash AND NOT is_canonical)
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE chain_deposit d SET status = 'failed', failed_at = %(at)s, is_lost = d.status = 'confirmed'
    AND d.handled_status = 'confirmed'
FROM orphans WHERE d.id = orphans.id AND d.status IN ('confirming', 'confirmed', 'unmatched')
RETURNING d.id, d.is_lost, d.asset_id, d.amount_atomic, d.tx_hash, d.address_id
"""


def put(
    facts: WatchedChain, header: BlockHeader, transfers: list[tuple[str, Transfer]], at: datetime
) -> list[object]:
    """Write the transfers of a block. One that was known from an orphaned block moves here, and its
    confirmations start again. What came to an address that isn't of our keys is nobody's, no matter
    who has written the address down."""
    chain = facts.chain
    transfers = _at_own_addresses(chain, transfers)
    if not transfers:
        return []
    _renumber(chain, header, transfers)
    values: Arguments = {
        "chain": chain.pk,
        "number": header.number,
        "hash": header.hash,
        "required": chain.required_confirmations,
        "at": at,
        "assets": [asset for asset, _ in transfers],
        "addresses": [transfer.to_address for _, transfer in transfers],
        "tx_hashes": [transfer.tx_hash for _, transfer in transfers],
        "log_indexes": [transfer.log_index for _, transfer in transfers],
        "mined_at": first_seen(facts, [transfer for _, transfer in transfers], header.mined_at),
        "senders": [transfer.from_address for _, transfer in transfers],
        "amounts": [transfer.amount_atomic for _, transfer in transfers],
    }
    with connection.cursor() as cursor:
        cursor.execute(_PUT, values)
        return [deposit_id for (deposit_id,) in cursor.fetchall()]


def _at_own_addresses(
    chain: Chain, transfers: list[tuple[str, Transfer]]
) -> list[tuple[str, Transfer]]:
    """Web and workers write addresses; what makes one ours is that the extended key derives it, and
    one of a merchant's own that the merchant's wallet does."""
    rows = Address.objects.filter(pk__in={transfer.to_address for _, transfer in transfers})
    listed = list(rows.values_list("pk", "mode", "index"))
    own = derived(listed) | derived_own(listed)
    for address in sorted({row[0] for row in listed} - own):
        log.error("address_not_derived", chain=chain.pk, address=address)
    return [pair for pair in transfers if pair[1].to_address in own]


def confirm(facts: WatchedChain, head_number: int, at: datetime) -> list[object]:
    """Confirm what counts at this head, by the network's rule, and has a second node's word where
    its amount takes that. Nothing while nodes disagree."""
    chain_id, trust = facts.chain.pk, facts.trust
    if trust.is_disputed:
        return []
    newest, counts_confirmations = reach(facts.chain, head_number, facts.tagged_number)
    values: Arguments = {
        "chain": chain_id,
        "head": head_number,
        "newest": newest,
        "counts": counts_confirmations,
        "at": at,
        "named": sorted(trust.hashes),
        "assets": list(trust.least),
        "least": list(trust.least.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(_CONFIRM, values)
        confirmed = [deposit_id for (deposit_id,) in cursor.fetchall()]
        cursor.execute(_FIND_AGAIN, values)
        for deposit_id, asset_id, amount, tx_hash in cursor.fetchall():
            log.error(
                "deposit_found_again",
                deposit=str(deposit_id),
                chain=chain_id,
                asset=asset_id,
                amount_atomic=str(amount),
                tx_hash=tx_hash,
                correction="reverse the correction that was posted when it was lost, if one was",
            )
    return confirmed


_CORRECTION = (
    "it was booked: debit the store and credit custody_deposits through treasury, with this deposit"
    " as the reason"
)
_CORRECTION_OF_OWN = (
    "it was in the merchant's own wallet: post none; it is reversed once the review has ended"
)


def fail_orphans(chain_id: str, ancestor_number: int, at: datetime) -> list[object]:
    """Fail what is only in orphaned blocks. What had been credited is marked lost, and staff
    are alerted."""
    with connection.cursor() as cursor:
        cursor.execute(_FAIL_ORPHANS, {"chain": chain_id, "ancestor": ancestor_number, "at": at})
        rows = cursor.fetchall()
    own = own_addresses(address for *_, address in rows)
    for deposit_id, is_lost, asset_id, amount, tx_hash, address in rows:
        if is_lost:
            _lost.labels(chain_id).inc()
            log.error(
                "deposit_lost",
                deposit=str(deposit_id),
                chain=chain_id,
                asset=asset_id,
                amount_atomic=str(amount),
                tx_hash=tx_hash,
                address=address,
                correction=_CORRECTION_OF_OWN if address in own else _CORRECTION,
            )
    return [row[0] for row in rows]


def _renumber(chain: Chain, header: BlockHeader, transfers: list[tuple[str, Transfer]]) -> None:
    """A transaction that was in an orphaned block may number its transfers otherwise in this one:
    each old row gets its new number.

    What the transaction doesn't do any more is numbered out of the way.
    """
    hashes = {
        transfer.tx_hash for _, transfer in transfers if transfer.log_index != NATIVE_LOG_INDEX
    }
    deposits = Deposit.objects.filter(chain=chain, tx_hash__in=hashes).exclude(
        log_index=NATIVE_LOG_INDEX
    )
    old = (
        list(
            deposits.exclude(
                models.Q(block_hash=header.hash) & ~models.Q(status="failed")
            ).order_by("log_index")
        )
        if hashes
        else []
    )
    if not old:
        return
    numbers: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for asset, transfer in sorted(transfers, key=lambda pair: pair[1].log_index):
        numbers[
            transfer.tx_hash,
            asset,
            transfer.to_address,
            transfer.from_address,
            transfer.amount_atomic,
        ].append(transfer.log_index)
    for place, deposit in enumerate(old):
        Deposit.objects.filter(pk=deposit.pk).update(log_index=_IN_MOTION - place)
    for place, deposit in enumerate(old):
        same = numbers[
            deposit.tx_hash,
            deposit.asset_id,
            deposit.address_id,
            deposit.from_address,
            deposit.amount_atomic,
        ]
        Deposit.objects.filter(pk=deposit.pk).update(
            log_index=same.pop(0) if same else _OUT_OF_THE_WAY - place
        )

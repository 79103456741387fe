"""Do our addresses hold what the books say? Both are read as of the newest block whose transactions
count as confirmed.

At that block no unconfirmed deposit has arrived yet, so what remains apart is only what confirmed
and waits to be booked.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from apps.assets.models import Asset, Chain, TokenStandard
from apps.audit import custody_addresses
from apps.chain.holdings import Holdings, holdings_of, patience_of
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.networks.families import addresses_of, stored
from apps.chain.networks.finality import final_number
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.selectors import heads, is_watched
from apps.chain.sending import cold_storage
from apps.core.db.sql import Arguments

NAME = "custody_is_there"
SAYS = "custody_deposits and custody_hot equal the balances on the chain"
COLD_NAME = "cold_is_there"
COLD_SAYS = "The cold addresses hold at least the ledger balance of cold storage"
ADDRESSES_SHOWN_MAX = 10
LOOKS_AGAIN = 3
AGAIN_SECONDS = 4.0
_Status = OutgoingTransaction.Status

_EXPECTED = """
SELECT coalesce((SELECT -sum(ledger_balance(id)) FROM ledger_account
                 WHERE asset_id = %(asset)s AND mode = %(mode)s
                     AND kind IN ('custody_deposits', 'custody_hot')), 0)
     + coalesce((SELECT sum(amount_atomic) FROM chain_deposit d WHERE asset_id = %(asset)s
         AND NOT is_simulated
                 AND NOT EXISTS (SELECT FROM chain_address own WHERE own.address = d.address_id
                     AND own.purpose = 'own')
                 AND block_number <= %(block)s
                 AND (status = 'unmatched'
                     OR (status = 'confirmed' AND handled_status <> 'confirmed'))
                 -- What staff have credited is in the books by their corrections.
                 AND NOT EXISTS (SELECT 1 FROM chain_unmatchedtransfer t
                     WHERE t.outcome = 'credited' AND d.status = 'unmatched'
                                 AND (t.chain_id, t.tx_hash, t.log_index) = (d.chain_id, d.tx_hash,
                                     d.log_index))), 0)
     + coalesce((SELECT sum(
             is_there * (moves * received_atomic + takes - pays_fees * network_fee_atomic)
             - was_booked * (moved * handled_received_atomic + took
                 - pays_fees * handled_fee_atomic)) FROM (
         SELECT network_fee_atomic, handled_fee_atomic, received_atomic, handled_received_atomic,
                is_there, was_booked, %(pays_fees)s::int AS pays_fees,
                brings * has_moved AS moves, -gives * amount_atomic * has_moved AS takes,
                brings * had_moved AS moved, -gives * amount_atomic * had_moved AS took
         FROM (
             SELECT *, (receives_asset_id IS NOT DISTINCT FROM %(asset)s)::int AS brings,
                    (asset_id = %(asset)s AND receives_asset_id IS DISTINCT FROM %(asset)s
                     AND purpose NOT IN ('approval', 'sweep', 'sweep_gas', 'sweep_batch', 'join',
                        'x402')
                     )::int AS gives,
                    -- In review, what was mined a second time did the opposite of what is booked.
                    (status = 'confirmed' OR status = 'review'
                        AND handled_status = 'failed')::int AS has_moved,
                    (handled_status = 'confirmed')::int AS had_moved,
                    ((block_number <= %(block)s
                        -- What was mined and moved otherwise has cost its gas.
                        AND (status IN ('confirmed', 'failed') OR status = 'review'
                            AND (handled_status IN ('confirmed', 'failed')
                                OR reason_code = 'moved_otherwise'))) IS TRUE)::int AS is_there,
                    (handled_status IN ('confirmed', 'failed'))::int AS was_booked
             FROM chain_outgoingtransaction
             WHERE chain_id = %(chain)s AND (nonce IS NOT NULL OR spend_id IS NOT NULL)
               AND (handled_status <> status OR block_number > %(block)s OR undone_count > 0
                   OR status = 'review' AND reason_code = 'moved_otherwise')
         ) one
       ) effect), 0)
"""


# What was booked and is in a later block isn't there yet.
_EXPECTED_COLD = """
SELECT coalesce((SELECT -sum(ledger_balance(id)) FROM ledger_account
                 WHERE asset_id = %(asset)s AND mode = %(mode)s AND kind = 'custody_cold'), 0)
     - coalesce((SELECT sum(amount_atomic) FROM chain_outgoingtransaction WHERE asset_id = %(asset)s
         AND purpose = 'cold'
                 AND handled_status = 'confirmed'
                     AND NOT coalesce(block_number <= %(block)s, false)), 0)
"""


@dataclass(frozen=True)
class Book:
    """Expected holdings of an asset: on a chain at a block, and the minimum in cold storage, as
    others may add to it."""

    asset: Asset
    block_number: int
    expected_atomic: int
    cold_atomic: int = 0


@dataclass(frozen=True)
class Checked:
    """An asset, and what is wrong with it; nothing when it is there to the unit."""

    subject: str
    detail: str


def booked() -> list[Book]:
    """Booked holdings of every asset on a watched chain."""
    tips = heads()
    books = []
    for chain in Chain.objects.filter(pk__in=[pk for pk in tips if is_watched(pk)]).order_by("pk"):
        block = final_number(chain, tips[chain.pk].number, tips[chain.pk].tagged_number)
        on_chain = Q(token_standard=TokenStandard.NATIVE) | Q(contract_address__isnull=False)
        assets = Asset.objects.filter(on_chain, chain=chain).select_related("chain")
        books += [book_of(asset, block) for asset in assets]
    return books


def book_of(asset: Asset, block: int) -> Book:
    return Book(asset, block, _asked(_EXPECTED, asset, block), _asked(_EXPECTED_COLD, asset, block))


def _block_of(chain: Chain) -> int:
    head = heads()[chain.pk]
    return final_number(chain, head.number, head.tagged_number)


def compare(books: list[Book]) -> list[Checked]:
    """Ask the nodes; a network call, so never inside a transaction."""
    return [_looked_at_again(book) for book in books]


def _looked_at_again(book: Book) -> Checked:
    """A transaction that was mined and whose receipt nobody has read yet is missing from the books
    for a moment."""
    checked = _compare(book)
    for _ in range(LOOKS_AGAIN):
        under_way = OutgoingTransaction.objects.filter(
            chain=book.asset.chain_id, status__in=(_Status.SIGNED, _Status.SUBMITTED)
        )
        if not checked.detail or not under_way.exists():
            break
        time.sleep(AGAIN_SECONDS)
        checked = _compare(book_of(book.asset, _block_of(book.asset.chain)))
    return checked


def compare_cold(books: list[Book]) -> list[Checked]:
    """Comparison of cold storage, for the assets that have coins there."""
    return [_compare_cold(book) for book in books if book.cold_atomic]


def _compare_cold(book: Book) -> Checked:
    subject = f"{book.asset.pk} at block {book.block_number}"
    try:
        with closing(_nodes(book)) as nodes:
            cold = sorted(cold_storage.addresses(book.asset.pk))
            holdings = holdings_of(book.asset, book.block_number, nodes)
            holding = sum(holdings.held(cold).values())
    except RpcError as error:
        return Checked(subject, f"the nodes did not say: {error}")
    short = book.cold_atomic - holding
    return Checked(
        subject,
        f"the books say {book.cold_atomic}, the chain {holding}: {-short:+d}" if short > 0 else "",
    )


def _asked(statement: str, asset: Asset, block: int) -> int:
    arguments: Arguments = {
        "asset": asset.pk,
        "mode": asset.mode,
        "chain": asset.chain_id,
        "block": block,
        "pays_fees": asset.pays_fees,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return int(cursor.fetchone()[0])


def _compare(book: Book) -> Checked:
    subject = f"{book.asset.pk} at block {book.block_number}"
    try:
        with closing(_nodes(book)) as nodes:
            holdings = holdings_of(book.asset, book.block_number, nodes)
            batches = _batches(book.asset, holdings.at_once)
            holding = sum(sum(holdings.held(some).values()) for some in batches)
            difference = holding - book.expected_atomic
            where = _where(book, holdings, difference) if difference else ""
    except RpcError as error:
        return Checked(subject, f"the nodes did not say: {error}")
    text = f"the books say {book.expected_atomic}, the chain {holding}{where}: {difference:+d}"
    return Checked(subject, text if difference else "")


def _nodes(book: Book) -> Nodes:
    return nodes_of(book.asset.chain, patience_seconds=patience_of(book.asset.chain))


def _where(book: Book, holdings: Holdings, difference: int) -> str:
    """The addresses that hold something else than what came to them and left them again, and how
    much of the difference they leave."""
    apart: dict[str, int] = {}
    for holders in _batches(book.asset, holdings.at_once):
        held = holdings.held(holders)
        moved = custody_addresses.expected(book.asset, holders, book.block_number)
        apart |= {
            holder: held[holder] - moved[holder]
            for holder in holders
            if holder in moved and held[holder] != moved[holder]
        }
        if len(apart) > ADDRESSES_SHOWN_MAX:
            break
    shown = [f"{holder} {amount:+d}" for holder, amount in apart.items()][:ADDRESSES_SHOWN_MAX]
    rest = difference - sum(apart.values())
    if len(apart) > ADDRESSES_SHOWN_MAX:
        shown.append("and others")
    elif rest:
        shown.append(f"{_hot_wallets(book.asset)} or corrections {rest:+d}")
    return f" ({', '.join(shown)})" if shown else ""


def _hot_wallets(asset: Asset) -> str:
    """The address, where there is only one."""
    found = HotWallet.objects.filter(chain=asset.chain_id).values_list("address", flat=True)
    addresses = list(found[:2])
    return stored(addresses[0]) if len(addresses) == 1 else "the hot wallets"


def _batches(asset: Asset, at_once: int) -> Iterator[list[str]]:
    """Our addresses on the asset's network, the hot wallets' first."""
    hot = HotWallet.objects.filter(chain=asset.chain_id).values_list("address", flat=True)
    wallets = {stored(address) for address in hot}
    if wallets:
        yield sorted(wallets)
    deposits = (
        Address.objects.filter(
            mode=asset.mode, address__startswith=addresses_of(asset.chain).beginning
        )
        .exclude(pk__in=wallets)
        .exclude(purpose=Address.Purpose.OWN)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    last = ""
    while holders := list(deposits.filter(pk__gt=last)[:at_once]):
        yield holders
        last = holders[-1]

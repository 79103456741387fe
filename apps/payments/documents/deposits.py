"""A deposit as the detail view, the checkout and the webhooks tell it."""

from collections.abc import Iterable

from apps.assets.models import Asset
from apps.chain.addresses import checksummed
from apps.chain.models import Deposit, Head
from apps.core.clock import iso
from apps.core.messages.documents import Digits, Document, Time
from apps.payments.documents.values import DepositStatus
from apps.payments.selectors import confirmations_of, known_heads


class TransactionDocument(Document, frozen=True, kw_only=True):
    tx_hash: str
    from_address: str
    deposit_address: str
    confirmations: int
    required_confirmations: int
    status: DepositStatus
    asset_id: str
    coin_symbol: str
    chain_symbol: str
    chain_name: str
    network: str
    amount_atomic: Digits
    atomic_decimals: int
    block_number: int | None
    explorer_url: str | None
    detected_at: Time
    confirmed_at: Time | None
    simulated: bool


def heads_for(deposits: Iterable[Deposit]) -> dict[str, Head]:
    """The heads that the confirmations of real deposits are counted against."""
    return known_heads() if any(not deposit.is_simulated for deposit in deposits) else {}


def transaction_document(
    deposit: Deposit, asset: Asset, heads: dict[str, Head]
) -> TransactionDocument:
    return TransactionDocument(
        tx_hash=deposit.tx_hash,
        from_address=checksummed(deposit.from_address),
        deposit_address=checksummed(deposit.address_id),
        confirmations=confirmations_of(deposit, heads),
        required_confirmations=deposit.required_confirmations,
        status=deposit.status,
        asset_id=asset.pk,
        coin_symbol=asset.coin_symbol,
        chain_symbol=asset.chain.symbol,
        chain_name=asset.chain.name,
        network=asset.chain_id,
        amount_atomic=str(deposit.amount_atomic),
        atomic_decimals=asset.atomic_decimals,
        block_number=deposit.block_number,
        explorer_url=_explorer_url(deposit, asset),
        detected_at=iso(deposit.detected_at),
        confirmed_at=iso(deposit.confirmed_at),
        simulated=deposit.is_simulated,
    )


def _explorer_url(deposit: Deposit, asset: Asset) -> str | None:
    base = asset.chain.explorer_url
    return f"{base}/tx/{deposit.tx_hash}" if base and not deposit.is_simulated else None


def oldest_first(pairs: Iterable[tuple[Deposit, Asset]]) -> list[TransactionDocument]:
    """Deposits with their assets, in the order in which they were seen."""
    ordered = sorted(pairs, key=lambda pair: pair[0].detected_at)
    heads = heads_for([deposit for deposit, _ in ordered])
    return [transaction_document(deposit, asset, heads) for deposit, asset in ordered]

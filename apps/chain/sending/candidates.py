"""The bytes of an outgoing transaction, for its nonce and gas: before and after the key has signed
them."""

from datetime import datetime

from apps.assets.models import Chain
from apps.chain.encoding.transactions import Transaction
from apps.chain.keys.secp256k1 import Signs
from apps.chain.models import OutgoingTransaction, SignedTransaction
from apps.chain.sending.calls import call_of
from apps.chain.sending.fee_coins import fee_coin
from apps.chain.sending.fees import FeeOffer


def unsigned(row: OutgoingTransaction, chain: Chain, offer: FeeOffer) -> Transaction:
    """Unsigned transaction with the row's nonce and gas."""
    to, value, data = call_of(row)
    if row.nonce is None or row.gas_limit is None:
        raise ValueError(f"{row.pk} has no nonce or no gas limit yet")
    return Transaction(
        *(chain.chain_id, row.nonce, to, value, data, row.gas_limit),
        max_fee_wei=offer.max_fee_wei,
        priority_fee_wei=offer.priority_fee_wei,
        fee_token=fee_coin(chain).contract,
        delegations=row.delegations,
    )


def signed(
    row: OutgoingTransaction, key: Signs, chain: Chain, offer: FeeOffer, at: datetime
) -> SignedTransaction:
    """The bytes."""
    transaction = unsigned(row, chain, offer).signed(key)
    return SignedTransaction(
        outgoing=row,
        tx_hash=transaction.tx_hash,
        raw=transaction.raw,
        max_fee_wei=offer.max_fee_wei,
        priority_fee_wei=offer.priority_fee_wei,
        signed_at=at,
    )


def signed_candidate(
    row: OutgoingTransaction, key: Signs, chain: Chain, offer: FeeOffer, at: datetime
) -> SignedTransaction:
    """Signed and stored transaction with the row's nonce and gas. Inside the transaction that gave
    the row its nonce."""
    candidate = signed(row, key, chain, offer, at)
    candidate.save(force_insert=True)
    return candidate

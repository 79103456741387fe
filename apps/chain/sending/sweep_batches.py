"""Sweeps of many deposit addresses that one transaction of the hot wallet carries out, by
delegation (EIP-7702) or by signed transfers (EIP-3009, `sweep_authorizations`).

The wallet's transaction has a row of its own, the batch; the sweeps are its parts. A delegation
counts as one of its address's own nonces. What each address gave is read from the logs of the one
receipt, and the gas of all is the batch's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Max

from apps.assets.models import Chain
from apps.chain.keys.secp256k1 import SigningKey
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason, Refusal
from apps.chain.sending import approvals, sweep_authorizations
from apps.chain.sending.fee_coins import fee_coin

PARTS_MAX = 100
# What a delegation takes of the gas of its transaction, and a part beside its token's transfer.
DELEGATION_GAS = 25_000
PART_GAS = 5_000
# What a signed transfer takes beside one that its holder sends, and what passes all of them on.
AUTHORIZATION_GAS = 22_000
COLLECTION_GAS = 35_000
# How the signed bytes of a transaction begin that carries delegations.
DELEGATING = "0x04"
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose


def parts_of(batch: OutgoingTransaction) -> list[OutgoingTransaction]:
    """The sweeps that a batch carries out, in the order of its call."""
    return list(batch.parts.select_related("asset").order_by("from_address"))


def call_of(batch: OutgoingTransaction, parts: Sequence[OutgoingTransaction]) -> str:
    """The call of a batch with these parts, as it is stored."""
    if sweep_authorizations.is_by_signature(batch):
        return sweep_authorizations.call_of(batch, parts)
    return delegated_call_of(parts)


def delegated_call_of(parts: Sequence[OutgoingTransaction]) -> str:
    """The call to addresses that delegate, in its order."""
    pairs = sorted((part.from_address, part.amount_atomic) for part in parts)
    return sweepers.call(str(parts[0].asset.contract_address), pairs)


# --- before it is signed --------------------------------------------------------------------------


def refusal(batch: OutgoingTransaction, wallet: str) -> Refusal | None:
    """Why a batch may not be signed; None when it brings to the wallet, by its own contract, just
    what was approved of each of our deposit addresses."""
    parts = parts_of(batch)
    if not parts or len(parts) > PARTS_MAX or batch.asset.is_native:
        return Refusal(_Status.FAILED, Reason.STRANGE_CALL)
    place = (batch.chain_id, batch.mode, batch.asset_id)
    if any(
        (part.chain_id, part.mode, part.asset_id) != place
        or part.purpose != _Purpose.SWEEP
        or part.call_data
        for part in parts
    ):
        return Refusal(_Status.FAILED, Reason.NO_TRANSFER)
    if any(part.to_address != wallet for part in parts):
        return Refusal(_Status.FAILED, Reason.NOT_TO_HOT_WALLET)
    holders = {part.from_address for part in parts}
    ours = Address.objects.filter(
        address__in=holders, mode=batch.mode, purpose=Address.Purpose.DEPOSIT
    )
    if len(holders) < len(parts) or ours.count() < len(parts):
        return Refusal(_Status.FAILED, Reason.NO_DEPOSIT_ADDRESS)
    if (
        batch.to_address != sweepers.contract(wallet)
        or batch.call_data != call_of(batch, parts)
        or batch.amount_atomic != sum(part.amount_atomic for part in parts)
        or any(part.status != _Status.REQUESTED for part in parts)
    ):
        return Refusal(_Status.FAILED, Reason.STRANGE_CALL)
    if not all(approvals.is_approved(part) for part in parts):
        return Refusal(_Status.REVIEW, Reason.NOT_APPROVED)
    return None


def reason_against(row: OutgoingTransaction, wallet: str) -> Reason | None:
    """Of a batch, under the lock of its wallet: the reason of its refusal."""
    refused = refusal(row, wallet) if row.purpose == _Purpose.SWEEP_BATCH else None
    return refused.reason if refused else None


@dataclass(frozen=True)
class HolderState:
    """An address's code and count of nonces on the chain, and the count that our records have."""

    code: str
    used: int
    recorded: int


def states_of(chain_id: str, holders: Sequence[str], nodes: Nodes) -> dict[str, HolderState]:
    """By address. Raises RpcError."""
    asked: list[Call] = []
    for holder in holders:
        asked += [
            ("eth_getCode", [holder, "latest"]),
            ("eth_getTransactionCount", [holder, "latest"]),
        ]
    answers = nodes.batch(asked) if asked else []
    last: dict[str, int] = dict(
        OutgoingTransaction.objects.filter(
            chain=chain_id, from_address__in=holders, nonce__isnull=False
        )
        .values_list("from_address")
        .annotate(Max("nonce"))
    )
    return {
        holder: HolderState(
            str(answers[2 * place] or "0x").lower(),
            int(answers[2 * place + 1], 16),
            last[holder] + 1 if holder in last else 0,
        )
        for place, holder in enumerate(holders)
    }


# --- may a network do it? -------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """The first wallet of a network, whose contract sweeps in batches, and whether addresses
    delegate to it. The lack says why they can't."""

    wallet: str = ""
    delegates: bool = False
    lack: str = ""


def way_on(chain: Chain, nodes: Nodes) -> Way:
    """Without a wallet where nothing goes in batches: its contract has to be there. To delegate,
    a node has to count the gas of it. Raises RpcError where no node answers."""
    wallet = HotWallet.objects.filter(chain=chain, number=0).first()
    if wallet is None:
        return Way(lack="it has no hot wallet yet")
    if fee_coin(chain).contract:
        return Way(lack="it takes fees in a token, by transactions of its own")
    probe = SigningKey(b"\x01" * 32)  # of nobody: the signature is only estimated
    given = sweepers.delegation(wallet.address, chain.chain_id, 0, probe)
    question = {"from": wallet.address, "to": wallet.address, "value": "0x0"}
    carrying = question | {"authorizationList": [given.as_json()]}
    code, plain, told = nodes.each(
        [
            ("eth_getCode", [sweepers.contract(wallet.address), "latest"]),
            ("eth_estimateGas", [question]),
            ("eth_estimateGas", [carrying]),
        ]
    )
    if code != sweepers.deployed(wallet.address):
        return Way(lack="the hot wallet’s contract is not there (manage.py sweep_contract)")
    if isinstance(told, RpcError) or isinstance(plain, RpcError):
        return Way(wallet.address, lack="the node estimates no delegation (EIP-7702)")
    if int(told, 16) - int(plain, 16) < DELEGATION_GAS // 2:
        return Way(wallet.address, lack="the node knows no delegation (EIP-7702)")
    return Way(wallet.address, delegates=True)


def deployment(wallet: str) -> tuple[str, str, str]:
    """The address of a wallet's contract, and recipient and data of the transaction that brings it
    to a network, no matter who sends it."""
    return sweepers.contract(wallet), *sweepers.deployment(wallet)

"""`sending`: the switch of outgoing transactions, and a person's word on what became of one."""

from contextlib import closing
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.chain.models import HotWallet, OutgoingTransaction, UnknownTransaction
from apps.chain.networks.families import addresses_of, has_coins, stored
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import coins_found, doubts, hot_wallets
from apps.chain.states import UNMINED
from apps.core import clock
from apps.core.messages.fields import is_uuid
from apps.stores.auditing import audit
from apps.stores.command import OperatorCommand, Result

SHOWN_MAX = 100


class HotWalletResult(Result, frozen=True, kw_only=True):
    network: str
    lane: int
    address: str
    next_nonce: int
    halted_at: str | None
    reason: str
    open: int


class InReview(Result, frozen=True, kw_only=True):
    id: str
    asset_id: str
    to_address: str
    amount_atomic: str
    purpose: str
    reference: str
    nonce: int | None
    reason: str


class Unknown(Result, frozen=True, kw_only=True):
    """A transaction of the wallet that we have no record of."""

    network: str
    nonce: int
    hash: str
    to_address: str
    value_atomic: str
    data: str


class SendingResult(Result, frozen=True, kw_only=True):
    hot_wallets: list[HotWalletResult]
    in_review: list[InReview]
    unknown: list[Unknown]


class Command(OperatorCommand[SendingResult]):
    help = "Show, stop or resume sending, or resolve a transaction in review"

    def arguments(self, parser: CommandParser) -> None:
        actions = ["show", "stop", "resume", "sent", "unsent", "again", "cancel", "known"]
        parser.add_argument("action", nargs="?", default="show", choices=actions)
        parser.add_argument(
            "what",
            nargs="?",
            help=(
                "a network, one wallet of it such as ethereum:1, or all (stop, resume); "
                "a transaction ID (sent, unsent, again, cancel) or hash (known)"
            ),
        )
        parser.add_argument("--reason", default="Stopped by an operator")
        parser.add_argument("--hash", help="hash of the transaction that was sent (sent)")

    def run(self, **options: Any) -> SendingResult:
        action = options["action"]
        target = options["what"]
        try:
            if action in ("stop", "resume"):
                self._switch(action, target, options["reason"][:200])
            elif action == "known":
                self._explain(target or "")
            elif action in ("sent", "unsent", "again", "cancel"):
                self._resolve(action, target, options["hash"])
        except RpcError as error:
            raise CommandError(f"The chain can't be read: {error}") from None
        return self._state()

    def _switch(self, action: str, target: str | None, reason: str) -> None:
        chosen = _wallets_named(target or "")
        if not chosen:
            raise CommandError(f"There is no hot wallet for {target!r}; give a network, or all")
        if action == "resume":
            chosen = [wallet for wallet in chosen if wallet.halted_at is not None] or chosen
        for wallet in chosen:
            if action == "stop":
                hot_wallets.halt(wallet, reason, clock.real_now())
            else:
                with closing(nodes_of(wallet.chain)) as nodes:
                    hot_wallets.resume(wallet, nodes, clock.real_now())

    def _resolve(self, action: str, target: str | None, tx_hash: str | None) -> None:
        row = (
            OutgoingTransaction.objects.filter(pk=target).select_related("asset", "chain").first()
            if target and is_uuid(target)
            else None
        )
        if row is None:
            raise CommandError(f"There is no transaction {target}")
        if action == "sent":
            if not tx_hash:
                raise CommandError("Give the hash of the transaction that was sent: --hash")
            known = addresses_of(row.chain).hash_of(tx_hash)
            if not known:
                raise CommandError(f"{tx_hash} is no transaction hash on {row.chain.name}")
            resolve = (
                coins_found.resolve_as_sent if has_coins(row.chain) else hot_wallets.resolve_as_sent
            )
            with closing(nodes_of(row.chain)) as nodes:
                resolve(row, known, nodes, clock.real_now())
        else:
            if action == "unsent" and row.nonce is not None:
                with closing(nodes_of(row.chain)) as nodes:
                    doubts.refuse_if_mined(row, nodes)
            settle = {
                "unsent": hot_wallets.resolve_as_unsent,
                "again": hot_wallets.resolve_by_sending_again,
                "cancel": hot_wallets.cancel,
            }
            settle[action](row, clock.real_now())
        audit.record(
            f"outgoing.resolved_as_{action}",
            target=row,
            name=str(row.reference),
            details={"hash": tx_hash},
        )

    def _explain(self, tx_hash: str) -> None:
        """A person knows what a transaction of the wallet was: nothing is held up by it any
        more."""
        row = UnknownTransaction.objects.filter(tx_hash=stored(tx_hash), settled_at=None).first()
        if row is None:
            raise CommandError(f"No unknown transaction has the hash {tx_hash}")
        with transaction.atomic():
            UnknownTransaction.objects.filter(pk=row.pk).update(settled_at=clock.real_now())
            audit.record("hot_wallet.transaction_explained", target=row, name=row.tx_hash)

    def _state(self) -> SendingResult:
        review = OutgoingTransaction.objects.filter(
            status=OutgoingTransaction.Status.REVIEW
        ).order_by("requested_at")
        unknown = UnknownTransaction.objects.filter(settled_at=None).order_by("chain_id", "nonce")
        return SendingResult(
            hot_wallets=[_wallet(row) for row in HotWallet.objects.order_by("chain", "number")],
            in_review=[_in_review(row) for row in review[:SHOWN_MAX]],
            unknown=[_unknown(row) for row in unknown[:SHOWN_MAX]],
        )


def _wallets_named(target: str) -> list[HotWallet]:
    """All, those of a network, or the one of a network and number."""
    wallets = HotWallet.objects.select_related("chain").order_by("chain", "number")
    if target == "all":
        return list(wallets)
    network, _, number = target.partition(":")
    rows = wallets.filter(chain=network)
    return [row for row in rows if not number or number == str(row.number)]


def _wallet(row: HotWallet) -> HotWalletResult:
    own = OutgoingTransaction.objects.filter(hot_wallets.own(row), chain=row.chain_id)
    return HotWalletResult(
        network=row.chain_id,
        lane=row.number,
        address=row.address,
        next_nonce=row.next_nonce,
        halted_at=clock.iso(row.halted_at),
        reason=row.halted_reason,
        open=own.filter(status__in=UNMINED).count(),
    )


def _in_review(row: OutgoingTransaction) -> InReview:
    return InReview(
        id=str(row.pk),
        asset_id=row.asset_id,
        to_address=row.to_address,
        amount_atomic=str(row.amount_atomic),
        purpose=row.purpose,
        reference=row.reference,
        nonce=row.nonce,
        reason=row.reason,
    )


def _unknown(row: UnknownTransaction) -> Unknown:
    return Unknown(
        network=row.chain_id,
        nonce=row.nonce,
        hash=row.tx_hash,
        to_address=row.to_address,
        value_atomic=str(row.value_atomic),
        data=row.data,
    )

"""`treasury`: what of each asset is the service's own, coins put into a hot wallet, withdrawals of
earnings, and corrections."""

import re
import uuid
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.assets.models import Asset
from apps.chain.models import HotWallet
from apps.chain.networks.families import hash_of
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.core import clock
from apps.core.errors import Failure
from apps.ledger.chart import CHART, TREASURY
from apps.ledger.selectors import service_balances
from apps.payments.models import Withdrawal
from apps.payments.selectors import by_reference
from apps.payments.services import corrections, treasury, withdrawals
from apps.stores.command import OperatorCommand, Result, staff_named, store_named

_AMOUNT = re.compile(r"-?[1-9][0-9]{0,76}", re.ASCII)
_KINDS = sorted(set(CHART) - {TREASURY})


class WithdrawalResult(Result, frozen=True, kw_only=True):
    reference: str
    status: str
    asset_id: str
    amount_atomic: str
    to_address: str
    requested_by: str
    decided_by: str | None


class ServiceAccount(Result, frozen=True, kw_only=True):
    mode: str
    asset_id: str
    account: str
    balance_atomic: str


class TreasuryResult(Result, frozen=True, kw_only=True):
    """Funds of the service: its own, what of it has been earned, and what is on its way out."""

    accounts: list[ServiceAccount]
    withdrawable: dict[str, str]
    withdrawals: list[WithdrawalResult]


class FundingResult(Result, frozen=True, kw_only=True):
    """Amounts that a transaction has brought, by asset."""

    network: str
    hash: str
    booked: dict[str, str]


class CorrectionResult(Result, frozen=True, kw_only=True):
    """The correction that was requested, and its state."""

    key: str
    asset_id: str
    account: str
    amount_atomic: str
    request: str
    state: str


class Command(
    OperatorCommand[TreasuryResult | FundingResult | CorrectionResult | WithdrawalResult]
):
    help = (
        "Show the service's own coins, book deposits to a hot wallet, withdraw earnings, or "
        "correct an account against the treasury"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "action",
            nargs="?",
            default="show",
            choices=["show", "fund", "withdraw", "approve", "reject", "correct"],
        )
        parser.add_argument(
            "--staff",
            help="email address of the member of staff who is responsible (all but show)",
        )
        parser.add_argument(
            "--network", help="network of the hot wallet, for example ethereum (fund)"
        )
        parser.add_argument("--hash", help="hash of the transaction that sent the coins (fund)")
        parser.add_argument(
            "--reference",
            help="unique name of the withdrawal, which is made once (withdraw, approve, reject)",
        )
        parser.add_argument("--to", help="one of WITHDRAWAL_ADDRESSES (withdraw)")
        parser.add_argument(
            "--approved-by",
            help=(
                "email address of a second member of staff, who approves it now (withdraw, correct)"
            ),
        )
        parser.add_argument("--asset", help="for example ETH_USDC (withdraw, correct)")
        parser.add_argument("--account", choices=_KINDS, help="account to correct (correct)")
        parser.add_argument("--store", help="store of the account, if it belongs to one (correct)")
        parser.add_argument(
            "--payment",
            help=(
                "reference of the payment that the coins are held for; required for the "
                "account held (correct)"
            ),
        )
        parser.add_argument(
            "--amount-atomic",
            help=(
                "in atomic units; for correct a positive amount is a credit and a negative "
                "one a debit, and custody accounts grow by debits"
            ),
        )
        parser.add_argument("--reason", help="saved permanently (withdraw, correct)")
        parser.add_argument(
            "--key",
            help=(
                "idempotency key: the correction is booked once, even if the command is repeated "
                "(correct)"
            ),
        )

    def run(
        self, **options: Any
    ) -> TreasuryResult | FundingResult | CorrectionResult | WithdrawalResult:
        if options["action"] == "fund":
            return self._fund(options)
        if options["action"] == "correct":
            return self._correct(options)
        if options["action"] == "withdraw":
            return _withdraw(options)
        if options["action"] in ("approve", "reject"):
            return _decide(options)
        earned = {
            asset.pk: withdrawals.withdrawable(asset)
            for asset in Asset.objects.select_related("chain").order_by("pk")
        }
        waiting = Withdrawal.objects.filter(status__in=("requested", "approved")).select_related(
            "requested_by", "decided_by"
        )
        return TreasuryResult(
            accounts=[
                ServiceAccount(
                    mode=mode, asset_id=asset_id, account=kind, balance_atomic=str(balance)
                )
                for mode, asset_id, kind, balance in service_balances()
                if balance
            ],
            withdrawable={asset_id: str(amount) for asset_id, amount in earned.items() if amount},
            withdrawals=[_withdrawal(row) for row in waiting.order_by("requested_at")],
        )

    @staticmethod
    def _fund(options: Mapping[str, Any]) -> FundingResult:
        tx_hash = hash_of(options["hash"] or "")
        wallet = HotWallet.objects.select_related("chain").filter(pk=options["network"]).first()
        if wallet is None:
            raise CommandError(f"There is no hot wallet for {options['network']!r}; give --network")
        if not tx_hash:
            raise CommandError("Give the hash of the transaction that sent the coins: --hash")
        try:
            with closing(nodes_of(wallet.chain)) as nodes:
                booked = treasury.book_funding(
                    wallet, tx_hash, nodes, staff_named(options["staff"]), clock.real_now()
                )
        except RpcError as error:
            raise CommandError(f"The chain can't be read: {error}") from None
        return FundingResult(
            network=wallet.pk,
            hash=tx_hash,
            booked={asset_id: str(amount) for asset_id, amount in booked.items()},
        )

    @staticmethod
    def _correct(options: Mapping[str, Any]) -> CorrectionResult:
        asset = Asset.objects.select_related("chain").filter(pk=options["asset"]).first()
        if asset is None:
            raise CommandError(f"There is no asset {options['asset']!r}; give --asset")
        if options["account"] is None or not _AMOUNT.fullmatch(options["amount_atomic"] or ""):
            raise CommandError("Give --account and a whole --amount-atomic that isn't zero")
        payment = by_reference(options["payment"]) if options["payment"] else None
        if options["payment"] and payment is None:
            raise CommandError(f"There is no payment {options['payment']!r}")
        correction = corrections.Correction(
            key=options["key"] or str(uuid.uuid4()),
            asset=asset,
            kind=options["account"],
            store=store_named(options["store"]) if options["store"] else None,
            amount_atomic=int(options["amount_atomic"]),
            payment=payment,
        )
        staff = staff_named(options["staff"])
        reason = (options["reason"] or "").strip()
        at = clock.real_now()
        try:
            if options["approved_by"]:
                request = corrections.correct(
                    correction, reason, staff, staff_named(options["approved_by"]), at
                )
            else:
                request = corrections.request_correction(correction, reason, staff, at)
        except (Failure, ValueError) as refusal:
            raise CommandError(f"Not booked: {refusal}") from None
        return CorrectionResult(
            key=correction.key,
            asset_id=asset.pk,
            account=correction.kind,
            amount_atomic=options["amount_atomic"],
            request=str(request.pk),
            state=request.state,
        )


def _withdraw(options: Mapping[str, Any]) -> WithdrawalResult:
    """Asked for by one; let go by the second who is named, or later by `approve`."""
    asset = Asset.objects.select_related("chain").filter(pk=options["asset"]).first()
    amount = options["amount_atomic"] or ""
    if asset is None or not _AMOUNT.fullmatch(amount):
        raise CommandError("Give --asset and a whole --amount-atomic")
    order = withdrawals.WithdrawalRequest(
        reference=(options["reference"] or "").strip(),
        asset=asset,
        amount_atomic=int(amount),
        to_address=options["to"] or "",
        reason=options["reason"] or "",
    )
    staff = staff_named(options["staff"])
    second = staff_named(options["approved_by"]) if options["approved_by"] else None
    row = withdrawals.request_withdrawal(order, staff, clock.real_now())
    if second is not None and row.status == Withdrawal.Status.REQUESTED:
        row = withdrawals.approve_withdrawal(row.pk, second, clock.real_now())
    return _withdrawal(row)


def _decide(options: Mapping[str, Any]) -> WithdrawalResult:
    row = Withdrawal.objects.filter(reference=options["reference"]).first()
    if row is None:
        raise CommandError(f"There is no withdrawal {options['reference']!r}; give --reference")
    decide = (
        withdrawals.approve_withdrawal
        if options["action"] == "approve"
        else withdrawals.reject_withdrawal
    )
    return _withdrawal(decide(row.pk, staff_named(options["staff"]), clock.real_now()))


def _withdrawal(row: Withdrawal) -> WithdrawalResult:
    return WithdrawalResult(
        reference=row.reference,
        status=row.status,
        asset_id=row.asset_id,
        amount_atomic=str(row.amount_atomic),
        to_address=row.to_address,
        requested_by=row.requested_by.email,
        decided_by=row.decided_by.email if row.decided_by else None,
    )

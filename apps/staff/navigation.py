"""THE table of the records that the staff site lists: groups in the words of whoever looks for one,
in the order of their pages."""

from apps.staff.agents import AgentCredentialAdmin, AgentPayoutCapAdmin
from apps.staff.approvals import StaffRequestAdmin
from apps.staff.assets import AcceptedAssetAdmin, AssetAdmin, RateAdmin
from apps.staff.audit_log import AuditEntryAdmin
from apps.staff.cards import CallbackAdmin, CredentialAdmin, FundingSessionAdmin
from apps.staff.chains import ChainAdmin
from apps.staff.customers import CustomerAdmin
from apps.staff.deposits import DepositAdmin
from apps.staff.emails import OutgoingMailAdmin
from apps.staff.events import DeliveryAdmin, EventAdmin
from apps.staff.invoices import InvoiceAdmin
from apps.staff.jobs import RowFailureAdmin
from apps.staff.keys import ApiKeyAdmin
from apps.staff.ledger import AccountAdmin, MovementAdmin
from apps.staff.links import PaymentLinkAdmin
from apps.staff.mandates import MandateAdmin, SettlementAdmin
from apps.staff.oauth_apps import ApplicationAdmin
from apps.staff.outgoing import OutgoingTransactionAdmin, UnknownTransactionAdmin
from apps.staff.pages import ReadOnly
from apps.staff.payments import PaymentAdmin
from apps.staff.payout_caps import StorePayoutCapAdmin
from apps.staff.payout_destinations import DestinationAdmin
from apps.staff.payout_schedules import ScheduleAdmin
from apps.staff.payouts import PayoutAdmin
from apps.staff.people import UserAdmin
from apps.staff.platforms import (
    AccessRequestAdmin,
    DestinationConfirmationAdmin,
    OnboardingLinkAdmin,
)
from apps.staff.products import ProductAdmin
from apps.staff.refunds import RefundAdmin
from apps.staff.request_log import RequestEntryAdmin
from apps.staff.second_factors import SecondFactorAdmin
from apps.staff.stores import StoreAdmin
from apps.staff.subscriptions import SubscriptionAdmin
from apps.staff.swaps import SwapAdmin
from apps.staff.transfers import UnmatchedTransferAdmin
from apps.staff.verification import VerificationAdmin
from apps.staff.wallets import HotWalletAdmin, ObstacleAdmin, UnexplainedBalanceAdmin
from apps.staff.webhook_endpoints import EndpointAdmin
from apps.staff.withdrawals import WithdrawalAdmin
from apps.staff.x402 import PaymentOfferAdmin, SignedPaymentAdmin

GROUPS: dict[str, tuple[type[ReadOnly], ...]] = {
    "Stores and people": (
        StoreAdmin,
        UserAdmin,
        VerificationAdmin,
        StaffRequestAdmin,
        AuditEntryAdmin,
    ),
    "Payments": (
        PaymentAdmin,
        PaymentLinkAdmin,
        RefundAdmin,
        DepositAdmin,
        UnmatchedTransferAdmin,
        SwapAdmin,
        FundingSessionAdmin,
        CredentialAdmin,
        CallbackAdmin,
    ),
    "Payouts": (
        PayoutAdmin,
        DestinationAdmin,
        ScheduleAdmin,
        StorePayoutCapAdmin,
        WithdrawalAdmin,
    ),
    "Wallets and chains": (
        HotWalletAdmin,
        OutgoingTransactionAdmin,
        UnknownTransactionAdmin,
        UnexplainedBalanceAdmin,
        ObstacleAdmin,
        ChainAdmin,
        AssetAdmin,
        AcceptedAssetAdmin,
        RateAdmin,
    ),
    "Ledger": (MovementAdmin, AccountAdmin),
    "Billing": (InvoiceAdmin, SubscriptionAdmin, CustomerAdmin, ProductAdmin),
    "Webhooks and email": (
        EndpointAdmin,
        DeliveryAdmin,
        EventAdmin,
        OutgoingMailAdmin,
        RowFailureAdmin,
    ),
    "Access": (ApiKeyAdmin, ApplicationAdmin, SecondFactorAdmin, RequestEntryAdmin),
    "Platforms": (
        AccessRequestAdmin,
        OnboardingLinkAdmin,
        DestinationConfirmationAdmin,
    ),
    "Agents": (
        AgentCredentialAdmin,
        MandateAdmin,
        SettlementAdmin,
        SignedPaymentAdmin,
        PaymentOfferAdmin,
        AgentPayoutCapAdmin,
    ),
}

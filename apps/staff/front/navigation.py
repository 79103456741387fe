"""THE table of the records that the staff site lists: groups in the words of people who look for
one, in the order of their pages."""

from apps.staff.books.ledger import AccountAdmin, MovementAdmin
from apps.staff.cards import CallbackAdmin, CredentialAdmin, FundingSessionAdmin
from apps.staff.decisions.approvals import StaffRequestAdmin
from apps.staff.decisions.verification import VerificationAdmin
from apps.staff.decisions.worker_orders import WorkerOrderAdmin
from apps.staff.invoices import InvoiceAdmin
from apps.staff.links import PaymentLinkAdmin
from apps.staff.networks.assets import AcceptedAssetAdmin, AssetAdmin, RateAdmin
from apps.staff.networks.chains import ChainAdmin
from apps.staff.networks.deposits import DepositAdmin
from apps.staff.networks.outgoing import OutgoingTransactionAdmin, UnknownTransactionAdmin
from apps.staff.networks.spends import SpendAdmin
from apps.staff.networks.wallets import HotWalletAdmin, ObstacleAdmin, UnexplainedBalanceAdmin
from apps.staff.pages import ReadOnly
from apps.staff.payments import PaymentAdmin
from apps.staff.payout_caps import StorePayoutCapAdmin
from apps.staff.payout_destinations import DestinationAdmin
from apps.staff.payout_schedules import ScheduleAdmin
from apps.staff.payouts import PayoutAdmin
from apps.staff.persons.agents import AgentCredentialAdmin, AgentPayoutCapAdmin
from apps.staff.persons.customers import CustomerAdmin
from apps.staff.persons.keys import ApiKeyAdmin
from apps.staff.persons.mandates import MandateAdmin, SettlementAdmin
from apps.staff.persons.oauth_apps import ApplicationAdmin
from apps.staff.persons.people import UserAdmin
from apps.staff.persons.second_factors import SecondFactorAdmin
from apps.staff.platforms import (
    AccessRequestAdmin,
    DestinationConfirmationAdmin,
    OnboardingLinkAdmin,
)
from apps.staff.products import ProductAdmin
from apps.staff.refunds import RefundAdmin
from apps.staff.stores import StoreAdmin
from apps.staff.subscriptions import SubscriptionAdmin
from apps.staff.swaps import SwapAdmin
from apps.staff.system.audit_log import AuditEntryAdmin
from apps.staff.system.emails import OutgoingMailAdmin
from apps.staff.system.events import DeliveryAdmin, EventAdmin
from apps.staff.system.jobs import RowFailureAdmin
from apps.staff.system.request_log import RequestEntryAdmin
from apps.staff.system.webhook_endpoints import EndpointAdmin
from apps.staff.transfers import UnmatchedTransferAdmin
from apps.staff.withdrawals import WithdrawalAdmin
from apps.staff.x402 import PaymentOfferAdmin, SignedPaymentAdmin

GROUPS: dict[str, tuple[type[ReadOnly], ...]] = {
    "Stores and people": (
        StoreAdmin,
        UserAdmin,
        VerificationAdmin,
        StaffRequestAdmin,
        WorkerOrderAdmin,
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
        SpendAdmin,
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

"""Agents, their mandates and what they drew."""

from apps.agents.models.agents import (
    SIGNATURE_BYTES_MAX,
    AgentPayoutCap,
    Mandate,
    MandateStep,
    NotedStep,
    PaymentOffer,
    Settlement,
    SettlementStep,
    SignedPayment,
    SignedPaymentStep,
    StatusStep,
)
from apps.agents.models.settings import (
    AgentSettings,
    AuthorizationProvider,
    CheckoutSignatures,
)

__all__ = [
    "SIGNATURE_BYTES_MAX",
    "AgentPayoutCap",
    "AgentSettings",
    "AuthorizationProvider",
    "CheckoutSignatures",
    "Mandate",
    "MandateStep",
    "NotedStep",
    "PaymentOffer",
    "Settlement",
    "SettlementStep",
    "SignedPayment",
    "SignedPaymentStep",
    "StatusStep",
]

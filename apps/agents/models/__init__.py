"""Agents, their mandates and what they drew."""

from apps.agents.models.agents import (
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

"""THE table of the records that the staff site lists: groups in the words of whoever looks for one,
in the order of their pages."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Stores and people": (
        "stores.Store",
        "stores.User",
        "stores.Verification",
        "stores.StaffRequest",
        "stores.AuditEntry",
    ),
    "Payments": (
        "payments.Payment",
        "links.PaymentLink",
        "payments.Refund",
        "chain.Deposit",
        "chain.UnmatchedTransfer",
        "swaps.Swap",
        *("onramp.FundingSession", "onramp.Credential", "onramp.Callback"),
    ),
    "Payouts": (
        "payouts.Payout",
        "payouts.Destination",
        "payouts.Schedule",
        "payouts.StorePayoutCap",
        "payments.Withdrawal",
    ),
    "Wallets and chains": (
        *(
            "chain.HotWallet",
            "chain.OutgoingTransaction",
            "chain.UnknownTransaction",
            "chain.UnexplainedBalance",
            "chain.Obstacle",
            "assets.Chain",
            "assets.Asset",
        ),
        *("assets.AcceptedAsset", "assets.Rate"),
    ),
    "Ledger": ("ledger.Movement", "ledger.Account"),
    "Billing": ("billing.Invoice", "billing.Subscription", "billing.Customer", "billing.Product"),
    "Webhooks and email": (
        "webhooks.Endpoint",
        "webhooks.Delivery",
        "webhooks.Event",
        "core.OutgoingMail",
        "core.RowFailure",
    ),
    "Access": ("access.ApiKey", "access.Application", "access.SecondFactor", "access.RequestEntry"),
    "Platforms": (
        "platforms.AccessRequest",
        "platforms.OnboardingLink",
        "platforms.DestinationConfirmation",
    ),
    "Agents": (
        *(
            "access.AgentCredential",
            "agents.Mandate",
            "agents.Settlement",
            "agents.SignedPayment",
            "agents.PaymentOffer",
        ),
        "agents.AgentPayoutCap",
    ),
}

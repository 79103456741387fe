"""THE table of the records that the staff site lists: groups in the words of whoever looks for one, in the order of their pages."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Stores and people": ("stores.Store", "stores.User", "stores.Verification", "stores.StaffRequest", "stores.AuditEntry"),
    "Payments": ("payments.Payment", "payments.Refund", "chain.Deposit", "chain.UnmatchedTransfer", "onramp.FundingSession", "swaps.Swap"),
    "Payouts": ("payouts.Payout", "payouts.Destination", "payouts.Schedule", "payouts.StorePayoutCap", "payments.Withdrawal"),
    "Wallets and chains": (
        *("chain.HotWallet", "chain.OutgoingTransaction", "chain.UnknownTransaction", "assets.Chain", "assets.Asset"),
        *("assets.AcceptedAsset", "assets.Rate"),
    ),
    "Books": ("ledger.Movement", "ledger.Account"),
    "Billing": ("billing.Invoice", "billing.Subscription", "billing.Customer", "billing.Product"),
    "Webhooks and email": ("webhooks.Endpoint", "webhooks.Delivery", "webhooks.Event", "core.OutgoingMail", "core.RowFailure"),
    "Access": ("access.ApiKey", "access.Application", "access.SecondFactor", "access.RequestEntry"),
    "Platforms": ("platforms.AccessRequest", "platforms.OnboardingLink", "platforms.DestinationConfirmation"),
    "Agents": (
        *("access.AgentCredential", "agents.Mandate", "agents.Settlement", "agents.SignedPayment", "agents.PaymentOffer"),
        "agents.AgentPayoutCap",
    ),
    "Card networks": ("onramp.Credential", "onramp.Callback"),
}

# Where the name of the model isn't what people call it.
LABELS: dict[str, str] = {
    "stores.User": "People",
    "stores.Verification": "Business verifications",
    "stores.AuditEntry": "Audit log",
    "onramp.FundingSession": "Card payments",
    "onramp.Credential": "Networks and their keys",
    "payouts.StorePayoutCap": "Payout limits",
    "payments.Withdrawal": "Withdrawals of earnings",
    "chain.HotWallet": "Wallets",
    "chain.UnknownTransaction": "Unexplained transactions",
    "assets.AcceptedAsset": "Assets of stores",
    "assets.Rate": "Exchange rates",
    "core.OutgoingMail": "Outgoing email",
    "core.RowFailure": "Failing jobs",
    "access.ApiKey": "API keys",
    "access.Application": "Apps",
    "access.RequestEntry": "Request log",
    "platforms.AccessRequest": "Platform access requests",
    "platforms.DestinationConfirmation": "Confirmations by contacts",
    "agents.AgentPayoutCap": "Payout limits of agents",
}

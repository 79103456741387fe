"""What people call the records of the staff site, where the name of the model isn't it."""

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
    "webhooks.Delivery": "Webhook deliveries",
    "access.ApiKey": "API keys",
    "access.Application": "Apps",
    "access.RequestEntry": "Request log",
    "platforms.AccessRequest": "Platform access requests",
    "platforms.DestinationConfirmation": "Confirmations by contacts",
    "agents.AgentPayoutCap": "Payout limits of agents",
}

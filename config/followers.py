"""THE table of who hears what: something that happens in an app wakes jobs of the apps above it,
which that app doesn't know.

A message only wakes: each of these jobs also runs periodically (config/celery.py) and finds what it
has missed.
"""

# What has happened -> the jobs that act upon it. It begins with the name of the app that says so,
# by `jobs.announce`; what isn't listed can't be announced.
FOLLOWERS: dict[str, tuple[str, ...]] = {
    "core.test_clock_requested": ("test_clocks.advance",),
    # A deposit may be the one that a store's asset is stopped for.
    "chain.deposits_changed": ("payments.settle_deposits", "payouts.end_stops"),
    # Payments that waited for it may end now.
    "chain.addresses_looked": ("payments.expire_due",),
    "assets.review_ended": ("payments.settle_reviewed", "payments.reverse_own_losses"),
    # A transaction of that purpose has ended, or waits for something that it didn't wait for.
    "chain.refund_news": ("payments.advance_refunds",),
    "chain.payout_news": ("payouts.advance",),
    "chain.settlement_news": ("agents.advance_settlements",),
    "chain.test_payment_news": ("payments.book_test_payments",),
    "chain.swap_news": ("swaps.advance",),
    "chain.approval_news": ("swaps.advance",),
    "chain.sweep_news": ("payments.book_sweeps",),
    "chain.sweep_gas_news": ("payments.book_sweeps",),
    "chain.sweep_batch_news": ("payments.book_sweeps",),
    "chain.join_news": ("payments.book_sweeps",),
    "chain.cold_news": ("payments.advance_treasury",),
    "chain.withdrawal_news": ("payments.advance_treasury",),
    "chain.x402_news": ("agents.advance_x402",),
    # It has completed, got a coin that came late, or given something back.
    "payments.received_changed": ("billing.update_paid_amounts",),
}
# Modules that act in the transaction in which an invoice is paid, voided or written off.
INVOICE_FOLLOWERS: list[str] = ["apps.billing.subscriptions.locking"]
# What makes the files beside an email, by the kind of record that it is about.
MAIL_FILES: dict[str, str] = {
    "invoice": "apps.billing.invoices.mail_files.invoice_files",
    "credit_note": "apps.billing.invoices.mail_files.credit_note_files",
}
# Modules that know a payment's customer: `email_of(payment)` is an address that the merchant named.
PAYMENT_CONTACTS: list[str] = ["apps.billing.services.contacts"]
# The jobs through which money leaves, each with a run per mode, in queues of their own: test work
# never holds up live work. Their ids only wake: a message that waits already is enough for whatever
# was committed before the run that it starts.
JOBS_BY_MODE = (
    "chain.send",
    "chain.send_due",
    "chain.sweep",
    "chain.look_at_tokens",
    "payouts.advance",
    "payments.advance_refunds",
    "swaps.advance",
    "swaps.auto_swap",
    "agents.advance_settlements",
    "agents.advance_x402",
)

# Who follows the coins that leave, by purpose (apps.chain.sending.following).
SENDING: tuple[str, ...] = (
    "apps.payments.services.refund_progress.FOLLOWER",
    "apps.payments.services.transfer_returns.FOLLOWER",
    "apps.payments.services.test_wallet.FOLLOWER",
    "apps.payments.services.sweep_books.FOLLOWER",
    "apps.payments.services.cold.FOLLOWER",
    "apps.payments.services.withdrawals.FOLLOWER",
    "apps.payouts.services.progress.FOLLOWER",
    "apps.swaps.services.progress.FOLLOWER",
    "apps.swaps.services.progress.APPROVALS",
    "apps.agents.services.dispatch.FOLLOWER",
    "apps.agents.services.x402_progress.FOLLOWER",
)

"""BitPay's API of invoices and refunds, for clients that pair with a store (decision 950)."""

"""THE table of the documentation's pages, in the order of its menu. What isn't a file of docs/guide
is drawn by a class of drawing."""

from typing import NamedTuple


class DocsEntry(NamedTuple):
    """`slug` is what is after /docs/, and the name of the file in docs/guide."""

    slug: str
    title: str


class DocsSection(NamedTuple):
    title: str
    entries: tuple[DocsEntry, ...]


HOME = DocsEntry("index", "Overview")
GUIDE = (
    DocsSection(
        "Get started",
        (
            HOME,
            DocsEntry("quickstart", "Quickstart"),
            DocsEntry("keys", "Keys and modes"),
            DocsEntry("testing", "Test scenarios"),
        ),
    ),
    DocsSection(
        "Accept payments",
        (
            DocsEntry("payments", "Payments"),
            DocsEntry("payment-links", "Payment links"),
            DocsEntry("refunds", "Refunds"),
            DocsEntry("cards", "Cards"),
            DocsEntry("embedding", "Embedded checkout"),
            DocsEntry("billing", "Subscriptions and invoices"),
            DocsEntry("invoicing", "Taxes on invoices"),
        ),
    ),
    DocsSection(
        "Move money",
        (
            DocsEntry("payouts", "Payouts"),
            DocsEntry("mass-payouts", "Mass payouts"),
            DocsEntry("swaps", "Swaps"),
            DocsEntry("own-wallet", "Your own wallet"),
            DocsEntry("reports", "Reports"),
        ),
    ),
    DocsSection(
        "Connect",
        (
            DocsEntry("webhooks", "Webhooks"),
            DocsEntry("apps", "OAuth apps"),
            DocsEntry("platforms", "Platforms"),
            DocsEntry("agents", "Agents"),
            DocsEntry("x402", "x402"),
        ),
    ),
    DocsSection(
        "Libraries and plugins",
        (
            DocsEntry("command-line", "Command line"),
            DocsEntry("python", "Python"),
            DocsEntry("typescript", "TypeScript"),
            DocsEntry("woocommerce", "WooCommerce"),
            DocsEntry("shops", "Shops"),
            DocsEntry("migrate-from-btcpay", "From BTCPay Server"),
            DocsEntry("migrate-from-bitpay", "From BitPay"),
            DocsEntry("migrate-from-coinbase-commerce", "From Coinbase Commerce"),
        ),
    ),
    DocsSection(
        "Look up",
        (
            DocsEntry("events", "Events"),
            DocsEntry("errors", "Errors"),
            DocsEntry("limits", "Rate limits"),
        ),
    ),
)
OBJECTS = DocsEntry("reference/objects", "Objects")
CHANGELOG = DocsEntry("changelog", "Changelog")

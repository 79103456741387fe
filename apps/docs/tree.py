"""THE table of the documentation's pages, in the order of its menu. What isn't a file of docs/guide
is drawn by a class of drawing."""

from typing import NamedTuple


class Entry(NamedTuple):
    """`slug` is what stands after /docs/, and the name of the file in docs/guide."""

    slug: str
    title: str


class Section(NamedTuple):
    title: str
    entries: tuple[Entry, ...]


HOME = Entry("index", "Overview")
GUIDE = (
    Section(
        "Get started",
        (
            HOME,
            Entry("quickstart", "Quickstart"),
            Entry("keys", "Keys and modes"),
            Entry("testing", "Test scenarios"),
        ),
    ),
    Section(
        "Accept payments",
        (
            Entry("payments", "Payments"),
            Entry("payment-links", "Payment links"),
            Entry("refunds", "Refunds"),
            Entry("cards", "Cards"),
            Entry("embedding", "Embedded checkout"),
            Entry("billing", "Subscriptions and invoices"),
        ),
    ),
    Section(
        "Move money",
        (
            Entry("payouts", "Payouts"),
            Entry("mass-payouts", "Mass payouts"),
            Entry("swaps", "Swaps"),
            Entry("reports", "Reports"),
        ),
    ),
    Section(
        "Connect",
        (
            Entry("webhooks", "Webhooks"),
            Entry("apps", "OAuth apps"),
            Entry("platforms", "Platforms"),
            Entry("agents", "Agents"),
            Entry("x402", "x402"),
        ),
    ),
    Section(
        "Libraries and plugins",
        (
            Entry("command-line", "Command line"),
            Entry("python", "Python"),
            Entry("typescript", "TypeScript"),
            Entry("woocommerce", "WooCommerce"),
        ),
    ),
    Section(
        "Look up",
        (Entry("events", "Events"), Entry("errors", "Errors"), Entry("limits", "Rate limits")),
    ),
)
OBJECTS = Entry("reference/objects", "Objects")
CHANGELOG = Entry("changelog", "Changelog")

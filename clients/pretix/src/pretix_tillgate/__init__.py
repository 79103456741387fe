"""Tillgate for pretix: a payment provider, a webhook for each event, and a periodic catch-up."""

__version__ = "0.1.0"

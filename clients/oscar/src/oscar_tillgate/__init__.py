"""Tillgate for django-oscar: `checkout.TillgateCheckout` and `processing.TillgateEvents` are mixed
into the shop's own classes."""

__version__ = "0.1.0"

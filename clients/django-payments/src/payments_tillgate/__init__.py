"""Tillgate for django-payments: `payments_tillgate.provider.TillgateProvider`."""

__version__ = "0.1.0"

"""The platform part of the API: access, accounts, onboarding links, figures."""

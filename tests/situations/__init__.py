"""What `docs/guide/payments.md` says of payments that don't go straight, tried from outside on one
demo: `python -m tests.situations`."""

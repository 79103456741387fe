"""Situations of `docs/guide/payments.md` in which payments don't go straight, tried from outside on
one demo: `python -m tests.situations`."""

"""Schemathesis, which asks a running service everything that a description calls valid, in an
environment of its own."""

from dev.apart import Apart

APART = Apart("schemathesis", "no Schemathesis, so its test is skipped")

"""The states of a report. A failed one is tried again when it is asked for; so is one whose file can't be reached any more."""

from apps.core.machine import Machine

PENDING, GENERATED, FAILED = "pending", "generated", "failed"

MACHINE = Machine({PENDING: {GENERATED, FAILED}, GENERATED: {PENDING}, FAILED: {PENDING}})

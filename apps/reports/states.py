"""The states of a report. A failed one is tried again when it is asked for; so is one whose file
can't be reached any more."""

from django.db.models import Model

from apps.core.machine import Machine, Step

PENDING = "pending"
GENERATED = "generated"
FAILED = "failed"

# The model is above: its constraints name these.
MACHINE = Machine[Model, Step](
    {PENDING: {GENERATED, FAILED}, GENERATED: {PENDING}, FAILED: {PENDING}}, has_history=False
)

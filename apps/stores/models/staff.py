"""A request of one member of staff that another decides: bound to exactly its content, decided
once, never changed afterwards."""

from django.conf import settings
from django.db import models

from apps.core.ids import IdField
from apps.stores.models.person_fields import optional_person


class StaffRequest(models.Model):
    """`content` is canonical JSON: what is wanted, what it was before, and both as people read
    them. `digest` is its SHA-256."""

    class State(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"  # and carried out in the same transaction
        REJECTED = "rejected"  # also by the person who asked
        EXPIRED = "expired"

    id = IdField()
    kind = models.CharField(max_length=20)
    target_id = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    content = models.TextField()
    digest = models.CharField(max_length=64)
    # secrets, while it waits; bound to the row and its digest.
    sealed = models.TextField(blank=True)
    reason = models.CharField(max_length=500)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PENDING)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_by = optional_person()
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason=""), name="staff_request_has_reason"),
            # The person who asked may take it back, and never approve it.
            models.CheckConstraint(
                condition=~models.Q(state="approved")
                | (
                    models.Q(decided_by__isnull=False, decided_at__lt=models.F("expires_at"))
                    & ~models.Q(decided_by=models.F("asked_by"))
                ),
                name="staff_request_takes_two",
            ),
            models.CheckConstraint(
                condition=models.Q(state="pending", decided_at=None, decided_by=None)
                | (~models.Q(state="pending") & models.Q(decided_at__isnull=False)),
                name="staff_request_decided",
            ),
            models.UniqueConstraint(
                fields=["kind", "target_id"],
                condition=models.Q(state="pending"),
                name="staff_request_one_waits",
            ),
        ]
        indexes = [models.Index(fields=["kind", "target_id"], name="staff_request_of_target")]

    def __str__(self) -> str:
        return self.name

    @property
    def outcome(self) -> str:
        """Its state, and apart from a rejection that who requested it took it back."""
        is_own = self.decided_by_id is not None and self.decided_by_id == self.asked_by_id
        return "withdrawn" if is_own else self.state

    @property
    def place(self) -> str:
        """Place to which its secrets are bound."""
        return f"stores_staffrequest:{self.pk}:{self.digest}"


class WorkerOrder(models.Model):
    """An order of staff that a worker posts. `noticed_at`, `due_at` and the end are a worker's to
    write; one member of staff stops it until then. The last `outcome` says why it waits, or how it
    ended."""

    id = IdField()
    kind = models.CharField(max_length=20)
    target_id = models.CharField(max_length=100)
    store = models.ForeignKey(
        "stores.Store", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    mode = models.CharField(max_length=4)
    name = models.CharField(max_length=200)
    reason = models.CharField(max_length=500)
    asked_by = optional_person()
    asked_at = models.DateTimeField()
    noticed_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    stopped_at = models.DateTimeField(null=True)
    stopped_by = optional_person()
    ended_at = models.DateTimeField(null=True)
    is_done = models.BooleanField(default=False, db_default=False)
    outcome = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "target_id"],
                condition=models.Q(ended_at=None, stopped_at=None),
                name="worker_order_one_waits",
            ),
        ]
        indexes = [models.Index(fields=["kind", "target_id"], name="worker_order_of_target")]

    def __str__(self) -> str:
        return self.name

    @property
    def status(self) -> str:
        if self.stopped_at is not None:
            return "stopped"
        if self.ended_at is None:
            return "waiting"
        return "done" if self.is_done else "refused"

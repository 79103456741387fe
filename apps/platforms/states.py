"""What a person's decision may change: a request waits, then it is approved or rejected, and that stays."""

from apps.core.machine import Machine

ACCESS_REQUEST = Machine({"pending": {"approved", "rejected"}, "approved": (), "rejected": ()})
VERIFICATION = Machine({"pending": {"approved", "rejected"}, "approved": (), "rejected": ()})
APPROVED, REJECTED = "approved", "rejected"

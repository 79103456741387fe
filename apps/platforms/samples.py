"""Sample events of stores for test deliveries, of the classes of real events."""

from apps.platforms.documents import DeletedEvent, VerificationEvent
from apps.webhooks.samples import SAMPLE_AT, SAMPLE_ID

_NAME = "Example Store"
_EXTERNAL_ID = "example-1"


def verification(event_type: str) -> VerificationEvent:
    outcome = event_type.rpartition(".")[2]
    return VerificationEvent(
        id=SAMPLE_ID,
        name=_NAME,
        external_id=_EXTERNAL_ID,
        verification_status=outcome,
        rejection_reason="The document is not readable" if outcome == "rejected" else None,
    )


def deleted(event_type: str) -> DeletedEvent:
    return DeletedEvent(id=SAMPLE_ID, name=_NAME, external_id=_EXTERNAL_ID, deleted_at=SAMPLE_AT)

"""Settings of a store's documents as every interface shows them."""

from apps.billing.models import DocumentSettings
from apps.billing.numbers import DEFAULT_CREDIT_NOTE_PREFIX, DEFAULT_INVOICE_PREFIX
from apps.core.messages.documents import Document


class DocumentSettingsDocument(Document, frozen=True, kw_only=True):
    """`credits_automatically` is null where nobody chose: then it is on where the store has set up
    its taxes."""

    invoice_prefix: str
    credit_note_prefix: str
    restarts_yearly: bool
    credits_automatically: bool | None
    livemode: bool


def document_settings_document(row: DocumentSettings) -> DocumentSettingsDocument:
    return DocumentSettingsDocument(
        invoice_prefix=row.invoice_prefix or DEFAULT_INVOICE_PREFIX,
        credit_note_prefix=row.credit_note_prefix or DEFAULT_CREDIT_NOTE_PREFIX,
        restarts_yearly=row.restarts_yearly,
        credits_automatically=row.credits_automatically,
        livemode=row.is_live,
    )

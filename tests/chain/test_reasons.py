"""Why a transaction failed is a code; the sentences of old rows became codes once, in a
migration."""

import importlib
import uuid

import pytest
from django.db import connection

from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.core import clock

migration = importlib.import_module("apps.chain.migrations.0016_codes_of_old_reasons")

# As they were written by the code of the day before.
OLD = {
    "The recipient refuses the transfer": "recipient_refuses",
    "The destination is refused": "destination_refused",
    "The recipient needs more gas than a transfer is given": "recipient_costly",
    "Nobody approved it": "not_approved",
    "The books have set nothing aside for it": "not_reserved",
    "The chain is at nonce 7, our records end at 5": "nonce_ahead",
    "The wallet did the same before the records were restored: 0x12": "sent_before",
    "It was failed, the chain undid it, and the second time it moved coins": "undone",
    (
        "It was reverted and what it should have paid was given back; then the chain undid it."
        " Sent again, it could pay"
    ): "given_back",
    "Written by hand": "",
    "": "",
}


@pytest.mark.django_db
def test_a_row_of_before_gets_the_code_of_its_sentence() -> None:
    for sentence in OLD:
        OutgoingTransaction.objects.create(
            mode="live",
            chain_id="ethereum",
            asset_id="ETH",
            purpose="payout",
            reference=str(uuid.uuid4()),
            status="failed",
            to_address="0x" + "1" * 40,
            amount_atomic=1,
            reason=sentence,
            requested_at=clock.real_now(),
        )
    with connection.schema_editor() as editor:
        migration.code_old_rows(None, editor)
    assert dict(OutgoingTransaction.objects.values_list("reason", "reason_code")) == OLD
    assert {code for code, _ in migration.CODES} == set(Reason.values)

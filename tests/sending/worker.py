"""What a worker that tests kill does: asks for a transfer when told to, then does the job's
round."""

from typing import Any

from django.db import transaction

from apps.chain.sending import sender, signing_rounds
from apps.core import clock


def work(wanted: dict[str, Any] | None) -> None:
    if wanted:
        with transaction.atomic():
            sender.request(**wanted, at=clock.real_now())
    signing_rounds.sign_due()
    sender.run_due()

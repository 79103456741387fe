"""A worker that tests kill: asks for a transfer on request, then does the job's round. Forks find
loaded what each would load, and the keys opened."""

from typing import Any

from django.db import transaction

from apps.chain.keys import keystores
from apps.chain.providers import jsonrpc
from apps.chain.sending import sender, signing_rounds
from apps.core import clock
from apps.core.redis import client as redis_client

__all__ = ["jsonrpc", "redis_client"]
keystores.seed()
keystores.hot_key("test")


def work(wanted: dict[str, Any] | None) -> None:
    if wanted:
        with transaction.atomic():
            sender.request(**wanted, at=clock.real_now())
    signing_rounds.sign_due()
    sender.run_due()

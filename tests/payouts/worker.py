"""A worker that tests kill: makes a payout, then every job's round until it is paid."""

import os
from typing import Any

from apps.access.access import Access
from apps.chain.sending import sender, signing_rounds
from apps.core import local_chain
from apps.payouts.requests import PayoutBody
from apps.payouts.services.create import create_payout
from apps.payouts.services.progress import advance_payouts
from apps.stores.models import Store

BLOCKS = 8


def work(wanted: dict[str, Any]) -> None:
    store = Store.objects.get(pk=wanted["store"])
    access = Access(
        store=store, mode="test", kind="secret", scopes=frozenset({"payouts:write"}), caller="test"
    )
    create_payout(
        access, PayoutBody.read(wanted["body"]).request(), wanted["key"], caller=access.caller
    )
    for _ in range(3):
        advance_payouts()
        signing_rounds.sign_due()
        sender.run_due()
        local_chain.call(os.environ["CHAIN_SEPOLIA_URL"], "anvil_mine", hex(BLOCKS))

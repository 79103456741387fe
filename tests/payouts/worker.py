"""A worker as a process of its own, for tests that kill it: makes a payout, then does every job's
round until it is paid."""

import json
import os
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from apps.access.access import Access  # noqa: E402
from apps.chain.sending import sender, signing_rounds  # noqa: E402
from apps.core import local_chain  # noqa: E402
from apps.payouts.requests import PayoutBody  # noqa: E402
from apps.payouts.services.create import create_payout  # noqa: E402
from apps.payouts.services.progress import advance_payouts  # noqa: E402
from apps.stores.models import Store  # noqa: E402

BLOCKS = 8

if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
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

"""A worker as a process of its own, for tests that kill it: asks for a transfer when told to, then
does the job's round."""

import json
import os
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from django.db import transaction  # noqa: E402

from apps.chain.sending import sender, signing_rounds  # noqa: E402
from apps.core import clock  # noqa: E402

if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    if wanted:
        with transaction.atomic():
            sender.request(**wanted, at=clock.real_now())
    signing_rounds.sign_due()
    sender.run_due()

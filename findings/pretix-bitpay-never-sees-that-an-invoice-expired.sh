#!/usr/bin/env bash
# pretix-bitpay 1.5.3 (PyPI) in pretix 2026.8.0: a notice of an invoice that expired.
#
# Seen: the plugin asks for the invoice, reads `expired` (or `invalid`), and leaves the payment as it
# was created. It compares the status with a tuple by ==, which no text is equal to. `paid`, on the
# other hand, confirms the payment at once, and nothing takes it back.
#
# Most expect: the payment to fail, as the lines below that comparison have it.
#
# Why it matters: a provider that says `paid` of coins that haven't confirmed gives tickets away for
# good, whatever it says later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pretix==2026.8.0 pretix-bitpay==1.5.3 2>/dev/null
cat >pretix.cfg <<CFG
[pretix]
datadir=$folder
[django]
secret=of-this-script-alone-and-long-enough
[database]
backend=sqlite3
CFG
cat >expired.py <<'PY'
from types import SimpleNamespace

import django
django.setup()
from pretix_bitpay import views

for status in ("paid", "expired", "invalid"):
    invoice = {"id": "i", "status": status}
    client = SimpleNamespace(get_invoice=lambda id: invoice)
    views.BitPay = lambda event: SimpleNamespace(client=client)
    order = SimpleNamespace(event=None, refresh_from_db=lambda: None, state="n")
    payment = SimpleNamespace(
        state="created", refresh_from_db=lambda: None, save=lambda: None, order=order,
        local_id=1, provider="bitpay", info="",
    )
    payment.confirm = lambda: setattr(payment, "state", "confirmed")
    order.log_action = lambda *told: None
    answer = views.process_invoice(order, payment, "i")
    print(status, answer.status_code, payment.state)
PY
echo "pretix 2026.8.0, pretix-bitpay 1.5.3"
seen=$(PRETIX_CONFIG_FILE=pretix.cfg DJANGO_SETTINGS_MODULE=pretix.settings venv/bin/python expired.py 2>expired.log) || { tail -5 expired.log; exit 1; }
echo "$seen"
[ "$seen" = "paid 200 confirmed
expired 200 created
invalid 200 created" ] || { echo "no longer as described"; exit 1; }
echo "as described"

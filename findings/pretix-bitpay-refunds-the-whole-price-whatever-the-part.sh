#!/usr/bin/env bash
# pretix-bitpay 1.5.3 (PyPI) in pretix 2026.8.0: a refund of a part.
#
# Seen: the plugin says that it can refund a part of a payment, and asks the provider for the whole
# price of the invoice: 5.00 of 23.00 EUR becomes a request for 23.00. pretix then has a refund of
# 5.00 that is done.
#
# Most expect: a request for 5.00, or no offer of refunds of a part.
#
# Why it matters: the customer gets everything back, and the shop's books say otherwise. Whoever
# answers BitPay's API can't tell such a request from one for all of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pretix==2026.8.0 pretix-bitpay==1.5.3 2>/dev/null
cat >pretix.cfg <<CFG
[pretix]
datadir=$folder
allow_http_to_private_networks=on
[django]
secret=of-this-script-alone-and-long-enough
[database]
backend=sqlite3
CFG
cat >part.py <<'PY'
import http.server, json, threading
from decimal import Decimal
from types import SimpleNamespace

import django
django.setup()
from btcpay import BTCPayClient, crypto
from pretix_bitpay.payment import BitPay

asked = []

class Provider(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"data": {}}')

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
host = f"http://127.0.0.1:{server.server_port}"
plugin = BitPay.__new__(BitPay)
plugin.client = BTCPayClient(host=host, pem=crypto.generate_privkey(), tokens={"merchant": "t"})
invoice = {"id": "i", "token": "t", "price": 23.0, "currency": "EUR"}
refund = SimpleNamespace(
    amount=Decimal("5.00"), payment=SimpleNamespace(info_data=invoice),
    order=SimpleNamespace(email="eve@example.com"), done=lambda: print("refund of 5.00: done"),
)
print("refunds of a part:", plugin.payment_partial_refund_supported(None))
plugin.execute_refund(refund)
print("asked for:", asked[0]["amount"], asked[0]["currency"])
PY
echo "pretix 2026.8.0, pretix-bitpay 1.5.3"
seen=$(PRETIX_CONFIG_FILE=pretix.cfg DJANGO_SETTINGS_MODULE=pretix.settings venv/bin/python part.py 2>part.log) || { tail -5 part.log; exit 1; }
echo "$seen"
[ "$seen" = "refunds of a part: True
refund of 5.00: done
asked for: 23.0 EUR" ] || { echo "no longer as described"; exit 1; }
echo "as described"

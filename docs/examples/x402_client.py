"""An agent that pays for what it reads: asks, signs, asks again. The wallet needs the token, and no
coins for gas; in test mode it needs nothing, and any key will do.

pip install "x402[evm,requests]"
PRIVATE_KEY=0x... python x402_client.py http://localhost:4021/report
"""

import os
import sys

from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients.requests import x402_requests
from x402.http.utils import decode_payment_response_header
from x402.mechanisms.evm.exact.register import register_exact_evm_client

client = register_exact_evm_client(x402ClientSync(), Account.from_key(os.environ["PRIVATE_KEY"]))
# The client knows the real dollar tokens by itself. One of a local chain has to be allowed.
client.set_spend_controls({"allowed_assets": True, "max_amount_per_payment": "$1"})

answer = x402_requests(client).get(sys.argv[1], timeout=90)
sys.stdout.write(f"{answer.status_code} {answer.text}\n")
if "PAYMENT-RESPONSE" in answer.headers:
    paid = decode_payment_response_header(answer.headers["PAYMENT-RESPONSE"])
    sys.stdout.write(f"paid by {paid.transaction}\n")

"""The audit of signed payments: nothing is found when all is right, and each planted corruption
is."""

import pytest
from django.db import connection, transaction

from apps.agents.models import SignedPayment
from tests import auditing
from tests.agents.conftest import Market
from tests.auditing import found_of

pytestmark = pytest.mark.chain
SENT = "signed_payments_sent_once"
TOLD = "signed_payments_are_told"
OUTGOING = "UPDATE chain_outgoingtransaction SET {} WHERE purpose = 'x402'"
TWICE = """
INSERT INTO agents_signedpayment
SELECT (jsonb_populate_record(s,
    jsonb_build_object('id', gen_random_uuid(), 'status', 'failed', 'payer', upper(s.payer)))).*
FROM agents_signedpayment s
"""
CORRUPTIONS = [
    (SENT, "UPDATE agents_signedpayment SET status = 'failed'"),
    (SENT, "UPDATE agents_signedpayment SET tx_hash = '0x1'"),
    (SENT, "UPDATE agents_signedpayment SET nonce = '0x' || repeat('1', 64)"),
    (SENT, "UPDATE agents_signedpayment SET payer = '0x' || repeat('1', 40)"),
    (SENT, "UPDATE agents_signedpayment SET is_elsewhere = true"),
    (SENT, OUTGOING.format("amount_atomic = 1")),
    (SENT, OUTGOING.format("to_address = '0x' || repeat('1', 40)")),
    (SENT, OUTGOING.format("status = 'failed'")),
    (SENT, OUTGOING.format("reference = gen_random_uuid()::text")),
    (SENT, OUTGOING.format("call_data = '0x'")),
    (SENT, TWICE),
    (TOLD, "UPDATE agents_paymentoffer SET amount_atomic = 1"),
    (TOLD, "UPDATE payments_paymentaddress SET required_atomic = 1 WHERE asset_id = 'USDC_SETH'"),
    (TOLD, "UPDATE agents_signedpayment SET mode = 'live'"),
    (TOLD, "DELETE FROM agents_signedpaymentstep WHERE to_status = 'settled'"),
    (TOLD, OUTGOING.format("network_fee_atomic = network_fee_atomic + 1")),
]


def test_every_planted_corruption_of_a_settled_payment_is_found(market: Market) -> None:
    body = market.payer.signed(market.ask())
    market.settle(body)
    market.send()
    market.settle(body)
    market.bury()
    assert (
        SignedPayment.objects.get().status == "settled"
        and auditing.breaches(check_chain=True) == []
    )
    for name, statement in CORRUPTIONS:
        point = transaction.savepoint()
        with connection.cursor() as cursor:
            cursor.execute(statement)
        assert found_of(name), statement
        transaction.savepoint_rollback(point)

"""Amounts that a web page hands on with a publishable key, signed by the merchant's server."""

import hashlib
import hmac


def sign_amount(secret_key: str, *, amount: str, currency: str, order_id: str) -> str:
    """`amount_signature` of a payment: the HMAC-SHA256, in hex, of amount, currency and order, each
    on a line of its own, keyed with the SHA-256 of the secret key.

    The page sends all three as they were signed, and doesn't send `customer_pays_fee`.
    """
    if not order_id:
        raise ValueError("An amount is signed for an order: order_id is empty")
    key = hashlib.sha256(secret_key.encode()).digest()
    message = "\n".join((amount, currency, order_id)).encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest()

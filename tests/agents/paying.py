"""A wallet that pays over x402 with the protocol's own client, unmodified."""

from typing import Any

from eth_account import Account
from x402 import x402ClientSync
from x402.mechanisms.evm.exact.register import register_exact_evm_client
from x402.schemas import PaymentRequired, PaymentRequirements


class Payer:
    """Signs; sends nothing."""

    def __init__(self) -> None:
        self.account = Account.create()
        self.client = x402ClientSync()
        register_exact_evm_client(self.client, self.account)
        self.client.set_spend_controls(False)

    @property
    def address(self) -> str:
        return str(self.account.address).lower()

    def signed(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The body of verify and settle."""
        payload = self.client.create_payment_payload(
            PaymentRequired(accepts=[PaymentRequirements.model_validate(asked)])
        )
        return {
            "x402Version": 2,
            "paymentPayload": payload.model_dump(by_alias=True, exclude_none=True),
            "paymentRequirements": asked,
        }

    def sign_again(self, asked: dict[str, Any], authorization: dict[str, str]) -> str:
        """The signature of an authorization that was changed."""
        domain = {
            "name": asked["extra"]["name"],
            "version": asked["extra"]["version"],
            "chainId": int(asked["network"].partition(":")[2]),
            "verifyingContract": asked["asset"],
        }
        names = (
            "from:address",
            "to:address",
            "value:uint256",
            "validAfter:uint256",
            "validBefore:uint256",
            "nonce:bytes32",
        )
        fields = [dict(zip(("name", "type"), name.split(":"), strict=True)) for name in names]
        message = {
            name: int(text) if name in ("value", "validAfter", "validBefore") else text
            for name, text in authorization.items()
        }
        signed = self.account.sign_typed_data(
            domain, {"TransferWithAuthorization": fields}, message
        )
        return "0x" + bytes(signed.signature).hex()

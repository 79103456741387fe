"""What is answered over x402; the names are the protocol's."""

from apps.api.plumbing.shapes import many, of
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {
    "POST x402/requirements": of(
        "scheme network amount:digits asset payTo maxTimeoutSeconds:int",
        extra=of("name version assetTransferMethod paymentIntentId:uuid reference"),
    ),
    "GET x402/supported": of(
        "extensions:texts signers:map",
        kinds=many(of("x402Version:int scheme network", extra=of("", assets=many(of("assetId asset decimals:int name version"))))),
    ),
    "POST x402/verify": of("isValid:bool invalidReason? invalidMessage? payer?"),
    "POST x402/settle": of(
        "success:bool errorReason? errorMessage? payer? transaction network amount?",
        extra__=of("settlementId:uuid state paymentIntentId:uuid"),
    ),
}

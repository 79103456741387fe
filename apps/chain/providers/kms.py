"""AWS KMS: it signs for the hot wallets and opens the key file, and no key of its ever leaves it.

Region and credentials are those that AWS's own clients find (AWS_REGION, the role of the machine,
and so on).
"""

from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

from apps.chain.keys.secp256k1 import DIGEST_BYTES
from apps.chain.providers.base import KeystoreError, key_name
from apps.core.errors import ErrorCode

# Shown in AWS's log beside each use, and bound to what is wrapped: another use of the same key
# opens nothing of ours.
_CONTEXT = {"purpose": "tillgate signer key file"}
_TIMEOUT_SECONDS = 5
_TRIES = 3
_TEMPORARY = {
    "ThrottlingException",
    "DependencyTimeoutException",
    "KMSInternalException",
    "LimitExceededException",
}


class AwsKms:
    """`keys` names the ECC_SECG_P256K1 keys of each mode, and `wrapping_key` a symmetric one, by
    id, ARN or alias."""

    name = "kms"
    opens_with = "AWS KMS"
    is_near = False

    def __init__(self, keys: dict[str, str], wrapping_key: str, endpoint_url: str = "") -> None:
        self._keys = keys
        self._wrapping = wrapping_key
        self._endpoint = endpoint_url
        self._client: Any = None

    def public_key(self, lane: str) -> bytes:
        try:
            key = load_der_public_key(
                self._asked("get_public_key", KeyId=key_name(self._keys, lane))["PublicKey"]
            )
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(
            key.curve, ec.SECP256K1
        ):
            raise KeystoreError(
                ErrorCode.MALFORMED, f"The key of {lane} mode is none of ECC_SECG_P256K1"
            )
        return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def sign(self, lane: str, digest: bytes) -> tuple[int, int]:
        if len(digest) != DIGEST_BYTES:
            raise KeystoreError(ErrorCode.REFUSED, "A digest has 32 bytes")
        answer = self._asked(
            "sign",
            KeyId=key_name(self._keys, lane),
            Message=digest,
            MessageType="DIGEST",
            SigningAlgorithm="ECDSA_SHA_256",
        )
        try:
            return decode_dss_signature(answer["Signature"])
        except ValueError:
            raise KeystoreError(ErrorCode.MALFORMED, "KMS answered with no signature") from None

    def new_data_key(self) -> tuple[bytes, bytes]:
        answer = self._asked(
            "generate_data_key", KeyId=self._wrapping, KeySpec="AES_256", EncryptionContext=_CONTEXT
        )
        return answer["Plaintext"], answer["CiphertextBlob"]

    def data_key(self, wrapped: bytes) -> bytes:
        answer = self._asked(
            "decrypt", KeyId=self._wrapping, CiphertextBlob=wrapped, EncryptionContext=_CONTEXT
        )
        return bytes(answer["Plaintext"])

    def _asked(self, verb: str, **options: Any) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return getattr(self._connected(), verb)(**options)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            raise KeystoreError(
                ErrorCode.UNREACHABLE if code in _TEMPORARY else ErrorCode.REFUSED,
                f"KMS refused {verb}: {code}",
            ) from None
        except BotoCoreError as error:
            raise KeystoreError(
                ErrorCode.UNREACHABLE, f"KMS was not reached for {verb}: {type(error).__name__}"
            ) from None

    def _connected(self) -> Any:
        if self._client is None:
            import boto3
            from botocore.config import Config

            patience = {"connect_timeout": _TIMEOUT_SECONDS, "read_timeout": _TIMEOUT_SECONDS}
            config = Config(**patience, retries={"total_max_attempts": _TRIES, "mode": "standard"})
            self._client = boto3.client("kms", endpoint_url=self._endpoint or None, config=config)
        return self._client

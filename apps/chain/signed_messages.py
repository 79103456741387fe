"""Messages that an address has signed: by its key (EIP-191), or as the contract that it is says
(EIP-1271)."""

from contextlib import closing

from apps.assets.models import Chain
from apps.chain.encoding import typed_data
from apps.chain.encoding.keccak import keccak
from apps.chain.keys.secp256k1 import recovered
from apps.chain.nodes import nodes_of
from apps.chain.payers import codes_at, is_delegated
from apps.chain.providers.base import RpcError

SIGNATURE_BYTES_MAX = 4096
_KEY_SIGNATURE_BYTES = 65
_V_MIN = 27


def digest_of(message: str) -> bytes:
    """The digest of a text that wallets sign (`personal_sign`)."""
    content = message.encode()
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(content)).encode() + content)


def is_signed(
    chain: Chain, signer: str, message: str, signature: str, *, patience_seconds: float
) -> bool:
    """Tell whether this address signed the message. Not inside a transaction. Raises RpcError when
    no node of the chain answers."""
    raw = _bytes_of(signature)
    if raw is None:
        return False
    with closing(nodes_of(chain, patience_seconds=patience_seconds)) as nodes:
        [code] = codes_at(nodes, [signer])
        if not code or is_delegated(code):
            return _is_of_key(signer, digest_of(message), raw)
        # A contract that says yes to whatever it is asked has nobody who signs.
        digests = (digest_of(message), digest_of(f"{message}\n"))
        calls = [
            {"to": signer, "data": typed_data.contract_question(digest, raw)} for digest in digests
        ]
        answers = nodes.each([("eth_call", [call, "latest"]) for call in calls])
    if any(isinstance(answer, RpcError) and not answer.is_refusal for answer in answers):
        raise RpcError("no answer")
    return bool(answers[0] == typed_data.IS_OWN and answers[1] != typed_data.IS_OWN)


def _is_of_key(signer: str, digest: bytes, raw: bytes) -> bool:
    if len(raw) != _KEY_SIGNATURE_BYTES:
        return False
    v = raw[64] if raw[64] >= _V_MIN else raw[64] + _V_MIN
    try:
        return recovered(digest, v, raw[:32], raw[32:64]) == signer.lower()
    except ValueError:
        return False


def _bytes_of(signature: str) -> bytes | None:
    text = "".join(signature.split()).removeprefix("0x")
    if not text or len(text) > 2 * SIGNATURE_BYTES_MAX:
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None

"""When a block counts: every network says it by a number of blocks. A deposit keeps the number that
its network had when it was seen (`Deposit.required_confirmations`)."""

from apps.assets.models import Chain


def confirmations(block_number: int, head_number: int) -> int:
    """Blocks on top of one, its own included."""
    return max(0, head_number - block_number + 1)


def final_number(chain: Chain, head_number: int) -> int:
    """The last block that counts for good at a head; 0 before any does."""
    return max(0, head_number - chain.required_confirmations + 1)

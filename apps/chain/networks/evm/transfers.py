"""The call that moves coins of an asset."""

from apps.assets.models import Asset

_TRANSFER = "0xa9059cbb"


def transfer(asset: Asset, to_address: str, amount_atomic: int) -> tuple[str, int, str]:
    """(to, value, data) of a native or ERC-20 transfer."""
    if asset.is_native:
        return to_address, amount_atomic, "0x"
    if not asset.contract_address:
        raise ValueError(f"{asset.pk} has no contract")
    return (
        asset.contract_address,
        0,
        f"{_TRANSFER}{to_address[2:].lower():0>64}{amount_atomic:064x}",
    )

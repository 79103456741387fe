"""Activation of an asset: its chain must be watched and able to send, its limits known, and a rate
must price it.

Test mode asks for no node: its coins can be simulated. Nor does a machine without any chain, which
isn't a production's.
"""

from typing import Any

from apps.assets.models import Asset, Rate
from apps.assets.selectors import fee_asset_of
from apps.assets.services import NotAContract
from apps.assets.services import change_asset as change
from apps.chain.addresses import has_key
from apps.chain.models import HotWallet
from apps.chain.networks.families import addresses_of
from apps.chain.selectors import is_simulated_only, is_watched
from apps.chain.sending import caps
from apps.core import clock
from apps.core.errors import Failure


class NotReady(Failure):
    """An asset that can't be active; the text says what is missing."""


def change_asset(
    asset_id: str,
    *,
    contract_address: str | None = None,
    is_active: bool | None = None,
    **changes: Any,
) -> Asset:
    """Calls assets.services, after checks of the chain for an asset that becomes active. Raises
    NotReady and NotAContract besides."""
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is not None and is_active and not asset.is_active:
        refuse_unready(asset, names_contract=contract_address is not None)
    if asset is not None and contract_address is not None:
        contract_address = _contract_in(contract_address, asset)
    return change(asset_id, contract_address=contract_address, is_active=is_active, **changes)


def _contract_in(text: str, asset: Asset) -> str:
    """As it is stored."""
    addresses = addresses_of(asset.chain)
    address = addresses.read(text)
    if address is None or address == addresses.nobody:
        raise NotAContract
    return address


def refuse_unready(asset: Asset, *, names_contract: bool = False) -> None:
    """Raises NotReady with all that is missing; a contract may be named in the same breath."""
    missing = [*_of_chain(asset), *_of_asset(asset, names_contract=names_contract)]
    if missing:
        raise NotReady(f"{asset.pk} can't be active yet: there is no {', no '.join(missing)}")


def _of_chain(asset: Asset) -> list[str]:
    chain = asset.chain
    missing = []
    if fee_asset_of(chain.pk) is None:
        missing.append(f"coin of {chain.name} in which fees are paid")
    if chain.mode == "test" or is_simulated_only():
        return missing
    if not is_watched(chain.pk):
        missing.append(f"node of {chain.name} (CHAIN_{chain.pk.upper()}_URL)")
    if not has_key(chain):
        missing.append(f"public key of {chain.name} (create_wallet prints it)")
    if not HotWallet.objects.filter(chain=chain).exists():
        missing.append(f"hot wallet on {chain.name} (the signer makes it known when it starts)")
    return missing


def _of_asset(asset: Asset, *, names_contract: bool) -> list[str]:
    fee_asset = fee_asset_of(asset.chain_id)
    spent = {row.pk: row for row in (asset, fee_asset) if row is not None}
    missing = [
        f"limit of {pk} (SIGNER_CAPS)"
        for pk, row in sorted(spent.items())
        if caps.caps(row) == (0, 0)
    ]
    if not asset.is_native and asset.contract_address is None and not names_contract:
        missing.append(f"contract of {asset.pk}")
    if not Rate.objects.filter(asset=asset, valid_until__gt=clock.real_now()).exists():
        missing.append(f"rate of {asset.coin_symbol}")
    return missing

"""A venue whose dollar is a token with an issuer who does all that issuers do."""

from dataclasses import dataclass

from eth_abi.abi import encode

from apps.assets.models import Asset
from tests import make
from tests.cast import Shop
from tests.swaps.conftest import DOLLAR, Venue

COLLECTOR = "0x" + "c0" * 20


@dataclass
class Issuer:
    """The acts of a token's issuer, each in a block of its own."""

    place: Venue

    def pause(self, is_paused: bool = True) -> None:
        self._do("16c38b3c", ["bool"], is_paused)

    def freeze(self, holder: str, is_frozen: bool = True) -> None:
        self._do("ac869cd8", ["address", "bool"], holder, is_frozen)

    def say_false(self, is_false: bool = True) -> None:
        self._do("f56a2cc7", ["bool"], is_false)

    def tax(self, bps: int, *, is_gross: bool = False) -> None:
        self._do("932f7844", ["uint256", "address", "bool"], bps, COLLECTOR, is_gross)

    def _do(self, selector: str, types: list[str], *values: object) -> None:
        data = f"0x{selector}{encode(types, values).hex()}"
        self.place.chain.wait(self.place.chain.send(self.place.token, data=data))


def open_moody(place: Venue, shop: Shop) -> None:
    """The store and the hot wallet have some of it, and gas."""
    place.token = place.chain.deploy_moody_token()
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=place.token, is_active=True)
    place.fund_hot(50, dollars=1000)
    make.store_coins(shop.store, "USDC_SETH", 500 * DOLLAR)
    place.chain.mint(place.token, place.hot, 500 * DOLLAR)

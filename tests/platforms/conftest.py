from decimal import Decimal

import pytest

from apps.access.scopes import ALL
from apps.access.services import create_api_key
from apps.stores.services import change_store
from tests.cast import Api, Cast, Shop, shop_of
from tests.payouts.conftest import _django_db_helper, committed, pytest_itemcollected
from tests.platforms.makers import Platform

__all__ = ["_django_db_helper", "committed", "pytest_itemcollected"]


def platform_of(shop: Shop, fee: str | None = "0.015") -> Platform:
    """Make a shop an approved platform, with keys that hold every scope."""
    change_store(
        shop.store, is_platform=True, platform_fee_fraction=None if fee is None else Decimal(fee)
    )
    keys = {mode: create_api_key(shop.store, mode, scope_names=ALL)[1] for mode in ("live", "test")}
    return Platform(shop, Api(keys["live"]), Api(keys["test"]), keys)


@pytest.fixture
def platform(cast: Cast) -> Platform:
    """Alice's Bakery is a platform, and earns 1.5 % where nothing else was agreed."""
    return platform_of(cast.bakery)


@pytest.fixture
def other(cast: Cast) -> Platform:
    """Charlie's platform."""
    return platform_of(shop_of(cast.charlie, "Charlie's platform"))

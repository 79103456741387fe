import pytest
from django.core.cache import cache

from apps.stores.services import change_store
from tests.cast import Shop


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    """Alice's shop in Germany takes cards in both modes, bears their cost, and rejects
    overpayments."""
    cache.clear()
    change_store(
        bakery.store,
        country="DE",
        card_funding_live=True,
        card_funding_test=True,
        accept_overpayments=False,
    )
    return bakery

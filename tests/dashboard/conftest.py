"""A store that has coins, and its owner, for what pays out."""

import pytest

from apps.access import second_factor
from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser


@pytest.fixture
def rich(cast: Cast) -> Cast:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    return cast


@pytest.fixture
def alice(rich: Cast) -> Browser:
    """With two-factor authentication: whatever she confirms, she confirms with a code of its
    own."""
    second_factor.switch_on(rich.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return Browser(rich.alice, answers=True)

"""Somebody of the store who may bill."""

import pytest

from tests.cast import Cast
from tests.dashboard.browse import Browser


@pytest.fixture
def browser(cast: Cast) -> Browser:
    return Browser(cast.bob)

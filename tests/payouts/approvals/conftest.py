"""A store in which two people agree to large payouts."""

import pytest

from tests.cast import Cast
from tests.payouts.two_people import Two, two_people


@pytest.fixture
def two(cast: Cast) -> Two:
    return two_people(cast)

"""A clerk of finance, signed in."""

import pytest

from tests import make
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.staff.test_roles import signed_in


@pytest.fixture
def finance(cast: Cast) -> Browser:
    return signed_in(make.clerk("finance"))

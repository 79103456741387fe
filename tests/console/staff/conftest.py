"""A clerk of finance, signed in."""

import pytest

from tests import make
from tests.cast import Cast
from tests.console.test_staff_roles import signed_in
from tests.dashboard.browse import Browser


@pytest.fixture
def finance(cast: Cast) -> Browser:
    return signed_in(make.clerk("finance"))

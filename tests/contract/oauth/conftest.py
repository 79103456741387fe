"""An app that a store registered."""

import pytest

from tests.cast import Cast
from tests.contract.oauth.apps import App


@pytest.fixture
def app(cast: Cast) -> App:
    return App(cast)

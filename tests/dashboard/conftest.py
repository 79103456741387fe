"""A store that has coins, and its owner, for what pays out."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.access.factors import second_factor
from tests import make
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser
from tests.stage import standing


def with_coins() -> Cast:
    cast = assemble()
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    return cast


@pytest.fixture(scope="module")
def _rich_of_module(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    yield from standing(django_db_blocker, with_coins)


@pytest.fixture
def rich(_rich_of_module: Cast, db: None) -> Cast:
    return _rich_of_module.again()


@pytest.fixture
def alice(rich: Cast) -> Browser:
    """With two-factor authentication: whatever she confirms, she confirms with a code of its
    own."""
    second_factor.switch_on(rich.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return Browser(rich.alice, answers=True)

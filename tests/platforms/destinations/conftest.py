"""A platform with a sub-merchant whose details a person has approved, made once for a file."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.cast import assemble
from tests.platforms.conftest import platform_of
from tests.platforms.destinations.makers import verified
from tests.platforms.makers import Platform, Sub
from tests.stage import standing


@dataclass
class Hall:
    platform: Platform
    merchant: Sub


def hall() -> Hall:
    platform = platform_of(assemble().bakery)
    return Hall(platform, verified(platform))


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Hall]:
    yield from standing(django_db_blocker, hall)


@pytest.fixture
def platform(stage: Hall, db: None) -> Platform:
    return replace(stage.platform, shop=stage.platform.shop.again())


@pytest.fixture
def merchant(stage: Hall, db: None) -> Sub:
    return stage.merchant

"""Which files of tests come in through a pooler, and that they do."""

import os
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from tests import postgres


def test_of_the_files_that_commit_about_half_are_chosen_and_of_others_none() -> None:
    files = list(postgres.ROOT.glob("tests/**/test_*.py"))
    committing = [path for path in files if postgres.commits(path)]
    chosen = [path for path in files if postgres.is_chosen(path)]
    assert len(committing) > 70
    assert set(chosen) < set(committing)
    assert len(committing) / 3 < len(chosen) < len(committing) * 2 / 3


@pytest.mark.django_db
def test_this_test_connects_as_its_file_should(request: pytest.FixtureRequest) -> None:
    is_pooled = postgres.is_pooled(request.node)
    told = {name: urlsplit(url) for name, url in postgres.environment().items()}
    database = f"/{connection.settings_dict['NAME']}"
    assert {url.path for url in told.values()} == {database}
    assert settings.DATABASE_POOLER is is_pooled is ("DATABASE_DIRECT_URL" in told)
    connection.ensure_connection()
    is_by_port = connection.connection.info.port == told["DATABASE_URL"].port
    assert is_by_port is is_pooled
    assert urlsplit(postgres.direct_url()).port is None
    assert os.environ.get("DATABASE_POOLER", "") == ("true" if is_pooled else "")

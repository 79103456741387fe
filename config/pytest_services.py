"""Early pytest plugin: services are up before pytest-django reads the settings."""

import os

import pytest

from config import embedded

os.environ.setdefault("TILLGATE_ENV", "test")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    embedded.ensure(mode=embedded.TEST)
except RuntimeError as error:
    pytest.exit(str(error), returncode=4)

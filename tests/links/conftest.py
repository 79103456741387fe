from tests.billing.conftest import _django_db_helper, committed, pytest_itemcollected

__all__ = ["_django_db_helper", "committed", "pytest_itemcollected"]

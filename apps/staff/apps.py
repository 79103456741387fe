"""The staff site is Django's admin with a site of its own. Its pages are imported with the routes:
workers and most commands have none."""

from typing import Any

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class StaffConfig(AppConfig):
    name = "apps.staff"
    label = "staff"
    default_auto_field = "django.db.models.BigAutoField"


class AdminConfig(SimpleAdminConfig):
    default_site = "apps.staff.front.site.StaffSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_pages, checks.Tags.admin)


def _check_pages(app_configs: Any, **options: Any) -> list[Any]:
    from django.contrib import admin

    admin.site.urls  # noqa: B018  which makes the site with its pages
    return list(check_admin_app(app_configs, **options))

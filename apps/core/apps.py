from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, register


class CoreConfig(AppConfig):
    name = "apps.core"
    label = "core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        register(_check_upgrade, Tags.database)
        register(_check_versions, Tags.security, deploy=True)


def _check_upgrade(app_configs: Any, **options: Any) -> list[CheckMessage]:
    from apps.core.db.upgrades import check_upgrade

    return check_upgrade(app_configs, **options)


def _check_versions(app_configs: Any, **options: Any) -> list[CheckMessage]:
    from apps.core.process.versions import MINIMUMS, refusals, too_new

    return [*refusals(*MINIMUMS), *too_new()]

from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "apps.core"
    label = "core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Whoever enqueues a job needs the app that knows the broker."""
        import_module("config.celery")

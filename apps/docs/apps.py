from django.apps import AppConfig


class DocsConfig(AppConfig):
    name = "apps.docs"
    label = "docs"
    default_auto_field = "django.db.models.BigAutoField"

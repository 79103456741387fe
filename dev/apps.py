from django.apps import AppConfig


class DevConfig(AppConfig):
    """The workshop: the demo, and what tests and checks are built on. Not in the production
    image."""

    name = "dev"
    label = "dev"
    default_auto_field = "django.db.models.BigAutoField"

from django.apps import AppConfig


class PayoutsConfig(AppConfig):
    name = "apps.payouts"
    label = "payouts"
    default_auto_field = "django.db.models.BigAutoField"

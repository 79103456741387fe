"""What operators' machines ask."""

from django.urls import path

from apps.console import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
]

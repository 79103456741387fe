"""Routes for operators' machines, and the mailbox of a demo."""

from django.urls import path

from apps.console import health, mailbox, status

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("readyz/web", health.readyz_web),
    path("readyz/chains", health.readyz_chains),
    path("metrics", health.metrics),
    path("status", status.page, name="status"),
    path("dev/mailbox", mailbox.index, name="dev_mailbox"),
    path("dev/mailbox/<str:name>", mailbox.show_one, name="dev_email"),
    path("dev/mailbox/<str:name>/html", mailbox.show_html, name="dev_email_html"),
]

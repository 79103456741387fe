"""The job of core: mail that waits."""

from collections.abc import Sequence

from celery import shared_task

from apps.core import mail


@shared_task(name="core.send_mail")
def send_mail(ids: Sequence[str] = ()) -> None:
    """Which mail doesn't matter: everything that is due is sent."""
    mail.send_due()
